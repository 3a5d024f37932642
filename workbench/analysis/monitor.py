"""The black box: a forecast of the loop's end from what can be observed at each evaluation of its condition."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.analysis.clause import Clause, Forecasted, scalar
from workbench.analysis.history import HistoryError
from workbench.analysis.termination import Proof, Reason, Status, Termination, unknown

LOGIC = ("single", "and", "or", "not")


class TerminationMonitor:
    """Watches a loop from outside.

    Call :meth:`observe` once per evaluation of the condition and :meth:`prediction` whenever wanted.  The state kept is
    bounded: the last 512 operands of each clause, and one remembered state for Brent's recurrence search.  What it says
    is PREDICTED or UNKNOWN, never PROVED (the loop may have state that is not shown to it), but for a condition that
    was observed false.

    Parameters
    ----------
    clause_names:
        (lhs, rhs) names of each clause, for the report.
    trip_limit:
        Largest number of body executions, if one is enforced; the loop is then never said to run for ever.
    start:
        Iterations that went by unobserved before the first observation; a law like 1/k depends on it.
    """

    def __init__(
        self, clause_names: Sequence[tuple[str, str]] | None = None, trip_limit: int | None = None, start: int = 0
    ) -> None:
        self.start = start
        self.clause_names = list(clause_names) if clause_names is not None else None
        self.trip_limit = trip_limit
        self.clauses: list[Clause] = []
        self.logic = "single"
        self.count = 0
        self.ended = False
        self._names: list[str] = []
        self._slot: tuple[bytes, ...] | None = None
        self._power, self._lam = 1, 0
        self._period: int | None = None
        self._returns = 0
        self._roots: list[set[str]] = []
        self._last_state: dict[str, bytes] = {}
        self._unchanged: dict[str, int] = {}
        self._cached: tuple[int, Termination] | None = None

    def observe(
        self, state: Mapping[str, Any], cond: Any, clauses: Sequence[tuple[Any, str, Any]] = (), logic: str = "single"
    ) -> None:
        """One evaluation of the condition: the variables, its value, and the operands of every comparison in it."""
        if logic not in LOGIC:
            raise HistoryError(f"logic must be one of {', '.join(LOGIC)}, but is {logic!r}.", slug="bad-logic")
        if not self.count:
            for i, (_, op, _) in enumerate(clauses):
                names = (
                    self.clause_names[i] if self.clause_names and i < len(self.clause_names) else (f"lhs{i}", f"rhs{i}")
                )
                self.clauses.append(Clause(op, *names, ends_on=logic == "not", start=self.start))
            self._roots = [set(state) for _ in clauses]
            self._names = list(state)
        elif len(clauses) != len(self.clauses):
            raise HistoryError(
                f"{len(self.clauses)} clauses were observed before, now {len(clauses)}.", slug="bad-clauses"
            )
        self.logic = logic
        self.ended = not bool(scalar(cond))
        for i, (clause, (lhs, _, rhs)) in enumerate(zip(self.clauses, clauses, strict=True)):
            clause.observe(lhs, rhs)
            if self._roots[i]:
                a, b = clause.lhs[-1], clause.rhs[-1]
                self._roots[i] = {n for n in self._roots[i] if n in state and _equals(state[n], a, b)}
        self._recurrence(state)
        self.count += 1

    def _recurrence(self, state: Mapping[str, Any]) -> None:
        """Brent's search on the exact bytes of everything shown."""
        words = {name: np.asarray(value).tobytes() for name, value in state.items()}
        for name, word in words.items():
            self._unchanged[name] = self._unchanged.get(name, 0) + 1 if self._last_state.get(name) == word else 0
        self._last_state = words
        key = tuple(words.values())
        if self._slot is None:
            self._slot = key
            return
        self._lam += 1
        if key == self._slot:
            self._returns = self._returns + 1 if self._period == self._lam else 1
            self._period, self._lam = self._lam, 0
            # stay with this slot: a second return confirms the first
            self._power = max(self._power, 2 * self._period)
        elif self._lam >= self._power:
            self._slot, self._power, self._lam, self._period, self._returns = key, 2 * self._power, 0, None, 0

    def prediction(self) -> Termination:
        """The answer at this moment; cached until the next observation."""
        if self._cached is None or self._cached[0] != self.count:
            with np.errstate(all="ignore"):
                self._cached = (self.count, self._predict())
        return self._cached[1]

    def _predict(self) -> Termination:
        if not self.count:
            return unknown("no-data", "The condition has not been observed yet.")
        if self.ended:
            return Termination(
                Status.PROVED,
                "terminates",
                0,
                (0, 0),
                Reason("ended", "The condition was false at its last evaluation."),
                confidence=1.0,
                proof=Proof("observed", "the condition's own value."),
            )
        again = self._state_recurs()
        if again is not None:
            return again
        if not self.clauses:
            return unknown("no-clauses", "The condition's comparisons were not shown, and its state has not recurred.")
        forecasts = [clause.forecast() for clause in self.clauses]
        answer = self._combine(forecasts)
        return self._limited(answer)

    def _state_recurs(self) -> Termination | None:
        if self._period is None or not self._names:
            return None
        p = self._period
        # one unchanged state may be a plateau; ask for more returns of a short period
        if self._returns < (4 if p == 1 else 2 if p < 8 else 1):
            return None
        what = "did not change" if p == 1 else f"returned bit for bit after {p} iterations"
        reason = Reason(
            "recurrence",
            f"All observed variables {what}, {self._returns} time(s) in a row, and the condition stayed true.",
        )
        clause = self.clauses[0] if self.clauses else None
        fix = []
        if clause is not None and p == 1:
            fix = [
                f"clause {clause.lhs_name} {clause.op} {clause.rhs_name} never changes: "
                f"{clause.lhs_name} is not updated any more."
            ]
        elif clause is not None:
            fix = [f"the state cycles with period {p}: damp the step (halve it), or raise the tolerance."]
        answer = Termination(
            Status.PREDICTED,
            "never",
            None,
            None,
            reason,
            self._root_names(0),
            str(clause) if clause else None,
            min(0.99, 0.9 + 0.02 * self._returns),
            fix,
        )
        return self._limited(answer)

    def _combine(self, forecasts: list[Forecasted]) -> Termination:
        """``and`` (and a single clause) ends with the first clause to turn, ``or`` with the last."""
        order = sorted(range(len(forecasts)), key=lambda i: _when(forecasts[i]))
        missing = [i for i in range(len(forecasts)) if forecasts[i].k is None]
        if self.logic == "or":
            never = [i for i in order if forecasts[i].k == math.inf]
            chosen = never[0] if never else None if missing else order[-1]
        else:
            first = order[0] if forecasts[order[0]].k is not None else None
            # a clause without a forecast may still end the loop first: only an interval that ends before is safe
            chosen = first if first is not None and (not missing or forecasts[first].k != math.inf) else None
        if chosen is None:
            i = missing[0]
            f = forecasts[i]
            return unknown(f.slug, f.sentence, blocking_clause=str(self.clauses[i]), root=self._root_names(i))
        f, clause = forecasts[chosen], self.clauses[chosen]
        if f.k == 0 or f.k is None:
            return unknown("inconsistent", f"The condition is true although clause {clause} alone would end the loop.")
        confidence = f.confidence * (0.8 if missing else 1.0)
        if f.k == math.inf:
            if self.logic != "or":
                confidence = min(g.confidence for g in forecasts)
                # which of several clauses that never turn was meant to is not known: name the first that moves
                chosen = next((i for i in order if forecasts[i].slug not in ("clause-invariant",)), order[0])
                f, clause = forecasts[chosen], self.clauses[chosen]
            return Termination(
                Status.PREDICTED,
                "never",
                None,
                None,
                Reason(f.slug, f.sentence),
                self._root_names(chosen),
                str(clause),
                confidence,
                f.fix,
            )
        low = (
            min((forecasts[i].low for i in range(len(forecasts)) if self.logic != "or"), default=f.low)
            if missing
            else f.low
        )
        return Termination(
            Status.PREDICTED,
            "terminates",
            int(f.k or 0),
            (int(low), int(min(f.high, 2**62))),
            Reason(f.slug, f.sentence),
            self._root_names(chosen),
            str(clause),
            confidence,
            f.fix,
        )

    def _limited(self, answer: Termination) -> Termination:
        if self.trip_limit is None:
            return answer
        left = max(self.trip_limit - (self.count - 1), 0)
        if answer.outcome == "never" or answer.remaining is not None and answer.remaining > left:
            sentence = f"The trip limit of {self.trip_limit:,} ends the loop; without it: " + answer.reason.sentence
            answer.outcome, answer.remaining, answer.interval = (
                "terminates",
                left,
                (min(left, (answer.interval or (left, 0))[0]), left),
            )
            answer.reason = Reason("trip-limit", sentence)
        return answer

    def _root_names(self, i: int) -> list[str]:
        """Variables equal to an operand of the clause at every observation; the unchanged ones first."""
        if i >= len(self._roots):
            return []
        names = [n for n in self._names if n in self._roots[i]]
        if not names and self.clauses:
            names = [n for n in (self.clauses[i].lhs_name, self.clauses[i].rhs_name) if n in self._names]
        constant = [n for n in names if self._unchanged.get(n, 0) >= self.count - 1]
        moving = [n for n in names if n not in constant]
        return moving + constant


def _when(f: Forecasted) -> float:
    return math.inf if f.k is None else f.k


def _equals(value: Any, a: Any, b: Any) -> bool:
    v = scalar(value)
    if v is None:
        return False
    return any(w is not None and (v == w or (v != v and w != w)) for w in (a, b))
