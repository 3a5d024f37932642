"""Floats that are a constant times, or over, a logarithm of the iteration: c log(k + w), c / log(k + w).

Cooling by c / log(k + 2) (Hajek, Math. Oper. Res. 13, 1988) is the slowest schedule in use. The first and the last
value determine w; every value must agree to within a few roundings.  Because it is inferred from observations, the
answer is a forecast, never a proof.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.comparisons import OPS
from workbench.analysis.forecast.laws.exact_continuation import Steps, limits

#: Allowed error of each value, in roundings; maximum number of iterations ahead.
ROUNDINGS, FARTHEST = 16.0, 1e12
#: Minimum and maximum of the logarithm's argument at the first value.
LEAST, MOST = 1.05, 1e6


def logarithm(x: np.ndarray, op: str, threshold: float) -> Steps | None:
    """First k >= 1 at which the law of x (n,), floats above 0, fails ``op threshold``; None if there is none."""
    n = len(x)
    first, last = float(x[0]), float(x[-1])
    w = _argument(max(first, last) / min(first, last), n)
    power = -1.0 if first > last else 1.0
    c = last * math.log(w + n - 1) ** -power
    near = round(w)
    if abs(w - near) < 1e-6 * w and near > 1:
        w, c = float(near), last * math.log(near + n - 1) ** -power
    law = c * np.log(w + np.arange(n)) ** power
    if not float(np.abs(law / x - 1.0).max()) <= ROUNDINGS * limits(x.dtype)[0]:
        return None
    turn = (threshold / c) ** power
    if turn > math.log(FARTHEST):
        return None
    k = max(1, math.ceil(math.exp(turn) - w) - (n - 1))
    return next(
        (
            Steps(i, "logarithm", step=last - float(x[-2]), span=(max(1, i - 1), i + 1) if w != near else None)
            for i in range(max(1, k - 2), k + 3)
            if not OPS[op](c * math.log(w + n - 1 + i) ** power, threshold)
        ),
        None,
    )


def _argument(ratio: float, n: int) -> float:
    """The w with log(w + n - 1) = ratio log(w), by bisection of its logarithm."""
    low, high = math.log(LEAST), math.log(MOST)
    excess = lambda u: math.log(math.exp(u) + n - 1) - ratio * u  # noqa: E731
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if excess(middle) > 0.0 else (low, middle)
    return math.exp(0.5 * (low + high))
