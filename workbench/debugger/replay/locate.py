"""Finds an iteration by replay and recomputes its values, even long after its rows were dropped.

A checkpoint stores the row in progress of every frame, and the first row of its last activation. The latest checkpoint
before an iteration path is therefore found without a table of all activations, and a replay from it finds the rows of
the path, frame by frame::

    path (3, 17):  outer loop: row 0 + 1 + 3 = 4; run until row 4 starts the inner loop; its init row + 1 + 17
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.debugger.iteration_path import as_path
from workbench.debugger.replay import read_on
from workbench.errors import ExecutionError
from workbench.execution import Run
from workbench.execution.edit_log import edited_there
from workbench.ir.node import Ref

#: number of events of the first slice of a replay; each following slice is twice as long
FIRST_LOOK = 1 << 14

#: for a frame: (row in progress, number of activations, init row and parent row of the last one)
Counts = Callable[[int], tuple[int, int, int, int]]


def frames_around(run: Run, frame: int) -> list[int]:
    """The frames from the outermost loop to this one, inclusive."""
    chain = []
    while frame > 0:
        chain.append(frame)
        frame = run.plan.layout.frames[frame].parent
    return chain[::-1]


def _path_of(run: Run, ref: Ref, iteration: Any) -> tuple[list[int], tuple[int, ...]] | None:
    """(frames, iteration path) of a firing; None if ``iteration`` does not fit."""
    chain = frames_around(run, run.plan.layout.values[ref].frame)
    path = as_path(iteration) or ()
    if len(path) != len(chain) or any(step is None or step < 0 for step in path):
        return None
    return chain, tuple(int(step) for step in path if step is not None)


def lies_before(counts: Counts, chain: list[int], path: tuple[int, ...]) -> bool:
    """True if a state is before the start of an iteration, so that a run from it can reach the iteration."""
    row = 0
    for frame, step in zip(chain, path, strict=True):
        at, acts, start, parent = counts(frame)
        if not acts or parent != row:
            return True  # this row of the enclosing frame has not started the frame yet
        if at != start + 1 + step:
            return at < start + 1 + step
        row = at
    return False


def row_of(run: Run, ref: Ref, iteration: Any) -> int | None:
    """Row of an iteration that has begun, even if its values were dropped; found by a replay if the tables of
    activations begin later."""
    found = _path_of(run, ref, iteration)
    if found is None:
        return None
    row = 0
    for frame, step in zip(*found, strict=True):
        starts, parents = run.view.activations(frame)
        low, high = np.searchsorted(parents, row, "left"), np.searchsorted(parents, row, "right")
        if low == high:
            forgotten = len(starts) > 0 and starts[0] > 0 and row < parents[0]
            replay = replayed(run, *found) if forgotten else None
            return None if replay is None else replay.view.rows(found[0][-1])[1]
        row = int(starts[high - 1]) + 1 + step
        last = int(starts[high]) if high < len(starts) else run.view.rows(frame)[1] + 1
        if row >= last:
            return None
    return row


def next_row(run: Run, ref: Ref, iteration: Any) -> tuple[int, int] | None:
    """The next (frame, row) on the way to the start of an iteration; None if the run is there, or past it."""
    found = _path_of(run, ref, iteration)
    row = 0
    for frame, step in zip(*found, strict=True) if found is not None else ():
        at, acts, start, parent = run.view.counts(frame)
        if not acts or parent != row:
            return frame, at + 1
        row = start + 1 + step
        if at != row:
            return (frame, row) if at < row else None
    return None


def has_left(run: Run, ref: Ref, iteration: Any) -> bool:
    """True if a run at or after the start of an iteration has left the iteration."""
    found = _path_of(run, ref, iteration)
    if found is None or not found[0]:
        return False
    row = 0
    for frame, step in zip(*found, strict=True):
        at, acts, start, parent = run.view.counts(frame)
        if not acts or parent != row or at != start + 1 + step:
            return True
        row = at
    return found[0][-1] not in run.active_frames()


def before(run: Run, ref: Ref, iteration: Any) -> Any:
    """The latest checkpoint before the start of an iteration."""
    found = _path_of(run, ref, iteration)
    return run.last_checkpoint(lambda c: found is None or lies_before(c.counts, *found))


def replayed(run: Run, chain: list[int], path: tuple[int, ...]) -> Run | None:
    """A copy of the run at the start of an iteration; None if the iteration never began."""
    if lies_before(run.view.counts, chain, path):
        return None
    fork = run.fork(run.last_checkpoint(lambda c: lies_before(c.counts, chain, path)))
    return fork if arrive(fork, chain, path) else None


def to_iteration(run: Run, ref: Ref, iteration: Any) -> bool:
    """Run to the start of an iteration; False if the run does not reach it."""
    found = _path_of(run, ref, iteration)
    return found is not None and arrive(run, *found)


def arrive(run: Run, chain: list[int], path: tuple[int, ...]) -> bool:
    """Run to the start of an iteration path in a chain of frames; False if the run does not reach it."""
    row = around = 0
    for frame, step in zip(chain, path, strict=True):
        at, acts, start, parent = run.view.counts(frame)
        if not acts or parent != row:
            _run_on(run, frame, at + 1, lambda f=around, r=row: f == 0 or run.view.rows(f)[1] == r)  # type: ignore[misc]
            at, acts, start, parent = run.view.counts(frame)
            if not acts or parent != row:
                return False
        row, around = start + 1 + step, frame
        _run_on(run, frame, row, lambda f=frame, s=start: run.view.counts(f)[2] == s and f in run.active_frames())  # type: ignore[misc]
        if run.view.counts(frame)[::2] != (row, start):
            return False
    return True


def _run_on(run: Run, frame: int, row: int, there: Callable[[], bool]) -> None:
    """Run until a frame reaches a row, while ``there`` returns True, which means that the row can still be reached."""
    look = FIRST_LOOK
    with run.breakpoints_disabled():
        while run.view.rows(frame)[1] < row and there():
            if run.go(run.event + look, until_row=(frame, row)) == "halt":
                return
            look *= 2


def could_be_unstarted(run: Run, ref: Ref, iteration: Any) -> bool:
    """True if an iteration may be the first one of a loop that was never started there: its index is 0, possibly for
    several nested loops, and the iteration of the loop around them has begun."""
    found = _path_of(run, ref, iteration)
    if found is None:
        return False
    chain, path = found
    around = len(path)
    while around and path[around - 1] == 0:
        around -= 1
    return around < len(path) and not lies_before(run.view.counts, chain[:around], path[:around])


def recompute(run: Run, ref: Ref, iteration: Any) -> Any | None:
    """The value of a firing whose rows were dropped, from a replay of a copy of the run; None if it never fired."""
    layout = run.plan.layout.values[ref]
    if layout.frame == 0:
        return _recompute_outside(run, ref)
    found = _path_of(run, ref, iteration)
    if found is None or lies_before(run.view.counts, *found):
        return None
    history = read_on.history_of(run)
    checkpoint = run.last_checkpoint(lambda c: lies_before(c.counts, *found))
    fork = read_on.take(run, checkpoint)
    if fork is None or not lies_before(fork.view.counts, *found):
        fork = run.fork(checkpoint)
    if not arrive(fork, *found):
        return None
    value = _value_in(run, fork, ref, fork.view.rows(layout.frame)[1])
    read_on.give(run, fork, history)
    return value


def recompute_last(run: Run, ref: Ref) -> Any | None:
    """The value in the last row of a frame whose rows were all dropped; None if it is dead there, or the frame never
    ran."""
    frame = run.plan.layout.values[ref].frame
    first, row, _ = run.view.rows(frame)
    if frame == 0:
        return _recompute_outside(run, ref)
    if row < 0 or first <= row:
        return None
    fork = run.fork(run.last_checkpoint(lambda c: c.row(frame) < row))
    _run_on(fork, frame, row, lambda: True)
    return _value_in(run, fork, ref, row)


def _value_in(run: Run, fork: Run, ref: Ref, row: int) -> Any | None:
    """The value of a firing in the row in progress of ``fork``, with the edits of ``run``; None if it does not fire
    there."""
    layout = fork.plan.layout.values[ref]
    node = next(n for n in fork.plan.layout.nodes if n.name == ref.node)
    # event by event and no further: after an inner loop, rows of the outer loop that it reads may be dropped
    span = fork.plan.layout.frames[layout.frame]
    with fork.breakpoints_disabled():
        if fork.view.ip <= node.ip:
            _replay_range(fork, (layout.frame, row), (span.start, node.ip + 1, -1))
    rows = fork.trace.reader.rows_of(node, layout.guard, (row, row + 1))
    if not len(rows):
        return None
    return edited_there(run, layout, row, fork.trace.reader.values(layout, rows)[0])


def _replay_range(fork: Run, until_row_changes: tuple[int, int], instruction_range: tuple[int, int, int]) -> None:
    """Run to the first node outside the range, or to a node that failed in the original run and fails again."""
    try:
        fork.go(exact=True, skip_silent=False, until_row_changes=until_row_changes, instruction_range=instruction_range)
    except ExecutionError:
        if fork.machine.retire_failed:
            raise


def _recompute_outside(run: Run, ref: Ref) -> Any | None:
    """The same at the outermost level, where another array may have reused the value's place."""
    node = next(n for n in run.plan.layout.nodes if n.name == ref.node)
    place = run.plan.layout.values[ref].place
    if place is None or place.until < 0 or run.view.ip <= node.ip:
        return None
    fork = run.fork(run.last_checkpoint(lambda c: c.ip <= node.ip))
    with fork.breakpoints_disabled():
        fork.go(None, exact=True, skip_silent=False, instruction_range=(-2, node.ip + 1, -1))
    edits = (e.event for e in run.edits if any((p.base, p.until) == (place.base, place.until) for p in e.places))
    fork.to_event(max((e for e in edits if fork.event < e <= run.event), default=fork.event))
    return fork.value_now(ref)
