"""Tests if an operand, or a model of it, diverges from its threshold."""

from __future__ import annotations

import numpy as np

from workbench.analysis.comparisons import OPS
from workbench.analysis.forecast.endless.pace import levels
from workbench.analysis.series.result import Evolution
from workbench.analysis.series.value_series import changes
from workbench.kernels.laws import slope

#: Minimum total growth of the logarithm of a record that grows unevenly and has turning points at more than this share
#: of its values: the residual of a quasi-Newton iteration grows a hundredfold between its jumps, and shrinks again.
JAGGED, TURNS = 7.0, 0.25
#: Minimum growth of the logarithm over the last three quarters of a record, in total and in standard deviations; and
#: minimum rate of growth at the end, as a share of the earlier rate.
GROWTH_RATIO, BEYOND, STEADILY = 1.0, 4.0, 0.85
#: Maximum scatter of smooth growth, as a share of the growth; and its minimum growth in the last quarter, as a share of
#: that in the quarter before.
SMOOTHLY, EVENLY = 0.1, 0.93


def goes_away(e: Evolution, keep: str, last: float, t: float) -> bool:
    """True if the model keeps the comparison true for 10,000 iterations, at a distance from t that only grows."""
    values = e.model.predict(np.array([1, 10, 100, 1000, 10_000]))
    values = values[np.isfinite(values)]
    if not len(values) or not np.all(OPS[keep](values, t)):
        return False
    distance = np.abs(np.concatenate([[last], values]) - t)
    return bool(np.all(np.diff(distance) > 0))


def drifts_away(x: np.ndarray, keep: str, t: float) -> bool:
    """True if a noisy record of at least 24 values drifts away from t, at a similar rate in both halves, and is already
    too far to return.

    A walk with drift b and step variance v comes back over a distance g with probability exp(-2 b g / v) (Wald 1945);
    this bound is very cautious for independent noise around a trend.
    """
    if len(x) < 24 or keep not in (">", ">=", "<", "<="):
        return False
    y = (1.0 if keep in (">", ">=") else -1.0) * (x - t)
    half = len(y) // 2
    (b, error), (b1, _), (b2, _) = slope(y), slope(y[:half]), slope(y[half:])
    if not (b > 6.0 * error and b1 > 0 and 0.5 * b1 < b2):
        return False
    return 2.0 * b * float(y[half:].min()) > 20.0 * float(np.var(np.diff(y)))


def outgrows(y: np.ndarray) -> bool:
    """True if y (n,) > 0, the distance to the threshold, of at least 40 values, grows geometrically and has not slowed
    down lately.

    Its logarithm must rise on a line, by far more than its scatter, and as fast at the end as before. Transient growth
    of a residual, as for a highly non-normal matrix, becomes slower and slower.
    """
    n = len(y)
    if n < 40 or not (y > 0).all():
        return False
    z = np.log(y)
    late = z[n // 4 :]
    k = np.arange(len(late)) - (len(late) - 1) / 2
    rise = float(k @ late / (k @ k))
    scatter = float((late - late.mean() - rise * k).std())
    if not rise * len(late) > max(GROWTH_RATIO, BEYOND * scatter):
        return False
    if scatter < SMOOTHLY * rise * len(late):
        early, middle, end = (float(z[k - 3 : k].mean()) for k in (n // 2, 3 * n // 4, n))
        if end - middle < EVENLY * (middle - early):
            return False
    else:
        if changes(late[1:] > late[:-1]) > TURNS * len(late) and float(z[-3:].mean() - z[:3].mean()) < JAGGED:
            return False
    first, before, last = levels(z)[0]
    size = 3 * n // 8
    return bool((last - before) / size >= STEADILY * (before - first) / (n - 2 * size) > 0)
