"""Exercises of notebook 06: oscillation, chaos, the logistic map."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.desk import Hint, exercise, number, whole, word


def pond(r: float, start: float, years: int) -> np.ndarray:
    """The values of the logistic map, oldest first."""
    x = np.empty(years + 1)
    x[0] = start
    with np.errstate(all="ignore"):
        for k in range(years):
            x[k + 1] = r * x[k] * (1.0 - x[k])
    return x


@exercise("06.1", "the window begins a little above r = 3.828.", "try 3.83, and ask wb.classify for the period.")
def period_three(answer: Any) -> str:
    r = number(answer)
    if not 0.0 <= r <= 4.0:
        raise Hint("beyond 0 to 4 the fish leave the pond.")
    x = pond(r, 0.3, 3000)[-300:]
    for period in (1, 2, 4, 3, 5, 6, 8):
        if np.allclose(x[period:], x[:-period], atol=1e-6):
            if period == 3:
                return f"with r = {r:g} every third year is the same, in the midst of the chaos."
            raise Hint(f"with r = {r:g} it has period {period}." if period > 1 else f"with r = {r:g} it settles.")
    raise Hint(f"with r = {r:g} no short period is found. The window of period 3 is near 3.83.")


@exercise("06.2", "how many doublings lead from 1e-6 to 0.1?", "2**10 is about a thousand; 2**17 is 131,072.")
def lost(answer: Any) -> str:
    found = whole(answer)
    if 30 <= found:
        raise Hint("that is for a difference of 1e-12; 1e-6 needs half as many doublings.")
    if not 14 <= found <= 22:
        raise Hint(f"after {found} doublings a difference of 1e-6 is about {1e-6 * 2.0 ** min(found, 60):.1e}.")
    first = int(np.flatnonzero(np.abs(pond(4.0, 0.3, 60) - pond(4.0, 0.3 + 1e-6, 60)) > 0.1)[0])
    return f"about 17 doublings; from a start at 0.3 it is year {first}."


@exercise(
    "06.3",
    "at the fixed point the slope of the new update is 1 + w * (-1.2 - 1): its size has to be below one.",
    "1 - 2.2 w is zero for w = 1 / 2.2.",
)
def calm(answer: Any) -> str:
    w = number(answer)
    if not 0.0 < w <= 1.0:
        raise Hint("w is a part of the way: above 0, and 1 at most.")
    slope = 1.0 - 2.2 * w
    if abs(slope) >= 1.0:
        raise Hint(f"with w = {w:g} the slope at the fixed point is {slope:.2f}: it still swings.")
    x = 0.3
    for _ in range(5000):
        x += w * (3.2 * x * (1.0 - x) - x)
    if abs(x - (1.0 - 1.0 / 3.2)) > 1e-6:
        raise Hint(f"with w = {w:g} it is not yet there after 5,000 years.")
    best = " That is the fastest." if abs(slope) < 0.02 else " It is fastest where the slope is zero: w = 1/2.2."
    return f"the slope at the fixed point is {slope:.2f}, so the error shrinks by {abs(slope):.2f} each year." + best


@exercise("06.4", "r below one: the fish die out. r = 3 is in section 2. And the counter goes on and on.")
def labels(a: Any, b: Any, c: Any) -> str:
    if word(a) != "CONVERGING":
        raise Hint("a: each year less than nine tenths of the fish are left. Where does that lead?")
    if word(b) != "CONVERGING":
        raise Hint("b: look at section 2 once more. The swing shrinks, however slowly.")
    if word(c) != "DIVERGING":
        raise Hint("c: the counter grows by one each year and has no limit, whatever the loop does with it.")
    return "a and b have a limit. A counter has none: as a variable it diverges, though its loop ends."
