"""Straight runs give what the executor gives, bit for bit, and arrays of the caller's own."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import workbench as wb
from tests.ops.samples import SAMPLES
from tests.plan.checks import same_numbers
from tests.plan.random_arrays import ArrayMaker
from workbench import ops
from workbench.execution import NEWEST_ROWS, Run, prepare_feeds
from workbench.ir.graph import Graph
from workbench.session import plan_for


def both_ways(graph: Graph, feeds: dict) -> int:
    """Outputs of the list of calls, and of the executor; the number of calls, 0 where there is no such list."""
    arrays = prepare_feeds(graph, feeds)
    plan = plan_for(graph, arrays, None, lean=True)
    if plan.straight is None:
        return 0
    found = plan.straight(arrays)
    run = Run(plan, arrays, NEWEST_ROWS, back=False)
    try:
        while run.go() != "halt":
            pass
    except wb.WorkbenchError:
        assert found is None
        return 0
    if found is None:
        return 0
    for name, value in run.outputs().items():
        if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
            assert same_numbers(found[name], value), name
        else:
            assert repr(found[name]) == repr(value), name
    return len(plan.straight.steps)


def dense(graph: wb.GraphBuilder, x: np.ndarray, static: bool, name: str):
    return graph.placeholder(name, "string" if x.dtype == object else x.dtype, x.shape if static else [None] * x.ndim)


@pytest.mark.parametrize("static", [True, False])
def test_every_op(static):
    """All samples of all ops, with sizes that are known and such that are not."""
    calls = 0
    for name, samples in SAMPLES.items():
        if not ops.lookup(name).pure or ops.lookup(name).draws:
            continue
        for inputs, attrs in samples:
            b = wb.GraphBuilder(name)
            arrays = [np.asarray(x) for x in inputs]
            try:
                given = [dense(b, x, static, f"x{k}") for k, x in enumerate(arrays)]
                made = b.op(name, *given, **attrs)
                parts = made if isinstance(made, tuple | list) else (made,)
                graph = b.build({f"y{k}": v for k, v in enumerate(parts)})
            except wb.WorkbenchError:
                continue  # it needs the value of an input when it is built
            calls += both_ways(graph, {f"x{k}": x for k, x in enumerate(arrays)})
    assert calls > 250


@pytest.mark.parametrize(
    "first, count",
    [(0, 60), pytest.param(1000, 400, marks=pytest.mark.slow), pytest.param(2000, 3000, marks=pytest.mark.sweep)],
)
def test_random_programs(first, count):
    calls = sum(both_ways(*ArrayMaker(seed).make()) > 0 for seed in range(first, first + count))
    assert calls > count // 20


def test_a_node_of_many_inputs():
    b = wb.GraphBuilder("many")
    parts = [b.placeholder(f"x{k}", "float32", (2,)) for k in range(70)]
    graph = b.build({"y": b.op("concat", *parts, axis=0)})
    assert both_ways(graph, {f"x{k}": np.full(2, k, np.float32) for k in range(70)}) == 1


def network() -> tuple[Graph, np.ndarray]:
    b = wb.GraphBuilder("network")
    x = b.placeholder("x", "float32", (None, 3))
    w = b.constant(np.arange(6, dtype=np.float32).reshape(3, 2) / 4)
    y = b.relu(b.matmul(x, w) + 1.0)
    graph = b.build({"y": y, "again": y, "turned": b.transpose(y), "fed": x, "w": w})
    return graph, np.arange(6, dtype=np.float32).reshape(2, 3) - 3


def test_outputs_are_the_callers_own():
    graph, x = network()
    assert plan_for(graph, prepare_feeds(graph, {"x": x}), None, lean=True).straight is not None
    before = x.copy()
    found = graph.run(x=x)
    kept = {name: value.copy() for name, value in found.items()}
    for name, value in found.items():
        assert value.flags.writeable and value.flags.owndata, name
        others = [o for n, o in found.items() if n != name]
        assert not any(np.shares_memory(value, o) for o in (x, *others)), name
    for value in found.values():
        value[...] = 7.0
    assert np.array_equal(x, before) and all(np.array_equal(v, kept[n]) for n, v in graph.run(x=x).items())


@pytest.mark.parametrize("order", ["turned", "strided", "read-only", "lists"])
def test_feeds_of_any_kind(order):
    graph, x = network()
    feed = {"turned": np.asfortranarray(x), "strided": np.repeat(x, 2, 1)[:, ::2], "lists": x.tolist()}.get(order, x)
    if order == "read-only":
        feed = x.copy()
        feed.flags.writeable = False
    assert np.array_equal(graph.run(x=feed)["y"], graph.run(x=x)["y"])


def test_an_error_names_the_node():
    b = wb.GraphBuilder("fails")
    x, y = b.placeholder("x", "float64", (None,)), b.placeholder("y", "float64", (None,))
    graph = b.build({"z": b.exp(x + y, name="later")})
    assert graph.run(x=np.zeros(2), y=np.zeros(2))["z"].tolist() == [1.0, 1.0]
    with pytest.raises(wb.WorkbenchError) as caught:
        graph.run(x=np.zeros(2), y=np.zeros(3))
    assert caught.value.node == "add" and "shapes [2] and [3]" in str(caught.value)
    assert graph.run(x=np.zeros(2), y=np.zeros(2))["z"].tolist() == [1.0, 1.0]


def test_runs_of_many_threads():
    graph, x = network()
    wanted = {k: graph.run(x=x + k)["y"].tobytes() for k in range(8)}
    wrong: list[int] = []

    def work(k: int) -> None:
        for _ in range(50):
            if graph.run(x=x + k)["y"].tobytes() != wanted[k]:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_loops_are_the_executors():
    b = wb.GraphBuilder("loop")
    x = b.while_loop(lambda x: x < 10.0, lambda x: x * 2.0, {"x": b.placeholder("a", "float64", ())})
    loop = b.build({"x": x["x"] if isinstance(x, dict) else x[0]})
    assert both_ways(loop, {"a": 1.0}) == 0
    assert float(loop.run(a=1.0)["x"]) == 16.0


def branching(seed: int) -> tuple[Graph, dict[str, np.ndarray]]:
    """Branches in branches, on numbers and arrays of known and unknown size; sides that pass values through or are
    read twice; values from before, within and behind."""
    draw = np.random.default_rng(seed)
    b = wb.GraphBuilder(f"branches {seed}")
    size = int(draw.integers(1, 5))
    shape = (size,) if draw.random() < 0.5 else (None,)
    known = [b.placeholder("x", "float64", shape), b.placeholder("y", "float64", shape)]
    numbers = [b.placeholder("s", "float64", ())]

    def value(depth: int, at: list) -> wb.Value:
        kind = draw.integers(0, 6)
        first, second = (at[int(draw.integers(len(at)))] for _ in range(2))
        if kind == 0 or depth > 3:
            return first
        if kind < 3:
            return [first + second, first * second, b.relu(first) - second][int(draw.integers(3))]
        number = numbers[int(draw.integers(len(numbers)))]
        if draw.random() < 0.5:
            number = b.op("sum", first)
        decision = number > float(draw.normal())

        def side() -> wb.Value:
            inner = list(at)
            for _ in range(int(draw.integers(0, 3))):
                inner.append(value(depth + 1, inner))
            return inner[-1]

        return b.cond(decision, side, side)

    for _ in range(4):
        known.append(value(0, known))
    graph = b.build({f"o{k}": v for k, v in enumerate(known)})
    return graph, {"x": draw.normal(size=size), "y": draw.normal(size=size), "s": np.asarray(draw.normal())}


def test_branches_are_steps_with_decisions():
    """Also a number that is fed again with the other sign, which takes other sides."""
    calls = 0
    for seed in range(60):
        graph, feeds = branching(seed)
        for sign in (1.0, -1.0):
            given = {n: sign * a for n, a in feeds.items()}
            calls += both_ways(graph, given) > 0 and any(n.op == "Switch" for n in graph.nodes.values())
            found = graph.run(given)
            outputs = list(found.values())
            for k, value in enumerate(outputs):
                others = [o for m, o in enumerate(outputs) if m != k] + list(given.values())
                assert not any(np.shares_memory(value, o) for o in others)
    assert calls > 50


def test_an_output_on_one_side_of_a_branch_is_the_executors():
    """So that one which is dead is an error and not a value of no run."""
    b = wb.GraphBuilder("one_side")
    x, p = b.placeholder("x", "float64", (None,)), b.placeholder("p", "bool", ())
    off, on = b.switch(x, p)
    graph = b.build({"off": b.op("neg", off), "both": b.merge(off + 1.0, on + 2.0)[0]})
    assert graph.run(x=np.ones(2), p=False)["off"].tolist() == [-1.0, -1.0]
    with pytest.raises(wb.WorkbenchError) as caught:
        graph.run(x=np.ones(2), p=True)
    assert caught.value.slug == "dead-value"


def test_an_error_on_a_side_names_its_node():
    b = wb.GraphBuilder("side")
    x, p = b.placeholder("x", "float64", (None,)), b.placeholder("p", "bool", ())
    at = b.placeholder("at", "int64", (1,))
    graph = b.build({"z": b.cond(p, lambda: b.op("gather", x, at), lambda: x)})
    assert both_ways(graph, {"x": np.ones(2), "at": np.array([1]), "p": np.asarray(True)})
    assert graph.run(x=np.ones(2), at=[7], p=False)["z"].tolist() == [1.0, 1.0]
    with pytest.raises(wb.WorkbenchError) as caught:
        graph.run(x=np.ones(2), at=[7], p=True)
    assert "gather" in caught.value.node


def test_the_plan_is_found_again_by_what_was_fed():
    graph, x = network()
    graph.run(x=x)
    before = wb.plan_cache.stats()
    for k in range(2, 5):
        assert graph.run(x=np.ones((2, 3), np.float32))["y"].shape == (2, 2)
        assert graph.run(x=np.ones((k, 3), np.float32))["y"].shape == (k, 2)
    after = wb.plan_cache.stats()
    assert after.misses - before.misses == 2 and after.hits - before.hits == 4
    wb.plan_cache.clear()
    assert graph.run(x=x)["y"].shape == (2, 2) and wb.plan_cache.stats().misses == after.misses + 1
    with pytest.raises(wb.WorkbenchError, match="float32"):
        graph.run(x=np.ones((2, 3)))
