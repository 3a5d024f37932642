"""Cost of recording one event, against appending it to a list.

An event of the workbench is one firing of a node, with its value and its tag (node and iteration path). Its cost is
taken high: the whole traced run, computing included, over its events. The list gets (op, frame, iteration, value)
tuples, the loop around it taken off.
"""

from __future__ import annotations

import time

import pytest

from tests.benchmarks import ours
from tests.benchmarks.timing import Timed, interleaved
from tests.benchmarks.wanted import met
from tests.benchmarks.workloads import WORKLOADS

pytestmark = pytest.mark.bench
TRIPS, APPENDS = 1_000_000, 500_000


def appended() -> Timed:
    """Seconds of APPENDS appends of tuples with a value of their own each."""
    began = time.perf_counter()
    for k in range(APPENDS):
        k * 0.5  # noqa: B018  the value, made here too
    empty = time.perf_counter() - began
    events: list[tuple[int, int, int, float]] = []
    began = time.perf_counter()
    for k in range(APPENDS):
        events.append((3, 1, k, k * 0.5))
    return Timed(time.perf_counter() - began - empty)


def test_event_cost(capsys: pytest.CaptureFixture[str]) -> None:
    workload = WORKLOADS["newton"]
    with ours.session(workload.graph(), workload.feeds(TRIPS), "all") as session:
        session.run()
        events = session.snapshot().event
        computed = sum(len(session.trace[f"while/{name}"]) for name in ("divide", "add", "multiply", "add_1", "less"))
    seconds = interleaved(
        {
            "list": appended,
            "traced": ours.running(workload, "all", TRIPS),
            "untraced": ours.running(workload, "off", TRIPS),
        }
    )
    each = {
        "list": seconds["list"] / APPENDS,
        "event": seconds["traced"] / events,
        "computed": seconds["traced"] / computed,
    }
    added = (seconds["traced"] - seconds["untraced"]) / computed
    with capsys.disabled():
        print(f"\ntrace store, newton: {events / TRIPS:.0f} events an iteration, {computed / TRIPS:.0f} computed")
        print(f"  list.append of (op, frame, iteration, value)   {each['list'] * 1e9:7.2f} ns")
        print(f"  traced run, each event, computing included     {each['event'] * 1e9:7.2f} ns")
        print(f"  traced run, each computed value, likewise      {each['computed'] * 1e9:7.2f} ns")
        print(f"  added by tracing, each computed value          {added * 1e9:7.2f} ns")
        ratio = each["list"] / each["event"]
        print(f"  {met(ratio >= 100)}  {ratio:8.2f}  an event against list.append: at least 100")
    assert events > computed
