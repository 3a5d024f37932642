"""Converts rows to tags (activation and iteration of a row), and iterations to rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.kernels.layout import Layout
from workbench.trace.row_ranges import FOREVER, Rows, as_array, only
from workbench.trace.source import RowsGone, RowSource


class TagReader:
    """Converts rows to tags and back, by the tables of activations."""

    def __init__(self, layout: Layout, source: RowSource) -> None:
        self.layout, self.source = layout, source

    def activation_of(self, frame: int, rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(index of each row's activation in the other two arrays, init rows, parent rows); RowsGone if an activation
        is no longer known."""
        starts, parents = self.source.activations(frame)
        number = np.searchsorted(starts, as_array(rows), side="right") - 1
        if len(number) and len(starts) and number.min() < 0:
            raise RowsGone
        return number, starts, parents

    def parent_rows(self, frame: int, rows: Rows) -> np.ndarray:
        number, _, parents = self.activation_of(frame, rows)
        found: np.ndarray = parents[number]
        return found

    def iterations(self, frame: int, rows: Rows) -> np.ndarray:
        """(n, depth) iteration indices of rows, outermost frame first."""
        depth = len(self.layout.frames[frame].path)
        out = np.empty((len(rows), depth), np.int64)
        current = as_array(rows)
        for level in range(depth - 1, -1, -1):
            number, starts, parents = self.activation_of(frame, current)
            out[:, level] = current - starts[number] - 1
            current = parents[number]
            frame = self.layout.frames[frame].parent
        return out

    def iterations_known(self, frame: int, rows: np.ndarray) -> np.ndarray:
        """The same for ascending rows, with -1 for rows of forgotten activations."""
        out = np.full((len(rows), len(self.layout.frames[frame].path)), -1, np.int64)
        starts, _ = self.source.activations(frame)
        known = as_array(self._known(frame, starts, np.unique(rows))) if len(starts) else rows[:0]
        mine = np.isin(rows, known)
        out[mine] = self.iterations(frame, rows[mine])
        return out

    def find_row(self, frame: int, iteration: Sequence[int]) -> int | None:
        """The row of an iteration path, or None if that iteration did not happen or its row is not kept."""
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

    def _known(self, frame: int, starts: np.ndarray, rows: Rows) -> Rows:
        """The rows whose iteration path is known."""
        if starts[0] > 0:
            rows = only(rows, (range(int(starts[0]), FOREVER),))
        around = self.layout.frames[frame].parent
        while around > 0:
            above, _ = self.source.activations(around)
            if len(above) == 0 or above[0] > 0:
                mapped = found = as_array(rows)
                inner = frame
                while inner != around and len(found):
                    mapped = self.parent_rows(inner, mapped)
                    inner = self.layout.frames[inner].parent
                rows = found[mapped >= above[0]] if len(above) else found[:0]
            around = self.layout.frames[around].parent
        return rows
