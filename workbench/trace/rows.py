"""From layouts to firings: the rows in which a node fired, and its values there."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.kernels.layout import Condition, Layout, NodeLayout, Place, ValueLayout
from workbench.trace.row_ranges import Rows, among, as_array, holding, only, without
from workbench.trace.source import RowsGone, RowSource
from workbench.trace.tags import TagReader

#: (index, conditions under which a branch index has it)
Branches = tuple[tuple[int, tuple[Condition, ...]], ...]


def _literals(branches: Branches) -> list[Condition]:
    return [c for _, guard in branches for c in guard]


class RowReader(TagReader):
    """Reads rows through a layout and a source. While a run continues under a memory budget, rows can vanish."""

    def __init__(self, layout: Layout, source: RowSource) -> None:
        super().__init__(layout, source)
        self.node = {n.name: n for n in layout.nodes}

    # -- which rows ---------------------------------------------------------------------------------------------
    def rows_of(
        self,
        node: NodeLayout,
        guard: tuple[Condition, ...],
        window: tuple[int, int] | None = None,
        place: Place | None = None,
        branches: Branches = (),
    ) -> Rows:
        """Rows in which ``node`` fired and ``guard`` held, oldest first; ``window`` limits them to rows a <= r < b.

        Only kept rows are returned: those in which ``place``, the guard and the conditions of ``branches`` can still be
        read; without a place (or with one outside the frame) those whose firings are known.
        """
        rows = self._begun(node, window)
        if node.frame > 0:
            rows = self._iterations_of(node, self._with(place, (*guard, *_literals(branches)), node.frame, rows))
        elif place is not None and place.base > 0:  # it may have been released, or its memory reused
            rows = only(rows, self.source.held(place))
        for condition in guard:
            while len(rows):
                try:
                    rows = self._where(condition, node.frame, rows)
                    break
                except RowsGone as gone:
                    rows = self.surviving(node.frame, rows, gone)
        return rows

    def _with(self, place: Place | None, guard: tuple[Condition, ...], frame: int, rows: Rows) -> Rows:
        """The rows of ``frame`` in which ``place`` and the guard can be read."""
        if place is None or place.base == 0 or self.layout.frame_of(place) != frame:
            rows = only(rows, self.source.complete(frame))
        needed = dict.fromkeys([*([place] if place is not None else []), *(c.place for c in guard)])
        own = [p for p in needed if p.base > 0 and self.layout.frame_of(p) == frame]
        for p in own:
            rows = only(rows, self.source.held(p))
        starts, _ = self.source.activations(frame)
        rows = self._known(frame, starts, rows) if len(starts) else rows[:0]
        for p in needed:
            rows = rows if p in own else self._readable(p, frame, rows)
        return rows

    def readable(self, value: ValueLayout, rows: Rows) -> Rows:
        """The rows of the value's frame for which it is recorded whether it fired, and its value."""
        return self._with(value.place, (*value.guard, *_literals(value.branches)), value.frame, rows)

    def fired(self, node: NodeLayout, guard: tuple[Condition, ...], rows: Rows) -> np.ndarray:
        """The readable rows in which the node fired and the guard held; RowsGone if one was dropped meanwhile."""
        found: Rows = rows
        if len(rows):
            begun = self._begun(node, (int(rows[0]), int(rows[-1]) + 1))
            found = self._iterations_of(node, only(rows, (begun,)))
        for condition in guard:
            found = self._where(condition, node.frame, found) if len(found) else found
        return as_array(found)

    def _begun(self, node: NodeLayout, window: tuple[int, int] | None) -> range:
        """Rows in which the node was due, whether kept or not, including init rows."""
        extent = self.source.extent(node.frame)
        first, stop = extent.first, extent.stop
        if extent.partial >= 0 and node.ip < extent.ip:
            stop = extent.partial + 1
        if window is not None:
            first, stop = max(first, window[0]), min(stop, window[1])
        return range(first, max(first, stop))

    def _iterations_of(self, node: NodeLayout, rows: Rows) -> Rows:
        """The rows that are iterations of known activations with a known path; only first iterations if the node fires
        only there."""
        starts, _ = self.source.activations(node.frame)
        if len(starts) == 0:
            return rows[:0]
        rows = self._known(node.frame, starts, rows)
        if len(rows) == 0:
            return rows
        if isinstance(rows, range) and rows.step == 1:
            return self._iteration_rows(starts, rows.start, rows.stop, node.first)
        rows = as_array(rows)
        kept: np.ndarray
        if node.first:
            kept = rows[np.isin(rows, starts + 1) & ~np.isin(rows, starts)]
        else:
            kept = rows[starts[np.searchsorted(starts, rows, side="right") - 1] != rows]
        return kept

    def reached(self, node: NodeLayout, row: int) -> bool:
        """True if the node was due in this iteration row."""
        return len(self._iterations_of(node, self._begun(node, (row, row + 1)))) > 0

    def _readable(self, place: Place, frame: int, rows: Rows) -> Rows:
        """The rows of ``frame`` for which a place, of the same or an enclosing frame, can be read."""
        if place.base == 0:
            return rows
        home, spans = self.layout.frame_of(place), self.source.held(place)
        if home == frame:
            return only(rows, spans)
        if home == 0 or (len(spans) == 1 and spans[0][0] <= 1 and isinstance(spans[0], range) and spans[0].step == 1):
            return rows
        mapped = as_array(rows)
        while frame != home:
            mapped = self.parent_rows(frame, mapped)
            frame = self.layout.frames[frame].parent
        held: np.ndarray = as_array(rows)[holding(spans, mapped)]
        return held

    def surviving(self, frame: int, rows: Rows, gone: RowsGone) -> Rows:
        """The rows of ``frame`` that do not need a dropped place, minus a few more at the front, because more will be
        dropped.
        """
        if gone.place is None:  # activations were forgotten: keep rows of later ones
            starts, _ = self.source.activations(frame)
            found = self._known(frame, starts, rows) if len(starts) else rows[:0]
            if len(found) == len(rows):
                raise gone
            return found
        found = self._readable(gone.place, frame, rows)
        spans = self.source.held(gone.place)
        if len(spans) == 1 and isinstance(spans[0], range) and spans[0].step == 1 and spans[0].start > 0:
            found = found[len(found) // 32 :]
        if len(found) == len(rows):  # all of them are available again: the caller has to retry
            raise gone
        return found

    @staticmethod
    def _iteration_rows(starts: np.ndarray, first: int, stop: int, first_iteration_only: bool) -> Rows:
        """Rows from first to stop without init rows."""
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

    def _where(self, condition: Condition, frame: int, rows: Rows) -> Rows:
        """The rows in which a literal holds. A loop's own condition is true in all rows of an activation except the
        last, so only last rows are read."""
        cond = self.layout.frames[frame].cond
        if frame == 0 or cond is None or condition.place != cond.place:
            found: np.ndarray = as_array(rows)[self.holds(condition, frame, rows)]
            return found
        starts, _ = self.source.activations(frame)
        if len(starts) == 0 or rows[0] < starts[0]:
            raise RowsGone  # activations were forgotten meanwhile: their last rows would be missing below
        known = self.source.known(frame)
        # some activations in between are forgotten: any of these rows may be a last one
        if rows[0] < known and len(starts) > 1:
            every = as_array(rows)
            old, new = every[every < known], every[every >= known]
            held = old[self.holds(condition, frame, old)]
            return np.concatenate([held, as_array(self._where(condition, frame, new))]) if len(new) else held
        lasts = among(np.append(starts[1:] - 1, rows[-1]), rows)
        ends = lasts[~self.holds(cond, frame, lasts)]
        return without(rows, ends) if condition == cond else ends

    def holds(self, condition: Condition, frame: int, rows: Rows) -> np.ndarray:
        """Mask of the rows in which a literal holds."""
        items: np.ndarray = np.asarray(self.items(condition.place, frame, rows))
        held: np.ndarray
        if condition.expect >= 2:
            held = (items >= 0) == (condition.expect == 2)
        else:
            held = items.astype(bool) == bool(condition.expect)
        return held

    # -- values -----------------------------------------------------------------------------------------------------
    def items(self, place: Place, frame: int, rows: Rows) -> Any:
        """Values at ``place`` for each row of ``frame``: an array of numbers, or a list of arrays."""
        if place.base == 0:
            value = self.source.pool(place)
            return [value] * len(rows) if place.dtype is None else np.full(len(rows), value)
        home = self.layout.frame_of(place)
        while frame != home:  # a value of an enclosing frame: use the row that this activation belongs to
            rows = self.parent_rows(frame, rows)
            frame = self.layout.frames[frame].parent
        return self.source.take(place, rows)

    def read(self, layout: ValueLayout, rows: Rows) -> tuple[Rows, Any]:
        """(rows, values) of an output, without rows that are dropped meanwhile."""
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
