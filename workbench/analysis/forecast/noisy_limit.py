"""The limit of a noisy decay x = L + s A r**k (1 + noise), whose noise shrinks with its distance from the limit.

The distance's logarithm is a straight line with noise of one size.  L is the maximum of the likelihood of that,
the change of variables included: n log(deviation) + sum log |x - L| is least (Box and Cox 1964 choose a transformation
so).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

#: Distances of the limit from the record's nearest value that are tried, as shares of the record's range.
NEAREST, TRIED = 1e-9, 121


class NoisyLimit(NamedTuple):
    """``limit`` with a 90 % range ``low`` to ``high``; ``cost`` is the negative logarithm of its likelihood."""

    limit: float
    low: float
    high: float
    cost: float


def noisy_limit(x: np.ndarray) -> NoisyLimit | None:
    """The limit of x (n,), finite, 16 or more values; None where the likelihood has no maximum within reach."""
    n, part, span = len(x), max(2, len(x) // 8), float(np.ptp(x))
    if n < 16 or not 0 < span < math.inf:
        return None
    side = 1.0 if float(x[:part].mean()) > float(x[-part:].mean()) else -1.0
    v = side * x / span
    v = v - v.min()
    away = np.geomspace(NEAREST, 1.0, TRIED)
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
    """The cost of the limit 0 where the logarithm of x follows some trend to within ``sd``, as a limit's cost."""
    return len(x) * math.log(max(sd, 1e-150)) + float(np.log(np.abs(x) / np.ptp(x)).sum())


def _cost(v: np.ndarray, away: np.ndarray) -> np.ndarray:
    """Negative logarithm of the likelihood, up to a constant, for each distance of the limit."""
    y = np.log(v[None, :] + away[:, None])
    k = np.arange(len(v)) - (len(v) - 1) / 2
    rest = y - y.mean(axis=1, keepdims=True)
    rest = rest - (rest @ k / (k @ k))[:, None] * k[None, :]
    variance = np.einsum("ij,ij->i", rest, rest) / len(v)
    return np.asarray(0.5 * len(v) * np.log(np.maximum(variance, 1e-300)) + y.sum(axis=1))
