"""The state that the parts of a debugger share: its run, its breakpoints, and its last stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from workbench.debugger.breakpoints.breakpoint import Breakpoint
from workbench.debugger.breakpoints.manager import Breakpoints
from workbench.debugger.breakpoints.targets import Targets
from workbench.debugger.replay.history import History
from workbench.debugger.stop import Stop, StopReason
from workbench.debugger.weak_method import weakly
from workbench.errors import SessionError
from workbench.execution import Run
from workbench.execution.edits import Edit
from workbench.execution.incremental import RevisionSteps, Update
from workbench.ir.node import Ref, Tag
from workbench.trace import Trace

#: number of histories that may keep their values in memory; those of older ones are recomputed on demand
HELD = 6
#: returns the pattern of a value in a trace up to an iteration; None if rows are missing
Label = Callable[[Trace, Ref, tuple[int, ...]], str | None]


class PendingUpdate(Protocol):
    """An update of inputs that has begun or is about to begin (see ``input_update``)."""

    def leave(self) -> None:
        """Bring the run into a state from which it can continue."""

    def result(self) -> Update:
        """A report of the work that was done."""


class DebugContext:
    """Shared state of the parts of one debugger. :meth:`adopt` changes ``run``; every part reads it from here."""

    def __init__(
        self,
        run: Run,
        release_dead_values: bool = False,
        label: Label | None = None,
        recheck: Callable[[Breakpoint, int], list[Tag]] | None = None,
    ) -> None:
        """``release_dead_values``: plans of this session free values after their last use. ``label`` returns the
        pattern of a value up to an iteration; ``recheck`` finds past hits of a breakpoint."""
        self.run, self.release_dead_values, self.label = run, release_dead_values, label
        # weakly: the breakpoints belong to this object, and a strong reference back would keep it and the run alive
        # until the next garbage collection
        self.breakpoints = Breakpoints(
            Targets(weakly(self._current_run, no_run)),
            weakly(self.mark_breakpoints_changed),
            weakly(self._current_event, lambda: 0),
            recheck,
        )
        #: True if the conditions in the executor are older than the breakpoints
        self.breakpoints_changed = False
        self.nodes = {n.name: n for n in run.plan.layout.nodes}
        self.histories: list[History] = []
        #: the last event that the present history has ever reached, even if the run has gone back since
        self.reached = 0
        self.stop = Stop(StopReason.STARTED, run.position())
        self.pending_update: PendingUpdate | None = None
        self._steps: RevisionSteps | None = None

    def label_of(self, ref: Ref) -> Callable[[tuple[int, ...]], str | None] | None:
        """A function that returns the pattern of a value of the present run up to an iteration."""
        return None if self.label is None else partial(self.label, self.run.trace, ref)

    def adopt(self, run: Run) -> None:
        """Continue with another run of the same graph; breakpoints and histories stay."""
        self.run, self.nodes = run, {n.name: n for n in run.plan.layout.nodes}
        self.breakpoints_changed = True

    def keep_history(self, edits: Sequence[Edit], edit: Edit | None = None) -> None:
        """Keep the present history, which has ``edits``, before a value is edited or the inputs change."""
        number = len(self.histories) + 1
        name = f"earlier inputs {number}" if edit is None else f"before edit {number}"
        self.histories.append(History(name, self.run, edits, max(self.reached, self.run.event), edit))
        if len(self.histories) > HELD:
            self.histories[-HELD - 1].release()
        self.reached = self.run.event

    def reached_without_edits(self) -> int:
        """The last event that the run has ever reached with the present inputs and without an edit."""
        found = 0
        for history in reversed(self.histories):
            if history.edit is None:  # older histories have other inputs
                break
            found = max(found, 0 if history.edits else history.event)
        return found

    def mark_breakpoints_changed(self) -> None:
        """Request new conditions in the executor; the executor's thread installs them before the next run."""
        self.breakpoints_changed = True

    def steps(self) -> RevisionSteps:
        """The outermost level of the present plan, divided into steps."""
        if self._steps is None or self._steps.plan is not self.run.plan:
            self._steps = RevisionSteps(self.run.plan)
        return self._steps

    def _current_run(self) -> Run:
        return self.run

    def _current_event(self) -> int:
        return self.run.event


def no_run() -> Any:
    """Raise the SessionError for breakpoints whose session no longer exists."""
    raise SessionError(
        "breakpoints: their session no longer exists.",
        slug="no-run",
        fix="keep a reference to the session while you use its breakpoints.",
    )
