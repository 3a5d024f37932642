"""Decides of a record whose random steps become smaller and smaller if what is left of them leads to the threshold.

Running means, estimates by ever more samples, steps of 1/k: the record wanders, as a walk does, but its k-th step is
about 1/k as large as the first.  Over ``LENGTHS`` times its length the steps to come add up, in squares, to no more
than the length times the square of a present one, and a drift as far as its error allows grows with the logarithm.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.forecast.endless.pace import LENGTHS
from workbench.kernels import laws

#: Fewest values; size of the steps of the latter half over that of the second quarter, at most, and of the last quarter
#: over that of the third; correlation of the second differences, at most: that of independent steps is -1/2.
FEWEST, SHRINK, STILL, FREE = 32, 0.72, 1.1, 0.4
#: Turns as a share of the values, at least.
TURNS = 0.3
#: Errors of the drift; deviations of what is to come, that must not lead to the threshold.
ERRORS, DEVIATIONS = 1.5, 4.0


def settles_clear(y: np.ndarray) -> float | None:
    """The gap that stays if y (n,) > 0, the distance to the threshold, walks by ever smaller steps; else None."""
    n = len(y)
    if n < FEWEST or not (y > 0).all():
        return None
    d = y[1:] - y[:-1]
    half, quarter = len(d) // 2, len(d) // 4
    late = d[half:]
    size, before = math.sqrt(float(late @ late) / len(late)), d[quarter:half]
    early = math.sqrt(float(before @ before) / len(before))
    third, last = d[half : half + quarter], d[-quarter:]
    if not 0 < size < SHRINK * early or float(last @ last) > STILL * STILL * float(third @ third) * quarter / len(
        third
    ):
        return None
    # of a smooth curve each step is like the one before
    if np.count_nonzero(d[1:] * d[:-1] < 0) < TURNS * n:
        return None
    if abs(float(late[1:] @ late[:-1])) > FREE * float(late @ late):
        return None
    drift = max(-float(late.mean()), 0.0) + ERRORS * size / math.sqrt(len(late))
    gap = float(y.min())
    if math.log(LENGTHS) * n * drift + DEVIATIONS * size * math.sqrt(n) > gap or laws.lag_one(y) > FREE:
        return None
    return gap
