"""Source of a trace's rows: a machine in this process, or a loaded file, behind one small interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from workbench.ir.buffers import checked
from workbench.kernels.layout import KEPT, Layout, Place, ValueLayout
from workbench.kernels.machine import View
from workbench.trace.row_ranges import FOREVER, Rows, Spans, as_array


class Extent(NamedTuple):
    """Rows of a frame: ``first`` to ``stop`` (exclusive) are complete; ``partial`` is a row in progress, or -1.

    In the partial row, nodes before instruction ``ip`` have been reached.
    """

    first: int
    stop: int
    partial: int
    ip: int

    @property
    def end(self) -> int:
        """The row after the last one, including the row in progress."""
        return max(self.stop, self.partial + 1)


class RowsGone(Exception):
    """Some rows of ``place`` were dropped while they were being read, or earlier; without a place, the iterations of
    the rows are no longer known."""

    def __init__(self, place: Place | None = None) -> None:
        super().__init__(f"rows of {place} were dropped" if place else "it is not known where the rows belong")
        self.place = place


class RowSource(Protocol):
    """Interface through which a trace reads its rows.

    ``epoch`` grows when a step back rewrites rows, and is odd meanwhile.
    """

    @property
    def epoch(self) -> int: ...
    @property
    def revision(self) -> int:
        """Grows only when rows are rewritten; ``epoch`` also grows when rows are dropped."""

    def changed_from(self, store: int, revision: int) -> int:
        """The first row of a store that may differ from its state at ``revision``, except for edits of the row in
        progress."""

    @property
    def partial(self) -> bool:
        """True if rows in between may be missing."""

    def extent(self, frame: int) -> Extent: ...
    def column(self, place: Place, start: int, stop: int, step: int = 1) -> tuple[int, Any]:
        """(first row read, items of rows start, start + step, ... below stop); the items are an array, or a list of
        arrays.
        """

    def first(self, place: Place) -> int:
        """The row from which a place can be read in every row."""

    def held(self, place: Place) -> Spans:
        """All rows in which a place can be read (as far as they exist)."""

    def complete(self, frame: int) -> Spans:
        """All rows of a frame whose firings are known (as far as they exist)."""

    def take(self, place: Place, rows: Rows) -> Any:
        """Values at a place in these rows, in ascending order: an array, or a list of objects. RowsGone if one of the
        rows is not held."""

    def blocks(self, value: ValueLayout, first_only: bool) -> tuple[np.ndarray, int, int] | None:
        """(envelope blocks of a value, the row after the last, rows per block), or None if none are kept."""

    def pool(self, place: Place) -> Any: ...
    def activations(self, frame: int) -> tuple[np.ndarray, np.ndarray]:
        """(init rows, parent rows) of the activations; the oldest may be missing if their rows are dropped. The first
        activation of a run has init row 0."""

    def begun(self, frame: int) -> int:
        """The number of activations so far."""

    def known(self, frame: int) -> int:
        """The row of a frame from which all activations are known."""


class LiveSource:
    """Rows of a machine. During a run, only complete rows are visible, and in the outermost level the part that was
    reached.
    """

    partial = False

    def __init__(self, view: View, layout: Layout, running: Callable[[], bool]) -> None:
        self._view, self._layout, self._running = view, layout, running

    @property
    def epoch(self) -> int:
        return self._view.epoch

    @property
    def revision(self) -> int:
        return self._view.epoch

    def changed_from(self, store: int, revision: int) -> int:
        return self._view.changed_from(store, revision)

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
        """True if a value has been released, so that its place may already hold another value."""
        if place.until < 0 or place.until >= KEPT:
            return False
        if place.dtype is None:
            return self._view.released(place.offset)
        return self._running() or self._view.ip > place.until

    def column(self, place: Place, start: int, stop: int, step: int = 1) -> tuple[int, Any]:
        found = self._column(place, start, stop, step)
        # checked last: it may have been released meanwhile
        return (max(start, 1), found[1][:0]) if self._gone(place) else found

    def _column(self, place: Place, start: int, stop: int, step: int) -> tuple[int, Any]:
        store, offset, dtype = place.base - 1, place.offset, None if place.dtype is None else np.dtype(place.dtype)
        if store < len(self._layout.frames):  # the previous row is always in memory before a row
            offset += place.shift * self._layout.frames[store].row_bytes
            return self._view.column(store, offset, dtype, start, stop, step, place.shape)
        return self._view.column(store, offset, dtype, start, stop, step, place.shape, place.shift)

    def first(self, place: Place) -> int:
        if place.base == 0:
            return 0
        if self._gone(place):
            return 1  # the outermost level has one row
        arrays = place.base > len(self._layout.frames)
        return self._view.first(place.base - 1, place.shift if arrays else 0, place.offset if arrays else 0)

    def held(self, place: Place) -> Spans:
        return (range(self.first(place), FOREVER),)

    def complete(self, frame: int) -> Spans:
        return (range(self.extent(frame).first, FOREVER),)

    def take(self, place: Place, rows: Rows) -> Any:
        return take_columns(self, place, rows)

    def blocks(self, value: ValueLayout, first_only: bool) -> tuple[np.ndarray, int, int] | None:
        return None

    def pool(self, place: Place) -> Any:
        return checked(self._view.pool(place.offset, None if place.dtype is None else np.dtype(place.dtype)))

    def activations(self, frame: int) -> tuple[np.ndarray, np.ndarray]:
        return self._view.activations(frame)

    def begun(self, frame: int) -> int:
        return self._view.rows(frame)[2]

    def known(self, frame: int) -> int:
        starts, _ = self._view.activations(frame)
        return int(starts[0]) if len(starts) else 0


def take_columns(source: RowSource, place: Place, rows: Rows) -> Any:
    """:meth:`RowSource.take` for a source that has every row from its first one on."""
    if len(rows) == 0:
        return [] if place.dtype is None else np.empty((0, *place.shape), place.dtype)
    step = rows.step if isinstance(rows, range) else 1
    low, high = (rows.start, rows.stop) if isinstance(rows, range) else (int(rows.min()), int(rows.max()) + 1)
    start, items = source.column(place, low, high, step)
    if start > low:
        raise RowsGone(place)
    if isinstance(rows, range):
        return items
    if place.dtype is None:
        return [items[r - start] for r in rows]
    return items[as_array(rows) - start]
