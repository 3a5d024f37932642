"""The debugger's state machine: one command at a time, carried out in slices.

A forward command (:mod:`workbench.debugger.forward`) is a *goal*: an event limit, a frame to watch, or nothing but the
end; breakpoints are armed instructions. Backward commands (:mod:`workbench.debugger.backward`) replay. Nothing here
knows threads: ``advance`` does a slice and returns a Stop when the command is done, None when there is more to do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.debugger.branches import Branches
from workbench.debugger.breakpoint import Breakpoint
from workbench.debugger.breakpoints import Breakpoints
from workbench.debugger.history import History
from workbench.debugger.recheck import past_hits
from workbench.debugger.stop import Stop, StopReason
from workbench.debugger.targets import Targets
from workbench.debugger.updating import Updating
from workbench.errors import ExecutionError, SessionError
from workbench.execution import Position, Run
from workbench.execution.incremental import Steps, Update
from workbench.graph.node import Tag
from workbench.trace.describe import short


class Debugger(Branches):
    """Commands over one :class:`Run`."""

    def __init__(self, run: Run, lean: bool = False) -> None:
        """``lean``: plans of this session let values go when nothing needs them any more."""
        super().__init__()
        self.run, self.lean = run, lean
        self.breakpoints = Breakpoints(Targets(lambda: self.run), self._arm, lambda: self.run.event, self.recheck)
        self._nodes = {n.name: n for n in run.plan.layout.nodes}
        self._work: Iterator[Stop | None] = iter(())
        self.histories: list[History] = []
        self.updated: Update | None = None
        self._updating: Updating | None = None
        self._steps: Steps | None = None
        self.stop = Stop(StopReason.STARTED, run.position())
        self._at = 0  # events at the last stop

    # -- carrying out ----------------------------------------------------------------------------------------------
    def begin(self, command: str, **arguments: Any) -> None:
        """Start a command; :meth:`advance` carries it out. SessionError for unknown ones."""
        method = getattr(self, f"_do_{command}", None)
        if method is None:
            known = ", ".join(sorted(n[4:] for n in dir(self) if n.startswith("_do_")))
            raise SessionError(f"There is no command {command!r}.", slug="unknown-command", fix=f"there are {known}.")
        self._work = method(**arguments)

    def advance(self) -> Stop | None:
        """One slice of the command; the Stop when it is done."""
        try:
            result = next(self._work, None)
        except ExecutionError as error:
            result = self._failed(error)
        if result is not None:
            self._end(result)
        return result

    def interrupt(self) -> Stop:
        """End the command here: to the next node that is not silent, then PAUSED."""
        try:
            if self._updating is not None:
                self._updating.leave()
            stop = self._settle(StopReason.PAUSED)
        except ExecutionError as error:
            stop = self._failed(error)
        self._end(stop)
        return stop

    def _failed(self, error: ExecutionError) -> Stop:
        """A stop in front of the node that failed, also where that is a check between two events."""
        position = self.run.position()
        if position.node is None and error.tag is not None:
            position = Position(error.node, position.event, error.tag.frame, error.tag.iteration)
        reason = StopReason.NO_ROOM if self.run.machine.retire_failed else StopReason.FAILED
        return Stop(reason, position, error.message, error)

    def _end(self, stop: Stop) -> None:
        self._work.close()  # type: ignore[attr-defined]
        self._work = iter(())
        self.stop = stop
        self.absorb()
        if self.run.event < self._at:
            self.recount()
        self._at = self.run.event
        if self._updating is not None:
            self.updated, self._updating = self._updating.result(), None

    # -- changing values -------------------------------------------------------------------------------------------
    def _do_set_value(self, name: str, value: Any) -> Iterator[Stop | None]:
        """Write a value where the run stands; what was before is kept in ``histories``."""
        ref = self.breakpoints.ref(name)
        before = list(self.run.edits)
        edit = self.run.edit(ref, value)
        self.histories.append(History(self.run, before, edit))
        shown = f"{self.run.plan.graph.name_of(ref)} = {short(edit.value)}, it was {short(edit.before)}."
        yield Stop(StopReason.EDITED, self.run.position(), shown)

    def _do_update(self, changes: Mapping[str, Any]) -> Iterator[Stop | None]:
        """Change inputs, compute what depends on them again, and go on to the end; ``updated`` says what was done."""
        self._updating = Updating(self, changes)  # at once: it may be called off before its first slice
        return self._update(self._updating)

    def _update(self, updating: Updating) -> Iterator[Stop | None]:
        for _ in updating.work():
            yield None
        yield Stop(StopReason.FINISHED, self.run.position())

    def _do_follow(self, edits: list[Any], event: int) -> Iterator[Stop | None]:
        """From the beginning to an event with the edits of another run; see ``Session.fork``."""
        run = self.run
        run.edits = list(edits)
        margin = 2 * run.plan.program.length
        with run.quiet():
            while run.event + margin < event and not run.finished:
                if run.go(event - margin) == "halt":
                    break
                yield None
        run.to_event(event)
        yield Stop(StopReason.FINISHED if run.finished else StopReason.TARGET, run.position())

    # -- the run ---------------------------------------------------------------------------------------------------
    def steps(self) -> Steps:
        """The outermost level of the plan in steps."""
        if self._steps is None or self._steps.plan is not self.run.plan:
            self._steps = Steps(self.run.plan)
        return self._steps

    def adopt(self, run: Run) -> None:
        """Go on with another run of the same graph; breakpoints and histories stay."""
        self.run, self._nodes = run, {n.name: n for n in run.plan.layout.nodes}
        self._asked_of, self._passing, self._stale = [], {}, True

    def recheck(self, point: Breakpoint, limit: int) -> list[Tag]:
        """Tags of the past firings that a breakpoint would have stopped at; only while the run stands."""
        return past_hits(self, point, limit)
