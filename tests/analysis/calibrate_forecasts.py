"""``python -m tests.analysis.calibrate_forecasts [EACH]``: the factors of ``gap_intervals.FACTOR`` from random loops.

The loops are those of other seeds than ``tests.analysis.forecasts`` draws by default, so that its coverage is measured
on loops that were not learnt from.
"""

from __future__ import annotations

import sys
from collections import defaultdict

import numpy as np

from tests.analysis import random_exact, random_limits, random_smooth  # noqa: F401  (they register their families)
from tests.analysis.random_loops import FAMILIES, draw
from workbench.analysis.gap_forecast import forecast_crossing
from workbench.analysis.gap_intervals import half_width
from workbench.analysis.history import WINDOW
from workbench.analysis.tolerance import within

SEED = 7_000_000


def scores(each: int) -> dict[str, list[float]]:
    """|truth - forecast| over the half width, by class of forecast."""
    out: defaultdict[str, list[float]] = defaultdict(list)
    for name, (kind, _) in sorted(FAMILIES.items()):
        if kind not in ("smooth", "noisy") and name not in ("float_affine", "bisection"):
            continue
        for i in range(each):
            loop = draw(name, SEED + i)
            if loop.n is None:
                continue
            shown = [c[0] for _, _, c in loop.observations(loop.n // 2 + 3)]
            for percent in (5, 10, 20, 30, 50):
                upto = max(3, loop.n * percent // 100)
                x = np.array([float(lhs) for lhs, _, _ in shown[max(0, upto - WINDOW) : upto]])
                c = forecast_crossing(x, shown[0][1], float(shown[0][2]))
                if c is not None and np.isfinite(c.k):
                    out[c.kind].append(abs(loop.n - (upto - 1) - c.k) / half_width(c.half, c.k, c.kind))
    return dict(out)


def tolerance_scores(each: int) -> dict[str, list[float]]:
    """The same of the forecasts of a tolerance."""
    out: defaultdict[str, list[float]] = defaultdict(list)
    for name in random_limits.FAMILIES:
        for i in range(each):
            x, tol, truth = random_limits.draw(name, SEED + i)
            for percent in (5, 10, 20, 30, 50):
                upto = max(5, truth * percent // 100)
                found = within(x[:upto], tol, 2.2e-16)
                if found is not None:
                    out[found.kind].append(
                        abs(truth - (upto - 1) - found.k) / half_width(found.half, found.k, found.kind)
                    )
    return dict(out)


def main() -> None:
    each = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    for kind, values in sorted((scores(each) | tolerance_scores(each)).items()):
        n = len(values)
        quantile = np.sort(values)[min(n - 1, int(np.ceil(0.9 * (n + 1))) - 1)]
        inside = np.mean(np.array(values) <= 1.0)
        print(f'    "{kind}": {quantile:.2f},  # of {n}, {inside:.0%} within the half width itself')


if __name__ == "__main__":
    main()
