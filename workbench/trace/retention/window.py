"""Keeps the newest iterations in full."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.kernels import columns
from workbench.kernels.layout import Layout, Place
from workbench.trace.retention.activation_rows import RowsKept
from workbench.trace.retention.backend import Live
from workbench.trace.retention.column import object_bytes
from workbench.trace.row_ranges import FOREVER, Rows, Spans, as_array
from workbench.trace.source import RowsGone


class WindowChunk(NamedTuple):
    """Some rows as the machine stored them; ``held`` includes the bytes of the objects."""

    first: int
    rows: np.ndarray
    objects: dict[int, list[Any]]
    held: int

    @property
    def stop(self) -> int:
        return self.first + len(self.rows)


class WindowKeeper(RowsKept):
    """Keeps the newest ``window`` rows of every frame, or as many as fit into ``limit`` bytes, in addition to the rows
    still in the machine."""

    version = 0  # only the oldest rows are dropped, which readers notice by RowsGone

    def __init__(self, layout: Layout, limit: int, live: Live, window: int) -> None:
        super().__init__(layout, limit, live)
        self.window = window
        self._pieces: dict[int, deque[WindowChunk]] = {s: deque() for s in range(len(layout.stores))}
        self._held = 0

    @property
    def bytes(self) -> int:
        return self._held + self._acts.bytes

    def retire(self, store: int, first: int, rows: np.ndarray, objects: Mapping[int, Sequence[Any]]) -> None:
        with self._lock:
            pieces = self._pieces[store]
            skip = max(0, pieces[-1].stop - first) if pieces else 0
            skip = max(skip, len(rows) - self.window)  # more than the window
            if skip >= len(rows):
                return
            if pieces and pieces[-1].stop != first + skip:
                self._drop(store, len(pieces))
            stop = first + len(rows)
            skip = max(skip, len(rows) - self.window)
            while pieces and pieces[0].stop <= stop - self.window:
                self._drop(store)
            mine = {offset: list(items[skip:]) for offset, items in objects.items()}
            held = (len(rows) - skip) * rows.shape[1] + sum(object_bytes(i) for items in mine.values() for i in items)
            begun = self._acts.ahead(store, stop)
            while self.bytes + held + 2 * 16 * len(begun[0]) > self.limit and self._held:
                self._drop(max(self._pieces, key=lambda s: sum(p.held for p in self._pieces[s])))
                self._acts.prune(self._rows_kept)
            if self.bytes + held + 2 * 16 * len(begun[0]) > self.limit:
                for other in self._pieces:
                    if self._layout.stores[other] == store:
                        self._drop(other, len(self._pieces[other]))
                self._acts.clear(store, stop)
                return
            self._acts.add(store, begun, stop)
            pieces.append(WindowChunk(first + skip, _copied(rows[skip:]), mine, held))
            self._held += held
            if 4 * self._acts.bytes > self._held:
                self._acts.prune(self._rows_kept)

    def _rows_kept(self, frame: int) -> list[Rows]:
        firsts = [p[0].first for s, p in self._pieces.items() if p and self._layout.stores[s] == frame]
        return [range(min(firsts), FOREVER)] if firsts else []

    def _drop(self, store: int, count: int = 1) -> None:
        for _ in range(count):
            self._held -= self._pieces[store].popleft().held

    def rewind(self, store: int, row: int) -> None:
        with self._lock:
            pieces = self._pieces[store]
            while pieces and pieces[-1].stop > row:
                last = pieces.pop()
                self._held -= last.held
                if last.first < row:
                    keep = row - last.first
                    objects = {offset: items[:keep] for offset, items in last.objects.items()}
                    held = keep * last.rows.shape[1] + sum(object_bytes(i) for o in objects.values() for i in o)
                    pieces.append(WindowChunk(last.first, last.rows[:keep].copy(), objects, held))
                    self._held += held
            self._acts.cut(store, row)

    def held(self, place: Place) -> Spans:
        if place.base == 0:
            return ()
        with self._lock:
            pieces = self._pieces[place.base - 1]
            return (range(pieces[0].first - place.shift, pieces[-1].stop - place.shift),) if pieces else ()

    def take(self, place: Place, rows: Rows) -> Any:
        wanted = as_array(rows) + place.shift
        found: list[Any] = []
        done = 0
        with self._lock:
            for piece in self._pieces[place.base - 1]:
                start, stop = np.searchsorted(wanted, (piece.first, piece.stop)).tolist()
                at = wanted[start:stop] - piece.first
                done += len(at)
                if place.dtype is None:
                    column = piece.objects[place.offset]
                    found += [column[row] for row in at.tolist()]
                elif len(at):
                    size = np.dtype((np.dtype(place.dtype), place.shape)).itemsize
                    raw = np.ascontiguousarray(piece.rows[at, place.offset : place.offset + size])
                    found.append(raw.view(place.dtype).reshape(len(at), *place.shape))
        if done < len(wanted):
            raise RowsGone(place)
        if place.dtype is None:
            return found
        return np.concatenate(found) if found else np.empty((0, *place.shape), place.dtype)


def _copied(rows: np.ndarray) -> np.ndarray:
    """A copy of the rows in separate memory, whose pages are already mapped if earlier rows were freed."""
    memory = columns.memory(rows.nbytes) if rows.nbytes else np.empty(0, np.uint8)
    copy = memory.reshape(rows.shape)
    copy[...] = rows
    return copy
