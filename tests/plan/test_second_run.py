"""The second run of a graph spends under 1 % of the first run's planning time before its first instruction."""

from __future__ import annotations

import time

import numpy as np
import pytest

import workbench as wb
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

    def prepared() -> tuple[float, object]:
        arrays = prepare_feeds(graph, fed)
        began = time.perf_counter()
        plan = plan_for(graph, arrays, None, statistics)
        return time.perf_counter() - began, plan

    first, plan = prepared()
    before = PLANS.stats()
    again = [prepared() for _ in range(5)]
    assert all(found is plan for _, found in again)
    assert PLANS.stats().hits == before.hits + 5 and PLANS.stats().misses == before.misses
    assert min(seconds for seconds, _ in again) < 0.01 * first


@pytest.mark.parametrize(("trace", "nodes"), [("off", 2001), ("all", 2003), ("stats", 2005)])
def test_a_second_session_begins_at_once(trace, nodes):
    """From the call to a session that stands in front of its first node: feeds, plan, rows and their first snapshot."""
    graph, fed = large(nodes), {"x": np.ones(8)}
    seconds = []
    for _ in range(6):
        began = time.perf_counter()
        with wb.Session(graph, fed, trace=trace) as session:
            seconds.append(time.perf_counter() - began)
            assert session.position.event == 0
    assert min(seconds[1:]) < 0.01 * seconds[0], seconds


def test_a_second_call_of_run_begins_at_once():
    graph, fed = large(2002), {"x": np.ones(8)}
    began = time.perf_counter()
    first = graph.run(fed)["y"]
    whole = time.perf_counter() - began
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        arrays = prepare_feeds(graph, fed)
        run = Run(plan_for(graph, arrays, None), arrays, NEWEST_ROWS)
        seconds.append(time.perf_counter() - began)
        assert run.event == 0
    assert min(seconds) < 0.01 * whole, (seconds, whole)
    np.testing.assert_array_equal(graph.run(fed)["y"], first)
