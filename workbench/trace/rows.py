"""From layouts to firings: in which rows a node fired, what its values are, and which tag each row has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.kernels.layout import Condition, Layout, NodeLayout, Place, ValueLayout
from workbench.trace.source import RowSource

#: rows of one frame: a range where nothing is left out, else an int64 array
Rows = range | np.ndarray


def as_array(rows: Rows) -> np.ndarray:
    return np.arange(rows.start, rows.stop, rows.step, dtype=np.int64) if isinstance(rows, range) else rows


class RowsGone(Exception):
    """Rows of ``frame`` below ``first`` were dropped while they were being read."""

    def __init__(self, frame: int, first: int) -> None:
        super().__init__(f"rows of frame {frame} below {first} were dropped")
        self.frame, self.first = frame, first


class RowReader:
    """Answers about rows, from a layout and a source. While a run goes on under a memory budget, rows can vanish."""

    def __init__(self, layout: Layout, source: RowSource) -> None:
        self.layout, self.source = layout, source
        self.node = {n.name: n for n in layout.nodes}

    # -- which rows ---------------------------------------------------------------------------------------------
    def rows_of(
        self, node: NodeLayout, guard: tuple[Condition, ...], window: tuple[int, int] | None = None,
        place: Place | None = None,
    ) -> Rows:  # fmt: skip
        """Rows in which ``node`` fired and ``guard`` held, oldest first; ``window`` limits them to rows a <= r < b,
        ``place`` to those in which it can still be read."""
        extent = self.source.extent(node.frame)
        first, stop = extent.first, extent.stop
        if place is not None and place.base > 0 and self.layout.frame_of(place) == node.frame:
            first = max(first, self.source.first(place))
        if extent.partial >= 0 and node.ip < extent.ip:
            stop = extent.partial + 1
        if window is not None:
            first, stop = max(first, window[0]), min(stop, window[1])
        stop = max(first, stop)
        if node.frame == 0:
            rows: Rows = range(first, stop)
        else:
            starts, _ = self.source.activations(node.frame)
            rows = self._iteration_rows(starts, first, stop, node.first)
        for condition in guard:
            while len(rows):
                try:
                    rows = as_array(rows)[self.holds(condition, node.frame, rows)]
                    break
                except RowsGone as gone:
                    rows = self.surviving(node.frame, rows, gone)
        return rows

    def surviving(self, frame: int, rows: Rows, gone: RowsGone) -> np.ndarray:
        """The rows of ``frame`` that do not need what is gone, less a few more at the front, for more will follow."""
        found = mapped = as_array(rows)
        while frame != gone.frame:
            mapped = self.parent_rows(frame, mapped)
            frame = self.layout.frames[frame].parent
        found = found[mapped >= gone.first]
        return found[len(found) // 32 :]

    @staticmethod
    def _iteration_rows(starts: np.ndarray, first: int, stop: int, first_iteration_only: bool) -> Rows:
        """Rows from first to stop without the init rows."""
        inside = starts[(starts >= first - 1) & (starts < stop)]
        if first_iteration_only:
            rows = inside + 1
            return rows[(rows >= first) & (rows < stop)]
        inside = inside[inside >= first]
        if len(inside) == 0:
            return range(first, stop)
        if len(inside) == 1 and inside[0] == first:
            return range(first + 1, stop)
        rows = np.arange(first, stop, dtype=np.int64)
        return np.delete(rows, inside - first)

    def holds(self, condition: Condition, frame: int, rows: Rows) -> np.ndarray:
        """Whether a literal holds in each of the rows."""
        items = np.asarray(self.items(condition.place, frame, rows))
        if condition.expect >= 2:
            return (items >= 0) == (condition.expect == 2)
        return items.astype(bool) == bool(condition.expect)

    # -- values -----------------------------------------------------------------------------------------------------
    def items(self, place: Place, frame: int, rows: Rows) -> Any:
        """What stands at ``place`` for each row of ``frame``: an array of numbers, or a list of arrays."""
        if place.base == 0:
            value = self.source.pool(place)
            return [value] * len(rows) if place.dtype is None else np.full(len(rows), value)
        home = self.layout.frame_of(place)
        while frame != home:  # a value of an enclosing frame: the row of it that this activation belongs to
            rows = self.parent_rows(frame, rows)
            frame = self.layout.frames[frame].parent
        if len(rows) == 0:
            return [] if place.dtype is None else np.empty((0, *place.shape), place.dtype)
        step = rows.step if isinstance(rows, range) else 1
        low, high = (rows.start, rows.stop) if isinstance(rows, range) else (int(rows.min()), int(rows.max()) + 1)
        start, items = self.source.column(place, low, high, step)
        if start > low:
            raise RowsGone(frame, start)
        if isinstance(rows, range):
            return items
        if place.dtype is None:
            return [items[r - start] for r in rows]
        return items[rows - start]

    def read(self, layout: ValueLayout, rows: Rows) -> tuple[Rows, Any]:
        """(rows, values) of an output; rows that are dropped meanwhile are left out of both."""
        while True:
            try:
                return rows, self.values(layout, rows)
            except RowsGone as gone:
                rows = self.surviving(layout.frame, rows, gone)

    def values(self, layout: ValueLayout, rows: Rows) -> Any:
        """Values of an output in rows in which it fired; RowsGone if one of them was dropped."""
        frame = layout.frame
        if layout.kind == "loop-index":
            return (self.iterations(frame, rows)[:, -1] > 0).astype(np.int32)
        if layout.kind == "branch-index":
            index = np.full(len(rows), -1, np.int32)
            for number, guard in reversed(layout.branches):
                alive = np.ones(len(rows), bool)
                for condition in guard:
                    alive &= self.holds(condition, frame, rows)
                index[alive] = number
            return index
        if layout.place is None:
            return [None] * len(rows)
        return self.items(layout.place, frame, rows)

    # -- tags -------------------------------------------------------------------------------------------------------
    def activation_of(self, frame: int, rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(number of the activation of each row, init rows, parent rows)."""
        starts, parents = self.source.activations(frame)
        return np.searchsorted(starts, as_array(rows), side="right") - 1, starts, parents

    def parent_rows(self, frame: int, rows: Rows) -> np.ndarray:
        number, _, parents = self.activation_of(frame, rows)
        return parents[number]

    def iterations(self, frame: int, rows: Rows) -> np.ndarray:
        """(n, depth) iteration numbers of rows, outermost frame first."""
        depth = len(self.layout.frames[frame].path)
        out = np.empty((len(rows), depth), np.int64)
        current = as_array(rows)
        for level in range(depth - 1, -1, -1):
            number, starts, parents = self.activation_of(frame, current)
            out[:, level] = current - starts[number] - 1
            current = parents[number]
            frame = self.layout.frames[frame].parent
        return out

    def find_row(self, frame: int, iteration: Sequence[int]) -> int | None:
        """The row of an iteration path, or None if there was no such iteration (or its row is not kept)."""
        row = 0
        chain = []
        while frame > 0:
            chain.append(frame)
            frame = self.layout.frames[frame].parent
        for number, step in zip(reversed(chain), iteration, strict=True):
            starts, parents = self.source.activations(number)
            low, high = np.searchsorted(parents, row, "left"), np.searchsorted(parents, row, "right")
            if step < 0 or low == high:
                return None
            found = int(starts[high - 1]) + 1 + step
            if high < len(starts) and found >= starts[high]:
                return None
            extent = self.source.extent(number)
            if not (extent.first <= found < extent.stop or found == extent.partial):
                return None
            row = found
        return row
