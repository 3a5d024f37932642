"""The rows of a recorded loop, read from the columns of its recorder, for a trace like that of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.kernels.layout import Place, ValueLayout
from workbench.recorder.layout import CALLED, CLAUSES, EITHER, GOING, Recorded
from workbench.trace.row_ranges import FOREVER, Rows, Spans, as_array
from workbench.trace.source import Extent, RowsGone


class WatchSource:
    """Rows of one watch and of those inside it. Any thread may read while the loops run.

    ``ended`` returns whether the loop of a frame is over, so that its newest row is the last.
    """

    def __init__(self, recorded: Recorded, ended: Callable[[int], bool]) -> None:
        self._recorded, self._ended = recorded, ended
        self._frames = len(recorded.layout.frames)

    epoch = 0
    revision = 0

    def changed_from(self, store: int, revision: int) -> int:
        """Rows are never rewritten."""
        return FOREVER

    @property
    def partial(self) -> bool:
        return any(stored.rows.first > 0 for stored in self._recorded.stores)

    def extent(self, frame: int) -> Extent:
        if frame == 0:
            return Extent(0, 0, 0, 1 << 30)
        return Extent(0, self._recorded.recorders[frame - 1].row + 1, -1, 0)

    def first(self, place: Place) -> int:
        return self._recorded.stores[place.base - self._frames - 1].rows.first if place.base > self._frames else 0

    def held(self, place: Place) -> Spans:
        return (range(self.first(place), FOREVER),)

    def complete(self, frame: int) -> Spans:
        return (range(0, FOREVER),)

    def column(self, place: Place, start: int, stop: int, step: int = 1) -> tuple[int, Any]:
        first, end = self.first(place), self.extent(self._recorded.layout.frame_of(place)).end
        low = max(start, first + (start - first) % step)
        return low, self.take(place, range(low, max(low, min(stop, end)), step))

    def take(self, place: Place, rows: Rows) -> Any:
        index = as_array(rows)
        if place.base <= self._frames:
            return self._own(place.base - 1, place.offset, index)
        try:
            return self._recorded.stores[place.base - self._frames - 1].rows.take(index)
        except LookupError:
            raise RowsGone(place) from None

    def blocks(self, value: ValueLayout, first_only: bool) -> tuple[np.ndarray, int, int] | None:
        return None

    def pool(self, place: Place) -> Any:
        return np.float64(self._recorded.pool[place.offset])

    def activations(self, frame: int) -> tuple[np.ndarray, np.ndarray]:
        if frame == 0:
            return np.array([-1]), np.array([-1])  # its only row is not an init row
        return self._recorded.recorders[frame - 1].activations()

    def begun(self, frame: int) -> int:
        return self._recorded.recorders[frame - 1].begun if frame else 0

    def known(self, frame: int) -> int:
        return 0

    # -- columns of a frame's own rows ------------------------------------------------------------------------------
    def _own(self, frame: int, offset: int, rows: np.ndarray) -> np.ndarray:
        recorder = self._recorded.recorders[frame - 1]
        starts, _ = recorder.activations()
        if offset == CALLED:
            return ~np.isin(rows, starts) & (~np.isin(rows, starts + 1) | np.isin(rows, recorder.given_starts() + 1))
        if offset == GOING:
            return self._going(frame, rows)
        shape = self._recorded.shapes[frame - 1]
        if offset < EITHER:
            clause = shape.clauses[offset - CLAUSES]
            left = self._variable(frame, clause.variable, rows)
            right = self._variable(frame, clause.bound, rows) if isinstance(clause.bound, str) else clause.bound
            found: np.ndarray = clause.going[1](left, right)
            return found
        parts = [self._own(frame, CLAUSES + k, rows) for k in range(offset - EITHER + 1)]
        either: np.ndarray = np.logical_or.reduce(parts)
        return either

    def _variable(self, frame: int, name: str, rows: np.ndarray) -> np.ndarray:
        column = next(v for v in self._recorded.recorders[frame - 1].variables if v.name == name)
        values = np.full(len(rows), np.nan)
        kept = rows >= column.first
        values[kept] = np.asarray(column.take(rows[kept]), np.float64)
        return values

    def _going(self, frame: int, rows: np.ndarray) -> np.ndarray:
        """True where another iteration followed; for the newest one it follows from ``until`` and from the end of the
        watch.
        """
        recorder = self._recorded.recorders[frame - 1]
        starts, _ = recorder.activations()
        going = ~np.isin(rows + 1, starts)
        newest = rows == recorder.row
        if newest.any():
            going[newest] = not self._ended(frame) and self._not_there(frame, recorder.row)
        return going

    def _not_there(self, frame: int, row: int) -> bool:
        """False if the newest row meets all clauses of ``until``."""
        shape = self._recorded.shapes[frame - 1]
        known = {v.name for v in self._recorded.recorders[frame - 1].variables if v.written == row}
        if not shape.clauses or not all(c.variable in known for c in shape.clauses):
            return True
        if not all(c.bound in known for c in shape.clauses if isinstance(c.bound, str)):
            return True
        at = np.array([row])
        return any(bool(self._own(frame, CLAUSES + k, at)[0]) for k in range(len(shape.clauses)))
