"""Floats on a straight line to their last digits: linearly falling rates, grids, fractions of a total.

They are computed from the counter, (n - k) / n or a + k h, so that repeated addition of a step does not reproduce their
rounding. The line through the second half of the record is followed to its crossing.  If it meets the threshold at a
whole iteration to within rounding, the crossing is there. Because it is inferred from observations, the answer is a
forecast, never a proof.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.comparisons import OPS
from workbench.analysis.forecast.laws.exact_continuation import Steps, limits

#: Minimum number of values on the line; rounding of a value, in units in the last place of the largest; maximum number
#: of iterations ahead.
TAIL_VALUES, ROUNDING, FARTHEST = 6, 4.0, 1e9
#: Maximum error of the crossing, in iterations, for which its iteration is certain.
OFF = 0.1


def straight_line(x: np.ndarray, op: str, threshold: float) -> Steps | None:
    """First k >= 1 at which the line through the end of x (n,), floats, fails ``op threshold``; else None."""
    n = len(x)
    h = max(n // 2, TAIL_VALUES)
    first, last = x.item(n - 1 - h), x.item(n - 1)
    step = (last - first) / h
    rounding = ROUNDING * limits(x.dtype)[0] * max(abs(first), abs(last))
    line = last + step * np.arange(-h, 1.0)
    if not float(np.abs(x[-1 - h :] - line).max()) <= rounding:
        return None
    k = (threshold - last) / step
    if not 0 <= k < FARTHEST:
        return None
    # a bend hidden by the rounding grows with the square of the distance
    off = rounding * (1.0 + k / h) ** 2 / abs(step)
    if off > OFF:
        return None
    near = round(k)
    if near >= 1 and abs(k - near) <= off:
        found = near if not OPS[op](threshold, threshold) else near + 1
        return Steps(found, "line", step=step, span=(near, near + 1))
    return Steps(max(1, math.ceil(k)), "line", step=step)
