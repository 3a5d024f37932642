"""Per-session cache of termination answers with a time budget (2 % of run time while running).

A proof holds for all later iterations, so it stays valid while the run moves forward or back in the same activation:
only the number of iterations changes. It becomes invalid with an edit, with other inputs, and with the end of the
activation. Views that request answers while the session runs may use 2 % of the run's seconds; beyond that they get the
forecast from the record, which needs no look-ahead.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from workbench.analysis.ends.end_claims import AboutToBegin
from workbench.analysis.standing import Standing
from workbench.analysis.termination.explain import answer_of
from workbench.analysis.termination.look_ahead import LookAhead, look_ahead
from workbench.analysis.termination.query import about_to_begin, later, loop_of, place_in, seen_only, standing_of
from workbench.analysis.verdict import Status, Termination, unknown
from workbench.execution import Run

#: seconds of one look-ahead, and the part of the run's seconds that all of them may take while it runs
AT_ONCE, PART = 0.2, 0.02
#: minimum seconds for which a look-ahead is worthwhile, and the part of the run's seconds for reading the record
LEAST, RECORD = 0.012, 0.005


@dataclass(slots=True)
class _Kept:
    """An answer, and the position for which it was given."""

    answer: Termination
    iteration: int
    outer: tuple[int, ...]
    run: Run
    edits: list[Any]
    feeds: list[Any]
    event: int
    #: the look-ahead for the views, once requested; an empty list until then
    ahead: list[LookAhead | None] = field(default_factory=list)

    def holds(self, run: Run, path: tuple[str, ...]) -> bool:
        here = place_in(run, path)
        return here is not None and here[:-1] == self.outer and self.is_of(run)

    def is_of(self, run: Run) -> bool:
        """True if the answer is about this run with its current edits and inputs."""
        same = self.run is run and len(self.edits) == len(run.edits) and len(self.feeds) == len(run.feeds)
        if not same or any(a is not b for a, b in zip(self.edits, run.edits, strict=True)):
            return False
        return not any(a is not b for a, b in zip(self.feeds, run.feeds.values(), strict=True))


class TerminationCache:
    """The cached answers of one session. Not thread-safe: the session calls it while its run is paused."""

    def __init__(self) -> None:
        #: seconds of all look-aheads while the session ran, which are limited, and of the last one
        self.spent, self._took = 0.0, 0.0
        self._kept: dict[tuple[str, ...], _Kept] = {}
        #: answers about loops in which the run is not, each valid for one event
        self._outside: dict[tuple[str, ...], _Kept] = {}
        #: the last look-ahead of a loop that is not entered yet
        self._before: tuple[Any, LookAhead | None] | None = None

    def ask(
        self,
        run: Run,
        frame: Any = None,
        seconds: float | None = None,
        failed: Exception | None = None,
        running: bool = False,
    ) -> Termination:
        """The answer of :func:`~workbench.analysis.termination.explain.answer_of`, from the cache if it is still valid.

        If ``seconds`` is None, the budget sets the time while ``running``; otherwise it is 0.2 s.
        """
        answer = self._ask(run, frame, seconds, failed, running)
        path = loop_of(run, frame)
        if path is not None and not answer.over:
            answer.end = standing_of(run, run.trace, path, failed, running)
            answer.claims = [claim for claim in answer.claims if claim.kind != AboutToBegin.kind]
            if answer.end.standing is Standing.ABOUT_TO_BEGIN:
                answer.claims.append(about_to_begin(run, run.trace, path))
        return answer

    def _ask(self, run: Run, frame: Any, seconds: float | None, failed: Exception | None, running: bool) -> Termination:
        path = loop_of(run, frame)
        if path is None or failed is not None or path in run.plan.raw:
            return answer_of(run, run.trace, frame, AT_ONCE if seconds is None else seconds, failed)
        kept, here = self._kept.get(path), place_in(run, path)
        if here is None and seconds is None and not running:  # all views of a panel request it when it opens
            before = self._outside.get(path)
            if before is not None and before.event == run.event and before.is_of(run):
                return before.answer
        if kept is not None and here is not None and kept.holds(run, path):
            if kept.answer.status is Status.PROVED and _enough(kept.answer):
                return later(kept.answer, here[-1] - kept.iteration)
            if kept.event == run.event and seconds is None and not running:
                return kept.answer
        allowed = self._allowed(run) if seconds is None and running else AT_ONCE if seconds is None else seconds
        if seconds is None and running and allowed < max(LEAST, 1.2 * self._took):
            return self._without_lookahead(run, path, kept if kept is not None and kept.holds(run, path) else None)
        begin = time.perf_counter()
        answer = answer_of(run, run.trace, path, allowed / 2 if seconds is None and running else allowed, failed)
        if running:
            self._took = min(time.perf_counter() - begin, AT_ONCE)
            self.spent += time.perf_counter() - begin
        given = run, list(run.edits), list(run.feeds.values()), run.event
        if here is not None:
            self._kept[path] = _Kept(answer, here[-1], here[:-1], *given)
        elif seconds is None and not running:
            self._outside[path] = _Kept(answer, -1, (), *given)
        return answer

    def ahead(self, run: Run, frame: Any = None) -> LookAhead | None:
        """The later iterations of a loop whose end, or endlessness, is proved: computed once for each answer."""
        path = loop_of(run, frame)
        if path is None or path in run.plan.raw:
            return None
        answer = self.ask(run, path)
        kept, here = self._kept.get(path), place_in(run, path)
        if here is None or kept is None or not kept.holds(run, path):
            key = (path, run, run.event, len(run.edits))
            if self._before is None or self._before[0] != key:  # the views request it repeatedly
                self._before = (key, look_ahead(run, path, answer))
            return self._before[1]
        found = kept.ahead[0] if kept.ahead else None
        old = found is not None and not found.iterations[0] <= here[-1] <= found.iterations[-1]
        endless = found is not None and answer.outcome == "never" and here[-1] > found.iterations[0]
        if not kept.ahead or old or endless:
            kept.ahead[:] = [look_ahead(run, path, answer)]
        return None if kept.ahead[0] is None else kept.ahead[0].after(here[-1])

    def _allowed(self, run: Run) -> float:
        return min(AT_ONCE, PART * run.spent[1] - self.spent)

    def _without_lookahead(self, run: Run, path: tuple[str, ...], kept: _Kept | None) -> Termination:
        """The answer without a look-ahead: the last one, or else the forecast from the record if there is time."""
        here = place_in(run, path)
        if kept is not None and here is not None:
            return later(kept.answer, here[-1] - kept.iteration)
        if self.spent > RECORD * run.spent[1]:
            return unknown("look-ahead-later", "The look-aheads have used their share of the time; query again.")
        begin = time.perf_counter()
        answer = seen_only(run, run.trace, path)
        self.spent += time.perf_counter() - begin
        return answer


def _enough(answer: Termination) -> bool:
    """True if a look-ahead could not improve the answer: never, or an exact number."""
    return answer.outcome == "never" or answer.remaining is not None
