"""Steps backwards: every earlier state is reached by replaying from the checkpoint before it, bit for bit."""

from __future__ import annotations

from typing import Any

from workbench.debugger.replay.locate import (
    before,
    could_be_unstarted,
    has_left,
    next_row,
    recompute,
    recompute_last,
    row_of,
    to_iteration,
)
from workbench.debugger.stop import Stop, StopReason
from workbench.errors import ExecutionError, TraceError
from workbench.execution import Run
from workbench.execution.run_limits import NOWHERE
from workbench.ir.node import Ref

__all__ = [
    "back_to_firing",
    "could_be_unstarted",
    "has_fired",
    "has_left",
    "next_row",
    "previous_iteration",
    "recompute",
    "recompute_last",
    "step_back",
]


def step_back(run: Run, n: int) -> Stop:
    """Go back by ``n`` nodes, not counting silent ones."""
    here, window = run.event, 2 * n + 2 * run.plan.program.length
    while True:
        begin = max(0, here - window)
        run.seek(begin)
        found = _stop_events(run, here)
        if len(found) >= n or begin == 0:
            break
        window *= 4
    target = found[-n] if len(found) >= n else (found[0] if found else 0)
    run.seek(target)
    reason = StopReason.STEP if len(found) >= n else StopReason.BEGINNING
    return Stop(reason, run.position())


def _stop_events(run: Run, until: int) -> list[int]:
    """Event numbers before each node that is not silent, from here to ``until`` (exclusive); leaves the run there."""
    found: list[int] = []
    with run.breakpoints_disabled():
        run.go(0, exact=True)  # to the first such node
        while run.event < until and not run.finished:
            found.append(run.event)
            if _again(run, run.event + 1) == "failed":
                break
    return found


def _again(run: Run, event: int, until_row_changes: tuple[int, int] = NOWHERE) -> str:
    """Replay event by event; "failed" if a node that failed after the last event fails again."""
    try:
        return run.go(event, exact=True, until_row_changes=until_row_changes)
    except ExecutionError:
        if run.machine.retire_failed:
            raise
        return "failed"


def previous_iteration(run: Run) -> Stop:
    """Go back to the start of the previous iteration of the innermost open loop, or of its first iteration."""
    frame = run.active_frames()[-1]
    here = run.event
    if frame == 0:
        frame = _last_frame(run)
        if frame == 0:
            return step_back(run, 1)
        wanted = run.view.rows(frame)[1]
    else:
        wanted = run.view.rows(frame)[1] - 1
        first = int(run.view.activations(frame)[0][-1]) + 1
        wanted = max(wanted, first)
    window = 4 * run.plan.program.length
    while True:
        begin = max(0, here - window)
        run.seek(begin)
        if run.view.rows(frame)[1] < wanted or begin == 0:
            break
        window *= 4
    while run.view.rows(frame)[1] < wanted and run.event < here:
        row = run.view.rows(frame)[1]
        with run.breakpoints_disabled():
            if _again(run, here, until_row_changes=(frame, row)) in ("halt", "failed"):
                break
    return Stop(StopReason.ITERATION if run.event else StopReason.BEGINNING, run.position())


def _last_frame(run: Run) -> int:
    """The loop of the outermost level that ran last, or 0."""
    ran = [i for i, f in enumerate(run.plan.layout.frames) if f.parent == 0 and run.view.rows(i)[1] >= 0]
    return max(ran, key=lambda i: run.plan.layout.frames[i].start, default=0)


def has_fired(run: Run, ref: Ref, iteration: Any) -> bool:
    """True if this firing is in the past."""
    try:
        run.trace[ref].at(iteration)
    except TraceError as error:
        # dropped rows are also in the past
        return error.slug == "not-recorded" and row_of(run, ref, iteration) is not None
    except Exception:
        return True  # it is dead there, which is also in the past
    return True


def back_to_firing(run: Run, ref: Ref, iteration: Any) -> Stop:
    """Go back to the node of a past firing, just before it fires."""
    frame = run.plan.layout.values[ref].frame
    node = next(n for n in run.plan.layout.nodes if n.name == ref.node)
    until_row_changes = NOWHERE
    if frame == 0:
        run.restore(run.last_checkpoint(lambda c: c.ip <= node.ip))
    else:
        run.restore(before(run, ref, iteration))
        to_iteration(run, ref, iteration)
        until_row_changes = (frame, run.view.rows(frame)[1])
        with run.breakpoints_disabled():
            run.go(0, exact=True, skip_silent=False)  # to the first node
    if run.view.ip < node.ip:
        with run.breakpoints_disabled():
            run.go(
                exact=True, skip_silent=False, until_row_changes=until_row_changes, instruction_range=(-2, node.ip, -1)
            )
    return Stop(StopReason.TARGET, run.position())
