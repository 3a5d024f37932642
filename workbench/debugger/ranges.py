"""Values of many iterations: those that are kept from the trace, all others from one replay beside the run.

The replay starts at the checkpoint before the first row that is missing and goes on at full speed, a slice at a time:
so short a slice that its rows are read before the replay drops them. Its memory is bounded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.debugger.iterations import as_path
from workbench.debugger.replay import row_of
from workbench.errors import ExecutionError, TraceError
from workbench.execution import Run
from workbench.graph.node import Ref
from workbench.kernels.layout import Place, ValueLayout
from workbench.trace import Trace
from workbench.trace.series import Series, stack
from workbench.trace.spans import as_array

#: bytes of rows that a replay holds
REPLAY_BYTES = 4 << 20
#: of the rows that a replay keeps, in one slice; below this it goes row by row
LEAST_SHARE = 1e-6


class _TooFar(Exception):
    """Rows that were wanted are gone: the slices were too long."""


def values_between(
    run: Run, trace: Trace, ref: Ref, start: int, stop: int | None, step: int, within: Any
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """(iterations, values) of a value in iterations start, start + step, ... below stop, ``within`` those around it.

    TraceError (``bad-iteration``) for iterations that cannot be.
    """
    series, frame = trace[ref], run.plan.layout.values[tuple(ref)].frame
    around = as_path(within) or ()
    if not series.frame or len(around) != len(series.frame) - 1:
        raise TraceError(
            f"{series.name!r} lives in {len(series.frame)} frames, but {len(around)} iterations around it came.",
            slug="bad-iteration", fix="give within= one number for each loop around the innermost one.",
        )  # fmt: skip
    if start < 0 or step < 1 or (stop is not None and stop < 0):
        raise TraceError(
            f"Iterations from {start} to {stop} in steps of {step} make no sense.", slug="bad-iteration",
            fix="count from 0 on, forwards.",
        )  # fmt: skip
    first = row_of(run, ref, (*around, 0))
    behind = 0 if first is None else run.view.rows(frame)[1] + 1
    begin = first or 0
    wanted = range(begin + start, behind if stop is None else min(behind, begin + stop), step)
    rows, found = _gather(run, series, ref, wanted, begin - 1)
    iterations = np.empty((len(rows), len(series.frame)), np.int64)
    iterations[:, :-1] = np.array(around, np.int64)
    iterations[:, -1] = rows - begin
    return iterations, stack(found, series.type)


def _gather(run: Run, series: Series, ref: Ref, wanted: range, init: int) -> tuple[np.ndarray, Any]:
    """(rows, values) of the activation that began with the init row ``init``."""
    starts, _ = run.view.activations(run.plan.layout.values[tuple(ref)].frame)
    later = starts[starts > init]
    if len(later):  # it ends there at the latest
        wanted = range(wanted.start, min(wanted.stop, int(later[0])), wanted.step)
    rows, found, missing = series.of_rows(wanted, init)
    if not len(missing):
        return rows, found
    again = range(int(missing[0]), int(missing[-1]) + 1, wanted.step)
    more, computed = _replay(run, ref, again, init)
    lacking = np.isin(more, missing)
    values = [*found, *(v for v, wants in zip(computed, lacking.tolist(), strict=True) if wants)]
    rows = np.concatenate([rows, more[lacking]])
    order = np.argsort(rows, kind="stable")
    return rows[order], [values[k] for k in order.tolist()]


def _replay(run: Run, ref: Ref, wanted: range, init: int) -> tuple[np.ndarray, list[Any]]:
    """(rows, values) of ``ref`` in those of the rows of an activation in which it fired, bit for bit as it did."""
    layout = run.plan.layout.values[tuple(ref)]
    checkpoint = run.last_checkpoint(lambda c: c.row(layout.frame) < wanted[0])
    share = 1.0
    while share > LEAST_SHARE:
        try:
            return _collect(run, run.fork(checkpoint, REPLAY_BYTES), layout, wanted, init, share)
        except _TooFar:
            share /= 4
    return _collect(run, run.fork(checkpoint, REPLAY_BYTES), layout, wanted, init, 0.0)


def _collect(
    run: Run, fork: Run, layout: ValueLayout, wanted: range, init: int, share: float
) -> tuple[np.ndarray, list[Any]]:  # fmt: skip
    frame, reader = layout.frame, fork.trace.reader
    node, end = reader.node[layout.node], run.event
    places = [p for p in {layout.place, *(c.place for c in layout.guard)} if p is not None and p.base > 0]
    stores = [p.base - 1 for p in places if fork.plan.layout.frame_of(p) == frame] or [frame]
    length = max(1, int(share * min(fork.view.rows_kept(s) for s in stores)))
    rows, at, over = [np.empty(0, np.int64)], wanted[0], False
    values: list[Any] = []
    if _is_over(fork, frame, init):
        return rows[0], values
    with fork.quiet():
        while at <= wanted[-1] and not over:
            over = _go_to(fork, frame, at + length, end) if share else _through(fork, frame, at, end)
            reached = fork.view.rows(frame)[1]
            closed = frame not in fork.active_frames()
            stop = min(reached + closed, wanted[-1] + 1)
            starts = fork.view.activations(frame)[0]
            later = starts[starts > init]
            if len(later):
                if len(later) == len(starts) and reached >= at and later[0] > at:
                    raise _TooFar  # which of them came next is not known any more
                stop, over = min(stop, int(later[0])), True
            over = over or (closed and reached >= at)
            if stop > at:
                _check(fork, places, frame, at)
                if len(reader.readable(layout, range(at, stop))) < stop - at:  # what a guard reads may stand around it
                    raise _TooFar
                found = as_array(reader.rows_of(node, layout.guard, (at, stop), layout.place, layout.branches))
                found = found[(found - wanted.start) % wanted.step == 0]
                rows.append(found)
                values += list(reader.values(layout, found))
                at = stop
    return np.concatenate(rows), values


def _is_over(fork: Run, frame: int, init: int) -> bool:
    """Whether the activation that began with the row ``init`` ended before the replay begins: the rest is of others."""
    if fork.view.rows(frame)[1] < init:
        return False
    starts = fork.view.activations(frame)[0]
    return frame not in fork.active_frames() or (len(starts) > 0 and int(starts[-1]) > init)


def _go_to(fork: Run, frame: int, row: int, end: int) -> bool:
    """On to a row of a frame; whether the run that is replayed ends before."""
    margin = 2 * fork.plan.program.length
    try:
        while fork.view.rows(frame)[1] < row:
            exact = fork.event + margin >= end
            limit = end if exact else end - margin
            if fork.event >= end or fork.go(limit, exact=exact, loud=False, until=(frame, row)) == "halt":
                return True
    except ExecutionError:
        return True  # it fails where the run failed, behind all that is wanted
    return False


def _through(fork: Run, frame: int, row: int, end: int) -> bool:
    """Through one row of a frame and no further: behind the last of an activation much may follow before the next, in
    which rows go. Whether the run that is replayed ends before."""
    if _go_to(fork, frame, row, end):
        return True
    try:
        while fork.view.rows(frame)[1] == row and frame in fork.active_frames():
            if fork.event >= end or fork.go(fork.event + 1, exact=True, loud=False) == "halt":
                return True
    except ExecutionError:
        return True
    return False


def _check(fork: Run, places: list[Place], frame: int, row: int) -> None:
    """_TooFar if a row of the frame cannot be read any more."""
    if fork.trace.source.extent(frame).first > row:
        raise _TooFar
    for place in places:
        if fork.plan.layout.frame_of(place) == frame and fork.trace.source.first(place) > row:
            raise _TooFar
