"""Activations of loops whose rows were retired: the row at which each began, and the row of the enclosing loop that
started it.

The machine forgets an activation with its last row. This table keeps, at 16 bytes each, the activations of the rows
that are kept and those that lead to them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.kernels.layout import Layout
from workbench.trace.row_ranges import Rows

Table = tuple[np.ndarray, np.ndarray]
NONE: Table = (np.empty(0, np.int64), np.empty(0, np.int64))


class Activations:
    """(init rows, parent rows) by frame, ascending; complete from row ``known`` on."""

    def __init__(self, layout: Layout, live: Callable[[int], Table]) -> None:
        self._layout, self._live = layout, live
        self._tables: dict[int, Table] = dict.fromkeys(range(1, len(layout.frames)), NONE)
        self._stop = dict.fromkeys(self._tables, 0)
        self._known = dict.fromkeys(self._tables, 0)

    @property
    def bytes(self) -> int:
        return sum(16 * len(starts) for starts, _ in self._tables.values())

    def of(self, frame: int) -> Table:
        return self._tables.get(frame, NONE)

    def known(self, frame: int) -> int:
        return self._known.get(frame, 0)

    def ahead(self, frame: int, stop: int) -> Table:
        """Activations that begin before row ``stop`` and are not in the table yet."""
        if frame not in self._tables:
            return NONE
        starts, parents = self._live(frame)
        have = self._tables[frame][0]
        low = int(np.searchsorted(starts, have[-1], "right")) if len(have) else 0
        high = int(np.searchsorted(starts, stop))
        return starts[low:high], parents[low:high]

    def add(self, frame: int, table: Table, stop: int) -> None:
        """Add the result of :meth:`ahead`."""
        if frame in self._tables:
            if len(table[0]):
                starts, parents = self._tables[frame]
                self._tables[frame] = np.concatenate([starts, table[0]]), np.concatenate([parents, table[1]])
            self._stop[frame] = max(self._stop[frame], stop)

    def clear(self, frame: int, stop: int) -> None:
        """Forget all activations of a frame; those that begin before ``stop`` become unknown."""
        if frame in self._tables:
            self._tables[frame] = NONE
            self._stop[frame] = self._known[frame] = stop

    def stop(self, frame: int) -> int:
        """The row after those whose activations are in the table."""
        return self._stop.get(frame, 0)

    def cut(self, frame: int, row: int) -> None:
        """Forget activations that begin at ``row`` or later."""
        if frame in self._tables:
            starts, parents = self._tables[frame]
            keep = int(np.searchsorted(starts, row))
            self._tables[frame] = starts[:keep].copy(), parents[:keep].copy()
            self._stop[frame] = min(self._stop[frame], row)
            self._known[frame] = min(self._known[frame], row)

    def prune(self, rows: Callable[[int], list[Rows]]) -> None:
        """Drop activations that neither the ``rows`` of their frame nor the rows of inner frames need."""
        needed: dict[int, list[Rows]] = {f: [] for f in self._tables}
        for frame in sorted(self._tables, reverse=True):  # inner frames have higher indices
            starts, parents = self._tables[frame]
            if len(starts) > 1:
                stay = np.zeros(len(starts), bool)
                stay[-1] = True  # future rows may belong to the last one
                for wanted in (*rows(frame), *needed[frame]):
                    stay |= _having(starts, wanted)
                if not stay.all():
                    self._tables[frame] = starts, parents = starts[stay], parents[stay]
                    self._known[frame] = int(starts[-1])
            around = self._layout.frames[frame].parent
            if around > 0:
                # a loop can be pruned before its inner loops: their rows that are still in the machine also need its
                # activations
                needed[around] += [parents, self._live(frame)[1]]


def _having(starts: np.ndarray, rows: Rows) -> np.ndarray:
    """Mask of the activations, by init row, that contain one of ``rows``; an array of rows may be in any order."""
    ends = np.append(starts[1:], 1 << 62)
    if isinstance(rows, range):
        low = np.maximum(starts, rows.start)
        any_in: np.ndarray = low + (rows.start - low) % rows.step < np.minimum(ends, rows.stop)
        return any_in
    found = np.zeros(len(starts), bool)
    found[np.searchsorted(starts, rows[rows >= starts[0]], side="right") - 1] = True
    return found
