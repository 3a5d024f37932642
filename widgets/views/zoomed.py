"""Views of which a stretch that a browser zooms into is read again."""

from __future__ import annotations

import threading
from typing import Any

from workbench.widgets.focus import Focus
from workbench.widgets.views.base import View


class Zoomed(View):
    """Base of such views: ``model`` reads the stretch ``_zoom`` of the horizontal axis, or all of it for None."""

    _zoom: tuple[float, float] | None = None
    _drawing: int | None = None  # the thread that draws, whose own changes are no zooming

    def __init__(self, source: Any, focus: Focus | None = None) -> None:
        super().__init__(source, focus)
        self.live.layout.on_change(self._ranged, "xaxis.range")
        self.live.layout.on_change(self._unzoomed, "xaxis.autorange")

    def zoom(self, low: float | None, high: float | None = None) -> None:
        """Read this stretch of iterations again, as zooming in the browser does; None for the whole."""
        self._zoom = None if low is None or high is None or not low < high else (float(low), float(high))
        self.update_now()

    def show(self, snapshot: Any) -> None:
        self._drawing = threading.get_ident()
        try:
            super().show(snapshot)
        finally:
            self._drawing = None

    def _drawn(self) -> None:
        self._zoom = None  # the browser has drawn the whole
        super()._drawn()

    def _ranged(self, _layout: Any, span: Any) -> None:
        """A browser has zoomed into the axis or moved it."""
        if self._drawing == threading.get_ident() or span is None or len(span) != 2:
            return
        try:
            low, high = sorted(float(v) for v in span)
        except (TypeError, ValueError):
            return
        # the browser only tells the range; that the axis is the whole again must be seen as a change later
        self.live._set_in(self.live._layout, "xaxis.autorange", False)
        self.zoom(low, high)

    def _unzoomed(self, _layout: Any, auto: Any) -> None:
        if self._drawing != threading.get_ident() and auto and self._zoom is not None:
            self.zoom(None)
