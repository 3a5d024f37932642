"""JAX functions as graphs: values against JAX equation by equation, names, lines, regions and clear refusals."""

from __future__ import annotations

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import mlir

import workbench as wb
from tests.jax.harness import difference, numbers
from tests.jax.op_by_op import results
from tests.jax.programs import programs
from tests.test_docs import run_example
from workbench.analysis.verdict import Status
from workbench.frontends.jax import JaxGraph
from workbench.frontends.jax.library import numbers_of_64_bits
from workbench.widgets.graph.model.scene import Scene

pytestmark = pytest.mark.jax
PROGRAMS = programs()


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_those_of_jax_op_by_op(name):
    function, arguments = PROGRAMS[name]
    graph = wb.from_jax(function, *arguments)
    given = graph.run(graph.feeds(*arguments))
    wanted = results(function, *arguments)
    assert len(given) == len(wanted) > 0
    for a, b in zip(wanted, given.values(), strict=True):
        assert difference(numbers(a), np.asarray(b), 0) is None


@pytest.mark.parametrize(
    "name", ["newton", "nested", "scan backwards", "BFGS", "sampler", "an ODE with rejected steps"]
)
def test_every_recorded_firing_is_that_of_an_untraced_run_and_of_a_replay(name):
    function, arguments = PROGRAMS[name]
    graph = wb.from_jax(function, *arguments)
    with wb.Session(graph, graph.feeds(*arguments)) as session:
        session.run()
        plain = graph.run(graph.feeds(*arguments))
        for label, ref in graph.outputs.items():
            assert np.array_equal(np.asarray(session.value(ref)), plain[label], equal_nan=True)
        events = session.trace.events
        session.restart()
        session.run()
        assert session.trace.events == events


def test_64_bit_numbers_as_they_were_when_the_function_was_read():
    with numbers_of_64_bits(True):
        graph = wb.from_jax(lambda x: jnp.tanh(x), 1.0)
    assert graph.type_of("x").dtype == "float64"
    (value,) = graph.run(x=0.5).values()  # 64-bit numbers are off here
    assert value.dtype == np.float64 and value == pytest.approx(np.tanh(0.5), rel=1e-15)


def test_variables_have_the_names_of_the_users_code():
    graph = wb.from_jax(*[PROGRAMS["newton"].function, 2.0, 1.0])
    assert list(graph.inputs) == ["a", "x"] and {"x", "i"} <= {*graph.names, *graph.inputs}
    (loop,) = (f for path, f in graph.frames.items() if path)
    assert [v.name for v in loop.variables] == ["while/x", "i"] or {"i"} <= {v.name for v in loop.variables}


def test_parts_of_what_is_unpacked_and_what_is_stacked_have_the_names_of_the_code():
    def train(state, data):
        def step(carry, x):
            params, count = carry
            loss = (params["w"] * x).sum()
            return ({"w": params["w"] - 0.1 * loss}, count + 1), loss

        return lax.scan(step, state, data)

    graph = wb.from_jax(train, ({"w": jnp.ones(2)}, 0), jnp.ones((3, 2)))
    (loop,) = (f for path, f in graph.frames.items() if path)
    assert [v.name for v in loop.variables] == ["i", "params['w']", "count", "stacked_loss"]


def test_the_bound_of_a_fori_loop_is_read_and_not_carried():
    def function(n):
        return lax.fori_loop(0, n, lambda i, x: x + i * n, 0)

    graph = wb.from_jax(function, 5)
    (loop,) = (f for path, f in graph.frames.items() if path)
    assert [v.name for v in loop.variables] == ["i", "x"]
    with wb.Session(graph, graph.feeds(5)) as session:
        session.run()
        assert session.outputs["result"] == 50 and "i < n became false" in str(session.termination().reason)
    bounds = jnp.array([2, 0, 5])
    graph = wb.from_jax(jax.vmap(function), bounds)
    assert np.array_equal(graph.run(graph.feeds(bounds))["result"], jax.vmap(function)(bounds))


