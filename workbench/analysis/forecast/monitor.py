"""``TerminationMonitor``: forecasts a loop's end from the operands observed at each evaluation of its condition."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.analysis.forecast.brent_cycle import StateWatch
from workbench.analysis.forecast.comparison import ComparisonMonitor, scalar
from workbench.analysis.forecast.edge_of_support import IRREGULAR, in_words, may_meet, together
from workbench.analysis.forecast.operand import PassageForecast
from workbench.analysis.forecast.plateaus import certainty, outlasts
from workbench.analysis.forecast.spacing import in_iterations
from workbench.analysis.series.calibration import MOST_AHEAD
from workbench.analysis.series.value_series import HistoryError
from workbench.analysis.text import count, listed
from workbench.analysis.verdict import Proof, Reason, Status, Termination, predicted_never, proved_end, unknown

#: Minimum number of evaluations, in periods that repeat, for a cycle of integers.
WHOLE_RETURNS = 16
#: Minimum number of evaluations in which flags repeat their values of a period before, and the confidence in that
#: pattern.
FLAGS_RETURN, FLAGS_SURE = 32, 0.95
#: Minimum number of values of an irregular motion for estimating the edge of its support.
IRREGULAR_LEAST = 64
#: Number of evaluations without a change after which a loop with an iteration limit is predicted to reach it.
UNCHANGED = 6
LOGIC = ("single", "and", "or", "not")


class TerminationMonitor:
    """Forecasts the end of any loop, including loops in plain Python, from the operands of its condition.

    Call :meth:`observe` once per evaluation of the condition, and :meth:`prediction` at any time. The memory is
    bounded: the last 512 operands of each clause, and one remembered state for the detection of a recurrence. The
    answers are PREDICTED or UNKNOWN, never PROVED (the loop may have state that is not shown), except for a condition
    that was observed false.

    Parameters
    ----------
    clause_names : sequence of tuple of str, optional
        The names (left, right) of the operands of each clause, for the sentences of the answer.
    trip_limit : int, optional
        The maximum number of executions of the body, if one is enforced; the answer is then never that the loop runs
        for ever.
    start : int, default 0
        The number of iterations before the first observation; a law like 1/k depends on it.

    References
    ----------
    Recurrences are found by R. P. Brent's algorithm (BIT 20, 1980); the laws by which operands are continued are
    described, with their sources, in the modules of ``workbench/analysis/forecast``.

    Examples
    --------
    >>> monitor = wb.TerminationMonitor([("error", "tol")])
    >>> error = 1.0
    >>> for _ in range(12):
    ...     monitor.observe({"error": error}, error > 1e-6, [(error, ">", 1e-6)])
    ...     error *= 0.5
    >>> answer = monitor.prediction()
    >>> answer.status.name, answer.outcome, answer.remaining
    ('PREDICTED', 'terminates', 9)
    """

    def __init__(
        self, clause_names: Sequence[tuple[str, str]] | None = None, trip_limit: int | None = None, start: int = 0
    ) -> None:
        self.start = start
        self.clause_names = list(clause_names) if clause_names is not None else None
        self.trip_limit = trip_limit
        self.clauses: list[ComparisonMonitor] = []
        self.logic = "single"
        self.count = 0
        #: number of iterations from one observation to the next, and since the newest one
        self.apart, self.behind = 1, 0
        self.ended = False
        self._watch = StateWatch()
        self._cached: tuple[int, Termination] | None = None

    def observe(
        self, state: Mapping[str, Any], cond: Any, clauses: Sequence[tuple[Any, str, Any]] = (), logic: str = "single"
    ) -> None:
        """Record one evaluation of the condition.

        Parameters
        ----------
        state : mapping
            The loop variables by name; a recurrence of the state, bit for bit, is detected.
        cond : bool
            The value of the condition.
        clauses : sequence of tuple, default ()
            (left operand, operator, right operand) of every comparison in the condition; the operator is text such as
            "<".
        logic : {"single", "and", "or", "not"}, default "single"
            How the condition combines its clauses.

        Raises
        ------
        HistoryError
            If ``logic`` has another value (``bad-logic``), or the number of clauses changes (``bad-clauses``).
        """
        if logic not in LOGIC:
            raise HistoryError(f"logic must be one of {', '.join(LOGIC)}, but is {logic!r}.", slug="bad-logic")
        if not self.count:
            for i, (_, op, _) in enumerate(clauses):
                names = (
                    self.clause_names[i] if self.clause_names and i < len(self.clause_names) else (f"lhs{i}", f"rhs{i}")
                )
                self.clauses.append(ComparisonMonitor(op, *names, ends_on=logic == "not", start=self.start))
        elif len(clauses) != len(self.clauses):
            raise HistoryError(
                f"{len(self.clauses)} clauses were observed before, now {len(clauses)}.", slug="bad-clauses"
            )
        self.logic = logic
        self.ended = not (cond if type(cond) is bool else bool(scalar(cond)))
        for clause, (lhs, _, rhs) in zip(self.clauses, clauses, strict=True):
            clause.observe(lhs, rhs)
        self._watch.observe(state, self.clauses)
        self.count += 1

    def prediction(self) -> Termination:
        """Return the answer at this moment; it is cached until the next observation."""
        if self._cached is None or self._cached[0] != self.count:
            with np.errstate(all="ignore"):
                self._cached = (self.count, in_iterations(self._predict(), self.apart, self.behind))
        return self._cached[1]

    def _predict(self) -> Termination:
        if not self.count:
            return unknown("no-data", "The condition has not been observed yet.")
        if self.ended:
            why = Reason("ended", "The condition was false at its last evaluation.")
            return proved_end(0, (0, 0), why, Proof("observed", "the condition's own value."))
        again = self._state_recurs()
        if again is not None:
            return again
        if not self.clauses:
            return unknown("no-clauses", "The condition's comparisons were not shown, and its state has not recurred.")
        forecasts = [clause.forecast() for clause in self.clauses]
        answer = self._combine(forecasts)
        return self._limited(answer)

    def _state_recurs(self) -> Termination | None:
        watch = self._watch
        p, returns = watch.period, watch.returns
        # the cause of a flag is not visible, and flags recur by chance
        if watch.flags and self.logic == "or":
            return self._turns()
        if p is None or not watch.names or watch.flags:
            return None
        # an unchanged state may be a plateau, so short periods must return more often
        if returns < (4 if p == 1 else 2 if p < 8 else 1):
            return None
        run = watch.rest + 1
        if p == 1 and not outlasts(run, watch.longest + 1, watch.count - run):
            return None
        if p > 1 and not (watch.complete and watch.repeats):
            return None
        # integers recur by chance too: a walk on a few of them returns to each
        if p > 1 and watch.whole and p * returns < WHOLE_RETURNS:
            return None
        names, one = listed(list(watch.names)), len(watch.names) == 1
        if p == 1:
            sentence = f"{names} {'has' if one else 'have'} been the same in the last {count(run, 'iteration')}"
        else:
            again = f"{'repeats' if one else 'repeat'} bit for bit every {p:,} iterations"
            sentence = f"{names} {again}, {count(returns, 'time')} so far"
        reason = Reason("recurrence", f"{sentence}, and the condition stayed true.")
        clause = self.clauses[0] if self.clauses else None
        sure = certainty(watch.rest, watch.longest, watch.ever_moved) if p == 1 else 0.9 + 0.02 * returns
        answer = predicted_never(reason, self.root_names(0), str(clause) if clause else None, min(MOST_AHEAD, sure))
        return self._limited(self._claimed(answer, 0, "recurrence"))

    def _turns(self) -> Termination | None:
        """The answer for a condition of flags only, combined by "or", whose values repeat periodically."""
        p = self._watch.turns(FLAGS_RETURN)
        if p is None or not self.clauses:
            return None
        sentence = f"The flags repeat every {p} evaluations, and at each of them one keeps the condition true."
        root, clause = self.root_names(0), str(self.clauses[0])
        return self._limited(predicted_never(Reason("recurrence", sentence), root, clause, FLAGS_SURE))

    def _claimed(self, answer: Termination, i: int, slug: str) -> Termination:
        """Add the claims that the record of a clause supports, and their fixes, to the answer."""
        if i < len(self.clauses):
            answer.claims = self.clauses[i].claims(slug)
            answer.fix = [fix for claim in answer.claims for fix in claim.fixes()]
        return answer

    def _combine(self, forecasts: list[PassageForecast]) -> Termination:
        """Combine the forecasts: "and" (or a single clause) ends the loop with the first clause that becomes false,
        "or" with the last.
        """
        order = sorted(range(len(forecasts)), key=lambda i: _when(forecasts[i])) if len(forecasts) > 1 else [0]
        missing = [i for i, forecast in enumerate(forecasts) if forecast.k is None]
        if self.logic == "or":
            never = [i for i in order if forecasts[i].k == math.inf]
            chosen = never[0] if never else None if missing else order[-1]
        else:
            first = order[0] if forecasts[order[0]].k is not None else None
            # a clause without a forecast may still end the loop first: then only a finite end is predicted
            chosen = first if first is not None and (not missing or forecasts[first].k != math.inf) else None
        if chosen is None:
            i = missing[0]
            f = forecasts[i]
            return unknown(f.slug, f.sentence, blocking_clause=str(self.clauses[i]), root=self.root_names(i))
        f, clause = forecasts[chosen], self.clauses[chosen]
        if f.k == 0 or f.k is None:
            return unknown("inconsistent", f"The condition is true although clause {clause} alone would end the loop.")
        confidence = f.confidence * (0.8 if missing else 1.0)
        if f.k == math.inf:
            if self.logic != "or":
                confidence = min(g.confidence for g in forecasts)
                # if no clause ever becomes false, it is unknown which one should: name the first that moves
                chosen = next((i for i in order if forecasts[i].slug not in ("clause-invariant",)), order[0])
                f, clause = forecasts[chosen], self.clauses[chosen]
            if f.slug in IRREGULAR and (may := self._may_meet()) is not None:
                text, root = in_words(*may), self.root_names(chosen)
                details = {} if may[0] is None else {"chance": may[0]}
                return unknown("chance", text, blocking_clause=str(clause), root=root, details=details)
            answer = predicted_never(Reason(f.slug, f.sentence), self.root_names(chosen), str(clause), confidence)
            answer.candidates = list(f.candidates)
            return self._claimed(answer, chosen, f.slug)
        low, high = f.low, f.high
        if len(forecasts) > 1:
            # the bounds of the first (or last) of several uncertain ends are the first (or last) of their bounds
            known = [g for g in forecasts if g.k is not None and (self.logic == "or" or g.k != math.inf)]
            pick = max if self.logic == "or" else min
            low, high = pick(g.low for g in known), pick(g.high for g in known)
        return Termination(
            Status.PREDICTED,
            "terminates",
            int(f.k or 0),
            (1 if missing else int(low), None if math.isinf(high) else int(high)),
            Reason(f.slug, f.sentence),
            self.root_names(chosen),
            str(clause),
            confidence,
            candidates=list(f.candidates),
        )

    def _may_meet(self) -> tuple[float | None] | None:
        """The result of ``may_meet`` for all clauses together."""
        return together([may_meet(c.lhs, c.op, c.rhs, IRREGULAR_LEAST) for c in self.clauses], self.logic)

    def _limited(self, answer: Termination) -> Termination:
        if self.trip_limit is None:
            return answer
        left = max(self.trip_limit - (self.count - 1), 0)
        still = all(clause.same == self.count - 1 for clause in self.clauses)
        if answer.reason.slug == "few" and self.count >= UNCHANGED and still:
            # unchanged values probably stay so, and the limit is known
            reason = Reason("trip-limit", f"The condition has not changed in {self.count} evaluations.")
            answer = predicted_never(reason, [], None, certainty(self.count, 0, False))
        if answer.outcome == "never" or answer.remaining is not None and answer.remaining > left:
            limited = f"The limit of {self.trip_limit:,} iterations ends the loop"
            sentence = f"{limited}; without it: {answer.reason.sentence}"
            low = min(left, (answer.interval or (left, 0))[0])
            answer.outcome, answer.remaining, answer.interval = "terminates", left, (low, left)
            answer.reason = Reason("trip-limit", sentence)
        return answer

    def root_names(self, i: int) -> list[str]:
        """The variables behind a clause, most responsible first."""
        if i >= len(self.clauses):
            return []
        c = self.clauses[i]
        return self._watch.responsible(i, (c.lhs[-1], c.rhs[-1]), (c.lhs_name, c.rhs_name))


def _when(f: PassageForecast) -> float:
    return math.inf if f.k is None else f.k
