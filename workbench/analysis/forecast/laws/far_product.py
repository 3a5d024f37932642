"""The end of a product x * c * c ..., too far away to be followed value by value."""

from __future__ import annotations

import math


def far_product(x: float, c: float, threshold: float, precision: tuple[float, float]) -> tuple[int, int, int] | None:
    """``(k, least, most)``: the products until one has passed the threshold, by logarithms.

    ``precision`` is the relative rounding of the dtype and its smallest normal number: each product is rounded by half
    a unit at most, which makes k uncertain by as many products as that error takes. None where the products go the
    other way, where the numbers on the way lose digits, and where k would be uncertain by more than a tenth.
    """
    eps, tiny = precision
    start, mark = abs(x), abs(threshold)
    if c <= 0.0 or (x > 0.0) != (threshold > 0.0) or min(start, mark) < 2 * tiny or not math.isfinite(mark):
        return None
    if (mark < start) != (c < 1.0):
        return None
    rate = math.log1p(c - 1.0)
    steps = (math.log(mark) - math.log(start)) / rate
    slack = 1.0 + 0.5 * eps * steps / abs(rate)
    if slack > 0.1 * steps:
        return None
    return math.ceil(steps), max(1, math.floor(steps - slack)), math.ceil(steps + slack)
