"""The debugger's state machine: one command at a time, executed in slices.

::

    DebugControl            begin, advance, interrupt; COMMANDS: name -> handler
      RunControl            run until a goal, a stop or the end of a frame        <- handlers: forward, backward,
        HitRecount          hit counts when the run goes back                        branch, change_values
        BreakpointChecks    conditions in the executor, decisions about its reports
          FiringValues      the values that conditions read
          HitPolicy         counts hits: live, in a replay, again from the start
      DebugContext          the run, the breakpoints, the last stop: shared by all parts

A handler takes the run control and the command's arguments and returns a generator, which yields after each slice and
returns the Stop. This module uses no threads: ``advance`` runs one slice, and returns the Stop once the command is
done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from workbench.debugger.breakpoints.breakpoint import Breakpoint
from workbench.debugger.breakpoints.manager import Breakpoints
from workbench.debugger.control import backward, branch, change_values, forward
from workbench.debugger.control.breakpoint_checks import BreakpointChecks
from workbench.debugger.control.context import DebugContext, Label, no_run
from workbench.debugger.control.hit_policy import HitPolicy
from workbench.debugger.control.hit_recount import HitRecount
from workbench.debugger.control.past_hits import past_hits
from workbench.debugger.control.run_control import Command, RunControl
from workbench.debugger.iteration_path import short_repr
from workbench.debugger.replay.history import History
from workbench.debugger.stop import Stop, StopReason
from workbench.debugger.weak_method import weakly
from workbench.errors import ExecutionError, SessionError
from workbench.execution import Position, Run
from workbench.execution.incremental import Update
from workbench.ir.node import Tag

Handler = Callable[..., Command]

COMMANDS: Mapping[str, Handler] = {
    "run": forward.run,
    "resume": forward.run,
    "step": forward.step,
    "step_over": forward.step_over,
    "step_into": forward.step_into,
    "step_out": forward.step_out,
    "next_iteration": forward.next_iteration,
    "run_to": forward.run_to,
    "step_back": backward.step_back,
    "step_back_over": backward.step_back_over,
    "step_back_out": backward.step_back_out,
    "previous_iteration": backward.previous_iteration,
    "reverse_continue": backward.reverse_continue,
    "restart": backward.restart,
    "next_branch": branch.next_branch,
    "previous_branch": branch.previous_branch,
    "run_to_branch": branch.run_to_branch,
    "set_value": change_values.set_value,
    "undo_edit": change_values.undo_edit,
    "update": change_values.update,
    "follow": change_values.follow,
}


def handler_of(command: str) -> Handler:
    """The handler of a command; SessionError for an unknown one."""
    handler = COMMANDS.get(command) if isinstance(command, str) else None
    if handler is None:
        raise SessionError(
            f"Unknown command {short_repr(command)}.",
            slug="unknown-command",
            fix=f"the commands are {', '.join(sorted(COMMANDS))}.",
        )
    return handler


class DebugControl:
    """Executes commands on one :class:`Run`, from its present position.

    Parameters
    ----------
    run : Run
        The run, which no other thread may use at the same time.
    release_dead_values : bool, default False
        Whether plans of this session free values after their last use.
    label : callable, optional
        Returns the pattern of a value up to an iteration, for breakpoints that stop when the pattern changes.
    """

    def __init__(self, run: Run, release_dead_values: bool = False, label: Label | None = None) -> None:
        self._context = DebugContext(run, release_dead_values, label, weakly(self.recheck, no_run))
        self._control = RunControl(self._context)
        self._command: Command | None = None
        self._event_at_stop = 0
        #: report of the last update of inputs
        self.updated: Update | None = None

    @property
    def run(self) -> Run:
        """The present run; an update of inputs may replace it."""
        return self._context.run

    @property
    def breakpoints(self) -> Breakpoints:
        """Breakpoints, ignore rules and log lines."""
        return self._context.breakpoints

    @property
    def histories(self) -> list[History]:
        """The histories before edits and updates, oldest first."""
        return self._context.histories

    @property
    def stop(self) -> Stop:
        """The last stop."""
        return self._context.stop

    # -- commands --------------------------------------------------------------------------------------------------
    def begin(self, command: str, **arguments: Any) -> None:
        """Start a command; :meth:`advance` runs it. SessionError for unknown commands."""
        self._command = handler_of(command)(self._control, **arguments)

    def advance(self) -> Stop | None:
        """Run one slice of the command; returns the Stop once it is done."""
        if self._command is None:
            return None
        try:
            next(self._command)
            return None
        except StopIteration as end:
            stop: Stop = end.value
        except ExecutionError as error:
            stop = self._failed(error)
        self._end(stop)
        return stop

    def interrupt(self) -> Stop:
        """End the command early: run to the next node that is not silent, and stop with PAUSED."""
        try:
            if self._context.pending_update is not None:
                self._context.pending_update.leave()
            stop = self._control.checks.stop_at_next_node(StopReason.PAUSED)
        except ExecutionError as error:
            stop = self._failed(error)
        self._end(stop)
        return stop

    def abandon(self) -> None:
        """Drop the command of a debugger that is no longer used. Call it only while no slice is running."""
        if self._command is not None:
            with suppress(Exception):  # no caller is left to receive the error
                self._command.close()
        self._command = self._context.pending_update = None

    def _failed(self, error: ExecutionError) -> Stop:
        """A stop before the node that failed, even if the failure was a check between two events."""
        position = self.run.position()
        if position.node is None and error.tag is not None:
            position = Position(error.node, position.event, error.tag.frame, error.tag.iteration)
        reason = StopReason.NO_ROOM if self.run.machine.retire_failed else StopReason.FAILED
        return Stop(reason, position, error.message, error)

    def _end(self, stop: Stop) -> None:
        if self._command is not None:
            self._command.close()
            self._command = None
        context, control = self._context, self._control
        context.stop = stop
        control.checks.absorb()
        if self.run.event < self._event_at_stop:
            control.hits.rewind_counts()
        self._event_at_stop = self.run.event
        context.reached = max(context.reached, self.run.event)
        if context.pending_update is not None:
            self.updated, context.pending_update = context.pending_update.result(), None

    # -- past hits -------------------------------------------------------------------------------------------------
    def recheck(self, point: Breakpoint, limit: int) -> list[Tag]:
        """Tags of the past firings at which a breakpoint would have stopped; call it only while the run is stopped."""
        return past_hits(self._context, point, limit, self._replay_from_start)

    def _replay_from_start(self, policy: HitPolicy) -> HitRecount:
        """A copy of the run at its beginning, without breakpoints; ``policy`` counts its hits."""
        context = self._context
        fork = context.run.fork(context.run.checkpoints[0])
        return HitRecount(BreakpointChecks(DebugContext(fork, context.release_dead_values, context.label), policy))
