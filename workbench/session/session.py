"""The session: a run and its debugger on a worker thread, with commands from any thread; edits and forks."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from workbench.analysis import Fix, Termination, classify
from workbench.analysis.answer import chosen_fix
from workbench.analysis.desk import Desk
from workbench.analysis.repair import Fixed, repaired
from workbench.debugger import Breakpoints, Debugger, History, Stop
from workbench.errors import SessionError
from workbench.execution import NEWEST_CHECKPOINTS, NEWEST_ROWS, Run, prepare_feeds
from workbench.execution.direct import plan_for
from workbench.execution.incremental import Update
from workbench.graph.graph import Graph
from workbench.session.commands import Commands
from workbench.session.values import Values
from workbench.trace.retention import DEFAULT_MEMORY, Retention, retention_of

#: bytes that a trace may hold; beyond it the oldest rows are dropped and recomputed when asked for
DEFAULT_BUDGET = DEFAULT_MEMORY
#: with trace="stats" so many bytes of the newest arrays of each loop stay beside the statistics of all
STATS_WINDOW = 1 << 20


class Session(Values, Commands):
    """Step, run, pause and go back in a graph.

    >>> session = Session(graph, {"a": 2.0})
    >>> session.step()
    >>> session.run()
    >>> session.trace["x"].values

    Parameters
    ----------
    graph, feeds:
        What to run, and its inputs by name.
    outputs:
        Names of values to compute; by default the graph's outputs.
    trace:
        What is kept: a :class:`workbench.Retention`, or the name of one. "all" keeps every value within
        ``memory_budget`` bytes, checkpoints included; "carried" what loops carry, of every iteration if that fits;
        "stats" every number, of arrays of known shape the statistics (``trace[name].statistics``) and only the newest
        values, large ones only until nothing in the run needs them any more; "off" only the newest rows. Values that
        are no longer kept are recomputed exactly by :meth:`value`, or many at once by :meth:`values`.
    """

    def __init__(
        self, graph: Graph, feeds: Mapping[str, Any] | None = None, *, outputs: Sequence[str] | None = None,
        trace: str | Retention = "all", memory_budget: int = DEFAULT_BUDGET,
    ) -> None:  # fmt: skip
        if memory_budget <= 0:
            raise SessionError(f"memory_budget is in bytes and positive, {memory_budget} came.", slug="bad-retention")
        self.retention = retention_of(trace, memory_budget)
        statistics = trace == "stats" or self.retention.keep == "statistics"
        if isinstance(trace, Retention) and memory_budget not in (DEFAULT_BUDGET, trace.memory):
            raise SessionError(
                "A Retention has its own memory, and memory_budget came too.", slug="bad-retention",
                fix=f"write Retention(..., memory={memory_budget}).",
            )  # fmt: skip
        arrays = prepare_feeds(graph, feeds or {})
        lean = self.retention.keep in ("none", "statistics")
        plan = plan_for(graph, arrays, outputs, statistics, lean)
        window = STATS_WINDOW if statistics else 0
        if trace == "off":
            run = Run(plan, arrays, NEWEST_ROWS, window, NEWEST_CHECKPOINTS)
        elif self.retention.keep == "none" and not self.retention.keeps_more:
            run = Run(plan, arrays, min(self.retention.memory, NEWEST_ROWS + NEWEST_CHECKPOINTS), window)
        else:
            run = Run(plan, arrays, self.retention.memory, window, keeping=self.retention)
        super().__init__(graph, Debugger(run, lean))
        self._manner = (outputs, trace if isinstance(trace, str) else "all", self.retention.memory)
        #: what came of the last :meth:`apply_fix`
        self.fixed: Fixed | None = None
        self._forks: list[Session] = []
        self._desk = Desk()
        self._debugger.classify = pattern_of
        # weakly: a closed session is to go at once, with its trace, and not when the garbage collector comes by
        still = weakref.WeakMethod(self._standing_still)
        self._debugger.breakpoints.asked_by(lambda: method() if (method := still()) else nullcontext())

    @property
    def histories(self) -> tuple[History, ...]:
        """What the run did before each edit, oldest first; each has a ``trace``."""
        return tuple(self._debugger.histories)

    @property
    def forks(self) -> tuple[Session, ...]:
        """Sessions that were forked from this one (:meth:`fork`, :meth:`apply_fix`) and are not closed, oldest
        first; what an edit ended is in :attr:`histories`."""
        self._forks = [f for f in self._forks if not f._closed]
        return tuple(self._forks)

    @property
    def breakpoints(self) -> Breakpoints:
        """Where the run stops: ``add``, ``remove``, ``ignore``, ``recheck``, ``recommended``, ``table`` ..."""
        return self._debugger.breakpoints

    def termination(self, frame: Any = None, seconds: float | None = None) -> Termination:
        """Whether and when a loop ends, and why: the innermost open loop by default, else a loop's name or path.

        While the session runs this waits for a short stop between two slices, and the look-aheads take 2 % of the
        time that it has run (one may overshoot, later ones wait for it), unless ``seconds`` caps this one. What is
        proved stays so as the run goes on, and is not looked for again until a value or an input is changed.
        """
        with self._standing_still():
            failed = self.stop.error if self._state == "failed" else None
            return self._desk.ask(self._run, frame, seconds, failed, self._running)

    def apply_fix(
        self, fix: None | int | Fix = None, *, frame: Any = None, at: str = "start", seconds: float = 0.2
    ) -> Session:
        """A new session on an edited graph or with edited inputs, to compare with this one, which is not touched.

        ``fix`` is one of ``termination(frame).fix`` or its number; by default the first that can be applied. The fork
        has the same inputs and stands at its beginning, or with ``at="here"`` in the same iteration of the loop (at
        its end if the fixed loop ends before). :attr:`fixed` holds the answers before and after, and says whether it
        works; ``seconds`` caps each look-ahead. SessionError for what cannot be applied: slugs ``no-fix``,
        ``fix-not-applicable``, ``fix-no-clause``, ``fix-no-constant``, ``fix-no-step``, ``fix-types``.

        >>> fork = session.apply_fix()
        >>> print(session.fixed)
        """
        if at not in ("start", "here"):
            raise SessionError(f"at is 'start' or 'here', {at!r} came.", slug="bad-place", fix="give one of the two.")
        before = self.termination(frame, seconds)
        chosen = chosen_fix(before, fix)
        with self._standing_still():
            feeds, view, numbers = dict(self._run.feeds), self._run.view, self.plan.numbers
            path = chosen.frame if chosen.frame in numbers else None
            inside = path is not None and numbers[path] in self._run.active_frames()
            here = self._run.iteration_of(numbers[path]) if inside and path is not None else ()
            stand = self._run.position()
            entered = path is not None and view.iteration(numbers[path]) >= 0
        graph, feeds, changes = repaired(self.graph, feeds, chosen)
        outputs, trace, memory = self._manner
        fork = Session(graph, feeds, outputs=outputs, trace=trace, memory_budget=memory)
        if at == "here" and path is not None and entered:
            same = stand.node if stand.frame == path and stand.node in graph.nodes else graph.frames[path].loop_cond
            if inside and same is not None:
                fork.run_to(same, here)
            else:
                fork.run()
        fork.breakpoints.load_data(self.breakpoints.to_data(), strict=False)
        self._forks.append(fork)
        self.fixed = Fixed(fork, chosen, before, fork.termination(path, seconds), tuple(changes))
        return fork

    def fork(self) -> Session:
        """An independent session with the same inputs, edits and breakpoints that stands at the same event.

        It has run up to there itself, at full speed, so that its trace holds all of it; this one is not touched. Edit a
        value in one of the two, go on in both, and compare them side by side (``wb.diff``). :attr:`forks` lists them.

        >>> other = session.fork()
        >>> other.set_value("x", 3.0)
        """
        with self._standing_still():
            feeds, edits, event = dict(self._run.feeds), list(self._run.edits), self._run.event
            edits = [e for e in edits if e.event <= event]
        outputs, trace, memory = self._manner
        fork = Session(self.graph, feeds, outputs=outputs, trace=trace, memory_budget=memory)
        try:
            fork._command("follow", edits=edits, event=event)
            fork.breakpoints.load_data(self.breakpoints.to_data(), strict=False)
        except BaseException:
            fork.close()
            raise
        self._forks.append(fork)
        return fork

    def set_value(self, name: str, value: Any) -> Stop:
        """Edit a value that has fired where the session stands, and go on from there with :meth:`resume` or a step.

        The session is a fork from then on: every replay has the edit, and what was before is kept in ``histories``. A
        value and its other names (Identity, Switch, a loop's Merge) are one; what was computed from it already stays.
        SessionError where it cannot be: constants, dead values, loops that are not open, another dtype or shape.
        """
        return self._command("set_value", name=name, value=value)

    def update(self, changes: Mapping[str, Any] | None = None, /, **named: Any) -> Update:
        """Change inputs and go to the end, computing only what depends on them; in a loop, from the first iteration
        that differs.

        Afterwards all is as if the session had been run with the new inputs: outputs, trace, steps back, replays. What
        was before is kept in ``histories``. ``print`` the result to see what was computed and what it saved.
        Breakpoints are passed over; :meth:`run_to` goes back to any place. Edited values belong to the old inputs and
        are dropped.
        Inputs of another dtype or shape make a new :attr:`trace`. FeedError for what does not fit; a node that fails
        leaves the session ``failed`` in front of it.

        >>> session.update(a=3.0)
        >>> session.update({"input_0:0": array})
        """
        self._command("update", changes={**(changes or {}), **named})
        updated = self._debugger.updated
        assert updated is not None
        return updated

    def __repr__(self) -> str:
        return f"<Session {self.graph.name!r}: {self.state}, next {self._position}>"


def pattern_of(values: np.ndarray) -> str:
    """The word for the pattern of a series, for breakpoints on its change."""
    return classify(values).label.name
