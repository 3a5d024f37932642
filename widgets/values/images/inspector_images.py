"""The images of a value inspector: their content, the widget that draws them, and the thread that plays them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.widgets.live.selection import Moment
from workbench.widgets.live.view_source import is_running
from workbench.widgets.values.images.array_image import ArrayImage
from workbench.widgets.values.images.colours import Scale
from workbench.widgets.values.images.frames import Frames
from workbench.widgets.values.images.pictures import Drawn, Pictures, history_of, part_of, probe
from workbench.widgets.values.images.reduced import is_image
from workbench.widgets.values.slices import Index, parse_index

if TYPE_CHECKING:
    from workbench.widgets.values.value_inspector import ValueInspector

NOTHING: dict[str, Any] = {"shown": False}


class InspectorImages:
    """Part of one :class:`~workbench.widgets.values.value_inspector.ValueInspector`."""

    def __init__(self, view: ValueInspector) -> None:
        self._view = view
        self.pictures = Pictures()
        self.frames = Frames(self._next, lambda: self.widget.holding)
        self.widget = ArrayImage(view._on_message, self.frames.answered)
        self._drawn = Drawn(NOTHING)
        self._pointer: Mapping[str, Any] = {}

    @property
    def shown(self) -> bool:
        """True while there is an image."""
        return bool(self._drawn.status["shown"])

    @property
    def behind(self) -> bool:
        """True while the film strip is incomplete."""
        return self.shown and self.pictures.behind

    def wish(self) -> None:
        """Request the image of another selected moment at once."""
        if self.shown and self.widget.views:
            self.frames.wish()

    def _next(self) -> None:
        view = self._view
        with view._show_lock:
            if self.shown and view.comm is not None:
                self.show(is_running(view.source.snapshot()))

    def show(self, running: bool) -> None:
        """Draw what the view's settings select."""
        self._drawn = self._draw(running)
        self._send()

    def _draw(self, running: bool) -> Drawn:
        view = self._view
        one = view._shown(running)
        index, settings = view.index(), view.settings
        if one.value is None or settings["display"] not in ("auto", "image"):
            return Drawn(NOTHING)
        part = part_of(one.value, index)
        wished = settings["display"] == "image" and part.size > 1
        if part.dtype.kind not in "biufc" or not (is_image(part.shape) or wished):
            return Drawn(NOTHING)
        going = running or view.selection.playing
        if settings["mode"] in ("difference", "against") and view.pair is not None:
            history = history_of(view.source, view.name, view.pair[0]) if settings["mode"] == "difference" else None
            return self.pictures.change(view.pair, one, index, history, _scale(settings["scale"], "value"), going)
        film = settings["mode"] == "value" and not settings["time"]
        history = history_of(view.source, view.name, one) if film else None
        live = view.selection.moment is None
        return self.pictures.value(one, index, history, settings["scale"], going, live)

    def _send(self) -> None:
        reading = probe(self._drawn, self._pointer)
        status = {**self._drawn.status, "probe": reading, "name": self._view.name, "axes": self._axes()}
        status |= {"asked": self.frames.requests, "dropped": self.frames.dropped}
        self.widget.draw(status, self._drawn.images, self._drawn.film)

    def _axes(self) -> list[dict[str, int]]:
        """The sizes of the axes before the last two, and the index shown on each."""
        one = self._view._last
        value = None if one is None else one.value
        index = parse_index(self._view.settings["index"])
        if not isinstance(value, np.ndarray) or value.ndim < 3 or one is None or one.steps:
            return []
        if len(index) > value.ndim - 2 or not all(isinstance(k, int) for k in index):
            return []
        at = [k % max(1, n) for k, n in zip(_numbers(index), value.shape, strict=False)]
        at += [0] * (value.ndim - 2 - len(at))
        return [{"size": n, "at": k} for n, k in zip(value.shape, at, strict=False)]

    def handle_message(self, kind: str, content: Mapping[str, Any]) -> None:
        """Handle a message of the widget."""
        view = self._view
        if kind == "probe":
            with view._show_lock:
                self._pointer = dict(content)
                self._send()
        elif kind == "rescale":
            self.pictures.rescale()
            view.update_now()
        elif kind == "film" and content.get("newest"):
            view.selection.did("panel.selection.look_at(None)", "look")
            view.selection.look_at(None)
        elif kind == "film":
            iteration, one = content.get("iteration"), view._last
            frame = view.source.graph.frame_of(view.source.graph.value(view.name).node)
            if not isinstance(iteration, int) or iteration < 0 or one is None or len(one.iteration) != len(frame):
                return
            moment = Moment(frame, (*one.iteration[:-1], iteration))
            view.selection.did(
                f"panel.selection.look_at(wb.widgets.Moment({moment.frame!r}, {moment.iteration!r}))", "look"
            )
            view.selection.look_at(moment)

    def scale(self) -> Scale | None:
        """The colours of the run as far as known, for a picture in a file."""
        return None if self._view.settings["scale"] == "value" else self.pictures.scale

    def close(self) -> None:
        self.frames.close()


def _scale(wish: str, usual: str) -> str:
    return usual if wish == "auto" else wish


def _numbers(index: tuple[Index, ...]) -> list[int]:
    return [k for k in index if isinstance(k, int)]
