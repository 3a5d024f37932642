"""Forward commands: run, step, step over and out of frames, run to an iteration or to a firing.

Each is a function that takes the run control and the command's arguments, and returns a ``Command``.
"""

from __future__ import annotations

from typing import Any

from workbench.debugger.control.run_control import Command, RunControl, RunGoal
from workbench.debugger.iteration_path import as_path, short_repr
from workbench.debugger.replay import step_back
from workbench.debugger.stop import Stop, StopReason
from workbench.errors import SessionError


def run(control: RunControl) -> Command:
    """Run to the end."""
    return control.run_until(RunGoal(StopReason.FINISHED))


def step(control: RunControl, n: int = 1) -> Command:
    """Fire the next ``n`` nodes."""
    check_positive("step", n)
    return (yield from control.run_until(RunGoal(StopReason.STEP, steps=n)))


def step_over(control: RunControl, n: int = 1) -> Command:
    """Fire the next ``n`` nodes of this frame; inner frames run to their end on the way."""
    check_positive("step_over", n)
    for _ in range(n):
        stop = yield from control.step_over_node()
        if stop.reason is not StopReason.STEP:
            break
    return stop


def next_iteration(control: RunControl, n: int = 1) -> Command:
    """Run to the next iteration of the innermost open loop, or outside loops into the next loop."""
    check_positive("next_iteration", n)
    for _ in range(n):
        stop = yield from control.next_row()
        if stop.reason is not StopReason.ITERATION:
            break
    return stop


def step_into(control: RunControl) -> Command:
    """Run until an inner frame opens or this frame ends; if no inner frame follows, fire the next node."""
    frame, ip = control.run.active_frames()[-1], control.run.view.ip
    inner = [f for f in control.run.plan.layout.frames[1:] if f.parent == frame]
    if not any(frame or f.stop > ip for f in inner):  # in a loop, the next iteration reaches all of them again
        return (yield from step(control))
    inside = (*control.instructions_of(frame), frame)
    return (yield from control.run_until_row_or_range(StopReason.FRAME_ENTERED, instruction_range=inside))


def step_out(control: RunControl) -> Command:
    """Run until the innermost open frame is left, or at the outermost level to the end."""
    frame = control.run.active_frames()[-1]
    if frame == 0:
        return (yield from control.run_until(RunGoal(StopReason.FINISHED)))
    return (yield from control.leave_frame(frame))


def run_to(control: RunControl, name: str, iteration: Any = None) -> Command:
    """Run to the firing of ``name`` (in ``iteration``), backwards if it is in the past."""
    ref = control.breakpoints.ref(name)
    iteration = as_path(iteration)
    here = control.run.position()
    node = control.nodes[ref.node]
    if iteration is None and not node.silent and node.frame == 0 and node.ip <= control.run.view.ip:
        iteration = ()  # outside loops it fires once
    if iteration and node.first and (iteration[-1] or 0) > 0:
        why = f"{name} fires in the first iteration of its loop only."
        return Stop(StopReason.NOT_REACHED, here, why)
    if iteration is not None and here.node == ref.node and here.iteration == iteration:
        return Stop(StopReason.TARGET, here)
    if iteration is not None and step_back.has_fired(control.run, ref, iteration):
        stop = step_back.back_to_firing(control.run, ref, iteration)
        if stop.position.node != ref.node:  # it is dead there
            control.run.seek(here.event, skip_silent=True)
            why = f"{name} is dead there: its branch was not taken."
            stop = Stop(StopReason.NOT_REACHED, control.run.position(), why)
        return stop
    goal, start = RunGoal(StopReason.NOT_REACHED), control.run.event
    if iteration is not None:  # at full speed to the start of the iteration, then event by event
        early = yield from control.run_through_rows(goal, lambda: step_back.next_row(control.run, ref, iteration))
        if early is not None:
            return early
    if iteration is not None and step_back.has_left(control.run, ref, iteration):
        return (yield from control.run_until(goal))
    point = control.breakpoints.add(str(ref), iteration, internal=True)
    try:
        return (yield from control.run_until(goal, fresh=control.run.event != start))
    finally:
        control.breakpoints.remove(point)


def check_positive(command: str, n: int) -> None:
    """Raise a SessionError if ``n`` is not a positive integer."""
    if not isinstance(n, int) or n < 1:
        raise SessionError(
            f"{command}: n must be a positive integer, got {short_repr(n)}.",
            slug="bad-count",
            fix="pass the number of times to step, 1 or more.",
        )
