"""Bytes that a recorded event takes, where its place in the rows says which node and iteration it is of."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.execution import Run, prepare_feeds
from workbench.session import DEFAULT_BUDGET, plan_for

MOST = 8.5  # bytes


def newton() -> wb.Graph:
    b = wb.GraphBuilder("newton")
    a, n = b.placeholder("a", "float64"), b.placeholder("n", "int64")
    x, _ = b.while_loop(lambda x, i: i < n, lambda x, i: ((x + a / x) * 0.5, i + 1), [a, 0])
    return b.build({"x": x})


def nested() -> wb.Graph:
    b = wb.GraphBuilder("nested")
    a, n = b.placeholder("a", "float64"), b.placeholder("n", "int64")

    def outer(y, i):
        y, _ = b.while_loop(lambda y, j: j < 100, lambda y, j: (y * a + 1.0, j + 1), [y, 0], name="inner")
        return y, i + 1

    y, _ = b.while_loop(lambda y, i: i < n, outer, [a, 0], name="outer")
    return b.build({"y": y})


@pytest.mark.parametrize(
    ("make", "trips", "nodes"),
    [
        (newton, 1_000_000, "while/divide while/add while/multiply while/add_1 while/less"),
        (nested, 40_000, "inner/multiply inner/add inner/add_1 inner/less"),
    ],
)
def test_bytes_an_event(make, trips, nodes):
    """All memory of the trace, chunks in use included, over the values that were computed; and over all events.

    Control flow (Merge, Switch, NextIteration ...) is recorded by the values that it passes on, so the second figure is
    far lower; the first one is what is stored.
    """
    graph = make()
    feeds = prepare_feeds(graph, {"a": 0.9, "n": trips})
    run = Run(plan_for(graph, feeds, None), feeds, DEFAULT_BUDGET)
    while run.go() != "halt":
        pass
    assert not run.trace.dropped
    known = {n.name for n in run.plan.layout.nodes}
    found = [next(k for k in known if k.endswith(name)) for name in nodes.split()]
    computed = sum(run.trace.count(name) for name in found)
    assert computed >= len(found) * trips
    assert run.view.bytes / computed <= MOST, f"{run.view.bytes / computed:.2f} bytes a computed value"
    assert run.view.bytes / run.event <= MOST / 2, f"{run.view.bytes / run.event:.2f} bytes an event"
