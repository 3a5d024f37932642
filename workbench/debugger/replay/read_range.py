"""Reads the values of many iterations: kept ones from the trace, the others from one replay of a copy of the run.

The replay starts at the checkpoint before the first missing row and runs at full speed, in slices short enough that
their rows can be read before the replay drops them. Its memory is bounded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.debugger.iteration_path import as_path
from workbench.debugger.replay.locate import row_of
from workbench.errors import ExecutionError, TraceError
from workbench.execution import Run
from workbench.execution.edit_log import edited_there
from workbench.ir.node import Ref
from workbench.kernels.layout import Place, ValueLayout
from workbench.trace import Trace
from workbench.trace.checks import position_of
from workbench.trace.row_ranges import as_array
from workbench.trace.series import Series, stack

#: maximum bytes of rows that a replay holds
REPLAY_BYTES = 4 << 20
#: smallest slice, as a share of the rows that a replay keeps; below it the replay runs row by row
LEAST_SHARE = 1e-6


class _SlicesTooLong(Exception):
    """A replay dropped wanted rows because its slices were too long."""


def values_between(
    run: Run, trace: Trace, ref: Ref, start: int, stop: int | None, step: int, within: Any
) -> tuple[np.ndarray, np.ndarray]:
    """(iterations, values) of a value in iterations start, start + step, ... below stop of the innermost loop.

    ``within`` gives the iterations of the enclosing loops. TraceError (``bad-iteration``) for impossible ones.
    """
    series, frame = trace[ref], run.plan.layout.values[ref].frame
    around = as_path(within) or ()
    if not series.frame or None in around or len(around) != len(series.frame) - 1:
        raise TraceError(
            f"{series.name!r} is nested in {len(series.frame)} loops, so within= needs {max(0, len(series.frame) - 1)} "
            f"iteration numbers; got {len(around)}.",
            slug="bad-iteration",
            fix="pass one number for each loop around the innermost one.",
        )
    start, step = position_of(series.name, start), position_of(series.name, step)
    stop = None if stop is None else position_of(series.name, stop)
    if start < 0 or step < 1 or (stop is not None and stop < 0):
        raise TraceError(
            f"values: start, stop and step must not be negative, and step at least 1; got {start}, {stop}, {step}.",
            slug="bad-iteration",
            fix="count iterations from 0, forwards.",
        )
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
    """(rows, values) of the activation with the init row ``init``."""
    starts, _ = run.view.activations(run.plan.layout.values[ref].frame)
    later = starts[starts > init]
    if len(later):  # the next activation begins there
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
    """(rows, values) of ``ref`` in those wanted rows of an activation in which it fired, by exact replay."""
    layout = run.plan.layout.values[ref]
    checkpoint = run.last_checkpoint(lambda c: c.row(layout.frame) < wanted[0])
    share = 1.0
    while share > LEAST_SHARE:
        try:
            return _collect(run, run.fork(checkpoint, REPLAY_BYTES), layout, wanted, init, share)
        except _SlicesTooLong:
            share /= 4
    return _collect(run, run.fork(checkpoint, REPLAY_BYTES), layout, wanted, init, 0.0)


def _collect(
    run: Run, fork: Run, layout: ValueLayout, wanted: range, init: int, share: float
) -> tuple[np.ndarray, list[Any]]:
    frame, reader = layout.frame, fork.trace.reader
    node, end = reader.node[layout.node], run.event
    places = [p for p in {layout.place, *(c.place for c in layout.guard)} if p is not None and p.base > 0]
    stores = [p.base - 1 for p in places if fork.plan.layout.frame_of(p) == frame] or [frame]
    length = max(1, int(share * min(fork.view.rows_kept(s) for s in stores)))
    rows, at, over = [np.empty(0, np.int64)], wanted[0], False
    values: list[Any] = []
    if _is_over(fork, frame, init):
        return rows[0], values
    with fork.breakpoints_disabled():
        while at <= wanted[-1] and not over:
            over = _go_to(fork, frame, at + length, end) if share else _run_over_row(fork, frame, at, end)
            reached = fork.view.rows(frame)[1]
            closed = frame not in fork.active_frames()
            stop = min(reached + closed, wanted[-1] + 1)
            starts = fork.view.activations(frame)[0]
            later = starts[starts > init]
            if len(later):
                if len(later) == len(starts) and reached >= at and later[0] > at:
                    raise _SlicesTooLong  # it is no longer known which of them was the next
                stop, over = min(stop, int(later[0])), True
            over = over or (closed and reached >= at)
            if stop > at:
                _check(fork, places, frame, at)
                if len(reader.readable(layout, range(at, stop))) < stop - at:  # a guard may read an enclosing frame
                    raise _SlicesTooLong
                found = as_array(reader.rows_of(node, layout.guard, (at, stop), layout.place, layout.branches))
                found = found[(found - wanted.start) % wanted.step == 0]
                rows.append(found)
                rows_found = zip(found.tolist(), reader.values(layout, found), strict=True)
                values += [edited_there(run, layout, row, value) for row, value in rows_found]
                at = stop
    return np.concatenate(rows), values


def _is_over(fork: Run, frame: int, init: int) -> bool:
    """True if the activation with the init row ``init`` ended before the replay begins."""
    if fork.view.rows(frame)[1] < init:
        return False
    starts = fork.view.activations(frame)[0]
    return frame not in fork.active_frames() or (len(starts) > 0 and int(starts[-1]) > init)


def _go_to(fork: Run, frame: int, row: int, end: int) -> bool:
    """Run to a row of a frame; True if the original run ends before it."""
    margin = 2 * fork.plan.program.length
    try:
        while fork.view.rows(frame)[1] < row:
            exact = fork.event + margin >= end
            limit = end if exact else end - margin
            if fork.event >= end or fork.go(limit, exact=exact, skip_silent=False, until_row=(frame, row)) == "halt":
                return True
    except ExecutionError:
        return True  # it fails at the same node as the run, after the wanted rows
    return False


def _run_over_row(fork: Run, frame: int, row: int, end: int) -> bool:
    """Run over one row of a frame and no further, because many rows may follow the last row of an activation before the
    next one begins, and rows are dropped meanwhile. True if the original run ends before."""
    if _go_to(fork, frame, row, end):
        return True
    try:
        while fork.view.rows(frame)[1] == row and frame in fork.active_frames():
            if fork.event >= end or fork.go(fork.event + 1, exact=True, skip_silent=False) == "halt":
                return True
    except ExecutionError:
        return True
    return False


def _check(fork: Run, places: list[Place], frame: int, row: int) -> None:
    """Raise _SlicesTooLong if a row of the frame was dropped."""
    if fork.trace.source.extent(frame).first > row:
        raise _SlicesTooLong
    for place in places:
        if fork.plan.layout.frame_of(place) == frame and fork.trace.source.first(place) > row:
            raise _SlicesTooLong
