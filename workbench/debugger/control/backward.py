"""Backward commands: every earlier state is reached by replaying from the checkpoint before it, bit for bit.

``reverse_continue`` searches the events after each checkpoint, the latest checkpoint first, with the breakpoints of a
forward run: it stops exactly where a run from the beginning would have stopped last. Hit counts are reset to their
values there; if these are no longer known, the hits are counted again.
"""

from __future__ import annotations

from collections.abc import Generator

from workbench.debugger.breakpoints.breakpoint import Breakpoint
from workbench.debugger.breakpoints.hit_counter import UNKNOWN
from workbench.debugger.control.forward import check_positive
from workbench.debugger.control.hit_policy import ReplayCount
from workbench.debugger.control.run_control import Command, RunControl
from workbench.debugger.replay import step_back as replay
from workbench.debugger.stop import Stop, StopReason

#: reasons of stops after the last event of a run
AFTER_LAST_EVENT = (StopReason.FINISHED, StopReason.NOT_REACHED, StopReason.FAILED)


# -- commands ----------------------------------------------------------------------------------------------------------
def step_back(control: RunControl, n: int = 1) -> Command:
    """Go back by ``n`` nodes."""
    check_positive("step_back", n)
    yield from ()  # the whole command is one slice
    return replay.step_back(control.run, n)


def step_back_over(control: RunControl, n: int = 1) -> Command:
    """Go back by ``n`` nodes of this frame, stepping over inner frames."""
    check_positive("step_back_over", n)
    for _ in range(n):
        stop = yield from _back_over(control, control.frame_here())
        if stop.reason is StopReason.BEGINNING:
            break
    return stop


def step_back_out(control: RunControl) -> Command:
    """Go back to the node before the innermost open frame was entered, or at the outermost level to the beginning."""
    run = control.run
    frame = run.active_frames()[-1]
    if frame == 0:
        run.seek(0)
        return Stop(StopReason.BEGINNING, run.position())
    run.seek(control.event_at_entry(frame))
    stop = yield from _back_over(control, run.plan.layout.frames[frame].parent)
    at_start = stop.reason is StopReason.BEGINNING
    return Stop(StopReason.BEGINNING if at_start else StopReason.FRAME_LEFT, stop.position)


def previous_iteration(control: RunControl, n: int = 1) -> Command:
    """Go back to the start of the previous iteration, ``n`` times."""
    check_positive("previous_iteration", n)
    for _ in range(n):
        before = control.run.event
        stop = replay.previous_iteration(control.run)
        # the start of the loop's first iteration
        if stop.reason is StopReason.BEGINNING or control.run.event == before:
            break
        yield
    return stop


def reverse_continue(control: RunControl) -> Command:
    """Go back to the last breakpoint hit; to the beginning if there was none."""
    return last_stop(control)


def restart(control: RunControl) -> Command:
    """Go back to the beginning and drop all edits."""
    yield from ()  # the whole command is one slice
    if control.run.edits:
        control.context.reached = control.context.reached_without_edits()
    control.run.forget_edits()
    return Stop(StopReason.STARTED, control.run.position())


# -- over frames -------------------------------------------------------------------------------------------------------
def _back_over(control: RunControl, base: int) -> Command:
    """Go back to the last node before this one in the frame ``base`` or an enclosing frame."""
    while True:
        stop = replay.step_back(control.run, 1)
        inner = control.child_of(base, control.frame_here())
        if stop.reason is StopReason.BEGINNING or inner is None:
            return stop
        yield
        control.run.seek(control.event_at_entry(inner))


# -- the last stop -----------------------------------------------------------------------------------------------------
def last_stop(control: RunControl, points: list[Breakpoint] | None = None) -> Command:
    """Go back to the last stop of some breakpoints, by default of all enabled ones."""
    run, here = control.run, control.run.event
    end = here + 1 if control.context.stop.reason in AFTER_LAST_EVENT else here
    stop: Stop | None = None
    counted = [p for p in control.breakpoints.counted() if points is None or p in points]
    since = {p.since for p in counted if 0 < p.since < end}
    for floor in (*sorted(since, reverse=True), 0):
        stop = yield from _last_stop_between(control, floor, end, points)
        if stop is not None or floor == 0:
            break
        for point in counted:  # before the event at which a breakpoint was set, it counts from the beginning
            if point.since == floor:
                point.restart_count(0, UNKNOWN)
                point.since = 0
        end = floor
    run.seek(stop.event if stop is not None else 0)
    control.hits.rewind_counts()
    if stop is None:
        return Stop(StopReason.BEGINNING, run.position())
    control.hits.count_node_ahead()
    return stop


def _last_stop_between(
    control: RunControl, floor: int, end: int, points: list[Breakpoint] | None
) -> Generator[None, None, Stop | None]:
    """The last stop in the events from ``floor`` up to ``end`` (exclusive); leaves the run at an arbitrary position."""
    run, limit = control.run, end
    for checkpoint in reversed([c for c in run.checkpoints if c.events < end]):
        counts = yield from control.hits.counts_at(checkpoint.events)
        stops: list[Stop] = []

        def keep_last(stop: Stop, stops: list[Stop] = stops) -> None:
            """Remember the latest stop in the range."""
            if floor <= stop.event < end:
                stops[:] = [stop]

        run.restore(checkpoint)
        with control.checks.counting_with(ReplayCount(counts), points):
            yield from control.hits.visit_stops(limit, keep_last)
        if stops:
            return stops[0]
        if checkpoint.events <= floor:
            break
        limit = checkpoint.events
    return None
