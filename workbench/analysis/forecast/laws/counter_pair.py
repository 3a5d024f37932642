"""Two exact counters compared with each other: their gap is affine, without rounding.

Equality at the end then decides whether a strict comparison becomes false one evaluation later.  Because it is
inferred from observations, the answer is a forecast, never a proof.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from workbench.analysis.forecast.laws.exact_continuation import Steps, first_failure

#: Number of newest values whose steps are compared in rational arithmetic, and its minimum.
EXACT_VALUES, FEWEST = 32, 4


def two_counters(lhs: Sequence[Any], rhs: Sequence[Any], op: str) -> Steps | None:
    """First k at which ``lhs op rhs`` fails, None if there is none; both records are oldest first, and at least one
    holds floats.
    """
    sides = [[v.item() if isinstance(v, np.generic) else v for v in side[-EXACT_VALUES:]] for side in (lhs, rhs)]
    if len(lhs) < FEWEST or not any(isinstance(side[-1], float) for side in sides):
        return None  # integers are handled elsewhere
    if not all(isinstance(v, int) or isinstance(v, float) and math.isfinite(v) for side in sides for v in side):
        return None
    a, b = ([Fraction(v) for v in side] for side in sides)
    steps = [{y - x for x, y in zip(side[-3:], side[-2:], strict=False)} for side in (a, b)]
    if len(steps[0]) > 1 or len(steps[1]) > 1 or steps[0] == steps[1]:
        return None  # the usual case
    if any(len({y - x for x, y in zip(side, side[1:], strict=False)}) > 1 for side in (a, b)):
        return None
    gap, step = a[-1] - b[-1], a[-1] - a[-2] - (b[-1] - b[-2])
    whole = math.lcm(gap.denominator, step.denominator)
    k = first_failure(int(gap * whole), int(step * whole), op, 0)
    return None if k is None else Steps(k, "counter", step=float(step))
