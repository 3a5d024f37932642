"""Rows of a machine and of the keeper that took the older ones, combined as one source."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.kernels.layout import Layout, Place, ValueLayout
from workbench.trace.retention.backend import RetentionBackend
from workbench.trace.row_ranges import FOREVER, Rows, Spans, as_array, clip, clipped, joined, only
from workbench.trace.source import Extent, LiveSource, RowsGone

ATTEMPTS = 50


class KeptSource:
    """Newer rows come from the machine, older ones from the keeper: all of them, or every k-th, or some of their
    columns.
    """

    def __init__(self, live: LiveSource, keeper: RetentionBackend, layout: Layout) -> None:
        self._live, self._keeper, self._layout = live, keeper, layout

    @property
    def keeper(self) -> RetentionBackend:
        return self._keeper

    @property
    def epoch(self) -> int:
        return self._live.epoch + 2 * self._keeper.version

    @property
    def revision(self) -> int:
        return self._live.revision

    def changed_from(self, store: int, revision: int) -> int:
        return self._live.changed_from(store, revision)

    @property
    def partial(self) -> bool:
        whole = getattr(self._keeper, "covers", lambda store, stop: False)
        for store, frame in enumerate(self._layout.stores):
            first = self._live.first(Place(store + 1, 0, 0, None))
            if frame > 0 and first > 0 and not whole(store, first):
                return True
        return False

    def extent(self, frame: int) -> Extent:
        extent = self._live.extent(frame)
        return extent if frame == 0 else extent._replace(first=0)

    def first(self, place: Place) -> int:
        return self._live.first(place)

    def held(self, place: Place) -> Spans:
        live = self._live.held(place)
        if place.base == 0 or self._layout.frame_of(place) == 0:
            return live
        if place.base > len(self._layout.frames):  # the activation of older rows may be unknown
            frame = self._layout.frame_of(place)
            live = clipped(live, min(self._live.extent(frame).first, self._keeper.known(frame)), FOREVER)
        return joined([*clipped(self._keeper.held(place), 0, live[0][0]), *live])

    def complete(self, frame: int) -> Spans:
        live = self._live.complete(frame)
        return joined([*clipped(self._keeper.complete(frame), 0, live[0][0]), *live])

    def take(self, place: Place, rows: Rows) -> Any:
        if place.base == 0 or self._layout.frame_of(place) == 0:
            return self._live.take(place, rows)
        for _ in range(ATTEMPTS):
            border = self._live.first(place)  # rows below it were retired, so the keeper has received them
            low = border if not len(rows) else int(rows[0])
            try:
                if low >= border:
                    return self._live.take(place, rows)
                return self._both(place, rows, border)
            except RowsGone:
                if self._live.first(place) == border:
                    raise
        raise RowsGone(place)

    def _both(self, place: Place, rows: Rows, border: int) -> Any:
        if isinstance(rows, range):
            older, newer = clip(rows, 0, border), clip(rows, border, rows.stop)
        else:
            at = int(np.searchsorted(rows, border))
            older, newer = rows[:at], rows[at:]
        before = self._keeper.take(place, older)
        if not len(newer):
            return before
        after = self._live.take(place, newer)
        return [*before, *after] if place.dtype is None else np.concatenate([before, after])

    def blocks(self, value: ValueLayout, first_only: bool) -> tuple[np.ndarray, int, int] | None:
        return self._keeper.blocks(value, first_only)

    def column(self, place: Place, start: int, stop: int, step: int = 1) -> tuple[int, Any]:
        """The readable rows up to ``stop``, as far back as no row is missing."""
        if place.base == 0 or self._layout.frame_of(place) == 0 or start >= self._live.first(place):
            return self._live.column(place, start, stop, step)
        wanted = range(start, min(stop, self._live.extent(self._layout.frame_of(place)).stop), step)
        have = as_array(only(as_array(wanted), self.held(place)))
        lacking = np.flatnonzero(np.diff(have) != step)
        if len(have) and have[-1] != wanted[-1]:
            have = have[:0]
        if len(lacking):
            have = have[lacking[-1] + 1 :]
        return (int(have[0]) if len(have) else stop), self.take(place, have)

    def pool(self, place: Place) -> Any:
        return self._live.pool(place)

    def activations(self, frame: int) -> tuple[np.ndarray, np.ndarray]:
        starts, parents = self._live.activations(frame)
        # read last: it contains activations that left the machine meanwhile
        older, around = self._keeper.activations(frame)
        count = int(np.searchsorted(older, starts[0])) if len(starts) else len(older)
        return np.concatenate([older[:count], starts]), np.concatenate([around[:count], parents])

    def begun(self, frame: int) -> int:
        return self._live.begun(frame)

    def known(self, frame: int) -> int:
        return min(self._live.known(frame), self._keeper.known(frame))
