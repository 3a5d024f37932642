"""What all views share: a source (session, trace or graph), live updates, a plain figure, one HTML file, closing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import ipywidgets
import plotly.graph_objects as go

from workbench.widgets.figure import LiveFigure
from workbench.widgets.focus import Focus
from workbench.widgets.onlooker import Onlooker
from workbench.widgets.trouble import told
from workbench.widgets.views.face import Face
from workbench.widgets.views.spec import Spec, plain_figure, text
from workbench.widgets.views.told import Told


class View(Face, Onlooker, ipywidgets.VBox):
    """Base of views with a figure. A subclass gives ``model`` and ``spec``, and ``refresh`` for its other widgets."""

    title = "View"
    live: LiveFigure
    _excuse: ipywidgets.HTML | None = None
    _clicks_of: Any = None  # the first of the traces whose clicks are heard

    def __init__(self, source: Any, focus: Focus | None = None) -> None:
        self._looks_at(source, focus)
        self._show_lock = threading.RLock()
        spec = self.spec(self.model(self.source.snapshot()))
        self._in_browser = Told(spec)
        figure = plain_figure(spec)
        figure.layout.paper_bgcolor = "rgba(0,0,0,0)"  # from the start: a browser that is still loading hears no change
        self.live = LiveFigure(figure, on_view=self._drawn, on_range=self._ranged)
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
        """The figure for use outside of the panel, where the words beside it are missing."""
        return self.spec(model)

    def arrange(self) -> tuple[ipywidgets.Widget, ...]:
        """The widgets of the view, from top to bottom."""
        return (self.live,)

    def refresh(self, model: dict[str, Any]) -> None:
        """Update what is no figure; called with each new model."""

    @property
    def behind(self) -> bool:
        """Whether the view has more to show of the same snapshot, because it read only part of the record."""
        return False

    def hear_clicks(self, clicked: Callable[[Any, Any, Any], None]) -> None:
        """Have clicks on any trace told to ``clicked(trace, points, state)``; to be called again with each new model,
        because traces are exchanged when their number or kinds change."""
        data = self.live.data
        if data and data[0] is not self._clicks_of:
            self._clicks_of = data[0]
            for trace in data:
                trace.on_click(clicked)

    # -- the pump's side --------------------------------------------------------------------------------------------
    @property
    def views(self) -> int:
        """Browser views that are open, as far as the browser said; 0 while it does not answer."""
        return self.live.views

    @property
    def in_flight(self) -> int:
        """Updates sent and not yet acknowledged."""
        return self.live.in_flight

    @property
    def waited(self) -> float:
        """Seconds since the last update was sent."""
        return self.live.waited

    @property
    def took(self) -> float:
        """Seconds from the last update that was answered to its answer."""
        return self.live.took

    @property
    def holding(self) -> bool:
        """Whether an update is on the way that the next one has to wait for."""
        return self.live.holding

    @property
    def asleep(self) -> bool:
        """Whether it had a view in a browser that has stopped to answer."""
        return self.live.asleep

    def doze(self) -> None:
        """Another view of the same page has stopped to answer: so has this one."""
        self.live.doze()

    def rouse(self) -> None:
        """Another view of the same page has answered again."""
        self.live.rouse()

    @property
    def hidden(self) -> bool:
        """Whether the browser said that the view is scrolled out of sight."""
        return self.live.hidden

    def show(self, snapshot: Any) -> None:
        """Bring the view up to date with a snapshot; on the pump's thread."""
        with self._show_lock:
            model = self.model(snapshot)
            spec = self.spec(model)
            traces, layout = self._in_browser.news(spec)
            if traces is None:
                self.live.replace(spec, gone=[key for key, value in layout.items() if value is None])
            elif traces or layout:
                self.live.push(traces, layout)
            self.refresh(model)

    def _drawn(self, fresh: bool = True) -> None:
        """A browser has drawn the figure, which shows the state of its creation, or (not ``fresh``) its view is back
        and may have missed something: everything is sent again."""
        self._forget(fresh)
        self.update_now()

    def _ranged(self, shown: tuple[float, float] | None) -> None:
        """People have zoomed the horizontal axis or moved it: (low, high), or None for the whole."""

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
            self._forget(fresh=False)  # it is not known how far it came
            said = excuse(self.title, error)
            if self._excuse is None:
                self._excuse = ipywidgets.HTML(said)
                self.children = (self._excuse, *self.children)
            self._excuse.value = said

    def _forget(self, fresh: bool = True) -> None:
        """What was sent is unknown to the browser: the next update sends everything, but to one that is not ``fresh``
        nothing that undoes what people have zoomed into."""
        with self._show_lock:
            self._in_browser.forget(fresh)

    def _doubt(self, *names: str) -> None:
        """It is not known what the browser has of these properties of the layout: the next update sends them."""
        with self._show_lock:
            self._in_browser.doubt(*names)

    # -- for users --------------------------------------------------------------------------------------------------
    def in_theme(self, name: str) -> go.Figure:
        with self._show_lock:
            return plain_figure(self.plain_spec(self.model(self.source.snapshot())), name)

    def close(self) -> None:
        """Leave the pump and close all comms of the view. Closing twice is harmless."""
        self._leave()
        if hasattr(self, "live"):  # not there if the constructor failed
            self.live.close()
        close_parts(self)
        super().close()


def parts_of(widget: Any) -> Iterator[ipywidgets.Widget]:
    """A widget and all that belongs to it: its children, and the layout and style models that ipywidgets makes."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from parts_of(child)
    for part in ("layout", "style"):
        model = getattr(widget, part, None)
        if isinstance(model, ipywidgets.Widget):
            yield model


def close_parts(widget: Any) -> None:
    """Close what belongs to a widget: its children, and the layout and style models that ipywidgets makes for it."""
    for child in list(getattr(widget, "children", ())):
        if not isinstance(child, (View, LiveFigure)):
            close_parts(child)
        child.close()
    for part in ("layout", "style"):
        model = getattr(widget, part, None)
        if isinstance(model, ipywidgets.Widget):
            model.close()


def excuse(title: str, error: Exception) -> str:
    """What went wrong in a view, as HTML; names in it are shown and not obeyed."""
    return f'<div class="workbench-words workbench-bad" role="alert">\u2716 {text(title)}: {text(told(error))}</div>'
