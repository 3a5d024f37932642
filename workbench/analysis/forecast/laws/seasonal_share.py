"""Floats that change by a share of themselves and by amounts that repeat with a period: x' = a x + c[k modulo p].

Loans with a bonus each year, doses that are taken again and broken down, tanks with a schedule.  Over a period the
amounts cancel: the differences at the lag p change by the factor a alone, in every place of the period.  They must
do so to within rounding, over two periods and four values more; then the values are run ahead.  As an inference from
observations this makes a forecast, never a proof.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.comparisons import OPS
from workbench.analysis.forecast.laws.exact_continuation import Steps, limits

#: Longest period; rounding of a difference, in units of the largest value; a difference at least, in those; values run
#: ahead at most.
LONGEST, ROUNDING, CLEAR, MOST = 16, 16.0, 1e3, 20_000


def seasonal_share(x: np.ndarray, op: str, threshold: float) -> Steps | None:
    """First k >= 1 at which the values after x (n,), floats, fail ``op threshold``; None where there is no such law."""
    if len(x) < 2 * 2 + 4 or op not in ("<", "<=", ">", ">=") or not math.isfinite(threshold):
        return None
    v = x[-(2 * LONGEST + 8) :].astype(np.float64, copy=False)
    longest = min((len(v) - 4) // 2, LONGEST)
    off = ROUNDING * limits(x.dtype)[0] * max(abs(float(v[0])), abs(float(v[-1])))
    w = v[-3 - longest :].tolist()
    x1, x2, x3, twice, clear = w[-3], w[-2], w[-1], 2.0 * off, CLEAR * off
    for p in range(2, longest + 1):
        # the last three differences at a lag, which nearly always are not in proportion
        b = x2 - w[-2 - p]
        a = x1 - w[-3 - p]
        if abs(a * (x3 - w[-1 - p]) - b * b) > twice * (abs(a) + 2.0 * abs(b)) or abs(b) <= clear:
            continue
        d = v[p:] - v[:-p]
        factor = float(d[1:] @ d[:-1] / (d[:-1] @ d[:-1]))
        if float(np.abs(d[1:] - factor * d[:-1]).max()) > (1.0 + abs(factor)) * off or not 0.0 < factor < 2.0:
            continue
        amounts = v[1:] - factor * v[:-1]
        late = amounts[-p:].tolist()
        if max(late) - min(late) <= CLEAR * off:
            return None  # one amount has laws of its own
        k = _first(w[-1], factor, late, op, threshold)
        return Steps(k, "seasonal-share", step=w[-1] - w[-2]) if k is not None else None
    return None


def _first(value: float, factor: float, amounts: list[float], op: str, t: float) -> int | None:
    holds, p = OPS[op], len(amounts)
    for k in range(MOST):
        before = value
        value = factor * value + amounts[k % p]
        if not holds(value, t):
            return k + 1
        if value == before or not math.isfinite(value):
            return None
    return None
