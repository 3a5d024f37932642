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

#: (init rows, parent rows) of the activations that the machine knows, by frame
Live = Callable[[int], Table]


class RetentionBackend(Protocol):
    """Keeps something of the rows that a machine retires. ``retire`` and ``rewind`` come from the thread of the run,
    the questions from any; ``version`` grows when rows that could be read are let go of, other than the oldest ones.
    """

    @property
    def version(self) -> int: ...
    @property
    def bytes(self) -> int:
        """Bytes that it holds in memory."""

    def retire(self, store: int, first: int, rows: np.ndarray, objects: Mapping[int, Sequence[Any]]) -> None:
        """Rows ``first``, first + 1, ... of a store are about to go: (n, row_bytes) uint8, to be copied, and of object
        columns the references by offset."""

    def rewind(self, store: int, row: int) -> None:
        """Rows from ``row`` on will be written anew."""

    def complete(self, frame: int) -> Spans:
        """Rows of a frame of which it is known what fired."""

    def held(self, place: Place) -> Spans:
        """Rows in which a place can be read."""

    def take(self, place: Place, rows: Rows) -> Any:
        """Values in these rows: an array, or a list of objects. RowsGone if one of the rows is not held."""

    def activations(self, frame: int) -> Table:
        """(init rows, parent rows) of the activations that its rows belong to."""

    def known(self, frame: int) -> int:
        """The row from which on it knows all activations."""

    def blocks(self, value: ValueLayout, first_only: bool) -> tuple[np.ndarray, int, int] | None:
        """(blocks of the envelope of a value, the row behind the last, rows of a block), if it keeps them."""


class NoBlocks:
    """Base of keepers that keep no envelopes."""

    def blocks(self, value: ValueLayout, first_only: bool) -> tuple[np.ndarray, int, int] | None:
        return None


class RetentionBackends:
    """Several keepers as one: a row can be read where any of them has it."""

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
        """``retire`` and ``rewind`` for a machine, which does not keep these keepers alive by them: they ask it for
        activations, and in a cycle all that was recorded would stay until the garbage collector comes by."""
        still = weakref.ref(self)

        def retire(store: int, first: int, rows: np.ndarray, objects: Mapping[int, Sequence[Any]]) -> None:
            if (keepers := still()) is not None:
                keepers.retire(store, first, rows, objects)

        def rewind(store: int, row: int) -> None:
            if (keepers := still()) is not None:
                keepers.rewind(store, row)

        return retire, rewind

    def covers(self, store: int, stop: int) -> bool:
        """True if one of them has every row of a store up to ``stop`` (exclusive), with all its values."""
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
        """From the first keeper that has all of them, else each row from one that has it."""
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
