"""Retention policies on random programs: what is kept is what was, what is dropped is recomputed, memory is kept to."""

from __future__ import annotations

import random
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from tests.plan.checks import run_of
from tests.plan.random_arrays import ArrayMaker
from tests.plan.random_graphs import Maker
from tests.plan.random_raw import RawMaker
from tests.trace.kept import check_part, check_tables, kept_run, same, to_end
from workbench.debugger.replay.read_range import values_between
from workbench.errors import ExecutionError
from workbench.execution import Run
from workbench.ir import Graph, Ref
from workbench.trace import Retention, Trace

#: a wide program takes seconds an example, and an unlucky draw has thirty of them
pytestmark = pytest.mark.timeout(300)
SEEDS = st.integers(0, 1 << 20)
POLICIES = st.one_of(
    st.builds(Retention, st.sampled_from(["carried", "statistics"])),
    st.builds(Retention, st.just("none"), every=st.integers(1, 9)),
    st.builds(Retention, st.just("window"), window=st.integers(1, 12)),
    st.builds(Retention, st.just("carried"), every=st.integers(2, 5), window=st.integers(1, 5)),
)
COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.filter_too_much]}


def drawn(kind: int, seed: int) -> tuple[Graph, dict[str, np.ndarray]]:
    """A random program of scalars, of arrays, or with raw frames."""
    if kind == 2:
        return RawMaker(random.Random(seed)).make()
    return (Maker, ArrayMaker)[kind](seed).make()


def finished(graph: Graph, feeds: dict[str, np.ndarray]) -> Run | None:
    try:
        return to_end(run_of(graph, feeds))
    except ExecutionError:  # an Exit that is alive twice: other tests are about these
        return None


@pytest.mark.slow
@settings(max_examples=10, **COMMON)
@example(kind=2, seed=34266, policy=Retention("carried"), limit=200, rows=5)  # a branch index read from dropped rows
@example(kind=2, seed=713981, policy=Retention("window", window=2), limit=200, rows=5)  # the inner loop outlives
@example(kind=1, seed=3925, policy=Retention("none", every=1), limit=432, rows=2)  # activations forgotten in between
@given(kind=st.integers(0, 2), seed=SEEDS, policy=POLICIES, limit=st.integers(200, 30_000), rows=st.integers(2, 6))
def test_kept_values_are_those_of_a_whole_run(kind: int, seed: int, policy: Retention, limit: int, rows: int) -> None:
    graph, feeds = drawn(kind, seed)
    whole = finished(graph, feeds)
    assume(whole is not None and len(whole.plan.layout.frames) > 1)
    run, trace, _ = kept_run(graph, feeds, policy, limit, rows)
    to_end(run)
    for key in run.plan.layout.values:
        check_part(trace, whole.trace, Ref(*key))
    check_tables(trace, whole.trace)


@pytest.mark.slow
@settings(max_examples=10, **COMMON)
@example(kind=1, seed=407432, policy=Retention("carried"), limit=236, rows=2)  # an activation over before row 7
@given(kind=st.integers(0, 2), seed=SEEDS, policy=POLICIES, limit=st.integers(200, 30_000), rows=st.integers(2, 6))
def test_dropped_values_are_recomputed(kind: int, seed: int, policy: Retention, limit: int, rows: int) -> None:
    graph, feeds = drawn(kind, seed)
    whole = finished(graph, feeds)
    assume(whole is not None and len(whole.plan.layout.frames) > 1)
    run, trace, _ = kept_run(graph, feeds, policy, limit, rows)
    to_end(run)
    for key in run.plan.layout.values:
        ref, full = Ref(*key), whole.trace[Ref(*key)]
        if not full.frame or graph.nodes[ref.node].op == "Enter":
            continue
        wanted = dict(zip(map(tuple, full.iterations.tolist()), full.firings(), strict=True))
        for around in {path[:-1] for path in wanted}:
            mine = {p: v for p, v in wanted.items() if p[:-1] == around}
            for start, stop, step in ((0, None, 1), (1, 7, 2)):
                paths, values = values_between(run, trace, ref, start, stop, step, around)
                found = {tuple(p): v for p, v in zip(paths.tolist(), values, strict=True)}
                chosen = [p for p in mine if p[-1] in range(start, stop or 1 << 40, step)]
                assert list(found) == chosen, ref
                assert all(same(found[p], mine[p]) for p in chosen), ref