def test_nodes_have_the_users_lines():
    def body(x):
        return x * 2.0 + 1.0  # the line

    graph = wb.from_jax(lambda x: lax.fori_loop(0, 3, lambda i, x: body(x), x), 1.0)
    lines = {n.source.expression for n in graph.nodes.values() if n.op in ("multiply",)}
    assert lines == {"return x * 2.0 + 1.0  # the line"}
    assert all(n.source is None or "workbench/frontends" not in n.source.file for n in graph.nodes.values())


def test_calls_are_regions_under_their_names():
    @jax.jit
    def smooth(x):
        return (x + jnp.roll(x, 1)) / 2

    with jax.named_scope("outer"):
        graph = wb.from_jax(lambda x: smooth(x) - x, jnp.arange(3.0))
    assert {r.kind for name, r in graph.regions.items() if name.split("/")[-1] == "smooth"} == {"call"}


def test_calls_are_closed_boxes_of_the_picture_also_in_a_small_loop():
    def body(i, x):
        return jnp.where(x > 2, jnp.linspace(0.0, 1.0, 3), smooth(x)) + i

    @jax.jit
    def smooth(x):
        return (x + x * x) / 2 - x / 3

    scene = Scene(wb.from_jax(lambda x: lax.fori_loop(0, 4, body, x), jnp.arange(3.0)))
    calls = {g.title: g for g in scene.groups.values() if g.kind == "call"}
    assert "smooth" in calls and not {g.id for g in calls.values()} & set(scene.open)
    assert all(g.frame for g in calls.values()), "they stand in the loop"
    inside = scene.nodes_in(calls["smooth"].id)
    assert len(inside) >= 4 and {scene.box_of(n) for n in inside} == {calls["smooth"].id}
    scene.show(inside[0])
    assert scene.box_of(inside[0]) == inside[0]


def test_a_function_that_is_jitted_as_a_whole_is_no_box_of_its_own():
    graph = wb.from_jax(jax.jit(lambda x: {"y": x * 2 + 1}), 1.0)
    assert not graph.regions and list(graph.inputs) == ["x"]
    assert graph.result(graph.run(x=2.0)) == {"y": 5.0}


def test_notes_name_branches_and_loops_that_vmap_has_changed():
    x = jnp.array([1.0, 3.0])

    def chosen(v):
        return lax.cond(v > 2.0, jnp.sqrt, lambda v: -v, v)  # the branch

    def halved(v):
        return lax.while_loop(lambda v: v > 1.0, lambda v: v / 2, v)  # the loop

    (note,) = wb.from_jax(jax.vmap(chosen), x).notes
    assert "select_n" in note and "test_from_jax.py" in note
    (note,) = wb.from_jax(jax.vmap(halved), x).notes
    assert "side by side under vmap" in note and "test_from_jax.py" in note
    for plain in (lambda x: jnp.where(x > 2.0, x, 0.0), lambda x: lax.cond(x[0] > 2.0, jnp.sqrt, jnp.negative, x)):
        assert wb.from_jax(plain, x).notes == ()


def test_static_arguments_and_pytrees_go_in_and_out():
    graph = wb.from_jax(lambda p, n: {"y": p["x"] * n, "n": (p["x"], [p["x"]])}, {"x": 2.0}, 3, static_argnums=1)
    outputs = graph.run(graph.feeds({"x": 5.0}, 3))
    assert jax.tree_util.tree_structure(graph.result(outputs)) == jax.tree_util.tree_structure({"y": 0, "n": (0, [0])})
    assert float(graph.result(outputs)["y"]) == 15.0
    with pytest.raises(wb.WorkbenchError, match="structure"):
        graph.feeds([5.0], 3)


def test_random_keys_in_a_result_are_keys():
    graph = wb.from_jax(lambda k: (jax.random.split(k), 1.0), jax.random.key(3))
    keys, _ = graph.result(graph.run(graph.example))
    assert jax.random.normal(keys[1]) == jax.random.normal(jax.random.split(jax.random.key(3))[1])


@pytest.mark.parametrize("thing", [wb.from_jax, JaxGraph])
def test_examples_of_docstrings_work(thing):
    assert run_example("example", inspect.getdoc(thing), {"wb": wb, "np": np})[1] == ""


