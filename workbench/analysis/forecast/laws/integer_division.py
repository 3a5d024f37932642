"""Integers that are divided at each step: x / d, x - x / d or x + x / d, rounded down, up or towards zero.

Such a sequence follows no law of real numbers when its values are small, because of the rounding: x >> 1 ends at 0 or
-1, and x - x // d at d - 1.  The rule is accepted only if it reproduces every value exactly.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

#: Minimum number of moves that the rule must reproduce.
LEAST = 5

Step = Callable[[int], int]


def _up(x: int, d: int) -> int:
    return -(-x // d)


def _towards_zero(x: int, d: int) -> int:
    return abs(x) // abs(d) * (1 if (x < 0) == (d < 0) else -1)


_ROUNDED: tuple[Callable[[int, int], int], ...] = (operator.floordiv, _up, _towards_zero)


def division(xs: Sequence[int]) -> Step | None:
    """The rule x -> x / d, x - x / d or x + x / d, always rounded in the same way, that reproduces all values; else
    None.

    The divisor is estimated from the largest value, where rounding matters least.
    """
    pairs = [(a, b) for a, b in pairwise(xs) if a != b]
    if len(pairs) < LEAST or len({b - a for a, b in pairs}) < 3:
        return None  # a counter does not lose a share of its value
    a, b = max(pairs, key=lambda p: abs(p[0]))
    for part, sign in ((b, 0), (a - b, -1), (b - a, 1)):
        if part == 0 or abs(part) > abs(a):
            continue
        near = round(Fraction(a, part))
        for d in (near, near - 1, near + 1):
            for rounded in _ROUNDED:
                if abs(d) < 2:
                    continue

                def step(x: int, d: int = d, rounded: Callable[[int, int], int] = rounded, sign: int = sign) -> int:
                    return x + sign * rounded(x, d) if sign else rounded(x, d)

                if all(step(x) == y for x, y in pairwise(xs)):
                    return step
    return None
