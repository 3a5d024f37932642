"""Plans, executor and trace against the token interpreter, on random graphs; a failing graph is printed as text."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import HealthCheck, given, note, reject, settings
from hypothesis import strategies as st

from tests.plan.random_graphs import Maker
from tests.plan.reference import Reference
from workbench.errors import DeadValueError, FrameError
from workbench.execution import Run, prepare_feeds
from workbench.graph import Graph, Ref
from workbench.graph.types import TensorType
from workbench.plan import make_plan, signature_of

SETTINGS = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)


def plannable(seed: int) -> tuple[Graph, dict[str, np.ndarray]]:
    """A random program; one whose loop may be entered by a dead raw value does not nest and is passed over."""
    graph, feeds = Maker(seed).make()
    note(graph.text())
    try:
        run_of(graph, feeds)
    except FrameError as error:
        assert error.slug == "frame-not-nesting" and "Merge" in {n.op for n in graph.nodes.values()}
        reject()
    return graph, feeds


def run_of(graph: Graph, feeds: dict[str, np.ndarray], budget: int = 1 << 28) -> Run:
    arrays = prepare_feeds(graph, feeds)
    plan = make_plan(graph, graph.outputs, signature_of(graph, {n: TensorType.of(a) for n, a in arrays.items()}))
    return Run(plan, arrays, budget)


def same(a: object, b: object) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def check_against_reference(run: Run, reference: Reference) -> None:
    """Every firing with its tag and value, and the order of events."""
    trace, graph = run.trace, run.plan.graph
    for name, index in run.plan.layout.values:
        series = trace[Ref(name, index)]
        ours = dict(zip(map(tuple, series.iterations.tolist()), series.firings(), strict=True))
        theirs = dict(reference.firings[Ref(name, index)])
        assert ours.keys() == theirs.keys(), f"{name}:{index} fired at {sorted(ours)}, expected {sorted(theirs)}"
        for path, value in theirs.items():
            assert same(ours[path], value), f"{name}:{index} at {path} is {ours[path]!r}, expected {value!r}"
    missing = {r.node for r, f in reference.firings.items() if f} - {n.name for n in run.plan.layout.nodes}
    assert not missing, f"fired in the reference but not planned: {missing}"
    events: list[tuple[str, tuple[int, ...]]] = [(t.node, t.iteration) for t in trace.events()]
    assert Counter(events) == Counter(reference.events)
    assert run.event == len(reference.events)
    check_order(graph, events)


def check_order(graph: Graph, events: list[tuple[str, tuple[int, ...]]]) -> None:
    """Nothing fires before what it reads."""
    at = {event: k for k, event in enumerate(events)}
    for (name, path), k in at.items():
        node = graph.nodes[name]
        for source in {*(r.node for r in node.inputs), *node.control}:
            other = graph.nodes[source]
            if other.op == "NextIteration":
                there = (*path[:-1], path[-1] - 1)
                if path[-1] == 0:
                    continue
            elif node.op == "Enter":
                there = path[:-1]
            elif node.op == "Exit":  # the last iteration of the frame that it leaves
                inner = [p for n, p in events if n == source and p[:-1] == path]
                there = max(inner)
            else:
                there = path
            if (source, there) in at and node.op != "Merge":
                assert at[source, there] < k, f"{name} at {path} fired before {source}"


@SETTINGS
@given(seed=st.integers(0, 1 << 32))
def test_random_graphs(seed: int) -> None:
    graph, feeds = plannable(seed)
    reference = Reference(graph, feeds, list(graph.outputs.values())).run()
    run = run_of(graph, feeds)
    while run.go() != "halt":
        pass
    check_against_reference(run, reference)
    for name, ref in graph.outputs.items():
        expected = reference.firings[ref]
        if expected:
            assert same(run.outputs()[name], expected[-1][1])
    if not all(reference.firings[r] for r in graph.outputs.values()):
        try:
            run.outputs()
        except DeadValueError as error:
            assert error.slug == "dead-value"
        else:
            raise AssertionError("a dead output was given out")


@SETTINGS
@given(seed=st.integers(0, 1 << 32))
def test_stepping_is_running(seed: int) -> None:
    """Event by event gives the same trace and the same events, in the same order, as at full speed."""
    graph, feeds = plannable(seed)
    fast, slow = run_of(graph, feeds), run_of(graph, feeds)
    while fast.go() != "halt":
        pass
    visited = []
    while not slow.finished:
        position = slow.position()
        if position.node is not None:
            assert position.event == len(visited) == slow.event
            visited.append((position.node, position.iteration))
        slow.go(slow.event + 1, exact=True, loud=False)
    assert visited == [(t.node, t.iteration) for t in fast.trace.events()]
    assert fast.event == slow.event
    for key in fast.plan.layout.values:
        for a, b in zip(fast.trace[Ref(*key)].firings(), slow.trace[Ref(*key)].firings(), strict=True):
            assert same(a, b)


@SETTINGS
@given(seed=st.integers(0, 1 << 32), where=st.floats(0, 1))
def test_replay_is_exact(seed: int, where: float) -> None:
    """Any earlier state, reached by replay, has the trace that it had."""
    graph, feeds = plannable(seed)
    run, fresh = run_of(graph, feeds), run_of(graph, feeds)
    while run.go() != "halt":
        pass
    target = int(where * run.event)
    run.seek(target)
    fresh.to_event(target)
    assert run.event == fresh.event == target and run.position() == fresh.position()
    for key in run.plan.layout.values:
        for a, b in zip(run.trace[Ref(*key)].firings(), fresh.trace[Ref(*key)].firings(), strict=True):
            assert same(a, b)
