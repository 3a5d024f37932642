"""Finding an iteration again, and what was computed in it, however long ago its rows were dropped.

A checkpoint knows the row in progress of every frame, and where the last activation of each began. So the latest
checkpoint before an iteration path is found without a table of all activations, and a run from there on finds the rows
that the path leads to, frame by frame::

    path (3, 17):  outer loop: row 0 + 1 + 3 = 4; on, until row 4 starts the inner loop; its init row + 1 + 17
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.debugger.iterations import as_path
from workbench.execution import Run
from workbench.graph.node import Ref

#: events of the first look at whether a replay is there; then twice as many each time
FIRST_LOOK = 1 << 14

#: of a frame: (row in progress, number of activations, init row and parent row of the last one)
Counts = Callable[[int], tuple[int, int, int, int]]


def frames_around(run: Run, frame: int) -> list[int]:
    """The frames from the outermost loop to this one."""
    chain = []
    while frame > 0:
        chain.append(frame)
        frame = run.plan.layout.frames[frame].parent
    return chain[::-1]


def _path_of(run: Run, ref: Ref, iteration: Any) -> tuple[list[int], tuple[int, ...]] | None:
    """(frames, iteration path) of a firing; None if it names none."""
    chain = frames_around(run, run.plan.layout.values[tuple(ref)].frame)
    path = as_path(iteration) or ()
    if len(path) != len(chain) or any(step is None or step < 0 for step in path):
        return None
    return chain, tuple(int(step) for step in path if step is not None)


def lies_before(counts: Counts, chain: list[int], path: tuple[int, ...]) -> bool:
    """Whether a state lies before the beginning of an iteration, so that running on may come to it."""
    row = 0
    for frame, step in zip(chain, path, strict=True):
        at, acts, start, parent = counts(frame)
        if not acts or parent != row:
            return True  # this row of the frame around it has not started the frame yet
        if at != start + 1 + step:
            return at < start + 1 + step
        row = at
    return False


def row_of(run: Run, ref: Ref, iteration: Any) -> int | None:
    """Row of an iteration that was begun, also if its content was dropped; from a replay if the tables of activations
    begin later."""
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
    """(frame, row) to run to next on the way to the beginning of an iteration; None if the run is there, or past it."""
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


def is_past(run: Run, ref: Ref, iteration: Any) -> bool:
    """Whether a run that stands behind the beginning of an iteration, or on it, has left it."""
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
    """The latest checkpoint before the beginning of an iteration."""
    found = _path_of(run, ref, iteration)
    return run.last_checkpoint(lambda c: found is None or lies_before(c.counts, *found))


def replayed(run: Run, chain: list[int], path: tuple[int, ...]) -> Run | None:
    """A run beside this one that stands at the beginning of an iteration; None if it never was."""
    if lies_before(run.view.counts, chain, path):
        return None
    fork = run.fork(run.last_checkpoint(lambda c: lies_before(c.counts, chain, path)))
    return fork if arrive(fork, chain, path) else None


def to_iteration(run: Run, ref: Ref, iteration: Any) -> bool:
    """Run on to the beginning of an iteration; False if it does not come to it."""
    found = _path_of(run, ref, iteration)
    return found is not None and arrive(run, *found)


def arrive(run: Run, chain: list[int], path: tuple[int, ...]) -> bool:
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
    """On until a frame comes to a row, as long as ``there`` says that it still can."""
    look = FIRST_LOOK
    with run.quiet():
        while run.view.rows(frame)[1] < row and there():
            if run.go(run.event + look, until=(frame, row)) == "halt":
                return
            look *= 2


def recompute(run: Run, ref: Ref, iteration: Any) -> Any | None:
    """The value of a firing whose rows are no longer kept, from a replay beside the run; None if it never happened."""
    layout = run.plan.layout.values[tuple(ref)]
    if layout.frame == 0:
        return _recompute_outside(run, ref)
    found = _path_of(run, ref, iteration)
    fork = None if found is None else replayed(run, *found)
    if fork is None:
        return None
    return _value_in(fork, ref, fork.view.rows(layout.frame)[1])


def recompute_last(run: Run, ref: Ref) -> Any | None:
    """The value in the last row of a frame of which no row is kept; None if it is dead there, or never ran."""
    frame = run.plan.layout.values[tuple(ref)].frame
    first, row, _ = run.view.rows(frame)
    if frame == 0:
        return _recompute_outside(run, ref)
    if row < 0 or first <= row:
        return None
    fork = run.fork(run.last_checkpoint(lambda c: c.row(frame) < row))
    _run_on(fork, frame, row, lambda: True)
    return _value_in(fork, ref, row)


def _value_in(fork: Run, ref: Ref, row: int) -> Any | None:
    """The value of a firing in the row in progress; None if it does not fire there."""
    layout = fork.plan.layout.values[tuple(ref)]
    node = next(n for n in fork.plan.layout.nodes if n.name == ref.node)
    _run_on(fork, layout.frame, row + 1, lambda: layout.frame in fork.active_frames() and fork.view.ip <= node.ip)
    rows = fork.trace.reader.rows_of(node, layout.guard, (row, row + 1))
    return fork.trace.reader.values(layout, rows)[0] if len(rows) else None


def _recompute_outside(run: Run, ref: Ref) -> Any | None:
    """The same at the outermost level, where another array may stand in the value's place by now."""
    node = next(n for n in run.plan.layout.nodes if n.name == ref.node)
    place = run.plan.layout.values[tuple(ref)].place
    if place is None or place.until < 0 or run.view.ip <= node.ip:
        return None
    fork = run.fork(run.last_checkpoint(lambda c: c.ip <= node.ip))
    with fork.quiet():
        fork.go(None, exact=True, loud=False, home=(-2, node.ip + 1, -1))
    edits = (e.event for e in run.edits if any((p.base, p.until) == (place.base, place.until) for p in e.places))
    fork.to_event(max((e for e in edits if fork.event < e <= run.event), default=fork.event))
    return fork.value_now(ref)
