"""Base class of views with a figure: a source (session, trace or graph), live updates, plain figures, HTML export."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import ipywidgets
import plotly.graph_objects as go

from workbench.widgets.base.excuse import Excuse
from workbench.widgets.base.figure.figure_diff import AXES, FigureDiff
from workbench.widgets.base.figure.live_figure import LiveFigure
from workbench.widgets.base.figure.point_event import PointEvent
from workbench.widgets.base.figure_export import Face
from workbench.widgets.base.spec import Spec, plain_figure
from workbench.widgets.base.stage.stage import Staged
from workbench.widgets.live.live_view import LiveView
from workbench.widgets.live.selection import Selection


class FigureView(Staged, Face, LiveView, ipywidgets.VBox):
    """Base of views with a figure. A subclass defines ``model`` and ``spec``, and ``refresh`` for its other widgets."""

    title = "View"
    live: LiveFigure
    _excuse: Excuse | None = None

    def __init__(self, source: Any, selection: Selection | None = None) -> None:
        self._looks_at(source, selection)
        self._show_lock = threading.RLock()
        spec = self.spec(self.model(self.source.snapshot()))
        self._in_browser = FigureDiff(spec)
        self.live = LiveFigure(spec, on_view=self._drawn, on_range=self._ranged, on_click=self._clicked)
        super().__init__()
        self.add_class("workbench-view")
        self.children = self.arrange()
        self._join()

    # -- for subclasses ---------------------------------------------------------------------------------------------
    def model(self, snapshot: Any) -> dict[str, Any]:
        """The view model for a snapshot (None without a session): plain data."""
        raise NotImplementedError

    def spec(self, model: dict[str, Any]) -> Spec:
        """The figure for a model, as plain dicts."""
        raise NotImplementedError

    def plain_spec(self, model: dict[str, Any]) -> Spec:
        """The figure for use outside the panel, where the texts beside it are missing."""
        return self.spec(model)

    def arrange(self) -> tuple[ipywidgets.Widget, ...]:
        """The widgets of the view, from top to bottom."""
        return (self.live,)

    def refresh(self, model: dict[str, Any]) -> None:
        """Update everything except the figure; called with each new model."""

    @property
    def behind(self) -> bool:
        """True if the view has read only part of the record and must show the same snapshot again."""
        return False

    def _clicked(self, event: PointEvent) -> None:
        """Handle a click on a point of the figure."""

    # -- for the pump --------------------------------------------------------------------------------------------
    @property
    def views(self) -> int:
        """The number of open browser views, as reported by the browser; 0 while it does not answer."""
        return self.live.views

    @property
    def in_flight(self) -> int:
        """The number of updates sent and not yet acknowledged."""
        return self.live.in_flight

    @property
    def waited(self) -> float:
        """Seconds since the last update was sent."""
        return self.live.waited

    @property
    def took(self) -> float:
        """Seconds between the last acknowledged update and its acknowledgement."""
        return self.live.took

    @property
    def holding(self) -> bool:
        """True if the next update must wait for one in flight."""
        return self.live.holding

    @property
    def asleep(self) -> bool:
        """True if its view in a browser has stopped responding."""
        return self.live.asleep

    def doze(self) -> None:
        """Note that another view of the same page no longer answers, so that this one does not either."""
        self.live.doze()

    def rouse(self) -> None:
        """Note that another view of the same page has answered again."""
        self.live.rouse()

    @property
    def hidden(self) -> bool:
        """True if the browser reported that the view is scrolled out of sight."""
        return self.live.hidden

    def show(self, snapshot: Any) -> None:
        """Update the view with a snapshot; on the pump's thread."""
        with self._show_lock:
            model = self.model(snapshot)
            spec = self.spec(model)
            traces, layout = self._in_browser.news(spec)
            if traces is None:
                self.live.replace(spec)
            elif traces or layout:
                self.live.push(traces, layout)
            self.refresh(model)

    def _drawn(self, fresh: bool = True) -> None:
        """Handle that a browser has drawn the figure, in the state of its creation, or (not ``fresh``) that its view is
        back and may have missed updates: everything is sent again.
        """
        self._forget(fresh)
        self.update_now()

    def _ranged(self, shown: tuple[float, float] | None) -> None:
        """Handle that the user has zoomed or moved the horizontal axis: (low, high), or None for the whole."""

    def troubled(self, error: Exception | None) -> None:
        with self._show_lock:
            old = self._excuse
            if self.comm is None:
                return
            if error is None:
                if old is None:
                    return
                self._excuse = None
                self.children = tuple(child for child in self.children if child is not old)
                close_parts(old)
                old.close()
                return
            self._forget(fresh=False)  # the browser may have received a part
            if self._excuse is None:
                self._excuse = Excuse(self.title, error, self.update_now)
                self.children = (self._excuse, *self.children)
            else:
                self._excuse.tell(error)

    def _forget(self, fresh: bool = True) -> None:
        """Discard the acknowledged state: the next update sends everything, except, to a browser that is not ``fresh``,
        properties that would undo a zoom.
        """
        with self._show_lock:
            self._in_browser.forget(fresh)

    def _doubt(self, *names: str) -> None:
        """Mark layout properties whose values in the browser are unknown: the next update sends them."""
        with self._show_lock:
            self._in_browser.doubt(*names)

    # -- for users --------------------------------------------------------------------------------------------------
    def in_theme(self, name: str) -> go.Figure:
        with self._show_lock:
            return plain_figure(self.plain_spec(self.model(self.source.snapshot())), name)

    def close(self) -> None:
        """Unsubscribe from updates and close all comms of the view. Closing twice is harmless."""
        self._leave()
        if hasattr(self, "live"):  # missing if the constructor failed
            self.live.close()
        close_parts(self)
        super().close()


class Zoomed(FigureView):
    """Base of views whose ``model`` reads the zoomed stretch of the horizontal axis, ``_zoom``; None is all of it."""

    _zoom: tuple[float, float] | None = None

    def zoom(self, low: float | None, high: float | None = None) -> None:
        """Read this stretch of iterations again, as zooming in the browser does; None for the whole."""
        self._zoom = None if low is None or high is None or not low < high else (float(low), float(high))
        self.update_now()

    def _drawn(self, fresh: bool = True) -> None:
        if fresh:
            self._zoom = None  # the browser has drawn the whole axis
        super()._drawn(fresh)

    def _ranged(self, shown: tuple[float, float] | None) -> None:
        if shown is None:  # the browser may take the range of its first drawing for the whole axis
            self._doubt(*AXES)
        self._zoom = shown
        self.update_now()


def parts_of(widget: Any) -> Iterator[ipywidgets.Widget]:
    """A widget and its parts: its children, and the layout and style models that ipywidgets makes."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from parts_of(child)
    for part in ("layout", "style"):
        model = getattr(widget, part, None)
        if isinstance(model, ipywidgets.Widget):
            yield model


def close_parts(widget: Any) -> None:
    """Close the parts of a widget: its children, and the layout and style models that ipywidgets makes for it."""
    for child in list(getattr(widget, "children", ())):
        if not isinstance(child, (FigureView, LiveFigure)):
            close_parts(child)
        child.close()
    for part in ("layout", "style"):
        model = getattr(widget, part, None)
        if isinstance(model, ipywidgets.Widget):
            model.close()
