"""Tests if an operand, or a model of it, diverges from its threshold."""

from __future__ import annotations

import numpy as np

from workbench.analysis.forecast.laws.exact_continuation import OPS
from workbench.analysis.series.result import Evolution
from workbench.kernels.laws import slope


def goes_away(e: Evolution, keep: str, last: float, t: float) -> bool:
    """True if the model keeps the comparison true and its distance from t only grows, 10,000 iterations ahead."""
    values = e.model.predict(np.array([1, 10, 100, 1000, 10_000]))
    values = values[np.isfinite(values)]
    if not len(values) or not np.all(OPS[keep](values, t)):
        return False
    distance = np.abs(np.concatenate([[last], values]) - t)
    return bool(np.all(np.diff(distance) > 0))


def drifts_away(x: np.ndarray, keep: str, t: float) -> bool:
    """True if a noisy record of 24 values or more drifts away from t, in both its halves alike, and has left it.

    A walk of drift b and step variance v comes back over a distance g with the chance exp(-2 b g / v) (Wald 1945); for
    independent noise around a trend that is far too careful.
    """
    if len(x) < 24 or keep not in (">", ">=", "<", "<="):
        return False
    y = (1.0 if keep in (">", ">=") else -1.0) * (x - t)
    half = len(y) // 2
    (b, error), (b1, _), (b2, _) = slope(y), slope(y[:half]), slope(y[half:])
    if not (b > 6.0 * error and b1 > 0 and 0.5 * b1 < b2):
        return False
    return 2.0 * b * float(y[half:].min()) > 20.0 * float(np.var(np.diff(y)))
