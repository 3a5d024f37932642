"""Answers of the monitor to single clauses of known truth, from which both calibrations of forecasts are made.

They are about the random loops, the families of watched loops that may be learnt from, and the runs of SciPy's solvers
on problems that may be learnt from; of other seeds than the scores draw by default.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tests.evaluation.families.base import WATCHED, draws, families
from tests.evaluation.random_loops import endless, exact, smooth  # noqa: F401  (they register their families)
from tests.evaluation.random_loops.families import FAMILIES, draw
from tests.evaluation.scoring.blackbox import observations
from tests.recorder.scipy_runs import Run, runs
from workbench.analysis.forecast.comparison import ComparisonMonitor
from workbench.analysis.forecast.operand import PassageForecast

SEED = 7_000_000
#: thirds of the families that are learnt from: development, those written later, after their first score, and those
#: from outside and from abroad that are for development
CALIBRATED = (0, 3, 4, 9, 11)
#: evaluations after which an endless loop is asked, and shares of the others
SEEN, PERCENTS = (12, 30, 50, 200), (5, 10, 20, 30, 50)


class Said(NamedTuple):
    """An answer after ``seen`` evaluations; ``truth`` is the number of evaluations that were left, inf: for ever."""

    family: str
    found: PassageForecast
    seen: int
    truth: float

    @property
    def right(self) -> bool:
        """True if the truth is in the stated interval; of "never", if the loop never ends."""
        if not np.isfinite(self.found.k or 0.0):
            return not np.isfinite(self.truth)
        return self.found.low <= self.truth <= self.found.high


def answers(each: int, thirds: Sequence[int] = CALIBRATED) -> Iterator[Said]:
    """The answers to ``each`` loops of a family, those without a forecast left out."""
    for name in sorted(FAMILIES):
        for i in range(each):
            loop = draw(name, SEED + i)
            shown = [c for _, _, c in loop.observations(max(SEEN) if loop.n is None else loop.n // 2 + 3)]
            if loop.logic == "single":
                yield from _asked(name, [c[0] for c in shown], loop.n)
    yield from watched_answers(each, thirds)
    for run in solver_runs(each):
        op = ">=" if run.op == "<" else "<"
        yield from _asked(f"{run.family} {run.name}", [(float(v), op, run.bound) for v in run.values], run.ends)


def watched_answers(each: int, thirds: Sequence[int]) -> Iterator[Said]:
    """The same of the families of watched loops in some thirds."""
    for watched in draws(families(WATCHED, thirds), SEED, each):
        if watched.logic == "single" and watched.trip_limit is None:
            upto = max(SEEN) if watched.n is None else watched.n // 2 + 3
            upto = min(upto, len(watched.clauses[0][1]))
            yield from _asked(watched.family, [c[0] for _, c in observations(watched, upto)], watched.n)


def solver_runs(each: int) -> list[Run]:
    """Runs of SciPy's solvers on problems that may be learnt from."""
    return [run for run in runs(10 * each, SEED) if not run.half]


def _asked(family: str, shown: list[tuple[Any, str, Any]], n: int | None) -> Iterator[Said]:
    for upto in SEEN if n is None else sorted({max(4, n * p // 100) for p in PERCENTS}):
        if upto > len(shown) or n is not None and upto > n:
            continue
        monitor = ComparisonMonitor(shown[0][1])
        for lhs, _, rhs in shown[:upto]:
            monitor.observe(lhs, rhs)
        with np.errstate(all="ignore"):
            found = monitor.forecast()
        if found.kind and found.k is not None:
            yield Said(family, found, len(monitor.lhs), np.inf if n is None else n - (upto - 1))
