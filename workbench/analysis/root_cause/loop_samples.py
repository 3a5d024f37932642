"""Samples of one loop's values: the record, the start of the look-ahead, and its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.analysis.root_cause.loop_dependencies import LoopDependencies
from workbench.analysis.slicing import work
from workbench.analysis.slicing.execution import SliceMachine
from workbench.analysis.slicing.protocol import SliceTimeout
from workbench.ir.node import Ref
from workbench.trace.aligned_columns import AlignedColumns, origin

#: numbers of iterations read at the start of the look-ahead, at its end, and at the end of the record
EARLY, LATE, NEWEST = 320, 64, 4096
#: maximum number of iterations run ahead if no recurrence is known
LEAP = 100_000


@dataclass
class LoopSamples:
    """Columns of values from three parts of one activation of a loop, and the offsets of their iterations.

    The look-ahead begins in iteration ``base`` of the loop; ``offset`` is added to the iterations in its columns to get
    those of the loop, and ``late_offset`` to those in the columns of its end. ``settled`` is (iterations ahead to the
    recurrence of the whole state, its period), or None. ``runner`` is at the current condition.
    """

    loop: LoopDependencies
    cond: Ref
    base: int
    offset: int
    runner: SliceMachine | None = None
    record: AlignedColumns | None = None
    early: AlignedColumns | None = None
    late: AlignedColumns | None = None
    settled: tuple[int, int] | None = None
    late_offset: int = 0
    ended: int | None = None
    _series: dict[Ref, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    _end: dict[Ref, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    def base_of(self, columns: AlignedColumns | None) -> int:
        """The offset from the iterations of columns to those of the loop."""
        return 0 if columns is self.record else self.late_offset if columns is self.late else self.offset

    def series(self, ref: Ref) -> tuple[np.ndarray, np.ndarray]:
        """(iterations, values) without a gap, from as far back as recorded to the end of the early look-ahead."""
        if ref not in self._series:
            self._series[ref] = self._joined(ref)
        return self._series[ref]

    def _joined(self, ref: Ref) -> tuple[np.ndarray, np.ndarray]:
        parts = {}
        for columns, base in ((self.record, 0), (self.early, self.offset)):
            if columns is not None:
                parts.update({k + base: v for k, v in self.plain(columns, ref).items()})
        order = sorted(parts)
        start = len(order) - 1
        while start > 0 and order[start - 1] == order[start] - 1:
            start -= 1
        kept = order[max(start, 0) :]
        return np.array(kept, np.int64), stacked([parts[k] for k in kept])

    def at_the_end(self, ref: Ref) -> tuple[np.ndarray, np.ndarray]:
        """(iterations, values) at the end of the look-ahead, or else of the known iterations."""
        if ref not in self._end:
            if self.late is None:
                iterations, values = self.series(ref)
                self._end[ref] = iterations[-LATE:], values[-LATE:]
            else:
                iterations, values = self._in_order(self.late, ref)
                iterations = iterations + self.late_offset
                begin = self.base + self.settled[0] if self.settled is not None else 0
                own = slice(int(np.searchsorted(iterations, begin)), None)  # without iterations before the recurrence
                self._end[ref] = iterations[own], values[own]
        return self._end[ref]

    def plain(self, columns: AlignedColumns, ref: Ref) -> dict[int, Any]:
        """Iteration -> value; an invariant has its value in all iterations in which the condition was evaluated."""
        found = self._everywhere(columns, ref)
        return columns.latest(ref) if found is None else dict(zip(columns.latest(self.cond), found[1], strict=False))

    def _everywhere(self, columns: AlignedColumns, ref: Ref) -> tuple[np.ndarray, Any] | None:
        """(iterations, values) of an invariant; None for other values."""
        source = origin(self.loop.graph, ref)
        if source.op != "Const" and self.loop.graph.frame_of(source.name) == self.loop.path:
            return None
        iterations = _path(columns, self.cond)
        there, values = columns.at(ref, iterations)
        return (iterations, values) if there.all() else None

    def _in_order(self, columns: AlignedColumns, ref: Ref) -> tuple[np.ndarray, np.ndarray]:
        """(iterations, values), the values as one array; taken directly from the columns if these hold an array."""
        iterations, values = self._everywhere(columns, ref) or columns.get(ref)
        if len(values) and isinstance(values, np.ndarray) and values.dtype != object and iterations.shape[-1:] > (0,):
            its = iterations[:, -1].astype(np.int64)
            if len(its) == len(values) and np.all(its[1:] > its[:-1]):
                return its, np.array(values)
        found = self.plain(columns, ref)
        order = sorted(found)
        return np.array(order, np.int64), stacked([found[k] for k in order])

    def block(self, columns: AlignedColumns, ref: Ref, begin: int, n: int) -> Any:
        """Values in ``n`` iterations of columns: an array if each has one, else a list with None for missing ones."""
        iterations, values = self._everywhere(columns, ref) or columns.get(ref)
        if isinstance(values, np.ndarray) and iterations.ndim == 2 and iterations.shape[1] > 0:
            its = iterations[:, -1]
            first = int(np.searchsorted(its, begin))
            part = its[first : first + n]
            if len(part) == n and part[0] == begin and part[-1] == begin + n - 1 and np.all(np.diff(part) == 1):
                return values[first : first + n]
        known = self.plain(columns, ref)
        return [known.get(k) for k in range(begin, begin + n)]

    @property
    def deepest(self) -> tuple[AlignedColumns, int]:
        """The columns with the last known iterations, and the last iteration of the condition in them."""
        columns = self.late or self.early or self.record
        assert columns is not None
        return columns, max(columns.latest(self.cond), default=0)


def _path(columns: AlignedColumns, cond: Ref) -> np.ndarray:
    iterations = columns.get(cond)[0]
    return iterations if len(iterations) else np.empty((0, 1), np.int64)


def stacked(values: list[Any]) -> np.ndarray:
    """One array from scalars or from arrays of one shape; else an array of objects."""
    if not values:
        return np.empty(0)
    first = np.asarray(values[0])
    kinds = set(map(type, values))
    scalars = all(issubclass(kind, (np.generic, bool, int, float)) for kind in kinds)
    if scalars or all(np.shape(v) == first.shape for v in values):
        return np.array(values, dtype=first.dtype)
    out = np.empty(len(values), object)
    out[:] = values
    return out


def look_ahead(found: LoopSamples, seconds: float, came_to: Any, most: int = LEAP) -> None:
    """Fill ``early`` and ``late``; ``came_to`` is the recurrence of the state; if it is None, at most ``most``
    iterations are run ahead.

    Passes on SliceTimeout and RuntimeError of the slice.
    """
    runner = found.runner
    assert runner is not None
    found.late_offset = found.offset
    deadline = work.now() + seconds
    ahead = runner.fork()
    done = _advance(ahead, EARLY, deadline)
    found.early = AlignedColumns(ahead.run.trace, _around(ahead))
    if not ahead.cond():
        found.ended = done
        return
    if came_to is not None:
        late = came_to.runner.fork()
        _advance(late, min(max(came_to.before + 2 * came_to.period + 2, 8), 8192), deadline)
        found.settled = (came_to.at, came_to.period)
        found.late_offset += came_to.shift
    else:
        late, total, size = ahead.fork(), done, EARLY  # a fork: its rows are still to be read
        while work.now() < deadline and total < most and late.cond():
            total += _advance(late, size, deadline)
            size = min(2 * size, 65536)
        if not late.cond():
            found.ended = total
        late = late.fork() if late.cond() else late
        _advance(late, LATE, deadline)
    found.late = AlignedColumns(late.run.trace, _around(late), firings=max(LATE, 16384))


def _around(slice_: SliceMachine) -> tuple[int, ...] | None:
    """Iterations of the outer loops at the slice's position."""
    path = slice_.run.iteration_of(slice_.number)
    return path[:-1] or None


def _advance(ahead: SliceMachine, n: int, deadline: float) -> int:
    """Run up to n iterations in pieces, until the deadline; return how many were run."""
    done = 0
    while done < n and ahead.cond():
        piece = min(n - done, 4096 if done else 64)
        done += ahead.advance(piece)
        if work.now() > deadline:
            break
    return done


__all__ = ["LoopSamples", "SliceTimeout", "look_ahead"]
