"""Where a trace reads its rows from: a machine in this process, or a loaded file. One small interface for both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from workbench.kernels.layout import Layout, Place
from workbench.kernels.machine import View


class Extent(NamedTuple):
    """Rows of a frame: ``first`` to ``stop`` (exclusive) are complete; ``partial`` is a row in progress, or -1.

    In the partial row, nodes in front of instruction ``ip`` have been reached.
    """

    first: int
    stop: int
    partial: int
    ip: int


class RowSource(Protocol):
    """What a trace needs of its rows. ``epoch`` grows when rows are rewritten by going back, and is odd meanwhile."""

    @property
    def epoch(self) -> int: ...
    def extent(self, frame: int) -> Extent: ...
    def column(self, place: Place, start: int, stop: int, step: int = 1) -> tuple[int, Any]:
        """(first row read, items of rows start, start + step, ... below stop): an array, or a list of arrays."""

    def first(self, place: Place) -> int:
        """The first row in which a place can be read."""

    def pool(self, place: Place) -> Any: ...
    def activations(self, frame: int) -> tuple[np.ndarray, np.ndarray]:
        """(init row, parent row) of every activation."""


class LiveSource:
    """Rows of a machine. While it runs only complete rows are shown, and of the outermost level what was reached."""

    def __init__(self, view: View, layout: Layout, running: Callable[[], bool]) -> None:
        self._view, self._layout, self._running = view, layout, running

    @property
    def epoch(self) -> int:
        return self._view.epoch

    def extent(self, frame: int) -> Extent:
        running = self._running()
        ip = self._view.ip
        first, row, _ = self._view.rows(frame)
        span = self._layout.frames[frame]
        if frame == 0:
            return Extent(0, 0, 0, ip)
        if running:
            return Extent(first, max(first, row), -1, ip)
        if span.start < ip < span.stop:
            return Extent(first, max(first, row), row, ip)
        return Extent(first, row + 1, -1, ip)

    def _gone(self, place: Place) -> bool:
        """Whether another value may stand in the place by now."""
        return place.until >= 0 and (self._running() or self._view.ip > place.until)

    def column(self, place: Place, start: int, stop: int, step: int = 1) -> tuple[int, Any]:
        found = self._column(place, start, stop, step)
        return (max(start, 1), found[1][:0]) if self._gone(place) else found  # asked last: it may have gone meanwhile

    def _column(self, place: Place, start: int, stop: int, step: int) -> tuple[int, Any]:
        store, offset, dtype = place.base - 1, place.offset, None if place.dtype is None else np.dtype(place.dtype)
        if store < len(self._layout.frames):  # the row before is always in front of a row
            offset += place.shift * self._layout.frames[store].row_bytes
            return self._view.column(store, offset, dtype, start, stop, step, place.shape)
        return self._view.column(store, offset, dtype, start, stop, step, place.shape, place.shift)

    def first(self, place: Place) -> int:
        if place.base == 0:
            return 0
        if self._gone(place):
            return 1  # the outermost level has one row
        return self._view.first(place.base - 1, place.shift if place.base > len(self._layout.frames) else 0)

    def pool(self, place: Place) -> Any:
        return self._view.pool(place.offset, None if place.dtype is None else np.dtype(place.dtype))

    def activations(self, frame: int) -> tuple[np.ndarray, np.ndarray]:
        return self._view.activations(frame)
