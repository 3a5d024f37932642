"""Retention backend interface: receives rows evicted by the executor and serves them to readers."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from workbench.kernels.layout import Place, ValueLayout
from workbench.trace.retention.activations import Table
from workbench.trace.row_ranges import Rows, Spans, as_array, holding, union
from workbench.trace.source import RowsGone

#: returns (init rows, parent rows) of the activations that the machine knows, given a frame
Live = Callable[[int], Table]


class RetentionBackend(Protocol):
    """Keeps part of the rows that a machine retires. The thread of the run calls ``retire`` and ``rewind``, any thread
    the other methods; ``version`` grows when readable rows other than the oldest are dropped.
    """

    @property
    def version(self) -> int: ...
    @property
    def bytes(self) -> int:
        """Bytes held in memory."""

    def retire(self, store: int, first: int, rows: np.ndarray, objects: Mapping[int, Sequence[Any]]) -> None:
        """Take rows ``first``, first + 1, ... of a store, which are about to be evicted: (n, row_bytes) uint8, to be
        copied, and the references of object columns by offset."""

    def rewind(self, store: int, row: int) -> None:
        """Rows from ``row`` on will be rewritten."""

    def complete(self, frame: int) -> Spans:
        """Rows of a frame for which the firings are known."""

    def held(self, place: Place) -> Spans:
        """Rows in which a place can be read."""

    def take(self, place: Place, rows: Rows) -> Any:
        """Values in these rows: an array, or a list of objects. RowsGone if a row is not held."""

    def activations(self, frame: int) -> Table:
        """(init rows, parent rows) of the activations that the rows held belong to."""

    def known(self, frame: int) -> int:
        """The row from which all activations are known."""

    def blocks(self, value: ValueLayout, first_only: bool) -> tuple[np.ndarray, int, int] | None:
        """(envelope blocks of a value, the row after the last, rows per block), or None if it keeps no envelope."""


class NoBlocks:
    """Base of keepers that keep no envelopes."""

    def blocks(self, value: ValueLayout, first_only: bool) -> tuple[np.ndarray, int, int] | None:
        return None


class RetentionBackends:
    """Several keepers as one: a row can be read if any of them holds it."""

    def __init__(self, parts: Sequence[RetentionBackend]) -> None:
        self.parts = tuple(parts)

    @property
    def version(self) -> int:
        return sum(p.version for p in self.parts)

    @property
    def bytes(self) -> int:
        return sum(p.bytes for p in self.parts)

    def retire(self, store: int, first: int, rows: np.ndarray, objects: Mapping[int, Sequence[Any]]) -> None:
        for part in self.parts:
            part.retire(store, first, rows, objects)

    def rewind(self, store: int, row: int) -> None:
        for part in self.parts:
            part.rewind(store, row)

    def hooks(self) -> tuple[Callable[..., None], Callable[..., None]]:
        """``retire`` and ``rewind`` for a machine. They hold the keepers weakly, because the keepers refer to the
        machine: in a reference cycle all recorded data would stay in memory until the next garbage collection."""
        still = weakref.ref(self)

        def retire(store: int, first: int, rows: np.ndarray, objects: Mapping[int, Sequence[Any]]) -> None:
            if (keepers := still()) is not None:
                keepers.retire(store, first, rows, objects)

        def rewind(store: int, row: int) -> None:
            if (keepers := still()) is not None:
                keepers.rewind(store, row)

        return retire, rewind

    def covers(self, store: int, stop: int) -> bool:
        """True if one keeper holds every row of a store up to ``stop`` (exclusive), with all its values."""
        return any(part.covers(store, stop) for part in self.parts if hasattr(part, "covers"))

    def complete(self, frame: int) -> Spans:
        found: Spans = ()
        for part in self.parts:
            found = union(found, part.complete(frame))
        return found

    def activations(self, frame: int) -> Table:
        starts, parents = (np.concatenate(c) for c in zip(*(p.activations(frame) for p in self.parts), strict=True))
        starts, first = np.unique(starts, return_index=True)
        return starts, parents[first]

    def known(self, frame: int) -> int:
        return min(p.known(frame) for p in self.parts)

    def blocks(self, value: ValueLayout, first_only: bool) -> tuple[np.ndarray, int, int] | None:
        return next((b for p in self.parts if (b := p.blocks(value, first_only)) is not None), None)

    def held(self, place: Place) -> Spans:
        found: Spans = ()
        for part in self.parts:
            found = union(found, part.held(place))
        return found

    def take(self, place: Place, rows: Rows) -> Any:
        """The values from the first keeper that holds all rows, otherwise each row from a keeper that holds it."""
        index = as_array(rows)
        items: list[Any] = [None] * len(index)
        missing = np.ones(len(index), bool)
        for part in self.parts:
            mine = missing & holding(part.held(place), index)
            if mine.all():
                return part.take(place, rows)
            if mine.any():
                for k, item in zip(np.flatnonzero(mine).tolist(), part.take(place, index[mine]), strict=True):
                    items[k] = item
                missing &= ~mine
        if missing.any():
            raise RowsGone(place)
        return items if place.dtype is None else np.array(items, place.dtype).reshape(len(items), *place.shape)
