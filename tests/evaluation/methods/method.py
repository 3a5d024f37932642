"""Interface of the compared methods: a label for a history, and an end for a watched loop."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from tests.evaluation.scoring.cases import Watched


class Method(Protocol):
    """``label`` is one of the five, or UNKNOWN; ``end`` is the number that remains, "never", or None for no answer."""

    name: str

    def label(self, values: np.ndarray) -> str: ...

    def end(self, loop: Watched, upto: int) -> int | str | None: ...


def gaps(clause: tuple[str, Any, str, Any], upto: int) -> np.ndarray:
    """The distance of a clause to turning, positive while it holds (for != and ==: the signed difference)."""
    _, left, op, right = clause
    a = np.asarray(left[:upto], dtype=float)
    b = np.asarray(right[:upto] if np.ndim(right) else right, dtype=float)
    return b - a if op in ("<", "<=") else a - b


def joined(loop: Watched, upto: int, one: Any) -> int | str | None:
    """A rule for one clause, joined by the loop's logic: ``and`` ends with the first, ``or`` with the last."""
    found = []
    for clause in loop.clauses:
        g = gaps(clause, upto)
        found.append(one(-g if loop.logic == "not" else g, clause[2]))
    if loop.logic == "or":
        if "never" in found:
            return "never"
        return None if None in found else max(found)
    numbers = [f for f in found if isinstance(f, int)]
    if numbers:
        return min(numbers)
    return "never" if all(f == "never" for f in found) else None


def finite(values: np.ndarray) -> np.ndarray:
    """Values as float64, scaled to a largest magnitude of about 1 where they are finite."""
    x = np.asarray(values, dtype=float)
    top = np.max(np.abs(x[np.isfinite(x)]), initial=0.0)
    return x / top if top > 0 else x