def test_a_panel_opens_on_a_function_and_its_arguments():
    function, arguments = PROGRAMS["newton"]
    panel = wb.debug(function, arguments)
    try:
        panel.session.run()
        assert panel.session.outputs["result[0]"] == pytest.approx(2**0.5, rel=1e-6)
    finally:
        panel.close()


def test_a_saved_graph_runs_and_is_equal():
    function, arguments = PROGRAMS["sampler"]
    graph = wb.from_jax(function, *arguments)
    again = wb.parse(graph.text())
    assert again == graph
    feeds = graph.feeds(*arguments)
    assert [v.tobytes() for v in again.run(feeds).values()] == [v.tobytes() for v in graph.run(feeds).values()]


def test_a_loop_is_proved():
    function, arguments = PROGRAMS["newton"]
    graph = wb.from_jax(function, *arguments)
    with wb.Session(graph, graph.feeds(*arguments)) as session:
        session.next_iteration()
        answer = session.termination()
        session.run()
    assert answer.status is Status.PROVED and answer.remaining == 4
    endless = wb.from_jax(lambda x: lax.while_loop(lambda x: x > -1.0, lambda x: x * 0.5, x), 1.0)
    with wb.Session(endless, {"x": 1.0}) as session:
        session.next_iteration()
        assert session.termination().outcome == "never"


def test_callbacks_run_in_order_once_a_step_and_not_again_in_a_replay():
    seen = []

    def body(i, x):
        jax.debug.callback(lambda v: seen.append(float(v)), x, ordered=True)
        return x * 2

    graph = wb.from_jax(lambda x: lax.fori_loop(0, 4, body, x), 1.0)
    with wb.Session(graph, {"x": 1.0}) as session:
        session.next_iteration()
        session.next_iteration()
        session.step_back()
        session.step()
        session.run()
        assert seen == [1.0, 2.0, 4.0, 8.0]
        session.explain(next(iter(graph.outputs)))
        session.termination()
        for k in range(4):
            session.trace["x"].at(k)
    assert seen == [1.0, 2.0, 4.0, 8.0]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: jax.new_ref(x)[...], ("new_ref", "mutable array", "test_from_jax.py")),
        (
            lambda x: jax.ffi.ffi_call("nothing", jax.ShapeDtypeStruct((), jnp.float32))(x),
            ("ffi_call", "outside of JAX"),
        ),
        (lambda x: jax.jit(lambda x: jax.new_ref(x)[...] * 2)(x), ("new_ref at test_from_jax.py", "mutable array")),
        (lambda x: None, ("returns no value", "let it return")),
        (lambda x: x.no_such_thing, ("cannot trace", "AttributeError")),
        (lambda x: float(x), ("cannot trace", "ConcretizationTypeError")),
    ],
)
def test_what_is_not_evaluated_is_one_clear_error(function, words):
    with pytest.raises(wb.WorkbenchError) as caught:
        wb.from_jax(function, 1.0)
    assert all(w in str(caught.value) for w in words), str(caught.value)


def test_a_shard_map_over_one_device_is_a_call():
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("i")

    def body(x):
        y = lax.fori_loop(0, 3, lambda k, v: v * 0.5 + lax.psum(v, "i"), x) + lax.axis_index("i")
        whole = lax.all_gather(y, "i"), lax.ppermute(y, "i", [(0, 0)]), lax.ppermute(y, "i", [])
        return lax.psum_scatter(y, "i", tiled=True), lax.all_to_all(y.reshape(1, 4), "i", 0, 1), whole

    sharded = jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
    x = jnp.arange(4.0)
    graph = wb.from_jax(sharded, x)
    assert not [n for n in graph.nodes.values() if ":" in n.op] and graph.regions["shard_map"].kind == "call"
    for a, b in zip(graph.run(graph.feeds(x)).values(), jax.tree.leaves(jax.jit(sharded)(x)), strict=True):
        assert a.tobytes() == np.asarray(b).tobytes()
    assert wb.diff(jax.jit(sharded), graph).equal
    counted = jax.shard_map(lambda x: lax.psum(x.sum(), "i"), mesh=mesh, in_specs=spec, out_specs=jax.P())
    assert list(wb.from_jax(counted, x).run(wb.from_jax(counted, x).feeds(x)).values()) == [6.0]


