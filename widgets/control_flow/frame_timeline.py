"""Frames, iterations and node executions as lanes over the events of a run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets

from workbench.errors import WorkbenchError
from workbench.text import harmless
from workbench.trace.source import RowsGone
from workbench.widgets.base.figure.figure_view import FigureView
from workbench.widgets.base.figure.point_event import PointEvent
from workbench.widgets.base.json_widget import Controls
from workbench.widgets.base.spec import Spec
from workbench.widgets.control_flow.timeline_model import span_of, timeline_model
from workbench.widgets.control_flow.timeline_spec import timeline_spec
from workbench.widgets.live.selection import Moment, Selection
from workbench.widgets.live.view_source import ViewSource, is_running
from workbench.widgets.series.event_clock import EventClock
from workbench.widgets.text.loop_names import place_words
from workbench.widgets.text.numerals import numeral

if TYPE_CHECKING:
    from workbench.widgets.live.view_source import Viewable

#: a look at the rows takes so much of the time at most; while the session runs, less
SHARE, SHARE_RUNNING = 0.1, 0.02
#: one that is quicker is taken at every stop
QUICK_S = 0.03
#: groups of buttons: name, label, and (value, text, tooltip) of each
BUTTONS = (
    ("move", "Move", (("earlier", "\u25c2", "Earlier events"), ("later", "\u25b8", "Later events"))),
    ("zoom", "Zoom", (("in", "+", "Zoom in"), ("out", "\u2212", "Zoom out"), ("all", "all", "Show the whole run"))),
    (
        "bar",
        "Bars",
        (
            ("previous", "\u2190", "Previous bar"),
            ("next", "\u2192", "Next bar"),
            ("up", "\u2191", "Lane above"),
            ("down", "\u2193", "Lane below"),
        ),
    ),
    ("time", "Time", (("now", "now", "Show the newest state in all views"),)),
)


class FrameTimeline(FigureView):
    """Frames, iterations and node executions as lanes over the events of a run; nested frames are nested lanes.

    The width of a bar is its number of events: a trace holds no clock times. A click on an iteration shows it in all
    views, a click on a firing also selects the node. Zooming reads the shown part again, in at most 1,000 bars.

    Parameters
    ----------
    source : Session or Trace
        The run.
    selection : Selection, optional
        A selection to share.

    Attributes
    ----------
    window : tuple of float, or None
        The part that is shown, in events; None for the whole run.

    Examples
    --------
    >>> timeline = wb.widgets.FrameTimeline(session)
    >>> timeline.zoom((10, 30))
    >>> timeline.window
    (10.0, 30.0)
    """

    title = "Timeline"

    def __init__(self, source: ViewSource | Viewable, *, selection: Selection | None = None) -> None:
        self.source = source if isinstance(source, ViewSource) else ViewSource(source)
        self.window: tuple[float, float] | None = None
        self._clock: EventClock | None = None
        self._seen: Any = None
        self._looked, self._took = float("-inf"), 0.0
        self._stale = False
        self._cursor: tuple[int, float] | None = None  # lane and middle of the bar that the buttons have reached
        self._drawn_part: tuple[Any, dict[str, Any]] = (None, {})
        super().__init__(self.source, selection)

    # -- model ------------------------------------------------------------------------------------------------------
    def model(self, snapshot: Any) -> dict[str, Any]:
        self._look(snapshot)
        moment = self.selection.moment
        running = is_running(snapshot)
        try:
            model = self._part()
        except (WorkbenchError, LookupError, ValueError, RowsGone):  # rows were dropped since the clock was made
            model = self._drawn_part[1] or timeline_model(None)
            if not running:
                self._clock = self._seen = None
                self._look(snapshot)
                model = self._part()
        return {
            **model,
            "selection": None if moment is None else span_of(self._clock, moment.frame, moment.iteration),
            "looking": "" if moment is None else place_words(self.source.graph, moment.frame, moment.iteration),
            "selected": self.selection.node,
            "now": None if snapshot is None or running else int(snapshot.event),
            "whole": self.window is None,
        }

    def _part(self) -> dict[str, Any]:
        """The bars of the window; made once for each clock."""
        if self._drawn_part[0] != (self._clock, self.window):
            self._drawn_part = ((self._clock, self.window), timeline_model(self._clock, self.window))
        return self._drawn_part[1]

    def _look(self, snapshot: Any) -> None:
        """Measure the rows anew if there are new ones, within the share of the time that this may take."""
        trace, event = self.source.trace, getattr(snapshot, "event", None)
        if trace is None:
            return
        running = is_running(snapshot)
        seen = (id(trace), event, trace.source.revision, running)
        wait = 0.0 if self._took < QUICK_S and not running else self._took / (SHARE_RUNNING if running else SHARE)
        self._stale = seen != self._seen
        if not self._stale or (self._clock is not None and time.monotonic() - self._looked < wait):
            return
        started = time.monotonic()
        try:
            self._clock = EventClock(trace, event, live=running)
            self._seen, self._stale = seen, False
        except WorkbenchError:  # it changes faster than it can be read: the next look tries again
            pass
        self._looked = time.monotonic()
        self._took = self._looked - started

    @property
    def behind(self) -> bool:
        return self._stale

    def spec(self, model: dict[str, Any]) -> Spec:
        return timeline_spec(model)

    # -- zoom and clicks --------------------------------------------------------------------------------------------
    def zoom(self, window: tuple[float, float] | None) -> None:
        """Show a part of the run; from any thread.

        Parameters
        ----------
        window : tuple of float, or None
            First and last event; None for the whole run.
        """
        window = self._within(window)
        if window != self.window:
            self.window = window
            self.update_now()

    def _within(self, window: tuple[float, float] | None) -> tuple[float, float] | None:
        """The part of a window that there is; None where that is the whole run, or nothing."""
        if window is None:
            return None
        low, high = sorted((float(window[0]), float(window[1])))
        total = float(self._clock.total) if self._clock is not None else 1.0
        low, high = max(0.0, low), min(total, high)
        return (low, high) if high - low >= 1 and (low > 0 or high < total) else None

    def _ranged(self, shown: tuple[float, float] | None) -> None:
        self._doubt("xaxis.range")  # the browser may show more than there is
        self.window = self._within(shown)
        self.update_now()

    def move(self, by: float = 0.0, factor: float = 1.0) -> None:
        """Move or scale the part that is shown.

        Parameters
        ----------
        by : float, default 0.0
            Distance to move, in widths of the window.
        factor : float, default 1.0
            Factor of the width, about the middle of the window.
        """
        total = float(self._clock.total) if self._clock is not None else 1.0
        low, high = self.window or (0.0, total)
        wide = min(max((high - low) * factor, 8.0), total)
        middle = (low + high) / 2 + by * (high - low)
        if factor < 1 and self.window is None:  # into the newest part, where the run is
            middle = total - wide / 2
        low = min(max(0.0, middle - wide / 2), max(0.0, total - wide))
        self.zoom((low, low + wide))

    def _clicked(self, event: PointEvent) -> None:
        if event.customdata is not None:
            frame, iteration, node = event.customdata[:3]
            self.look_at(tuple(frame.split("\n")) if frame else (), tuple(int(i) for i in iteration), str(node))

    def look_at(self, frame: tuple[str, ...], iteration: tuple[int, ...], node: str = "") -> None:
        """Show an iteration in all views and select a node, as a click on a bar does."""
        moment = Moment(frame, iteration) if frame else None
        if node:
            self.selection.look_at(moment, node=node)
        else:
            self.selection.look_at(moment)

    def step(self, along: int = 0, down: int = 0) -> None:
        """Move the selection from bar to bar; the first call selects the newest bar of the innermost loop.

        Parameters
        ----------
        along : int, default 0
            Number of bars to move forward in the lane; negative moves back.
        down : int, default 0
            Number of lanes to move down; negative moves up.
        """
        bars = [[b for b in lane["bars"] if b["kind"] != "activation"] for lane in self._part()["lanes"]]
        lanes = [k for k, lane in enumerate(bars) if lane]
        if not lanes:
            return
        if self._cursor is None:
            loops = [k for k in lanes if bars[k][0]["kind"] != "firing"]
            lane = (loops or lanes)[-1]
            at = len(bars[lane]) - 1
        else:
            lane, place = self._cursor
            order = sorted(lanes, key=lambda k: abs(k - lane))
            lane = lanes[min(max(lanes.index(order[0]) + down, 0), len(lanes) - 1)]
            ends = [(b["begin"], b["begin"] + b["length"]) for b in bars[lane]]
            near = [(max(a - place, place - z, 0), abs((a + z) / 2 - place)) for a, z in ends]  # around it, else beside
            at = min(max(near.index(min(near)) + along, 0), len(near) - 1)
        bar = bars[lane][at]
        self._cursor = lane, bar["begin"] + bar["length"] / 2
        self.look_at(tuple(bar["frame"]), tuple(bar["iteration"]), bar["node"])

    def arrange(self) -> tuple[ipywidgets.Widget, ...]:
        self.controls = Controls(
            self._pressed,
            label="What the timeline shows",
            error="",
            controls=[
                {
                    "name": name,
                    "type": "press",
                    "label": label,
                    "value": None,
                    "options": [{"value": v, "text": t, "tip": tip} for v, t, tip in buttons],
                }
                for name, label, buttons in BUTTONS
            ],
        )
        return (self.controls, self.live)

    def _pressed(self, _name: str, value: Any) -> None:
        actions: dict[Any, Callable[[], None]] = {
            "earlier": lambda: self.move(by=-0.5),
            "later": lambda: self.move(by=0.5),
            "in": lambda: self.move(factor=0.25),
            "out": lambda: self.move(factor=4.0),
            "all": lambda: self.zoom(None),
            "now": lambda: self.selection.look_at(None),
            "previous": lambda: self.step(-1),
            "next": lambda: self.step(1),
            "up": lambda: self.step(down=-1),
            "down": lambda: self.step(down=1),
        }
        if value in actions:
            actions[value]()

    @harmless
    def __repr__(self) -> str:
        events = 0 if self._clock is None else self._clock.total
        return f"<FrameTimeline of {self.source.graph.name!r}: {numeral(events)} events>"
