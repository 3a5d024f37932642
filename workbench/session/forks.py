"""Sessions created from another one: at the same event, or with a fix applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from workbench.analysis import Fix, Termination
from workbench.analysis.fixes import FixOutcome, repaired
from workbench.analysis.termination.explain import chosen_fix
from workbench.ir.graph import Graph
from workbench.plan import ExecutionPlan
from workbench.session.state import SessionState
from workbench.session.worker import Worker

if TYPE_CHECKING:
    from workbench.session.session import Session

#: creates the fork of a session, with the same options, for a graph and feeds
MakeSession = Callable[[Graph, Mapping[str, Any]], "Session"]
#: runs a fork to an event: (fork, edits, event, plan)
Follow = Callable[["Session", list[Any], int, ExecutionPlan], None]


class Forks:
    """Creates the forks of a session, and lists them."""

    def __init__(self, state: SessionState, worker: Worker, make: MakeSession, follow: Follow) -> None:
        self._state, self._worker, self._make, self._follow = state, worker, make, follow
        self._made: list[Session] = []

    def open(self) -> tuple[Session, ...]:
        """The forks that are still open, oldest first."""
        self._made = [fork for fork in self._made if fork.state != "closed"]
        return tuple(self._made)

    def at_same_event(self) -> Session:
        """A fork with the same inputs, edits and breakpoints, at the same event."""
        with self._worker.stopped_between_slices():
            run = self._state.run
            feeds, edits, event, plan = dict(run.feeds), list(run.edits), run.event, run.plan
        fork = self._make(self._state.graph, feeds)
        try:
            self._follow(fork, edits, event, plan)
            self._copy_breakpoints(fork)
        except BaseException:
            fork.close()
            raise
        self._made.append(fork)
        return fork

    def with_fix(self, before: Termination, fix: None | int | Fix, at: str, seconds: float) -> FixOutcome:
        """A fork with a fix of ``before`` applied, "here" or at the "start", and the termination answers before and
        after."""
        outcome = self._with_fix(before, fix, at, seconds)
        self._made.append(outcome.fork)
        return outcome

    def _with_fix(self, before: Termination, fix: None | int | Fix, at: str, seconds: float) -> FixOutcome:
        chosen = chosen_fix(before, fix)
        with self._worker.stopped_between_slices():
            run = self._state.run
            feeds, view, numbers = dict(run.feeds), run.view, run.plan.numbers
            path = chosen.frame if chosen.frame in numbers else None
            inside = path is not None and numbers[path] in run.active_frames()
            here = run.iteration_of(numbers[path]) if inside and path is not None else ()
            position = run.position()
            entered = path is not None and view.iteration(numbers[path]) >= 0
        graph, feeds, changes = repaired(self._state.graph, feeds, chosen)
        fork = self._make(graph, feeds)
        try:
            if at == "here" and path is not None and entered:
                same = position.node if position.frame == path and position.node in graph.nodes else None
                same = graph.frames[path].loop_cond if same is None else same
                if inside and same is not None:
                    fork.run_to(same, here)
                else:
                    fork.run()
            self._copy_breakpoints(fork)
            return FixOutcome(fork, chosen, before, fork.termination(path, seconds), tuple(changes))
        except BaseException:
            fork.close()
            raise

    def tried(self, before: Termination, fix: Fix, seconds: float) -> FixOutcome:
        """The outcome of a fix of ``before``, tried from the start in a copy that is closed afterwards."""
        outcome = self._with_fix(before, fix, "start", seconds)
        outcome.fork.close()
        return outcome

    def _copy_breakpoints(self, fork: Session) -> None:
        fork.breakpoints.load_data(self._state.debugger.breakpoints.to_data(), strict=False)