@pytest.mark.slow
@settings(max_examples=12, **COMMON)
@example(  # a loop invariant of a frame whose parent's activation is forgotten
    kind=2, seed=83, policy=Retention("window", window=7), limit=200, rows=5, jumps=[0.6035219287397727]
)
@given(
    kind=st.integers(0, 2),
    seed=SEEDS,
    policy=POLICIES,
    limit=st.integers(200, 30_000),
    rows=st.integers(2, 6),
    jumps=st.lists(st.floats(0, 1), min_size=1, max_size=4),
)
def test_going_back_and_on(kind: int, seed: int, policy: Retention, limit: int, rows: int, jumps: list[float]) -> None:
    graph, feeds = drawn(kind, seed)
    whole = finished(graph, feeds)
    assume(whole is not None and len(whole.plan.layout.frames) > 1)
    run, trace, _ = kept_run(graph, feeds, policy, limit, rows)
    end = whole.event
    for event in range(0, end, max(1, end // 5)):
        run.to_event(event)
        run.checkpoint()
    to_end(run)
    for jump in jumps:
        run.seek(int(jump * end))
        part = run_of(graph, feeds)
        part.to_event(run.event)
        for key in run.plan.layout.values:
            check_part(trace, part.trace, Ref(*key))
    to_end(run)
    for key in run.plan.layout.values:
        check_part(trace, whole.trace, Ref(*key))
    check_tables(trace, whole.trace)


@pytest.mark.slow
@settings(max_examples=10, **COMMON)
@given(kind=st.integers(0, 2), seed=SEEDS, policy=POLICIES, limit=st.integers(200, 30_000), rows=st.integers(2, 6))
@example(kind=2, seed=377, policy=Retention("carried", every=2, window=1), limit=357, rows=2)  # stretches of one row
def test_a_file_has_what_is_kept(kind: int, seed: int, policy: Retention, limit: int, rows: int) -> None:
    graph, feeds = drawn(kind, seed)
    run, trace, _ = kept_run(graph, feeds, policy, limit, rows)
    try:
        to_end(run)
    except ExecutionError:
        assume(False)
    assume(len(run.plan.layout.frames) > 1)
    with TemporaryDirectory() as folder:
        trace.save(Path(folder) / "kept.wbtrace")
        loaded = Trace.load(Path(folder) / "kept.wbtrace")
    assert loaded.dropped == trace.dropped and loaded.coverages() == trace.coverages()
    assert loaded.events() == trace.events() and loaded.branches() == trace.branches()
    for key in run.plan.layout.values:
        ours, theirs = trace[Ref(*key)], loaded[Ref(*key)]
        assert ours.iterations.tolist() == theirs.iterations.tolist(), key
        assert all(same(a, b) for a, b in zip(ours.firings(), theirs.firings(), strict=True)), key
        assert loaded.coverage(Ref(*key)) == trace.coverage(Ref(*key))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [0, 1, 2])
def test_carried_with_room_keeps_every_loop_variable_and_every_event(kind: int) -> None:
    seen = 0
    for seed in range(25):
        graph, feeds = drawn(kind, seed)
        whole = finished(graph, feeds)
        if whole is None or len(whole.plan.layout.frames) == 1:
            continue
        run, trace, _ = kept_run(graph, feeds, Retention("carried"), 1 << 24, 2)
        to_end(run)
        assert not trace.events().partial
        assert list(trace.events()) == list(whole.trace.events())
        assert trace.branches() == whole.trace.branches()
        for key, value in run.plan.layout.values.items():
            inputs = {graph.nodes[r.node].op for r in graph.nodes[value.node].inputs}
            if value.output == 0 and graph.nodes[value.node].op == "Merge" and "NextIteration" in inputs:
                assert check_part(trace, whole.trace, Ref(*key)) == len(whole.trace[Ref(*key)])
                seen += run.machine.dropped_chunks > 0
    assert seen > 5