def test_a_shard_map_over_several_devices_is_refused():
    mesh = jax.sharding.AbstractMesh((2,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("i")
    sharded = jax.shard_map(lambda x: lax.psum(x, "i"), mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
    with pytest.raises(wb.WorkbenchError, match=r"shard_map at test_from_jax\.py:\d+: it runs on several devices"):
        wb.from_jax(sharded, jnp.arange(4.0))


def test_a_primitive_that_was_defined_again_is_not_taken_for_the_old_one():
    def defined(factor, traceable):
        made = Primitive("times_a_number")
        made.def_impl(lambda x: x * factor if traceable else np.asarray(x) * factor)
        made.def_abstract_eval(lambda x: x)
        mlir.register_lowering(made, mlir.lower_fun(lambda x: x * factor, multiple_results=False))
        return made

    first, second = defined(2.0, False), defined(3.0, False)
    graph = wb.from_jax(lambda x: first.bind(x), jnp.float32(1.0))
    assert list(graph.run(x=5.0).values()) == [10.0]
    with pytest.raises(wb.WorkbenchError, match="another primitive of this name was read before"):
        wb.from_jax(lambda x: second.bind(x), jnp.float32(1.0))
    third = defined(4.0, True)
    opened = wb.from_jax(lambda x: third.bind(x), jnp.float32(1.0))
    assert list(opened.run(x=5.0).values()) == [20.0] and "jax:times_a_number" not in {
        n.op for n in opened.nodes.values()
    }


def test_what_jax_cannot_compile_is_named_with_its_line():
    untranslated = Primitive("untranslated")
    untranslated.def_abstract_eval(lambda x: x)
    with pytest.raises(wb.WorkbenchError, match=r"untranslated at test_from_jax\.py:\d+: JAX has no translation of it"):
        wb.from_jax(lambda x: untranslated.bind(x), 1.0)

    def body(i, a):
        return lax.linalg.eigh(a)[0]  # this line

    graph = wb.from_jax(lambda a: lax.fori_loop(0, 3, body, a), jnp.eye(3, dtype=jnp.bfloat16))
    with pytest.raises(wb.WorkbenchError) as caught:
        graph.run(graph.example)
    assert caught.value.slug == "foreign-op-not-compiled" and caught.value.source.expression.endswith("# this line")
    assert "XLA cannot compile eigh here" in caught.value.message and "bfloat16" in caught.value.message


def test_a_failing_callback_names_the_node_and_the_line():
    def bad(v):
        raise ZeroDivisionError("no such luck")

    graph = wb.from_jax(lambda x: jax.pure_callback(bad, jax.ShapeDtypeStruct((), jnp.float32), x), 1.0)
    with pytest.raises(wb.WorkbenchError) as caught:
        graph.run(x=1.0)
    assert "no such luck" in str(caught.value) and "pure_callback" in str(caught.value)


def test_a_version_that_was_not_tried_is_refused(monkeypatch):
    from workbench.frontends.jax import library

    library.library.cache_clear()
    monkeypatch.setattr(jax, "__version__", "0.99.0")
    try:
        with pytest.raises(wb.WorkbenchError, match=r"0\.99\.0 .* 0\.7 to 0\.12"):
            wb.from_jax(lambda x: x, 1.0)
    finally:
        monkeypatch.undo()
        library.library.cache_clear()


@pytest.mark.parametrize(
    "text", ["", "[", "[[1]]", '[["a",["enum","os","x"]]]', '[["a",["record","Popen",["x",1]]]]', "[" * 200]
)
def test_damaged_parameters_are_one_error(text):
    from workbench.frontends.jax.foreign.codec import decode

    with pytest.raises(wb.WorkbenchError, match="cannot be read"):
        decode(text)
