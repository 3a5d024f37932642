"""Streams read from a trace: one value, or the trip counts of one loop, with a state and a read position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from workbench.errors import WorkbenchError
from workbench.ir.node import Ref
from workbench.kernels.streaming import ScalarState, VectorState
from workbench.trace import Trace
from workbench.trace.incremental_reader import IncrementalReader, RowValues
from workbench.trace.row_ranges import FOREVER, as_array

State: TypeAlias = ScalarState | VectorState
#: copies of a scalar's state, used once the trace has dropped its first rows; and rows that are quickly read again
MARKS, SOON = 3, 4096


class FollowError(WorkbenchError):
    """A value or a loop that a :class:`Follower` cannot follow.

    Slugs: ``not-numeric`` for values that are not real numbers, ``other-frame`` for a value of another loop,
    ``no-such-frame`` for a loop that the graph does not have, ``raw-frame`` for a frame without loop variables.
    """

    slug = "cannot-follow"


class Mark(NamedTuple):
    """A copy of the state after all rows below ``row`` had been taken in."""

    row: int
    state: ScalarState
    last_row: int
    last: np.ndarray | None
    missed: list[tuple[int, int]]


class ValueStream:
    """The stream of one value of a trace; with ``newest`` only of the newest activation of its loop.

    The last row is read again on each call, because an edit changes it in place. When rows are rewritten, the state
    begins again with the rows that the trace holds. If the trace has dropped its first rows, the state returns to one
    of a few marks instead: earlier copies of it, which are closer together for newer rows.
    """

    def __init__(
        self, trace: Trace, ref: Ref, name: str, newest: bool = False, token: Callable[[], Any] = lambda: None
    ) -> None:
        """``token()`` changes with every edit and change of inputs; it is None if these are unknown."""
        self.name, self.newest, self._token = name, newest, token
        self._reading = IncrementalReader(trace, ref)
        self._inner = self._reading.layout.frame > 0
        self._guarded = bool(self._reading.layout.guard)
        forks = self._token()  # read before the revision: an edit in between then counts as a later one
        self._begin(forks, self._reading.revision, self._first_row())

    def _begin(self, forks: Any, revision: int, row: int) -> None:
        self._marks: list[Mark] = []
        self._forks = forks
        self.state: State | None = None
        self.missed: list[tuple[int, int]] = []
        self._start = self._row = row
        self._revision = revision
        self._last_row = -1
        self._last: np.ndarray | None = None

    def _first_row(self) -> int:
        starts = self._reading.activations() if self.newest else np.empty(0)
        return int(starts[-1]) if len(starts) else 0

    def catch_up(self) -> None:
        """Take in the rows that are new; TraceError if they change faster than they can be read."""
        stop = self._reading.stop
        first = self._first_row()
        if (self.newest and first != self._start) or not self._as_read():
            self._again()
        while self._row < stop:
            piece = self._reading.read(self._row, stop)
            if piece.revision != self._revision or piece.stop == self._row:
                self._again()  # the run went back in the meantime
                stop = self._reading.stop
                continue
            self._take(piece)
            self._row = piece.stop
        if self.state is None:
            self.state = ScalarState()
        self._mark()

    def _again(self) -> None:
        """After rows were rewritten, continue from the last mark before the first changed row, or begin anew."""
        reading, forks = self._reading, self._token()
        revision = reading.revision
        same = min(reading.changed_from(self._revision), self._last_row)
        if revision != self._revision and forks is not None and self._token() == self._forks and same > 1:
            # no edits, other inputs or restart (which forgets edits): a replay, whose rows are the same as before
            same = reading.stop
            if self._row <= same:
                self._revision = revision
                return
        marks = [m for m in self._marks if m.row <= same]
        self._begin(forks, revision, self._first_row())
        if marks and not reading.begins:
            self._marks = marks
            self._row, _, self._last_row, self._last, _ = marks[-1]
            self.state, self.missed = marks[-1].state.clone(), list(marks[-1].missed)

    def _mark(self) -> None:
        if self.newest or not isinstance(self.state, ScalarState) or self._last_row < SOON:
            return
        if self._marks and self._marks[-1].row == self._row:
            return
        self._marks.append(Mark(self._row, self.state.clone(), self._last_row, self._last, list(self.missed)))
        if len(self._marks) > MARKS:  # older marks are farther apart
            rows = [m.row for m in self._marks]
            apart = [(rows[k + 1] - rows[k - 1]) / (rows[-1] - rows[k - 1]) for k in range(1, len(rows) - 1)]
            del self._marks[1 + int(np.argmin(apart))]

    def _as_read(self) -> bool:
        """True if the rows that were read have not changed."""
        if self._reading.revision != self._revision:
            return False
        if self._last is None and not isinstance(self.state, VectorState):
            return True
        piece = self._reading.read(self._last_row, self._last_row + 1)
        if piece.revision != self._revision:
            return False
        if not len(piece.rows):
            return bool(piece.missing)  # dropped by the trace, which does not change the state
        value = np.asarray(piece.values[0])
        if isinstance(self.state, VectorState):
            return self.state.ends_with(value)
        assert self._last is not None
        return value.dtype == self._last.dtype and value.tobytes() == self._last.tobytes()

    def _take(self, piece: RowValues) -> None:
        """Take in the values and gaps of a piece, in order."""
        rows, at = piece.rows, 0
        for low, high in piece.missing:
            upto = int(np.searchsorted(as_array(rows), low)) if len(rows) else 0
            self._values(piece, at, upto)
            at = upto
            self._gap(low, high)
        self._values(piece, at, len(rows))

    def _gap(self, low: int, high: int) -> None:
        starts = self._reading.activations() if self._inner else np.empty(0)
        lost = high - low - int(np.count_nonzero((starts >= low) & (starts < high)))
        if lost <= 0:
            return
        if self.missed and self.missed[-1][1] == low:
            self.missed[-1] = (self.missed[-1][0], high)
        else:
            self.missed.append((low, high))
        if self.state is None:
            self.state = ScalarState()
        # how often a value on a branch fired there is unknown: a gap of one
        self.state.skip(1 if self._guarded else lost)

    def _values(self, piece: RowValues, start: int, stop: int) -> None:
        if start == stop:
            return
        values = piece.values[start:stop]
        self._last_row = int(piece.rows[stop - 1])
        if isinstance(values, np.ndarray) and values.dtype != object:
            self._feed(values)
            return
        items = [np.asarray(v) for v in values]
        first = 0
        for k in range(1, len(items) + 1):  # shapes may change from one iteration to the next
            if k == len(items) or items[k].shape != items[first].shape or items[k].dtype != items[first].dtype:
                self._feed(np.stack(items[first:k]))
                first = k

    def _feed(self, values: np.ndarray) -> None:
        """Take in values of one shape, stacked along the first axis."""
        if not is_real(values.dtype):
            raise FollowError(
                f"{self.name!r} is of dtype {values.dtype}: only real numbers and bools evolve.",
                slug="not-numeric",
                fix="follow a number that is computed from it, such as its magnitude.",
            )
        shape = values.shape[1:]
        if values[0].size == 1:
            state = self._of(ScalarState, lambda s: s.dtype in (None, values.dtype))
            state.update(values.reshape(len(values)))
            self._last = np.array(values[-1])
        else:
            state = self._of(VectorState, lambda s: s.shape in (None, shape) and s.dtype in (None, values.dtype))
            state.update_many(values)
            self._last = None

    def _of(self, kind: Any, fits: Any) -> Any:
        """The state if it accepts such values, else a new one whose count includes the earlier values."""
        if not isinstance(self.state, kind) or not fits(self.state):
            before = 0 if self.state is None else self.state.count
            self.state = kind()
            self.state.skip(before)
        return self.state


class Trips:
    """The stream of a loop's trip counts: how often its body ran in each activation that has ended."""

    def __init__(self, trace: Trace, frame: int, cond: Ref) -> None:
        self._cond, self._source, self._frame = IncrementalReader(trace, cond), trace.reader.source, frame
        self._begin(self._cond.revision)

    def _begin(self, revision: int) -> None:
        self.state = ScalarState()
        self._revision = revision
        self._next = 0  # init row of the first activation that was not yet taken in

    def catch_up(self) -> None:
        """Take in the activations that have ended since the last call."""
        if self._cond.revision != self._revision:
            self._begin(self._cond.revision)
        begun, starts = 0, np.empty(0, np.int64)
        for _ in range(20):  # the count says how many activations were dropped; it may grow between the two reads
            begun, starts = self._source.begun(self._frame), self._cond.activations()
            if len(starts) == 0 or starts[0] <= self._next or self._source.begun(self._frame) == begun:
                break
        if not len(starts):
            return
        if starts[0] > self._next:
            self.state.skip(max(1, begun - len(starts) - self.state.count))
            self._next = int(starts[0])
        starts = starts[np.searchsorted(starts, self._next) :]
        if len(starts) == 0:
            return
        # between two init rows: the rows of the body, and the row in which the condition was false
        self.state.update(np.diff(starts) - 2)
        self._next = int(starts[-1])
        last = self._ended(self._next)
        if last is not None:
            self.state.update(np.int64(last))
            self._next += last + 2

    def _ended(self, start: int) -> int | None:
        """Trips of the newest activation, which began with this init row; None if its condition has not been false."""
        row = self._cond.stop - 1
        if row <= start:
            return None
        piece = self._cond.read(row, FOREVER)
        return row - start - 1 if len(piece.rows) and not bool(np.asarray(piece.values[0])) else None


def is_real(dtype: np.dtype) -> bool:
    """True if values of a dtype can be followed: real numbers and bools, including small float and integer types."""
    small = dtype.kind == "V" and dtype.names is None and dtype.name.startswith(("bfloat", "float", "int", "uint"))
    return dtype.kind in "fiub" or small
