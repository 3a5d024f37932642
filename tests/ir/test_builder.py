"""The builder: loops, branches, closures, NumPy functions and operators; results against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.ir.programs import count, nested
from workbench.ir import Ref, Source


def run(b, outputs, **feeds):
    return b.build(outputs).run(feeds)


def test_single_start_value_gives_a_single_result():
    b = wb.GraphBuilder()
    out = b.while_loop(lambda x: x < 10.0, lambda x: x * 2.0, b.placeholder("x0"))
    graph = b.build(out)
    assert graph.run(x0=1.0)[next(iter(graph.outputs))] == 16.0
    assert [v.name for v in graph.frames[("while",)].variables] == ["x"]


@pytest.mark.parametrize("kind", [list, tuple])
def test_sequence_start_values(kind):
    b = wb.GraphBuilder()
    out = b.while_loop(lambda i, s: i < 4, lambda i, s: kind([i + 1, s + i]), kind([b.constant(0), b.constant(10)]))
    assert isinstance(out, tuple) and len(out) == 2
    graph = b.build(dict(zip("is", out, strict=True)))
    assert {k: int(v) for k, v in graph.run().items()} == {"i": 4, "s": 16}
    assert [v.name for v in graph.frames[("while",)].variables] == ["i", "s"]  # parameters of the condition


def test_dict_start_values_are_keywords_in_any_order():
    b = wb.GraphBuilder()
    out = b.while_loop(
        lambda n, p: n > 0, lambda p, n: {"p": p * n, "n": n - 1}, {"n": b.placeholder("n", "int64"), "p": 1}
    )
    assert run(b, out, n=5) == {"n": 0, "p": 120}


def test_names_of_variables_without_a_signature_to_read():
    b = wb.GraphBuilder()
    out = b.while_loop(lambda *v: v[0] < 3, lambda *v: (v[0] + 1, v[1] + v[0]), [b.constant(0), b.constant(0)])
    graph = b.build(list(out))
    assert [v.name for v in graph.frames[("while",)].variables] == ["v0", "v1"]


def test_public_names_point_at_the_merge():
    graph = count()
    assert graph.value("x") == graph.value("while/x") == Ref("while/x/Merge")
    assert graph.name_of(Ref("while/x/Merge")) == "x"
    (variable,) = graph.frames[("while",)].variables
    assert (variable.enter, variable.merge, variable.switch, variable.next_iteration, variable.exit) == tuple(
        f"while/x/{op}" for op in ("Enter", "Merge", "Switch", "NextIteration", "Exit")
    )


@pytest.mark.parametrize(("trips", "expected"), [(0, 0.0), (1, 1.0), (3, 3.0), (100, 5.0)])
def test_max_trips_bounds_the_loop(trips, expected):
    b = wb.GraphBuilder()
    out = b.while_loop(lambda x: x < 5.0, lambda x: x + 1.0, {"x": b.constant(0.0)}, max_trips=trips)
    assert list(out) == ["x"]
    assert run(b, out)["x"] == expected


def test_zero_trips_give_the_start_value():
    session = wb.Session(count(5.0), {"start": 7.0})
    session.run()
    assert session.outputs["x"] == 7.0 and len(session.trace["while/less"]) == 1
    session.close()


@pytest.mark.parametrize(("x", "expected"), [(3.0, 9.0), (-3.0, 3.0), (0.0, 0.0)])
def test_cond(x, expected):
    b = wb.GraphBuilder()
    v = b.placeholder("x")
    assert run(b, {"y": b.cond(v > 0.0, lambda: v * v, lambda: -v)}, x=x)["y"] == expected


def test_cond_aligns_dicts_by_key_and_gives_numbers_the_other_sides_dtype():
    b = wb.GraphBuilder()
    x = b.placeholder("x", "float32")
    out = b.cond(x > 0, lambda: {"a": x, "b": 2.5}, lambda: {"b": x * 20, "a": 1})
    assert out["a"].dtype == out["b"].dtype == "float32"
    assert run(b, out, x=1.0) == {"a": 1.0, "b": 2.5}
    assert b.build(out).run(x=-1.0) == {"a": 1.0, "b": -20.0}


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
    return steps


def test_branch_in_a_loop():
    b = wb.GraphBuilder()
    n = b.placeholder("n", "int64")

    def body(n, steps):
        return b.cond(b.equal(n % 2, 0), lambda: n // 2, lambda: n * 3 + 1), steps + 1

    _, steps = b.while_loop(lambda n, steps: n != 1, body, (n, b.constant(0)))
    graph = b.build({"steps": steps})
    assert [int(graph.run(n=k)["steps"]) for k in (1, 6, 7, 27)] == [collatz(k) for k in (1, 6, 7, 27)]


@pytest.mark.parametrize(("x", "expected"), [(3.0, 48.0), (-3.0, -6.0)])
def test_loop_in_a_branch(x, expected):
    b = wb.GraphBuilder()
    v = b.placeholder("x")
    out = b.cond(v > 0.0, lambda: b.while_loop(lambda y: y < 40.0, lambda y: y * 2.0, v), lambda: v * 2.0)
    assert run(b, {"y": out}, x=x)["y"] == expected


def test_nested_loops_with_closures_over_every_level():
    assert [float(nested(k).run(start=0.0)["acc"]) for k in range(5)] == [0.0, 1.0, 12.0, 24.0, 66.0]


@given(a=st.floats(-1e3, 1e3), b_=st.floats(0.1, 1e3))
@settings(max_examples=25, deadline=None)
def test_operators_and_numpy_functions_are_numpys(a, b_):
    b = wb.GraphBuilder()
    x, y = b.placeholder("x"), b.placeholder("y")

    def program(x, y):
        z = np.maximum(x, y) - 2 * np.sqrt(np.abs(x)) / y + x // y - (3 - x) % y
        return np.where(np.logical_and(x < y, ~(x == y)), -z, +z) + np.exp(-np.abs(x)) ** 2

    built = b.build({"z": program(x, y)}).run(x=a, y=b_)["z"]
    expected = np.asarray(program(np.float64(a), np.float64(b_)))
    assert built.tobytes() == expected.tobytes()


def test_numpy_functions_with_axes_and_indexing():
    b = wb.GraphBuilder()
    m = b.placeholder("m", "float64", (2, 3))
    outs = {
        "sum": np.sum(m, axis=0),
        "mean": np.mean(m),
        "row": m[1],
        "part": m[..., None, 1:],
        "at": m @ b.constant([1.0, 2, 3]),
        "reduce": np.add.reduce(m, axis=1),
        "picked": b.gather(m, 1, axis=1),
    }
    array = np.arange(6.0).reshape(2, 3)
    got = b.build(outs).run(m=array)
    expected = {
        "sum": array.sum(0),
        "mean": array.mean(),
        "row": array[1],
        "part": array[..., None, 1:],
        "at": array @ [1.0, 2, 3],
        "reduce": array.sum(1),
        "picked": array[:, 1],
    }
    for name, value in expected.items():
        np.testing.assert_array_equal(got[name], value, err_msg=name)


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "bfloat16", "float32", "complex64"])
def test_python_numbers_take_the_values_dtype(dtype):
    b = wb.GraphBuilder()
    x = b.placeholder("x", dtype)
    assert (x + 1).dtype == dtype and (2 * x).dtype == dtype and (x**2).dtype == dtype
    assert np.where(x == 1, x, 0).dtype == dtype
    if "int" not in dtype:
        assert (x * 0.5).dtype == dtype


def test_every_node_knows_the_line_that_made_it():
    b = wb.GraphBuilder()
    x = b.placeholder("x")
    y = x * 2.0  # the line that is looked for
    source = b.build(y).nodes[y.ref.node].source
    assert isinstance(source, Source) and source.file == __file__ and "the line that is looked for" in source.expression


def test_strings_and_arrays_are_constants():
    b = wb.GraphBuilder()
    outs = {"s": b.constant("héllo"), "v": b.constant(["a", "b"]), "i": b.constant([1, 2], "int8")}
    got = b.build(outs).run()
    assert got["s"].item() == "héllo" and got["v"].tolist() == ["a", "b"] and got["i"].dtype == np.int8


def test_types_of_loop_variables_reach_a_fixed_point_however_long_the_chain():
    """v0 becomes a vector, v1 follows one iteration later, and so on: no number of passes known beforehand is
    enough."""
    b = wb.GraphBuilder()
    names = [f"v{k}" for k in range(16)]

    def body(**v):
        moved = {name: v[before] for name, before in zip(names[1:], names, strict=False)}
        return {"v0": b.op("reshape", v["v0"], shape=(1,)), **moved, "i": v["i"] + 1}

    x = b.placeholder("x")
    out = b.while_loop(lambda **v: v["i"] < 20, body, dict.fromkeys(names, x) | {"i": b.constant(0)})
    graph = b.build({"last": out["v15"]})
    assert graph.type_of("last").shape is None
    assert graph.run(x=1.0)["last"].tolist() == [1.0]


def test_outputs_get_distinct_names():
    b = wb.GraphBuilder()
    x = b.placeholder("x")
    assert list(b.build([x, x, x + 1.0]).outputs) == ["x", "x_1", "add"]


def test_dir_lists_ops_and_methods():
    names = dir(wb.GraphBuilder())
    assert "while_loop" in names and "sqrt" in names and not hasattr(wb.GraphBuilder(), "nosuchop")
