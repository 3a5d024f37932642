"""Step 7, trends: the mean of a noisy record still moves, by a law without a limit or towards a level.

A moving mean is judged by its block means: whichever law of drift, logarithm, root, power with a limit or exponential
leaves the least squares; a law with a limit must be clearly better than one without.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.value_series import History
from workbench.kernels import fits


def _slope(y: list[float]) -> tuple[float, float]:
    """(slope, standard error) of the line through y over its index."""
    n = len(y)
    middle, mean = (n - 1) / 2, sum(y) / n
    tt = n * (n * n - 1) / 12.0
    slope = sum((i - middle) * v for i, v in enumerate(y)) / tt
    rest = sum((v - mean - slope * (i - middle)) ** 2 for i, v in enumerate(y))
    return slope, math.sqrt(rest / (n - 2) / tt) + 1e-300


def moving_mean(h: History) -> Finding | None:
    """A mean that still moves in the second half, judged by dyadic blocks."""
    n = len(h)
    blocks = 16 if n >= 128 else 8
    if n < 3 * blocks:
        return None
    size = n // blocks
    m = fits.block_means(h.x, blocks)
    slope, se = _slope(m[blocks // 2 :])
    # eight means may lie on a line by chance: their own noise counts, too
    se = max(se, float(np.std(h.x[-size:])) / math.sqrt(size) / math.sqrt(42.0)) if blocks == 16 else se
    if blocks == 16:
        if abs(slope) / se < 7.0:
            return None
    else:  # four late means alone prove nothing: all eight must move, and the late ones the same way
        whole, se = _slope(m)
        if abs(whole) / se < 8.0 or slope / whole < 0.3:
            return None
    law, level, _ = fits.asymptote(m, size)
    kind = _LAWS[law]
    if law >= 4:
        return Finding(
            Pattern.CONVERGING,
            "moving_mean",
            f"Noisy; block means approach a level ({kind}).",
            rate=math.exp(-1.0 / (_SHARES[law - _EXPONENTIAL] * n)) if law >= _EXPONENTIAL else None,
            limit=level,
            limit_error=abs(level - m[-1]) + float(np.std(h.x[-size:])) / math.sqrt(size),
            doubt=0.2,
        )
    return Finding(Pattern.DIVERGING, "moving_mean", f"Noisy; block means keep moving ({kind}).", doubt=0.1)


_SHARES = (0.1, 0.2, 0.3, 0.5, 0.8, 1.2)
_EXPONENTIAL = 8
_LAWS = (
    *("drift", "logarithm", "root", "square"),
    *(f"power k**-{e}" for e in (0.2, 0.35, 0.5, 1.0)),
    *(f"exponential of {tau} of the record" for tau in _SHARES),
)


def weak_trend(h: History) -> Finding | None:
    """DIVERGING if a straight line leads through noise of 48 values or more, six standard errors steep in the whole
    record, and as steep in its second half as in its first; correlated noise has the error of an AR(1) record."""
    n = len(h)
    if n < 48:
        return None
    slope, se, r = _line(h.x)
    (first, _, _), (second, error, _) = _line(h.x[: n // 2]), _line(h.x[n // 2 :])
    if abs(slope) < 6.0 * se or r > 0.9 or not second / slope > 0.6 or not first / slope > 0.4:
        return None
    if abs(second) < 2.0 * error:
        return None
    why = f"A straight line leads through the noise, {abs(slope) / se:.3g} standard errors steep, in both halves alike."
    return Finding(Pattern.DIVERGING, "weak_trend", why, doubt=0.2)


def _line(x: np.ndarray) -> tuple[float, float, float]:
    """(slope, its standard error with the correlation of what is left, that correlation)."""
    n = len(x)
    k = np.arange(n) - (n - 1) / 2
    kk = float(k @ k)
    slope = float(k @ x) / kk
    rest = x - x.mean() - slope * k
    power = float(rest @ rest) + 1e-300
    r = min(max(float(rest[1:] @ rest[:-1]) / power, 0.0), 0.98)
    return slope, math.sqrt(power / (n - 2) / kk * (1.0 + r) / (1.0 - r)) + 1e-300, r
