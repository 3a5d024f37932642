"""Two exact counters compared with each other: their gap is affine, without rounding.

Equality at the end then decides whether a strict comparison turns one evaluation later.  As an inference from
observations this makes a forecast, never a proof.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from workbench.analysis.forecast.laws.exact_continuation import Steps, first_failure

#: Values whose steps are compared in rational arithmetic.
CHECKED = 32


def two_counters(lhs: Sequence[Any], rhs: Sequence[Any], op: str) -> Steps | None:
    """First k at which ``lhs op rhs`` fails, both oldest first and one of them of floats.

    None if one is not an exact counter, if its values would be rounded on the way to k, or if k does not exist.
    """
    if not any(isinstance(v, (float, np.floating)) for v in (lhs[-1], rhs[-1])):
        return None  # integers have their own arithmetic
    a, b = _counter(lhs), _counter(rhs)
    if a is None or b is None or a[1] == b[1]:
        return None
    gap, step = a[0] - b[0], a[1] - b[1]
    whole = math.lcm(gap.denominator, step.denominator)
    k = first_failure(int(gap * whole), int(step * whole), op, 0)
    # two neighbours on the grid of a dtype: so is every multiple of their difference nearer to zero
    if k is None or not all(_is_exact(v, start + i * c) for i in (k - 1, k) for v, (start, c) in ((lhs, a), (rhs, b))):
        return None
    return Steps(k, "counter", step=float(step))


def _counter(xs: Sequence[Any]) -> tuple[Fraction, Fraction] | None:
    """(last value, step) of an exact counter; None of anything else."""
    last = [_plain(v) for v in xs[-CHECKED:]]
    if len(last) < 4 or not all(isinstance(v, int) or math.isfinite(v) for v in last):
        return None
    x, y, z = (Fraction(v) for v in last[-3:])
    if z - y != y - x:
        return None  # the usual case
    tail = [Fraction(v) for v in last]
    step = tail[-1] - tail[-2]
    return (tail[-1], step) if all(y - x == step for x, y in zip(tail, tail[1:], strict=False)) else None


def _plain(v: Any) -> int | float:
    return v.item() if isinstance(v, np.generic) else v


def _is_exact(xs: Sequence[Any], value: Fraction) -> bool:
    """True if the dtype of the values holds this number."""
    last = xs[-1]
    if not isinstance(last, (float, np.floating)):
        return value.denominator == 1
    try:
        rounded = float(type(last)(float(value)))
    except OverflowError:
        return False
    return math.isfinite(rounded) and Fraction(rounded) == value
