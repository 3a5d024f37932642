"""Estimates the limit of a noisy decay x = L + s A r**k (1 + noise), s = +1 or -1, whose noise shrinks with its
distance from L.

The logarithm of the distance is a straight line plus noise of constant variance. L maximises the likelihood of this
model, including the Jacobian of the logarithm: it minimises n log(standard deviation) + sum log |x - L| (Box and Cox
1964 choose a transformation in the same way). Instead of a straight line, the trend of the logarithm may be a power law
of the iteration.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from workbench.kernels.laws import power_fit

#: The tried distances from the limit to the nearest value of the record, as shares of the record's range.
NEAREST, CANDIDATES = 1e-9, 121


class NoisyLimit(NamedTuple):
    """``limit`` with a 90 % interval ``low`` to ``high``; ``cost`` is the negative log-likelihood."""

    limit: float
    low: float
    high: float
    cost: float


def noisy_limit(x: np.ndarray) -> NoisyLimit | None:
    """The limit of x (n,), at least 16 finite values; None if the likelihood has no maximum in the range tried."""
    n, part, span = len(x), max(2, len(x) // 8), float(np.ptp(x))
    if n < 16 or not 0 < span < math.inf:
        return None
    side = 1.0 if float(x[:part].mean()) > float(x[-part:].mean()) else -1.0
    v = side * x / span
    v = v - v.min()
    away = np.geomspace(NEAREST, 1.0, CANDIDATES)
    for _ in range(2):
        cost = _cost(v, away)
        i = int(np.argmin(cost))
        if not 0 < i < len(away) - 1:
            return None
        good = away[cost < cost[i] + 1.35]
        best = float(away[i])
        away = np.geomspace(away[i - 1], away[i + 1], 41)
    edge = float((side * x).min())
    ends = [side * (edge - d * span) for d in (best, float(good[0]), float(good[-1]))]
    return NoisyLimit(ends[0], min(ends), max(ends), float(cost[i]))


def cost_of_zero(x: np.ndarray, sd: float) -> float:
    """The cost of the limit 0, comparable to that of other limits, if ``sd`` is the standard deviation of log |x| from
    its trend.
    """
    return len(x) * math.log(max(sd, 1e-150)) + float(np.log(np.abs(x) / np.ptp(x)).sum())


def _cost(v: np.ndarray, away: np.ndarray) -> np.ndarray:
    """The negative log-likelihood, up to a constant, for each distance of the limit."""
    y = np.log(v[None, :] + away[:, None])
    k = np.arange(len(v)) - (len(v) - 1) / 2
    rest = y - y.mean(axis=1, keepdims=True)
    rest = rest - (rest @ k / (k @ k))[:, None] * k[None, :]
    variance = np.einsum("ij,ij->i", rest, rest) / len(v)
    return np.asarray(0.5 * len(v) * np.log(np.maximum(variance, 1e-300)) + y.sum(axis=1))


class Trend(NamedTuple):
    """A fitted trend: a function from iterations to its values, its standard deviation, its slope at the end and its
    number of parameters.
    """

    line: Callable[[np.ndarray], np.ndarray]
    sd: float
    slope: float
    parameters: int


def trends(y: np.ndarray) -> list[Trend]:
    """The straight line and the power law fitted to y (n,), if they fall significantly."""
    return [t for t in (_straight(y), _power(y) if len(y) >= 16 else None) if t is not None]


def _straight(y: np.ndarray) -> Trend | None:
    n, mid = len(y), (len(y) - 1) / 2
    k = np.arange(n) - mid
    a, b = float(y.mean()), float(k @ y / (k @ k))
    rest = y - a - b * k
    sd = math.sqrt(float(rest @ rest) / max(n - 2, 1))
    if sd == 0 or b > -3.0 * sd / math.sqrt(float(k @ k)):
        return None
    return Trend(lambda at: a + b * (at - mid), sd, b, 2)


def _power(y: np.ndarray) -> Trend | None:
    n = len(y)
    fit = power_fit(np.arange(n, dtype=float), y)
    if fit is None or fit[1] <= 0:
        return None
    a, s, k0, rms = fit
    if n * math.log(max(float(np.var(y)), 1e-300) / max(rms * rms, 1e-300)) < 14.0:
        return None  # not better than a constant by three standard errors
    return Trend(lambda at: a - s * np.log(at + k0), rms * math.sqrt(n / max(n - 3, 1)), -s / (n - 1 + k0), 3)
