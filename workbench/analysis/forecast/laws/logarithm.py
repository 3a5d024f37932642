"""Floats that are a constant times, or over, a logarithm of the iteration: c log(k + w), c / log(k + w).

Cooling by c / log(k + 2) (Hajek, Math. Oper. Res. 13, 1988) is the slowest schedule in use.  w follows from the first
value and the last; every value must agree to a few roundings.  Because it is inferred from observations, the answer is
a forecast, never a proof.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.comparisons import OPS
from workbench.analysis.forecast.laws.exact_continuation import Steps, limits

#: Minimum number of values, allowed error of each in roundings, minimum bend in roundings, maximum iterations ahead.
FEWEST, ROUNDINGS, CLEAR, FARTHEST = 8, 16.0, 1e3, 1e12
#: Minimum and maximum of the logarithm's argument at the first value.
LEAST, MOST = 1.05, 1e6


def logarithm(x: np.ndarray, op: str, threshold: float) -> Steps | None:
    """First k >= 1 at which the law of x (n,), floats above 0, fails ``op threshold``; None if there is none."""
    n = len(x)
    if n < FEWEST or op not in ("<", "<=", ">", ">=") or not 0.0 < threshold < math.inf:
        return None
    first, second, middle, last = (float(x[i]) for i in (0, 1, n // 2, n - 1))
    if not (0.0 < min(first, last) and (first - second) * (middle - last) > 0.0):
        return None
    allowed = ROUNDINGS * limits(x.dtype)[0]
    # within rounding, a straight line is also fitted by a logarithm
    if not abs(first + (last - first) * (n // 2) / (n - 1) - middle) > CLEAR * allowed * max(first, last):
        return None
    falls = first > last
    if falls != (op in (">", ">=")):
        return None
    w = _argument(max(first, last) / min(first, last), n)
    if w is None:
        return None
    power = -1.0 if falls else 1.0
    c = last * math.log(w + n - 1) ** -power
    if abs(c * math.log(w + n // 2) ** power - middle) > 1e3 * allowed * middle:
        return None  # the usual case
    near = round(w)
    if abs(w - near) < 1e-6 * w and near > 1:
        w, c = float(near), last * math.log(near + n - 1) ** -power
    law = c * np.log(w + np.arange(n)) ** power
    if float(np.abs(law / x - 1.0).max()) > allowed:
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


def _argument(ratio: float, n: int) -> float | None:
    """w with log(w + n - 1) = ratio log(w), by bisection of its logarithm; None out of reach."""
    low, high = math.log(LEAST), math.log(MOST)
    excess = lambda u: math.log(math.exp(u) + n - 1) - ratio * u  # noqa: E731
    if not excess(low) > 0.0 > excess(high):
        return None
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if excess(middle) > 0.0 else (low, middle)
    return math.exp(0.5 * (low + high))
