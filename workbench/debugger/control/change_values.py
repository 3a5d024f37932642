"""Commands that edit a value at the present event, change inputs, or repeat the edits of another run."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

from workbench.debugger.control.input_update import InputUpdate
from workbench.debugger.control.run_control import Command, RunControl, RunGoal
from workbench.debugger.stop import Stop, StopReason
from workbench.errors import SessionError
from workbench.execution.edits import Edit, merges_ahead
from workbench.plan import ExecutionPlan
from workbench.trace.describe import short


def set_value(control: RunControl, name: str, value: Any) -> Command:
    """Write a value at the present event; ``histories`` keeps the history without it.

    If a loop variable is about to take the value for this iteration, the run continues past its Merge.
    """
    run = control.run
    ref = control.breakpoints.ref(name)
    before = list(run.edits)
    edit = run.edit(ref, value)
    control.context.keep_history(before, edit)
    for _ in range(merges_ahead(run, edit.ref)):
        yield from control.run_until(RunGoal(StopReason.STEP, steps=1))
    text = f"{run.plan.graph.name_of(edit.ref)} = {short(edit.value)}, it was {short(edit.before)}."
    return Stop(StopReason.EDITED, run.position(), text)


def undo_edit(control: RunControl) -> Command:
    """Undo the last edit: go back to its event, and continue the history before it."""
    yield from ()  # the whole command is one slice
    context, run = control.context, control.run
    history = next(reversed(context.histories), None)
    edit = None if history is None else history.edit
    if history is None or edit is None or not any(made is edit for made in run.edits):
        raise SessionError(
            "There is no edit to undo in this run.",
            slug="no-edit",
            fix="session.set_value makes an edit; restart and update drop all of them.",
        )
    run.without_edit(edit, history.edits)
    context.histories.pop()
    context.reached = history.event
    text = f"The edit is undone: {run.plan.graph.name_of(edit.ref)} is {short(edit.before)} again."
    return Stop(StopReason.UNDONE, run.position(), text)


def update(control: RunControl, changes: Mapping[str, Any]) -> Command:
    """Change inputs, recompute dependent values, and run to the end; ``DebugControl.updated`` is the report."""
    pending = InputUpdate(control.context, control.checks, changes)
    control.context.pending_update = pending  # before the first slice, because it may be cancelled before that
    return _update(control, pending)


def _update(control: RunControl, pending: InputUpdate) -> Command:
    yield from pending.slices()
    return Stop(StopReason.FINISHED, control.run.position())


def follow(control: RunControl, edits: list[Edit], event: int, plan: ExecutionPlan | None) -> Command:
    """Run from the beginning to an event with the edits of another run of ``plan``, or (None) of any plan with the same
    events; see ``Session.fork`` and ``Session.repeat``."""
    run = control.run
    if run.plan is plan:
        run.edits = list(edits)
    else:  # values are stored in other places: repeat each edit
        for edit in edits:
            yield from _run_over_breakpoints(control, edit.event)
            run.edit(edit.ref, edit.value)
        if run.event > event:
            run.seek(event, skip_silent=True)
    yield from _run_over_breakpoints(control, event)
    return Stop(StopReason.FINISHED if run.finished else StopReason.TARGET, run.position())


def _run_over_breakpoints(control: RunControl, event: int) -> Generator[None, None, None]:
    """Run to an event, ignoring breakpoints."""
    run, margin = control.run, 2 * control.run.plan.program.length
    with run.breakpoints_disabled():
        while run.event + margin < event and not run.finished:
            if run.go(event - margin) == "halt":
                break
            yield
    run.to_event(event)
