"""Features of a clause that does not turn false: simple tests of its values."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

#: a value this many units of rounding of the largest number around it is noise
NOISE = 1e4
#: values at the end of a series by which periods are ruled out
LOOKED_AT = 16


@dataclass
class ClauseFeatures:
    """Values and features of a clause ``x op t`` that stays true; ``x`` is the side that moves.

    ``early`` holds (x, t) from the first known evaluation on, ``late`` those at the end of the look-ahead. ``root`` is
    the variable to blame, with its own values. ``settled`` says that the state recurs; ``period`` is that of x, or of
    the root where x does not move. ``step`` is the constant that each iteration adds, ``increment`` what the last one
    would add; ``swing`` is the factor of the step of an iterated variable, whose values are ``swinging``. ``scale`` is
    the largest finite number around.
    """

    op: str
    early_x: np.ndarray
    early_t: np.ndarray
    late_x: np.ndarray
    late_t: np.ndarray
    root: np.ndarray
    root_late: np.ndarray
    settled: bool
    updated: bool = True
    step: float | None = None
    increment: float | None = None
    free_increment: bool = False
    swing: float | None = None
    swinging: np.ndarray = field(default_factory=lambda: np.empty(0))
    swinging_late: np.ndarray = field(default_factory=lambda: np.empty(0))
    scale: float = 1.0
    flag: bool = False
    slug: str = ""


@dataclass
class Cause:
    """Slug, sentence without a subject, and the numbers that the fix needs."""

    slug: str
    limit: float | None = None
    period: int | None = None
    step: float | None = None
    details: dict[str, Any] = field(default_factory=dict)


def period_of(values: np.ndarray) -> int | None:
    """The shortest exact period of the end of a series, seen at least twice; None if there is none."""
    n = len(values)
    bits = np.ascontiguousarray(values)
    if bits.dtype.kind == "f":  # bit for bit, NaN included
        bits = bits.view(f"u{bits.dtype.itemsize}")
    for p in _possible(bits) if bits.ndim == 1 and bits.dtype != object else range(1, n // 2 + 1):
        if np.array_equal(bits[n - 2 * p : n - p], bits[n - p :]):
            return p
    return None


def _possible(values: np.ndarray) -> list[int]:
    """Periods, ascending, with which the last few of the values agree: no others need to be looked at as a whole."""
    n = len(values)
    periods = np.arange(1, n // 2 + 1)
    for back in range(1, min(LOOKED_AT, n // 2) + 1):  # the value at -back is of the last period where p >= back
        periods = periods[(periods < back) | (values[n - back - periods] == values[n - back])]
        if not len(periods):
            break
    return periods.tolist()


def is_nan(v: Any) -> bool:
    return isinstance(v, (float, np.floating)) and math.isnan(v)


def is_infinite(v: Any) -> bool:
    return isinstance(v, (float, np.floating)) and math.isinf(v)


def varies(*parts: np.ndarray) -> bool:
    first = next((p[0] for p in parts if len(p)), None)
    return any(bool(np.any((p != first) & ~((p != p) & (first != first)))) for p in parts)


def differences(values: np.ndarray) -> np.ndarray:
    return np.diff(values.astype(object) if values.dtype.kind in "iu" else values.astype(np.float64))


def swings(values: np.ndarray) -> bool:
    """True if the last steps alternate in sign, and do not shrink."""
    if values.dtype.kind != "f":
        return False
    finite = values[np.isfinite(values)].astype(np.float64)
    d = np.diff(finite)[-12:]
    d = d[d != 0]
    return len(d) >= 3 and bool(np.all(d[1:] * d[:-1] < 0)) and abs(d[-1]) > 0.9 * abs(d[0])


def grows(values: np.ndarray) -> bool:
    finite = np.abs(values[np.isfinite(values)].astype(np.float64))
    return len(finite) >= 3 and finite[-1] > 1.5 * max(float(finite[0]), float(finite[len(finite) // 2])) > 0


def moves(values: np.ndarray) -> bool:
    return len(values) > 1 and bool(np.any(values != values[0]))


def wraps_round(x: np.ndarray) -> bool:
    d = np.abs(np.diff(x.astype(object)))
    return len(d) > 0 and int(max(d)) > (1 << (8 * x.dtype.itemsize - 1)) - 1


def eps_of(f: ClauseFeatures) -> float:
    return float(np.finfo(f.early_x.dtype).eps) if f.early_x.dtype.kind == "f" else float(np.finfo(np.float64).eps)
