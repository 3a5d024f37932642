"""Keeps columns of every row or of every k-th one, and doubles k whenever its share of memory is full.

The rows kept stay spread evenly over the whole run. Numbers and objects of a store are thinned separately, so that
large arrays do not displace the numbers of the same row; :meth:`ThinnedKeeper.held` reports rows with missing parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.kernels.layout import Layout, Place
from workbench.trace.retention.activation_rows import RowsKept
from workbench.trace.retention.backend import Live
from workbench.trace.retention.samples import Samples
from workbench.trace.retention.tracks import Track, tracks_of
from workbench.trace.row_ranges import Rows, Spans, as_array, holding
from workbench.trace.source import RowsGone

#: maximum bytes of one block of a column; divisor that limits the blocks of all columns to a part of the share
BLOCK_BYTES, PARTS = 1 << 21, 8


class ThinnedKeeper(RowsKept):
    """Keeps the columns of some places within ``limit`` bytes, at first in every row r with r % every == 1 % every."""

    def __init__(self, layout: Layout, places: set[Place], limit: int, live: Live, every: int = 1) -> None:
        super().__init__(layout, limit, live)
        tracks = tracks_of(layout, places)
        block = max(1, min(BLOCK_BYTES, limit // (PARTS * max(1, 2 * len(tracks)))))
        largest = max((t.size for t in tracks if 2 * t.size <= block), default=0)  # a block may be one item larger
        self._full = limit - 3 * (block + largest)  # while a column is thinned, old and new blocks exist
        groups: dict[tuple[int, bool], list[Track]] = {}
        for track in tracks:
            groups.setdefault((track.store, track.is_object), []).append(track)
        self._groups = {key: Samples(group, every, block) for key, group in groups.items()}
        self._tracks = {(t.store, t.offset, t.size, t.is_object): t for t in tracks}
        self.version = 0

    @property
    def bytes(self) -> int:
        return sum(g.bytes for g in self._groups.values()) + self._acts.bytes

    def retire(self, store: int, first: int, rows: np.ndarray, objects: Mapping[int, Sequence[Any]]) -> None:
        with self._lock:
            if not self._groups:
                self._acts.clear(store, first + len(rows))
            elif 0 < store < len(self._layout.frames):
                self._take_in(store, first + len(rows))
            for is_object in (False, True):
                group = self._groups.get((store, is_object))
                # rows it already has
                skip = 0 if group is None or group.stop == group.first else max(0, group.stop - first)
                if group is not None and skip < len(rows):
                    mine = {offset: items[skip:] for offset, items in objects.items()} if is_object else {}
                    self._add(group, first + skip, rows[skip:], mine)

    def _take_in(self, frame: int, stop: int) -> None:
        """Add the activations that the next rows belong to."""
        begun = self._acts.ahead(frame, stop)
        while self.bytes + 2 * 16 * len(begun[0]) > self._full:  # concatenation holds both tables for a moment
            if not self._thin(max(self._groups.values(), key=lambda g: g.bytes), stop):
                for (store, _), group in self._groups.items():  # their activations would be unknown
                    if self._layout.stores[store] == frame:
                        group.clear(group.stop)
                self._acts.clear(frame, stop)
                return
        self._acts.add(frame, begun, stop)

    def _thin(self, group: Samples, stop: int) -> bool:
        """Make room; False if there was nothing to drop."""
        if group.bytes == 0 and group.every > 2 * (stop - group.first):
            return False
        self.version += 1
        if group.every <= 2 * (stop - group.first):
            group.thin()
        else:
            group.clear(group.stop)
        self._acts.prune(self._rows_kept)
        return True

    def _add(self, group: Samples, first: int, rows: np.ndarray, objects: Mapping[int, Sequence[Any]]) -> None:
        stop = first + len(rows)
        while self.bytes + (more := group.growth(first, len(rows), objects)) > self._full:
            fullest = max(self._groups.values(), key=lambda g: g.bytes + (more if g is group else 0))
            if not self._thin(fullest, stop):  # not even one row fits
                group.clear(stop)
                return
        group.add(first, rows, objects)

    def _rows_kept(self, frame: int) -> list[Rows]:
        """Rows of a frame that are readable now, or will be once their arrays arrive after their numbers."""
        found: list[Rows] = []
        for (store, _), group in self._groups.items():
            if self._layout.stores[store] == frame:
                found += [range(group.stop, self._acts.stop(frame)), group.rows(0), group.rows(1)]
        return found

    def rewind(self, store: int, row: int) -> None:
        with self._lock:
            for (mine, _), group in self._groups.items():
                if mine == store:
                    group.cut(row)
            self._acts.cut(store, row)

    def _group_of(self, place: Place) -> tuple[Samples, Track] | None:
        size = 8 if place.dtype is None else _item(place).itemsize
        track = self._tracks.get((place.base - 1, place.offset, size, place.dtype is None))
        return None if track is None else (self._groups[track.store, track.is_object], track)

    def held(self, place: Place) -> Spans:
        found = self._group_of(place)
        if found is None:
            return ()
        with self._lock:
            group, track = found
            rows = group.held(track, place.shift)
        return (rows,) if len(rows) else ()

    def take(self, place: Place, rows: Rows) -> Any:
        found = self._group_of(place)
        if found is None:
            raise RowsGone(place)
        with self._lock:
            group, track = found
            if len(rows) == 1:
                rows = as_array(rows)
            held = group.held(track, place.shift)
            if not holding((held,), as_array(rows) if not isinstance(rows, range) else _ends(rows)).all():
                raise RowsGone(place)
            if isinstance(rows, range) and len(rows) > 1 and rows.step % group.every:
                raise RowsGone(place)
            raw = group.read(track, place.shift, rows)
        if place.dtype is None:
            return raw
        item = _item(place)
        return raw.view(np.dtype(place.dtype)).reshape(len(raw), *place.shape) if item.itemsize else raw


def _ends(rows: range) -> np.ndarray:
    return np.array([rows[0], rows[-1]], np.int64) if len(rows) else np.empty(0, np.int64)


def _item(place: Place) -> np.dtype[Any]:
    """A void dtype as large as the value at the place."""
    return np.dtype((np.void, np.dtype(place.dtype).itemsize * int(np.prod(place.shape, dtype=np.int64))))
