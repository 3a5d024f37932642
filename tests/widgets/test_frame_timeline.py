"""The timeline: every bar stands over the events that it is about, in long runs too."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.widgets.browser_side import open_view, until
from tests.widgets.graphs import EVIL, counter, evil, flat, nested, newton
from tests.work import Work
from workbench.widgets import FrameTimeline
from workbench.widgets.control_flow.timeline_model import MAX_BARS, span_of, timeline_model
from workbench.widgets.live.selection import Moment, Selection
from workbench.widgets.series.event_clock import EventClock

pytestmark = pytest.mark.usefixtures("nothing_is_left")


def check(session: wb.Session) -> None:
    """Spans of all iterations and every firing against the table of events."""
    trace = session.trace
    table = trace.events()
    clock = EventClock(trace, session.snapshot().event)
    assert clock.exact and clock.total == len(table)
    tags = [table.tag(k) for k in range(len(table))]
    spans: dict[tuple, tuple[int, int]] = {}
    for number, tag in enumerate(tags):
        for depth in range(1, len(tag.frame) + 1):
            key = (tag.frame[:depth], tag.iteration[:depth])
            spans[key] = (spans.get(key, (number, 0))[0], number + 1)
    for (frame, iteration), span in spans.items():
        assert span_of(clock, frame, iteration) == span
    low = 0.0
    while low < clock.total:
        model = timeline_model(clock, (low, low + 200.0))
        if model["lanes"][-1]["kind"] == "firings":
            for bar in model["lanes"][-1]["bars"]:
                tag = tags[bar["begin"]]
                assert (tag.node, tag.frame, tag.iteration) == (bar["node"], bar["frame"], bar["iteration"])
        low += 200.0


@pytest.mark.parametrize("n", [0, 1, 6])
def test_events_of_nested_loops_and_branches(n):
    with wb.Session(nested(), {"n": n}) as session:
        session.run()
        check(session)


def test_at_every_step_of_a_run():
    with wb.Session(nested(), {"n": 3}) as session:
        while session.state != "finished":
            session.step()
            check(session)


def test_a_long_run_stays_within_its_bars():
    with wb.Session(counter(400_000.0), {"start": 0.0}) as session:
        session.run()
        with Work() as work:
            clock = EventClock(session.trace, session.snapshot().event)
            for window in (None, (1e6, 2e6), (1e6, 1e6 + 300)):
                bars = [b for lane in timeline_model(clock, window)["lanes"] for b in lane["bars"]]
                assert 0 < len(bars) <= MAX_BARS
        assert work.calls < 100_000, "a call for each iteration would be many more"
        groups = timeline_model(clock)["lanes"][0]["bars"]
        assert groups[1]["kind"] == "group" and groups[-1]["begin"] + groups[-1]["length"] <= clock.total
        ends = [b["begin"] + b["length"] for b in groups if b["kind"] == "group"]
        assert ends[:-1] == [b["begin"] for b in groups if b["kind"] == "group"][1:], "groups leave no gaps"


@pytest.mark.parametrize("keep", [wb.Retention("window", window=5000, memory=1 << 20), "off", "carried"])
def test_rows_that_are_not_kept(keep):
    with wb.Session(counter(50_000.0), {"start": 0.0}, trace=keep) as session:
        session.run()
        clock = EventClock(session.trace, session.snapshot().event)
        assert clock.total == session.snapshot().event
        span = span_of(clock, ("while",), (49_999,))
        assert span is not None and span[1] <= clock.total and span[1] - span[0] == 9
        view = FrameTimeline(session)
        assert view.figure.data
        view.close()


def test_a_click_looks_at_the_iteration_and_the_node():
    with wb.Session(nested(), {"n": 4}) as session:
        session.run()
        selection = Selection()
        view = FrameTimeline(session, selection=selection)
        view.look_at(("outer", "inner"), (2, 1))
        assert selection.moment == Moment(("outer", "inner"), (2, 1)) and selection.node is None
        begin, end = span_of(view._clock, ("outer", "inner"), (2, 1))
        box = view.figure.layout.shapes[0]
        assert (box.x0, box.x1) == (begin, end)
        view.look_at(("outer",), (1,), "outer/add")
        assert selection.node == "outer/add"
        view.close()


def test_windows_are_kept_within_the_run():
    with wb.Session(nested(), {"n": 40}) as session:
        session.run()
        view = FrameTimeline(session)
        total = session.snapshot().event
        view.zoom((1e9, -1e9))
        assert view.window is None
        view.zoom((100.0, 300.0))
        assert view.window == (100.0, 300.0) and tuple(view.figure.layout.xaxis.range) == (100.0, 300.0)
        assert len(view.figure.data[3].x) == 200, "close up, every firing has its bar"
        view.move(by=1e6)
        assert view.window == (total - 200.0, total)
        view.move(factor=1e9)
        assert view.window is None
        view.move(factor=0.25)
        assert view.window[1] == total
        view.close()


def test_it_takes_whatever_there_is(tmp_path):
    with wb.Session(evil(), {f"x{EVIL}": 0.0}) as session:
        for source in (session.graph, session):
            view = FrameTimeline(source)
            assert "run yet" in str(view.figure.layout.annotations) or view.figure.data[1].x is not None
            view.close()
        session.run()
        view = FrameTimeline(session.trace)
        page = view.to_html(tmp_path / "timeline.html").read_text(encoding="utf-8")
        assert "<img src=x" not in page and "node executions" in page
        view.close()


def test_a_graph_without_loops():
    with wb.Session(flat(), {"x": 1.0}) as session:
        session.run()
        view = FrameTimeline(session)
        assert len(view.figure.data[3].x) == len(session.trace.events())
        view.close()


def test_live_while_it_runs():
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        view = FrameTimeline(session)
        open_view(view)
        session.run()
        assert until(lambda: np.size(view.live.figure.data[1].x) == len(session.trace["x"]))
        view.close()


def test_its_buttons_move_and_zoom():
    with wb.Session(newton(), {"a": 2e4, "x0": 1.0}) as session:
        session.run()
        view = FrameTimeline(session, selection=Selection())
        values = [o["value"] for c in view.controls.status["controls"] for o in c["options"]]
        press = {v: (lambda v=v: view.controls._browser_says(None, {"kind": "act", "value": v}, [])) for v in values}
        press["in"]()
        low, high = view.window
        press["earlier"]()
        assert view.window[0] < low and view.window[1] - view.window[0] == pytest.approx(high - low)
        press["later"]()
        assert view.window == pytest.approx((low, high))
        press["out"]()
        press["all"]()
        assert view.window is None
        view.selection.look_at(Moment(("while",), (2,)))
        press["now"]()
        moves = {"earlier", "later", "in", "out", "all", "now", "previous", "next", "up", "down"}
        assert view.selection.moment is None and set(press) == moves
        view._pressed("x", "no word")
        view.close()


def test_bars_are_reached_by_buttons():
    with wb.Session(nested(), {"n": 4}) as session:
        session.run()
        view = FrameTimeline(session)
        lanes = [lane["name"] for lane in view._part()["lanes"]]
        assert lanes[:2] == ["outer", "inner"]
        view.step()
        assert view.selection.moment.frame == ("outer", "inner"), "the lowest lane of a loop, at its newest bar"
        last = view.selection.moment.iteration
        view._pressed("bar", "previous")
        assert view.selection.moment.frame == ("outer", "inner") and view.selection.moment.iteration < last
        view._pressed("bar", "next")
        view._pressed("bar", "next")  # there is none further on
        assert view.selection.moment.iteration == last
        view._pressed("bar", "up")
        assert view.selection.moment == Moment(("outer",), last[:1]), "the bar above is the one around"
        view._pressed("bar", "down")
        assert view.selection.moment.frame == ("outer", "inner")
        seen = set()
        for _ in range(40):
            view._pressed("bar", "previous")
            seen.add(view.selection.moment.iteration)
        assert len(seen) > 3 and view.selection.moment.iteration == min(seen)
        view.close()
    with wb.Session(newton(), {"a": 2.0, "x0": 1.0}) as session:
        view = FrameTimeline(session)
        view._pressed("bar", "next")  # nothing has run
        assert view.selection.moment is None
        view.close()
