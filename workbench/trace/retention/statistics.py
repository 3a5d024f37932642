"""Keeps the envelope of every series: statistics of blocks of rows, which are merged in pairs when memory is full."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.ir.types import numpy_dtype
from workbench.kernels import columns, typed
from workbench.kernels.layout import Condition, Layout, Place, ValueLayout
from workbench.threads import Lock
from workbench.trace.retention.activations import Activations, Table
from workbench.trace.retention.backend import Live
from workbench.trace.retention.envelope import BLOCK, blocks_of, blocks_of_numbers, merged
from workbench.trace.row_ranges import Rows, Spans
from workbench.trace.source import RowsGone

#: initial rows of a block, and maximum blocks of a series
FIRST_LENGTH, MOST = 2048, 4096
#: maximum copies of every block: the old one, the new one, and the concatenation while they are merged
COPIES = 4


class Followed(NamedTuple):
    """A number (or the statistics of an array) in the rows of its frame, and the condition for its firing there."""

    place: Place
    guard: tuple[Condition, ...]
    is_array: bool
    first_only: bool


class StatisticsKeeper:
    """Keeps blocks of every number, and of every array that has statistics, in row order. Values that share a place and
    a guard share their blocks."""

    version = 0

    def __init__(self, layout: Layout, limit: int, live: Live) -> None:
        self.limit = limit
        self._layout, self._live, self._acts = layout, live, Activations(layout, live)
        first_only = {n.name for n in layout.nodes if n.first}
        self._series: dict[int, dict[Followed, np.ndarray]] = {}
        found = dict.fromkeys(
            f for v in layout.values.values() if (f := followed(layout, v, v.node in first_only)) is not None
        )
        room = limit - limit // 4 - sum(f.row_bytes for f in layout.frames[1:])
        wanted = list(found)[: max(0, room // (2 * COPIES * BLOCK.itemsize))]  # those for which two blocks fit
        for series in wanted:
            self._series.setdefault(series.place.base - 1, {})[series] = np.empty(0, BLOCK)
        self._most = min(MOST, room // (COPIES * BLOCK.itemsize * max(1, len(wanted))))
        self._quick = {store: _compiled(mine) for store, mine in self._series.items()}
        self._length = dict.fromkeys(self._series, FIRST_LENGTH)
        self._stop = dict.fromkeys(self._series, 0)
        self._columns: dict[Place, np.ndarray] = {}  # columns of the rows that are being added
        self._before: dict[int, np.ndarray] = {}  # store -> its last row so far
        self._lock = Lock()

    @property
    def bytes(self) -> int:
        return (
            sum(b.nbytes for s in self._series.values() for b in s.values())
            + sum(r.nbytes for r in self._before.values())
            + self._acts.bytes
        )

    def retire(self, store: int, first: int, rows: np.ndarray, objects: Mapping[int, Sequence[Any]]) -> None:
        series = self._series.get(store)
        if not series:
            return
        with self._lock:
            skip = max(0, self._stop[store] - first)
            rows, first = rows[skip:], first + skip
            if not len(rows):
                return
            if first != self._stop[store]:
                self._before.pop(store, None)
            length = self._length[store]
            found = self._described(store, rows, first, length)
            slow = [wanted for wanted in series if wanted not in found]
            if slow:
                inside = self._inside(store, first, len(rows))
                self._columns.clear()
                for wanted in slow:
                    new = self._blocks(wanted, rows, first, inside, length)
                    found[wanted] = merged(np.concatenate([series[wanted], new]), length)
            while max(map(len, found.values())) > self._most:
                length *= 2
                found = {wanted: merged(blocks, length) for wanted, blocks in found.items()}
            self._columns.clear()
            self._series[store], self._length[store], self._stop[store] = found, length, first + len(rows)
            self._before[store] = rows[-1:].copy()
            # the tags of blocks are kept while activations fit into a quarter of the memory
            begun = self._acts.ahead(store, first + len(rows))
            if self._acts.bytes + 2 * 16 * len(begun[0]) > self.limit // 4:
                self._acts.prune(self._rows_kept)
            if self._acts.bytes + 2 * 16 * len(begun[0]) <= self.limit // 4:
                self._acts.add(store, begun, first + len(rows))
            else:
                self._acts.clear(store, first + len(rows))

    def _rows_kept(self, frame: int) -> list[Rows]:
        return [b[name] for b in self._series.get(frame, {}).values() for name in ("first", "last")]

    def activations(self, frame: int) -> Table:
        with self._lock:
            return self._acts.of(frame)

    def known(self, frame: int) -> int:
        return self._acts.known(frame)

    def _described(self, store: int, rows: np.ndarray, first: int, length: int) -> dict[Followed, np.ndarray]:
        """The blocks of numeric series extended by more rows; the last block so far may continue."""
        quick, wanted = self._quick[store]
        if quick is None:
            return {}
        series = self._series[store]
        lasts = np.zeros(len(wanted), BLOCK)
        for k, name in enumerate(wanted):
            if len(series[name]):
                lasts[k] = series[name][-1]
        starts, _ = self._live(store)
        begun = starts[np.searchsorted(starts, first - 1) : np.searchsorted(starts, first + len(rows))]
        found = quick.describe(rows, self._before.get(store), first, begun, length, lasts)
        return {name: np.concatenate([series[name][:-1], new]) for name, new in zip(wanted, found, strict=True)}

    def _inside(self, frame: int, first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """(mask of rows that belong to an iteration, mask of rows that belong to a first iteration)."""
        starts, _ = self._live(frame)
        begun = starts[np.searchsorted(starts, first - 1) : np.searchsorted(starts, first + count)]
        iteration, opening = np.ones(count, bool), np.zeros(count, bool)
        iteration[begun[begun >= first] - first] = False
        after = begun + 1 - first
        opening[after[(after >= 0) & (after < count)]] = True
        return iteration, opening & iteration

    def _blocks(
        self, wanted: Followed, rows: np.ndarray, first: int, inside: tuple[np.ndarray, np.ndarray], length: int
    ) -> np.ndarray:
        fired = inside[wanted.first_only].copy()
        for condition in wanted.guard:
            items = self._column(condition.place, rows)
            if condition.expect >= 2:
                fired &= (items >= 0) == (condition.expect == 2)
            else:
                fired &= items.astype(bool) == bool(condition.expect)
        if wanted.place.shift and wanted.place.base - 1 not in self._before:
            fired[0] = False  # the row before is missing
        values, numbers = self._column(wanted.place, rows), np.arange(first, first + len(rows))
        if not fired.all():
            numbers, values = numbers[fired], values[fired]
        make = blocks_of_numbers if wanted.is_array else blocks_of
        return make(numbers, values, length)

    def _column(self, place: Place, rows: np.ndarray) -> np.ndarray:
        """(n, ...) items of a place, one for each row."""
        if place not in self._columns:
            self._columns[place] = self._read(place, rows)
        return self._columns[place]

    def _read(self, place: Place, rows: np.ndarray) -> np.ndarray:
        dtype = np.dtype((numpy_dtype(str(place.dtype)), place.shape))
        items = _items(rows, place, dtype)
        if place.shift == 0:
            return items
        before = self._before.get(place.base - 1)
        ahead = items[:1] if before is None else _items(before, place, dtype)
        return np.concatenate([ahead, items[:-1]])

    def rewind(self, store: int, row: int) -> None:
        with self._lock:
            if store in self._series and row < self._stop[store]:
                for wanted, blocks in self._series[store].items():
                    # a block across the border holds discarded values, so the envelope loses its earlier rows too
                    self._series[store][wanted] = blocks[blocks["last"] < row].copy()
                self._stop[store] = row
                self._before.pop(store, None)
            self._acts.cut(store, row)

    def blocks(self, value: ValueLayout, first_only: bool) -> tuple[np.ndarray, int, int] | None:
        """(BLOCK records, the row after them, rows of a block) of a value; None if it is not followed."""
        wanted = followed(self._layout, value, first_only)
        if wanted is None:
            return None
        store = wanted.place.base - 1
        with self._lock:
            if wanted not in self._series.get(store, ()):
                return None
            return self._series[store][wanted].copy(), self._stop[store], self._length[store]

    # it stores no rows
    def complete(self, frame: int) -> Spans:
        return ()

    def held(self, place: Place) -> Spans:
        return ()

    def take(self, place: Place, rows: Rows) -> Any:
        raise RowsGone(place)


def followed(layout: Layout, value: ValueLayout, first_only: bool) -> Followed | None:
    """The column to summarise for a value; None unless it is a number stored in the rows of its own frame."""
    is_array = value.statistics is not None
    place = value.statistics if is_array else value.place
    if value.kind != "slot" or place is None or not 0 < place.base <= len(layout.frames) or place.base == 1:
        return None
    if place.dtype is None or numpy_dtype(place.dtype).kind not in "iuf" or (place.shape and not is_array):
        return None
    if value.frame != place.base - 1 or any(c.place.base != place.base or c.place.dtype is None for c in value.guard):
        return None
    return Followed(place, value.guard, is_array, first_only)


def _compiled(series: Iterable[Followed]) -> tuple[columns.Blocks | None, tuple[Followed, ...]]:
    """A one-pass summary of the numeric series among these, and those series in its order."""
    quick = {}
    for wanted in series:
        place, kernel = wanted.place, typed.statistics(str(wanted.place.dtype))
        seen = (place, *(c.place for c in wanted.guard))
        bytes_of = [np.dtype(c.place.dtype).itemsize for c in wanted.guard]
        as_read = all(size == (1, 4)[c.expect >= 2] for c, size in zip(wanted.guard, bytes_of, strict=True))
        if not wanted.is_array and kernel is not None and as_read and all(p.shift in (0, -1) for p in seen):
            guard = [(c.place.offset, c.place.shift, c.expect) for c in wanted.guard]
            size = numpy_dtype(str(place.dtype)).itemsize
            quick[wanted] = place.offset, size, place.shift, kernel, guard, wanted.first_only
    return (columns.Blocks(quick.values()) if quick else None), tuple(quick)


def _items(rows: np.ndarray, place: Place, dtype: np.dtype[Any]) -> np.ndarray:
    inner = tuple(np.cumprod([dtype.base.itemsize, *place.shape[:0:-1]])[::-1]) if place.shape else ()
    strides = (rows.strides[0], *(int(i) for i in inner))
    return np.ndarray((len(rows), *place.shape), dtype.base, rows, place.offset, strides).copy()
