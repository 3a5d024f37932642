"""Floats whose second differences are constant to within rounding: heights, distances and sums of counters.

A parabola through all values is followed to its crossing.  The rounding of the values, whose effect grows with the
square of the distance, determines the earliest and the latest crossing; a record whose curvature is not far above its
rounding is rejected. Because it is inferred from observations, the answer is a forecast, never a proof.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from workbench.analysis.comparisons import OPS
from workbench.analysis.forecast.laws.exact_continuation import Steps, limits
from workbench.analysis.forecast.laws.least_squares import least_squares

#: Maximum rounding of a second difference, in units in the last place of the largest value; maximum number of
#: iterations ahead.
ROUNDING, FARTHEST = 8.0, 1e7


def parabola(x: np.ndarray, op: str, threshold: float) -> Steps | None:
    """First k >= 1 at which the parabola through x (n,), floats, fails ``op threshold``; None if there is none."""
    n = len(x)
    v = x.astype(np.float64, copy=False)
    rounding = ROUNDING * limits(x.dtype)[0] * float(np.abs(v).max())
    if not math.isfinite(rounding):
        return None
    k = np.arange(n) - (n - 1.0)  # 0 at the newest value
    places, values = map(Fraction, range(1 - n, 1)), map(Fraction, v.tolist())
    law = least_squares([(Fraction(1), p, p * p, y) for p, y in zip(places, values, strict=True)])
    if law is None:
        return None
    c, b, a = map(float, law)
    if float(np.abs(c + k * (b + k * a) - v).max()) > n * rounding:
        return None
    found = _first(a, b, c - threshold, op)
    if found is None or found > FARTHEST:
        return None
    off = rounding * (1.0 + found / n) ** 2
    edges = [_first(a, b, c - threshold + shift, op) for shift in (-off, off)]
    if any(edge is None for edge in edges):
        return None
    ends = [found, *(edge for edge in edges if edge is not None)]
    return Steps(found, "parabola", step=b + a, span=(min(ends), max(ends)))


def _first(a: float, b: float, c: float, op: str) -> int | None:
    """First whole k >= 1 at which a k**2 + b k + c fails ``op 0``; None if it never does."""
    inner = b * b - 4.0 * a * c
    if inner < 0.0:
        return None
    q = -0.5 * (b + math.copysign(math.sqrt(inner), b))
    roots = [q / a] + ([c / q] if q else [])
    near = sorted({max(1, math.floor(r) + i) for r in roots if 0.0 <= r < 2 * FARTHEST for i in (-1, 0, 1, 2)})
    return next((k for k in near if not OPS[op](c + k * (b + k * a), 0.0)), None)
