"""Views of which a stretch that a browser zooms into is read again."""

from __future__ import annotations

from workbench.widgets.views.base import View
from workbench.widgets.views.told import AXES


class Zoomed(View):
    """Base of such views: ``model`` reads the stretch ``_zoom`` of the horizontal axis, or all of it for None."""

    _zoom: tuple[float, float] | None = None

    def zoom(self, low: float | None, high: float | None = None) -> None:
        """Read this stretch of iterations again, as zooming in the browser does; None for the whole."""
        self._zoom = None if low is None or high is None or not low < high else (float(low), float(high))
        self.update_now()

    def _drawn(self, fresh: bool = True) -> None:
        if fresh:
            self._zoom = None  # the browser has drawn the whole
        super()._drawn(fresh)

    def _ranged(self, shown: tuple[float, float] | None) -> None:
        if shown is None:  # what the browser thinks of as the whole may be the range of its first drawing
            self._doubt(*AXES)
        self._zoom = shown
        self.update_now()
