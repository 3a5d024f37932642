"""Exercises of notebook 16: a thousand loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.chaos import pond
from course.desk import Hint, exercise, number


@exercise("16.1", "wb.boundary takes inputs={...} for what stays.", "the range must hold the limit: try (0.1, 2.0).")
def limit(answer: Any) -> str:
    found = number(getattr(answer, "value", answer))
    if abs(found - 0.5) < 1e-3:
        raise Hint("this is the limit without momentum.")
    if abs(found - 0.75) > 1e-6:
        raise Hint(f"with lr = {found:g} the answer does not change yet, or has changed before.")
    return "2 (1 + momentum) / L = 0.75: momentum allows larger steps."


@exercise("16.2", "count the different values of each pond, rounded.", "the window begins a little above 3.828.")
def three(answer: Any) -> str:
    r = number(answer)
    if not 3.6 < r <= 4.0:
        raise Hint("look between 3.6 and 4.")
    values = len(np.unique(pond(r, 0.3, 5000)[-60:].round(6)))
    if values != 3:
        raise Hint(f"with r = {r:g} the pond takes {values} different values.")
    return f"with r = {r:g} three values follow each other, between clouds on both sides."


@exercise("16.3", "look where two colours meet.", "the start 0 leads to infinity: what is around it?")
def three_basins(answer: Any) -> str:
    try:
        (left, right), (low, high) = (tuple(map(float, answer[name])) for name in ("re", "im"))
    except (TypeError, KeyError, ValueError):
        raise Hint('give a box as {"re": (from, to), "im": (from, to)}.') from None
    if not 0 < right - left < 0.01 or not 0 < high - low < 0.01:
        raise Hint("both sides are longer than 0 and shorter than 0.01.")
    z = np.linspace(left, right, 200)[:, None] + 1j * np.linspace(low, high, 200)
    with np.errstate(all="ignore"):
        for _ in range(80):
            z = z - (z**3 - 1) / (3 * z**2)
        roots = sum(bool((abs(z - np.exp(2j * np.pi * k / 3)) < 1e-6).any()) for k in range(3))
    if roots < 3:
        raise Hint(f"starts in this box lead to {roots} of the roots.")
    return "every border of one basin is a border of all three, however close one looks."


@exercise("16.4", "the bound is one of work, not of time.", "and nothing was proved.")
def undecided(answer: Any) -> str:
    found = str(answer).strip().lower().rstrip(".")
    if found == "it never ends":
        raise Hint('that would be "endless", and is said only where it is proved.')
    if found == "it ran out of time":
        raise Hint("a busy machine gives the same outcomes.")
    if found != "it did not end within its bound of work":
        raise Hint("answer with one of the three sentences.")
    return "more work may decide it: wb.sweep(..., work=...), or collect=['proof']."
