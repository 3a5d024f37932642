"""Exercises of notebook 01: a first loop."""

from __future__ import annotations

import math
from typing import Any

from course.desk import Hint, exercise, whole


def newton(a: float, start: float) -> list[float]:
    x = [start]
    while abs(x[-1] * x[-1] - a) > 1e-12 and len(x) < 100:
        x.append(0.5 * (x[-1] + a / x[-1]))
    return x


@exercise(
    "01.1",
    "ten.trace['x'].values are the values of x, oldest first; subtract the root of 10.",
    "np.flatnonzero(np.abs(ten.trace['x'].values - np.sqrt(10.0)) < 1e-6)[0]",
)
def six_digits(answer: Any) -> str:
    values = newton(10.0, 1.0)
    right = next(k for k, x in enumerate(values) if abs(x - math.sqrt(10.0)) < 1e-6)
    found = whole(answer)
    if found == right + 1:
        raise Hint("iterations are counted from 0: the start value is iteration 0.")
    if not 0 <= found < len(values):
        raise Hint(f"the loop has the iterations 0 to {len(values) - 1}.")
    if found != right:
        raise Hint(f"in iteration {found} the error is {abs(values[found] - math.sqrt(10.0)):.1e}.")
    before, there = (abs(values[k] - math.sqrt(10.0)) for k in (right - 1, right))
    return f"the error is {there:.0e} there, and {before:.0e} in the iteration before."


@exercise("01.2", "ten.trace.branch_counts() gives (false, true) for the Switch of each loop variable.")
def decisions(true: Any, false: Any) -> str:
    trips = len(newton(10.0, 1.0)) - 1
    if whole(true) == 1 and whole(false) == trips:
        raise Hint("you have exchanged them: branch_counts gives (false, true).")
    if whole(false) != 1:
        raise Hint("a loop is left once.")
    if whole(true) != trips:
        raise Hint("read it from ten.trace.branch_counts().")
    return f"{trips} times on, and once out."
