"""A run held against the token interpreter: values of all firings, tags, number and order of events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from tests.plan.reference import Reference
from workbench.execution import Run, prepare_feeds
from workbench.ir import Graph, Ref
from workbench.ir.types import TensorType
from workbench.plan import make_plan, signature_of
from workbench.plan.schedule.split_frames import shown

Equal = Callable[[object, object], bool]


def run_of(graph: Graph, feeds: dict[str, np.ndarray], budget: int = 1 << 28) -> Run:
    arrays = prepare_feeds(graph, feeds)
    plan = make_plan(graph, graph.outputs, signature_of(graph, {n: TensorType.of(a) for n, a in arrays.items()}))
    return Run(plan, arrays, budget)


def same(a: object, b: object) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def same_numbers(a: object, b: object) -> bool:
    """Bit for bit, signed zeros too; only sign and payload of a NaN, which IEEE 754 leaves open, may differ."""
    a, b = np.asarray(a), np.asarray(b)
    if same(a, b):
        return True
    if a.dtype != b.dtype or a.shape != b.shape or a.dtype.kind != "f":
        return False
    none = np.isnan(a)
    return np.array_equal(none, np.isnan(b)) and a[~none].tobytes() == b[~none].tobytes()


def check_against_reference(run: Run, reference: Reference, equal: Equal = same) -> None:
    """Every firing with its tag and value, and the order of events.

    Of a frame that is scheduled in parts (plan: parts) the firings of a loop invariant in iterations that only other
    parts have are no events.
    """
    trace, graph = run.trace, run.plan.graph
    split = {shown(path) for path in run.plan.blocks if path != shown(path)}
    loose = {
        n.name
        for n in graph.nodes.values()
        if n.op == "Enter" and n.attrs["is_constant"] and graph.frame_of(n.name) in split
    }
    for name, index in run.plan.layout.values:
        series = trace[Ref(name, index)]
        ours = dict(zip(map(tuple, series.iterations.tolist()), series.firings(), strict=True))
        theirs = dict(reference.firings[Ref(name, index)])
        assert ours.keys() == theirs.keys(), f"{name}:{index} fired at {sorted(ours)}, expected {sorted(theirs)}"
        for path, value in theirs.items():
            assert equal(ours[path], value), f"{name}:{index} at {path} is {ours[path]!r}, expected {value!r}"
    missing = {r.node for r, f in reference.firings.items() if f} - {n.name for n in run.plan.layout.nodes}
    assert not missing, f"fired in the reference but not planned: {missing}"
    events: list[tuple[str, tuple[int, ...]]] = [(t.node, t.iteration) for t in trace.events()]
    expected = [event for event in reference.events if event[0] not in loose]
    assert Counter(event for event in events if event[0] not in loose) == Counter(expected)
    assert run.event == len(events)
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
                if not inner:  # another name of a loop invariant of a frame that is not started
                    continue
                there = max(inner)
            else:
                there = path
            if (source, there) in at and node.op != "Merge":
                assert at[source, there] < k, f"{name} at {path} fired before {source}"
