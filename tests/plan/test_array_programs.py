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
from hypothesis import HealthCheck, given, note, reject, settings
from hypothesis import strategies as st

import workbench as wb
from tests.plan.checks import check_against_reference, run_of, same, same_numbers
from tests.plan.random_arrays import ArrayMaker
from tests.plan.reference import Reference
from tests.plan.rounding import adopt
from workbench.errors import FrameError
from workbench.execution import Run
from workbench.graph import Graph, Ref

SEEDS = st.integers(0, 1 << 32)
COMMON = {"deadline": None, "suppress_health_check": list(HealthCheck), "print_blob": True}
Program = tuple[Graph, dict[str, np.ndarray]]


def program(seed: int) -> Program | None:
    """A random program, or None: one whose loop may be entered by a dead raw value does not nest."""
    graph, feeds = ArrayMaker(seed).make()
    try:
        run_of(graph, feeds)
    except FrameError as error:
        assert error.slug == "frame-not-nesting" and "Merge" in {n.op for n in graph.nodes.values()}
        return None
    return graph, feeds


def drawn(seed: int) -> Program:
    found = program(seed)
    if found is None:
        reject()
    note(found[0].text())
    return found


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
        slow.go(slow.event + 1, exact=True, loud=False)
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


@settings(max_examples=100, **COMMON)
@given(seed=SEEDS)
def test_run(seed: int) -> None:
    check_run(*drawn(seed))


@settings(max_examples=60, **COMMON)
@given(seed=SEEDS)
def test_stepping_is_running(seed: int) -> None:
    check_steps(*drawn(seed))


@settings(max_examples=60, **COMMON)
@given(seed=SEEDS, where=st.floats(0, 1))
def test_replay_is_exact(seed: int, where: float) -> None:
    check_replay(*drawn(seed), where)


@settings(max_examples=60, **COMMON)
@given(seed=SEEDS, draw=st.floats(0, 1, exclude_max=True))
def test_untraced_session(seed: int, draw: float) -> None:
    check_session(*drawn(seed), draw)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_sweep(part: int) -> None:
    """Fixed seeds, each through all the checks; WORKBENCH_SWEEP sets how many."""
    passed, count = 0, int(os.environ.get("WORKBENCH_SWEEP", "200"))
    for seed in range(part, count, 4):
        found, where = program(seed), seed % 97 / 97
        if found is not None:
            check_run(*found)
            check_steps(*found)
            check_replay(*found, where)
            check_session(*found, where)
            passed += 1
    assert passed > 0.8 * count / 4


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
