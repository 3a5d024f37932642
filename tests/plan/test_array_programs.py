"""Array programs against the token interpreter: arrays in loops and branches, broadcast, views, shapes unknown before
the run.

Element-wise results are compared bit for bit, sums and matrix products within the bound of ``tests.plan.rounding``; the
sweep of many seeds is in the slow stage.
"""

from __future__ import annotations

import os
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import workbench as wb
from tests.plan.checks import check_against_reference, run_of, same, same_numbers
from tests.plan.random_arrays import ArrayMaker
from tests.plan.reference import Reference
from tests.plan.rounding import adopt
from workbench.execution import Run
from workbench.ir import Graph, Ref

SEEDS = st.integers(0, 1 << 32)
COMMON = {"deadline": None, "suppress_health_check": list(HealthCheck), "print_blob": True}
Program = tuple[Graph, dict[str, np.ndarray]]


def drawn(seed: int) -> Program:
    graph, feeds = ArrayMaker(seed).make()
    note(graph.text())
    return graph, feeds


def finished(graph: Graph, feeds: dict[str, np.ndarray]) -> Run:
    run = run_of(graph, feeds)
    while run.go() != "halt":
        pass
    return run


def reference_of(run: Run, graph: Graph, feeds: dict[str, np.ndarray]) -> Reference:
    observed = {}
    for key in run.plan.layout.values:
        series = run.trace[Ref(*key)]
        observed[Ref(*key)] = dict(zip(map(tuple, series.iterations.tolist()), series.firings(), strict=True))
    return Reference(graph, feeds, list(graph.outputs.values()), observed=observed, adopt=adopt).run()


def everything(run: Run) -> dict[Ref, list[np.ndarray]]:
    """All firings of all values, copied."""
    return {Ref(*key): [np.array(v) for v in run.trace[Ref(*key)].firings()] for key in run.plan.layout.values}


def assert_same_trace(found: Run, expected: dict[Ref, list[np.ndarray]]) -> None:
    for ref, values in expected.items():
        ours = found.trace[ref].firings()
        assert len(ours) == len(values), ref
        for a, b in zip(ours, values, strict=True):
            assert same(a, b), f"{ref}: {a!r}, expected {b!r}"


def check_run(graph: Graph, feeds: dict[str, np.ndarray]) -> None:
    run = finished(graph, feeds)
    reference = reference_of(run, graph, feeds)
    check_against_reference(run, reference, same_numbers)
    if all(reference.firings[r] for r in graph.outputs.values()):
        outputs = run.outputs()
        for name, ref in graph.outputs.items():
            assert same_numbers(outputs[name], reference.firings[ref][-1][1]), name


def check_steps(graph: Graph, feeds: dict[str, np.ndarray]) -> None:
    """Event by event, forwards and back, is the same as at full speed."""
    fast, slow = finished(graph, feeds), run_of(graph, feeds)
    visited = []
    while not slow.finished:
        position = slow.position()
        if position.node is not None:
            visited.append((position.node, position.iteration))
        slow.go(slow.event + 1, exact=True, skip_silent=False)
    assert visited == [(t.node, t.iteration) for t in fast.trace.events()]
    assert_same_trace(slow, everything(fast))


def check_replay(graph: Graph, feeds: dict[str, np.ndarray], where: float) -> None:
    """Going back gives the trace that was there, and running on from there gives the rest again."""
    run, fresh = finished(graph, feeds), run_of(graph, feeds)
    whole, end = everything(run), run.event
    target = int(where * end)
    run.seek(target)
    fresh.to_event(target)
    assert run.event == fresh.event == target and run.position() == fresh.position()
    assert_same_trace(run, everything(fresh))
    while run.go() != "halt":
        pass
    assert run.event == end
    assert_same_trace(run, whole)


