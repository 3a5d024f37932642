"""The black box on loops of known end: exact counts, errors, intervals, endless loops found, false alarms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.evaluation.scoring.cases import Watched
from tests.evaluation.scoring.labels import share
from workbench.analysis import Reason, Status, Termination, TerminationMonitor

PERCENTS = (10, 30, 50)
NEVER_WITHIN = 50
#: slug of a missing answer: the query raised an error
RAISED = "raised-an-error"
#: with fewer evaluations than this a loop is not asked
LEAST_SEEN = 6


def observations(loop: Watched, upto: int) -> Iterator[tuple[dict[str, Any], list[tuple[Any, str, Any]]]]:
    """State and clauses of the first ``upto`` evaluations."""
    for k in range(upto):
        sides = [(name, left[k], op, right[k] if np.ndim(right) else right) for name, left, op, right in loop.clauses]
        yield {name: left for name, left, _, _ in sides}, [(left, op, right) for _, left, op, right in sides]


def ask(loop: Watched, upto: int) -> Termination:
    """Answer of a monitor after ``upto`` evaluations of the loop's condition, all of them true; raised errors too."""
    try:
        return _ask(loop, upto)
    except Exception as error:  # a question must never raise: that is a figure of its own
        return raised(error)


def raised(error: Exception) -> Termination:
    """An answer that stands for an error."""
    return Termination(Status.UNKNOWN, reason=Reason(RAISED, f"{type(error).__name__}: {error}"))


def _ask(loop: Watched, upto: int) -> Termination:
    names = [(name, "limit") for name, *_ in loop.clauses]
    monitor = TerminationMonitor(names, trip_limit=loop.trip_limit)
    for state, clauses in observations(loop, upto):
        monitor.observe(state, True, clauses, loop.logic)
    return monitor.prediction()


@dataclass
class Outcome:
    """Tallies of the black box; ``notes`` are the loops with a wrong answer, for the findings."""

    exact: dict[int, list[bool]] = field(default_factory=lambda: defaultdict(list))
    errors: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    covered: list[bool] = field(default_factory=list)
    covered_exact: list[bool] = field(default_factory=list)
    false_never: list[bool] = field(default_factory=list)
    found: list[bool] = field(default_factory=list)
    false_proof: int = 0
    errors_raised: int = 0
    notes: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        """Name -> figure, as the table wants them."""
        out = {f"exact {p}": share(self.exact[p]) for p in PERCENTS}
        out |= {f"error {p}": float(np.median(self.errors[p])) if self.errors[p] else float("nan") for p in PERCENTS}
        out |= {"coverage": share(self.covered), "coverage exact": share(self.covered_exact)}
        out |= {"never found": share(self.found), "false never": share(self.false_never)}
        return out | {"false proofs": float(self.false_proof), "raised": float(self.errors_raised)}


def score(loops: Iterable[Watched], percents: Sequence[int] = PERCENTS) -> Outcome:
    """All figures; ``error`` is relative to the true number that remains, no answer counts as 100 %."""
    out = Outcome()
    for loop in loops:
        if loop.n is None:
            answer = ask(loop, NEVER_WITHIN)
            out.found.append(answer.outcome == "never")
            out.errors_raised += answer.reason.slug == RAISED
            out.false_proof += answer.status.name == "PROVED"
            if answer.outcome != "never":
                out.notes.append(f"{loop.family}: never ends, at {NEVER_WITHIN}: {_short(answer)}")
            continue
        for p in percents:
            upto = loop.n * p // 100
            if upto < LEAST_SEEN:
                continue
            truth = loop.n - (upto - 1)
            answer = ask(loop, upto)
            _one(out, loop, p, truth, answer)
    return out


def _one(out: Outcome, loop: Watched, p: int, truth: int, answer: Termination) -> None:
    error = abs(answer.remaining - truth) / truth if answer.remaining is not None else 1.0
    held = None
    if answer.remaining is not None and answer.interval is not None:
        low, high = answer.interval
        held = low <= truth and (high is None or truth <= high)
    out.errors_raised += answer.reason.slug == RAISED
    out.false_never.append(answer.outcome == "never")
    out.false_proof += answer.status.name == "PROVED"
    if loop.exact:
        out.exact[p].append(answer.remaining == truth)
    else:
        out.errors[p].append(error)
    if held is not None:
        (out.covered_exact if loop.exact else out.covered).append(held)
    bad = answer.outcome == "never" or (answer.remaining != truth if loop.exact else error > 0.1)
    if bad or held is False:
        out.notes.append(f"{loop.family}: n={loop.n}, at {p} % {truth} remain: {_short(answer)}")


def _short(answer: Termination) -> str:
    return f"{answer.status.name} {answer.outcome} {answer.remaining} {answer.interval} [{answer.reason.slug}]"
