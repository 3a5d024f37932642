"""The second run of a graph spends under 1 % of the first run's planning time before its first instruction."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.work import Work
from workbench.execution import NEWEST_ROWS, Run, prepare_feeds
from workbench.plan import PLANS
from workbench.session import plan_for


def large(nodes: int) -> wb.Graph:
    b = wb.GraphBuilder(f"large {nodes}")
    x = b.placeholder("x", "float64", (8,))
    y = x
    for _ in range(nodes):
        y = b.add(b.multiply(y, 0.5), x)
    return b.build({"y": y})


@pytest.mark.parametrize("statistics", [False, True])
def test_the_second_run_finds_its_plan(statistics):
    graph, fed = large(1000), {"x": np.ones(8)}

    def prepared() -> tuple[int, object]:
        arrays = prepare_feeds(graph, fed)
        with Work() as work:
            plan = plan_for(graph, arrays, None, statistics)
        return work.calls, plan

    first, plan = prepared()
    before = PLANS.stats()
    again = [prepared() for _ in range(5)]
    assert all(found is plan for _, found in again)
    assert PLANS.stats().hits == before.hits + 5 and PLANS.stats().misses == before.misses
    assert max(calls for calls, _ in again) < 0.01 * first


@pytest.mark.slow
@pytest.mark.parametrize(("trace", "nodes"), [("off", 2001), ("all", 2003), ("stats", 2005)])
def test_a_second_session_begins_at_once(trace, nodes):
    """From the call to a session that stands in front of its first node: feeds, plan, rows and their first snapshot."""
    graph, fed = large(nodes), {"x": np.ones(8)}
    calls = []
    for _ in range(3):
        with Work() as work:
            session = wb.Session(graph, fed, trace=trace)
        calls.append(work.calls)
        assert session.position.event == 0
        session.close()
    assert max(calls[1:]) < 0.01 * calls[0], calls


def test_a_second_call_of_run_begins_at_once():
    graph, fed = large(2002), {"x": np.ones(8)}
    with Work() as whole:
        first = graph.run(fed)["y"]
    for _ in range(3):
        with Work() as again:
            arrays = prepare_feeds(graph, fed)
            run = Run(plan_for(graph, arrays, None), arrays, NEWEST_ROWS)
        assert run.event == 0
        assert again.calls < 0.01 * whole.calls, (again.calls, whole.calls)
    np.testing.assert_array_equal(graph.run(fed)["y"], first)