def check_session(graph: Graph, feeds: dict[str, np.ndarray], draw: float) -> None:
    """A session without a trace recomputes any value exactly; its outputs are those of a traced one."""
    run = finished(graph, feeds)
    with wb.Session(graph, feeds, trace="off") as session:
        session.run()
        loops = [r for r in (Ref(*k) for k in run.plan.layout.values) if len(run.trace[r]) and graph.frame_of(r.node)]
        for ref in loops[:: max(1, len(loops) // 3)]:
            series = run.trace[ref]
            k = int(draw * len(series))
            found = session.value(str(ref), tuple(series.iterations[k].tolist()))
            assert same(found, series.firings()[k]), f"{ref}: {found!r}, expected {series.firings()[k]!r}"
        session.step_back(1 + int(draw * 5))
        session.run()
        assert session.snapshot().event == run.event


@pytest.mark.slow
@settings(max_examples=30, **COMMON)
@given(seed=SEEDS)
def test_run(seed: int) -> None:
    check_run(*drawn(seed))


@pytest.mark.slow
@settings(max_examples=20, **COMMON)
@given(seed=SEEDS)
def test_stepping_is_running(seed: int) -> None:
    check_steps(*drawn(seed))


@pytest.mark.slow
@settings(max_examples=20, **COMMON)
@given(seed=SEEDS, where=st.floats(0, 1))
def test_replay_is_exact(seed: int, where: float) -> None:
    check_replay(*drawn(seed), where)


@pytest.mark.slow
@settings(max_examples=20, **COMMON)
@given(seed=SEEDS, draw=st.floats(0, 1, exclude_max=True))
def test_untraced_session(seed: int, draw: float) -> None:
    check_session(*drawn(seed), draw)


@pytest.mark.sweep
@pytest.mark.parametrize("part", range(4))
def test_sweep(part: int) -> None:
    """Fixed seeds, each through all the checks; WORKBENCH_SWEEP sets how many."""
    for seed in range(part, int(os.environ.get("WORKBENCH_SWEEP", "100")), 4):
        found, where = ArrayMaker(seed).make(), seed % 97 / 97
        check_run(*found)
        check_steps(*found)
        check_replay(*found, where)
        check_session(*found, where)


@pytest.mark.slow
def test_what_is_drawn() -> None:
    """The programs hold what they are for: every kind of op, arrays around loops, shapes that only the run knows."""
    ops: Counter[str] = Counter()
    carried: Counter[str] = Counter()
    for seed in range(200):
        graph, _ = ArrayMaker(seed).make()
        ops.update(n.op for n in graph.nodes.values())
        for frame in graph.frames.values():
            for variable in frame.variables:
                type_ = graph.nodes[variable.merge].types[0]
                carried["number" if type_.shape == () else "static" if type_.is_static else "dynamic"] += 1
    wanted = "add subtract multiply divide floor_divide remainder minimum maximum less where cast negative abs square"
    wanted += " sqrt sum mean max min any all argmax argmin cumsum matmul transpose reshape getitem concat stack pad"
    wanted += " split gather slice broadcast_to roll reverse logical_xor Switch Merge"
    assert not set(wanted.split()) - set(ops)
    assert min(carried[k] for k in ("number", "static", "dynamic")) > 20


def test_rounding_bound() -> None:
    """A sum in another order is taken, a sum without one of its terms is not."""
    x = np.random.default_rng(1).normal(size=100)
    computed = np.asarray(np.sum(x))
    assert adopt("sum", [x], {}, computed, np.asarray(np.cumsum(x)[-1])) == np.cumsum(x)[-1]
    with pytest.raises(AssertionError, match="expected"):
        adopt("sum", [x], {}, computed, np.asarray(np.sum(x[:-1])))
    assert adopt("add", [x, x], {}, x + x, x) is not x


def test_a_chain_reads_nothing_that_it_has_not_written_yet():
    """Two halves of a joined array, and a reader that begins in the middle of the first: it waits for the second."""
    b = wb.GraphBuilder("crossing")
    x, y = (b.placeholder(n, "float32", (96, 96)) for n in "xy")
    joined = b.concat(b.negative(x), b.negative(y), axis=0)
    graph = b.build({"z": joined[48:144] + y})
    for seed in range(4):
        fed = {n: np.random.default_rng([seed, k]).random((96, 96), np.float32) for k, n in enumerate("xy")}
        wanted = np.concatenate([-fed["x"], -fed["y"]])[48:144] + fed["y"]
        np.testing.assert_array_equal(graph.run(fed)["z"], wanted)
        with wb.Session(graph, fed) as session:
            session.run()
            np.testing.assert_array_equal(session.outputs["z"], wanted)


@pytest.mark.parametrize("seed", range(8))
def test_one_item_for_each_row(seed):
    """Element by element with an operand of shape (c, 1, 1): alone, in chains, on either side, with all dtypes."""
    rng = np.random.default_rng(seed)
    c, h = (int(k) for k in rng.integers(1, 90, 2))
    dtype = ["float32", "float64", "int32", "int64"][seed % 4]
    b = wb.GraphBuilder("rows")
    shapes = {"x": (1, c, h, 3), "c": (c, 1, 1), "r": (h, 3)}
    x, per, row = (b.placeholder(name, dtype, shape) for name, shape in shapes.items())
    first = b.relu(b.subtract(per, b.add(b.multiply(x, per), per)))
    graph = b.build({"first": first, "last": b.add(b.multiply(row, first), first)})
    fed = {n: (rng.standard_normal(s) * 9).astype(dtype) for n, s in shapes.items()}
    wanted = np.maximum(fed["c"] - (fed["x"] * fed["c"] + fed["c"]), np.zeros((), dtype))
    for trace in ("all", "stats", "off"):
        with wb.Session(graph, fed, trace=trace) as session:
            session.run()
            np.testing.assert_array_equal(session.outputs["first"], wanted)
            np.testing.assert_array_equal(session.outputs["last"], fed["r"] * wanted + wanted)
            if trace == "stats":
                assert session.trace["last"].statistics["max"][0] == (fed["r"] * wanted + wanted).max()
