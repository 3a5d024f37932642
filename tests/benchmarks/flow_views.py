"""Cost of the control flow, timeline and value views: at 1e7 events standing still, and beside a loop at full speed.

python -m tests.benchmarks.flow_views
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import workbench as wb
from workbench.widgets import BreakpointTable, CallStackView, ControlFlowView, FrameTimeline, ValueInspector
from workbench.widgets.series.event_clock import EventClock

WINDOWS = (None, (5e6, 6e6), (5e6, 5e6 + 300.0))
VIEWS: dict[str, Callable[[Any], Any]] = {
    "timeline": FrameTimeline,
    "call stack": CallStackView,
    "breakpoints": BreakpointTable,
    "value": ValueInspector,
    "decisions": ControlFlowView,
    "tokens": lambda s: ControlFlowView(s, section="tokens"),
    "dead paths": lambda s: ControlFlowView(s, section="dead paths"),
}


def branching(limit: float) -> wb.Graph:
    """A loop whose branch goes the other way in every iteration; about 18 events each."""
    b = wb.GraphBuilder("branching")
    start = b.placeholder("start", "float64", ())

    def body(i: Any) -> Any:
        return b.cond(np.remainder(i, 2.0) < 1.0, lambda: i + 1.0, lambda: i * 1.0 + 1.0)

    return b.build({"i": b.while_loop(lambda i: i < limit, body, start)})


def milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - started)


def main() -> None:
    with wb.Session(branching(7e5), {"start": 0.0}) as session:
        session.run()
        event = session.snapshot().event
        took = milliseconds(lambda: EventClock(session.trace, event))
        print(f"{event:,} events; where each iteration is: {took:.0f} ms")
        timeline = FrameTimeline(session)
        for window in WINDOWS:
            timeline.window = window
            took = milliseconds(lambda: timeline.spec(timeline.model(session.snapshot())))
            bars = sum(len(t["x"]) for t in timeline.spec(timeline.model(session.snapshot()))["data"])
            print(f"  window {window}: {took:.0f} ms, {bars} bars")
        timeline.close()
        for name, make in VIEWS.items():
            view = make(session)
            print(f"  {name}: {milliseconds(lambda view=view: view.show(session.snapshot())):.0f} ms")
            view.close()
    with wb.Session(branching(np.inf), {"start": 0.0}) as session:
        views = {name: make(session) for name, make in VIEWS.items()}
        session.run(wait=False)
        time.sleep(1.0)
        print("milliseconds of an update while the loop runs: median and largest of 50")
        for name, view in views.items():
            times = []
            for _ in range(50):
                times.append(milliseconds(lambda view=view: view.show(session.snapshot())))
                time.sleep(0.02)
            print(f"  {name}: {np.median(times):.1f}, {max(times):.0f}")
        session.pause()
        for view in views.values():
            view.close()


if __name__ == "__main__":
    main()
