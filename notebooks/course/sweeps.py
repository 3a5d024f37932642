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


@exercise("16.3", "the bound is one of work, not of time.", "and nothing was proved.")
def undecided(answer: Any) -> str:
    found = str(answer).strip().lower().rstrip(".")
    if found == "it never ends":
        raise Hint('that would be "endless", and is said only where it is proved.')
    if found == "it ran out of time":
        raise Hint("a busy machine gives the same outcomes.")
    if found != "it did not end within its bound of work":
        raise Hint("answer with one of the three sentences.")
    return "more work may decide it: wb.sweep(..., work=...), or collect=['proof']."
