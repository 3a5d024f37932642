"""Integers that gain or lose a rounded share of their value and a constant: x' = x + (p x) // q + c or x' = x - (p x)
// q - c.

Examples are balances in cents with interest and a payment, bids raised by a percentage and a fixed amount, stocks that
lose a share. For a given c, each step bounds the share p / q from both sides. The rule is the simplest fraction within
all bounds, over the c for which one exists; it is kept only if it reproduces every value exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from operator import mul

import numpy as np

#: Minimum number of values and of distinct steps; largest value (exact in float64); number of integers c that are
#: tried; largest denominator, beyond which few values do not determine the fraction.
FEWEST, DISTINCT_STEPS, LARGEST, CANDIDATES, PLAIN = 8, 4, 1 << 50, 64, 5000
#: A range of width w contains a fraction with a denominator near 1 / sqrt(w) by chance: maximum of w times the square
#: of the denominator.
BY_CHANCE = 0.15


def _slope(xs: list[int], ys: list[int]) -> float:
    """The slope of the line through points in the plane, by least squares in integer arithmetic."""
    n, x, y = len(xs), sum(xs), sum(ys)
    return (n * sum(map(mul, xs, ys)) - x * y) / (n * sum(map(mul, xs, xs)) - x * x)


def rounded_share(xs: list[int]) -> Callable[[int], int] | None:
    """The function from a value to the next, if it reproduces all of xs, at least 8 integers above 0; else None."""
    if len(xs) < FEWEST or min(xs) <= 0 or max(xs) > LARGEST:
        return None
    steps = [b - a for a, b in zip(xs, xs[1:], strict=False)]
    # the usual case: three steps that do not lie on a line to within rounding
    a, b, c = xs[0], xs[len(xs) // 2 - 1], xs[-2]
    at = steps[0] + (steps[-1] - steps[0]) * (b - a) / (c - a) if c != a else 0.0
    if c == a or abs(at - steps[len(xs) // 2 - 1]) > 2.0 or len(set(steps)) < DISTINCT_STEPS:
        return None
    x, d = np.array(xs[:-1], dtype=float), np.array(steps, dtype=float)
    slope = _slope(xs[:-1], steps)
    side = 1 if slope > 0 else -1
    shares = _shares(x, side * d, abs(slope))
    if not shares:
        return None
    share, whole, _ = min(shares, key=lambda found: found[0].denominator)
    p, q = share.numerator, share.denominator
    if q * q * sum(width for *_, width in shares) > BY_CHANCE:
        return None

    def step(value: int) -> int:
        return value + side * ((p * value) // q + whole)

    good = q <= PLAIN and all(step(u) == v for u, v in zip(xs, xs[1:], strict=False))
    return step if good else None


def _shares(x: np.ndarray, d: np.ndarray, slope: float) -> list[tuple[Fraction, int, float]]:
    """(simplest share, c, width of the range of shares) for each c for which shares with d - c <= share x < d - c + 1
    exist.
    """
    near = round(float((d - slope * x).mean()) + 0.5)
    whole = near + np.arange(-CANDIDATES, CANDIDATES + 1)
    least = ((d[None, :] - whole[:, None]) / x[None, :]).max(axis=1)
    most = ((d[None, :] - whole[:, None] + 1.0) / x[None, :]).min(axis=1)
    return [
        (_plainest(float(low), float(high)), int(c), float(high - low))
        for c, low, high in zip(whole, least, most, strict=True)
        if 0.0 < low < high
    ]


def _plainest(low: float, high: float) -> Fraction:
    """The fraction with the smallest denominator in [``low``, ``high``) (Stern 1858, Brocot 1861)."""
    below, above = Fraction(low), Fraction(high)
    whole = -(-below // 1)
    if whole < above:
        return Fraction(whole)
    below *= 1 - Fraction(1, 1 << 50)  # the bound itself was rounded
    floor = below // 1
    return (
        floor + 1 / _plainest_between(1 / (above - floor), 1 / (below - floor))
        if below > floor
        else Fraction(floor + 1)
    )


def _plainest_between(low: Fraction, high: Fraction) -> Fraction:
    floor = low // 1
    if low == floor or floor + 1 <= high:
        return Fraction(floor if low == floor else floor + 1)
    return floor + 1 / _plainest_between(1 / (high - floor), 1 / (low - floor))
