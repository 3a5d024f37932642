"""90 % intervals of forecast crossings: half widths scaled by factors learnt on random loops.

A forecast brings a half width of its own making (how far the answer moved with the last quarter of the record, or the
quantiles of a first passage).  ``FACTOR`` holds for each class of forecasts the 90 % quantile of |truth - forecast|
over that half width on the random loops and histories of tests/analysis/random_*.py (split conformal prediction: Vovk
et al. 2005, Lei et al. 2018, https://arxiv.org/abs/1604.04173).  It is printed anew by
``python -m tests.analysis.calibrate_forecasts``.
"""

from __future__ import annotations

import math

#: class -> factor
FACTOR: dict[str, float] = {
    "exact-short": 12.39,  # of 253
    "exact-free": 0.00,  # of 212
    "guess": 6.53,  # of 1007
    "long-fair": 8.22,  # of 27
    "long-fine": 0.00,  # of 166
    "long-good": 4.00,  # of 23
    "long-rough": 2.95,  # of 48
    "mid-fair": 6.61,  # of 91
    "mid-fine": 0.75,  # of 224
    "mid-good": 1.50,  # of 160
    "mid-rough": 7.25,  # of 68
    "noise-line": 1.03,  # of 378
    "noise-power": 1.04,  # of 316
    "short-fair": 23.48,  # of 227
    "short-fine": 8.72,  # of 65
    "short-good": 8.00,  # of 67
    "tol-long-exact": 0.00,  # of 1748
    "tol-long-fine": 0.00,  # of 27
    "tol-mid-exact": 0.00,  # of 809
    "tol-mid-fine": 0.00,  # of 37
    "tol-mid-rough": 2.87,  # of 94
    "tol-noise": 1.01,  # of 385
    "tol-short-exact": 0.00,  # of 674
    "tol-short-fine": 11.35,  # of 43
    "tol-short-rough": 21.00,  # of 399
    "trend": 11.31,  # of 96
    "walk": 1.03,  # of 721
}
#: Of classes too rare to be learnt.
RARE = 10.0
#: Half width at least, in iterations, before the factor; and as a share of the forecast where few values were seen.
LEAST = 0.25
SHARE = {
    "exact-short": 0.02,
    "exact-free": 0.01,
    "short": 0.05,
    "mid": 0.01,
    "trend": 0.1,
    "guess": 0.1,
    "tol-short-exact": 0.02,
    "tol-short-fine": 0.05,
    "tol-short-rough": 0.05,
    "tol-mid-fine": 0.01,
    "tol-mid-rough": 0.01,
}


def half_width(half: float, k: float, kind: str) -> float:
    """The width that the factor scales."""
    share = SHARE.get(kind, SHARE.get(kind.split("-")[0], 0.0))
    return max(half, LEAST + share * k)


def law_class(n: int, error: float, parameters: int) -> str:
    """Class of a law's forecast, by the length of the record, the error of its free run and the law's freedom."""
    if 1e-12 < error < 1e-8 and parameters >= 5:
        return "exact-free"
    if error < 1e-8:
        return "exact-short" if n < 8 else "exact"
    size = "short" if n < 12 else "mid" if n < 40 else "long"
    return f"{size}-{'fine' if error < 1e-5 else 'good' if error < 1e-3 else 'fair' if error < 2e-2 else 'rough'}"


def interval(k: float, below: float, above: float, kind: str) -> tuple[float, float]:
    """(low, high) around k, rounded inwards: whole iterations within the scaled half widths, k always among them."""
    factor = FACTOR.get(kind, RARE)
    if kind == "exact":
        return k, k
    low = math.ceil(k - factor * half_width(below, k, kind))
    high = math.floor(k + factor * half_width(above, k, kind)) if math.isfinite(above) else above
    return max(1.0, min(low, k)), max(high, k)
