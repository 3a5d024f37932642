"""Command that regenerates ``FACTOR`` of ``workbench.analysis.forecast.calibrated_intervals`` from random loops.

``python -m tests.evaluation.calibrate_forecasts [EACH]`` prints the factors. The loops are those of other seeds than
``tests.evaluation.score_forecasts`` draws by default, so that its coverage is measured on loops that were not learnt
from; of SciPy's solvers those of the half of ``scipy_runs`` that may be learnt from.  ``--check`` prints, for each
class, the share of each family that the factors made without it cover, families as one.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.evaluation.families.base import WATCHED, draws, families
from tests.evaluation.random_histories import limits
from tests.evaluation.random_loops import exact, smooth  # noqa: F401  (they register their families)
from tests.evaluation.random_loops.families import FAMILIES, draw
from tests.recorder.scipy_runs import Run, runs
from workbench.analysis.forecast.calibrated_intervals import half_width
from workbench.analysis.forecast.crossing_time import forecast_crossing
from workbench.analysis.forecast.tolerance_crossing import within
from workbench.analysis.series.value_series import WINDOW

SEED = 7_000_000
#: thirds of the families that are learnt from: development, and those written last, after their first score
CALIBRATED = (0, 3)


PERCENTS = (5, 10, 20, 30, 50)
#: a class of fewer forecasts has the factor of rare ones
LEAST_LEARNT = 5
Scores = defaultdict[str, defaultdict[str, list[float]]]


def no_scores() -> Scores:
    return defaultdict(lambda: defaultdict(list))


def _score(out: Scores, family: str, shown: Sequence[Any], op: str, threshold: float, n: int) -> None:
    """Ask about the values of a loop that ends after ``n`` evaluations, at shares of its run."""
    for percent in PERCENTS:
        upto = max(3, n * percent // 100)
        x = np.array([float(v) for v in shown[max(0, upto - WINDOW) : upto]])
        c = forecast_crossing(x, op, threshold)
        if c is not None and np.isfinite(c.k):
            off = n - (upto - 1) - c.k
            out[c.kind][family].append(abs(off) / half_width(c.below if off < 0 else c.above, c.k, c.kind))


def scores(each: int) -> Scores:
    """|truth - forecast| over the half width, by class of forecast and family."""
    out = no_scores()
    for name, (kind, _) in sorted(FAMILIES.items()):
        if kind not in ("smooth", "noisy") and name not in ("float_affine", "bisection"):
            continue
        for i in range(each):
            loop = draw(name, SEED + i)
            if loop.n is None:
                continue
            shown = [c[0] for _, _, c in loop.observations(loop.n // 2 + 3)]
            _score(out, name, [lhs for lhs, _, _ in shown], shown[0][1], float(shown[0][2]), loop.n)
    return out


def development_scores(each: int) -> Scores:
    """The same of the families of watched loops with one clause, but for those left out, which judge."""
    out = no_scores()
    for loop in draws(families(WATCHED, CALIBRATED), SEED, each):
        if loop.n is None or len(loop.clauses) != 1 or np.ndim(loop.clauses[0][3]):
            continue
        _, left, op, right = loop.clauses[0]
        if op not in ("<", "<=", ">", ">="):
            continue
        _score(out, loop.family, left, op, float(right), loop.n)
    return out


def solver_runs(each: int) -> list[Run]:
    """Runs of SciPy's solvers on problems that may be learnt from."""
    return [run for run in runs(10 * each, SEED) if not run.half]


def solver_scores(each: int) -> Scores:
    """The same of solvers."""
    out = no_scores()
    for run in solver_runs(each):
        _score(out, f"{run.family} {run.name}", run.values, ">=" if run.op == "<" else "<", run.bound, run.ends)
    return out


def tolerance_scores(each: int) -> Scores:
    """The same of the forecasts of a tolerance."""
    out = no_scores()
    for name in limits.FAMILIES:
        for i in range(each):
            x, tol, truth = limits.draw(name, SEED + i)
            for percent in PERCENTS:
                upto = max(5, truth * percent // 100)
                found = within(x[:upto], tol, 2.2e-16)
                if found is not None:
                    out[found.kind][name].append(
                        abs(truth - (upto - 1) - found.k) / half_width(found.half, found.k, found.kind)
                    )
    return out


def quantile(by_family: dict[str, list[float]]) -> float:
    """The 90 % quantile of scores of which each family counts as one, however many of its loops were asked."""
    values = np.concatenate([np.array(v) for v in by_family.values()])
    weights = np.concatenate([np.full(len(v), 1.0 / len(v)) for v in by_family.values()])
    order = np.argsort(values)
    reached = np.cumsum(weights[order]) / weights.sum()
    return float(values[order][min(int(np.searchsorted(reached, 0.9)), len(values) - 1)])


def shrunk(kind: str, by_family: dict[str, list[float]]) -> float:
    """The quantile drawn in the logarithm towards what three imagined families would give, so that no factor is made
    by one family alone; exact continuations stay as they are, and quantiles of a first passage start from their own."""
    if kind.endswith("exact"):
        return quantile(by_family)
    prior = 1.0 if "noise" in kind or kind == "walk" else 3.0
    n = len(by_family)
    return float(np.exp((n * np.log(max(quantile(by_family), 0.5)) + 3 * np.log(prior)) / (n + 3)))


def merged(*parts: Scores) -> Scores:
    """All families of all parts by class; families of one name are one."""
    out = no_scores()
    for part in parts:
        for kind, by_family in part.items():
            for family, values in by_family.items():
                out[kind][family] += values
    return out


def left_out(kind: str, by_family: dict[str, list[float]]) -> float:
    """Mean share of a family's scores that the factor of all others covers; NaN of one family."""
    shares = []
    for family, values in by_family.items():
        others = {name: v for name, v in by_family.items() if name != family}
        if others:
            shares.append(float(np.mean(np.array(values) <= shrunk(kind, others))))
    return float(np.mean(shares)) if shares else float("nan")


def main() -> None:
    each = next((int(a) for a in sys.argv[1:] if a.isdigit()), 30)
    parts = scores(each), development_scores(max(each // 2, 1)), tolerance_scores(each), solver_scores(each)
    found = merged(*parts)
    del found["exact"]  # continuations to the last digit have no width
    if "--check" in sys.argv:
        shares = {kind: left_out(kind, by_family) for kind, by_family in sorted(found.items()) if len(by_family) > 1}
        print(*(f"{kind}: {share:.3f} of {len(found[kind])} families" for kind, share in shares.items()), sep="\n")
        print(f"all classes with a width: {np.mean([v for k, v in shares.items() if not k.endswith('exact')]):.3f}")
        return
    for kind, by_family in sorted(found.items()):
        n = sum(len(v) for v in by_family.values())
        if n < LEAST_LEARNT:
            continue
        print(f'    "{kind}": {shrunk(kind, by_family):.2f},  # of {n} in {len(by_family)} families')


if __name__ == "__main__":
    main()
