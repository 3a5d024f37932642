"""Terms whose ratio is a rational function of the iteration: factorials, binomials, terms of series.

The ratio of a term to the one before is (a + b j) / (1 + d j), as for k!, x**k / k!, central binomials, Catalan numbers
and Poisson probabilities (hypergeometric terms: Graham, Knuth and Patashnik, Concrete Mathematics, section 5.5).  Laws
with only b or only d are tried first. All ratios must agree to within a few roundings; then the terms are computed
ahead.  Because it is inferred from observations, the answer is a forecast, never a proof.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from workbench.analysis.comparisons import OPS
from workbench.analysis.forecast.laws.exact_continuation import Steps, limits
from workbench.analysis.forecast.laws.least_squares import least_squares

#: Minimum number of values for both coefficients; allowed error of each ratio, in roundings; maximum number of terms
#: computed ahead.
OF_BOTH, ROUNDINGS, MOST = 12, 8.0, 100_000
#: Factor on the allowed error of each ratio under least squares.
LOOSE = 16.0
#: Largest ratio that counts as 0, relative to the earlier ratios.
NOTHING = 1e-9
#: Number of newest values that are tested.
NEWEST_VALUES = 64
#: Largest denominator of a coefficient that is rounded to a fraction, and the allowed error of its ratios, in which two
#: values and a quotient were rounded.
SIMPLE, FEW = 10_000, Fraction(2, 2**52)


def term_ratio(x: np.ndarray, op: str, threshold: float) -> Steps | None:
    """First k >= 1 at which the terms after x (n,), floats, fail ``op threshold``; None if there is no such law."""
    n = len(x)
    unit = ROUNDINGS * limits(x.dtype)[0]
    size = min(n, NEWEST_VALUES)
    i = n - size + size // 2
    p, q, r = x.item(n - size + 1) / x.item(n - size), x.item(i + 1) / x.item(i), x.item(n - 1) / x.item(n - 2)
    share = (size // 2) / (size - 2)
    lines = (_between(p, q, r, share, unit), _between(1.0 / p, 1.0 / q, 1.0 / r, share, unit) if p * q * r else False)
    v = x[-NEWEST_VALUES:].astype(np.float64, copy=False)
    if not np.all(v != 0) or _is_line(v) or _is_line(1.0 / v):
        return None  # c (k + w) and c / (k + w) are separate laws
    return _by_ratio(v, lines, unit, op, threshold)


def _by_ratio(v: np.ndarray, lines: tuple[bool, bool], unit: float, op: str, threshold: float) -> Steps | None:
    r, j = v[1:] / v[:-1], np.arange(2.0 - len(v), 1.0)
    for only in (0, 1, None):
        if not lines[only] if only is not None else len(v) < OF_BOTH and not any(lines):
            continue
        law = _fitted(r, j, only)
        allowed = unit if only is not None else LOOSE * unit
        if law is not None and float(np.abs(_ratio(law, j) / r - 1.0).max()) <= allowed:
            k = _first(float(v[-1]), law, op, threshold)
            return Steps(k, "term-ratio", step=float(v[-1] - v[-2])) if k is not None else None
    return None


def _between(a: float, b: float, c: float, share: float, unit: float) -> bool:
    """True if b lies on the line from a to c, at the given share of the way, to within rounding."""
    return abs(a + share * (c - a) - b) <= 4.0 * unit * max(abs(a), abs(c))


def _is_line(v: np.ndarray) -> bool:
    middle = len(v) // 2
    at = v[0] + (v[-1] - v[0]) * middle / (len(v) - 1)
    return bool(abs(at - v[middle]) <= 1e-9 * max(abs(v[0]), abs(v[-1])))


Law = tuple[float, float, float]


def _fitted(r: np.ndarray, j: np.ndarray, only: int | None) -> Law | None:
    """(a, b, d): through the end points, with d = 0 if ``only`` is 0, or with b = 0 if it is 1; else by least squares
    of relative errors.
    """
    if only is not None:
        first, last = (1.0 / float(v) if only else float(v) for v in (r[0], r[-1]))
        rise = (last - first) / -float(j[0])
        return (1.0 / last, 0.0, rise / last) if only else (last, rise, 0.0)
    if not (np.isfinite(r).all() and np.all(r != 0)):
        return None
    found = _least_squares(r, j)
    if found is None:
        return None
    simple = tuple(f.limit_denominator(SIMPLE) for f in found)
    a, b, d = simple if _keeps(simple, r, j) else found
    return float(a), float(b), float(d)


def _least_squares(r: np.ndarray, j: np.ndarray) -> tuple[Fraction, ...] | None:
    """The (a, b, d) that fit a + b j - d j r = r best, each row scaled by a power of two near its r; None if not
    unique.
    """
    rows = []
    for ratio, place in zip(r.tolist(), j.tolist(), strict=True):
        mantissa, exponent = math.frexp(ratio)
        one = Fraction(2) ** -exponent
        rows.append((one, int(place) * one, -int(place) * Fraction(mantissa), Fraction(mantissa)))
    return least_squares(rows)


def _keeps(law: tuple[Fraction, ...], r: np.ndarray, j: np.ndarray) -> bool:
    """True if a law reproduces all ratios to within a few roundings, in exact arithmetic."""
    a, b, d = law
    for ratio, place in zip(r.tolist(), j.tolist(), strict=True):
        above, below, seen = a + b * int(place), 1 + d * int(place), Fraction(ratio)
        if abs(above - seen * below) > FEW * abs(seen * below):
            return False
    return True


def _ratio(law: Law, j: np.ndarray) -> np.ndarray:
    a, b, d = law
    return np.asarray((a + b * j) / (1.0 + d * j))


def _first(last: float, law: Law, op: str, t: float) -> int | None:
    done, value, size = 0, last, 64
    before = float(_ratio(law, np.ones(1))[0])
    while done < MOST:
        ratios = _ratio(law, np.arange(done + 1.0, done + size + 1.0))
        ends = np.flatnonzero(ratios * before <= NOTHING * before * before)
        if ends.size:  # binomial coefficients end in 0, other terms pass a pole
            ratios = ratios[: ends[0] + 1]
            if abs(ratios[-1]) > NOTHING * abs(before):
                return None
            ratios[-1] = 0.0
        values = value * np.cumprod(ratios)
        failed = np.flatnonzero(~OPS[op](values, t))
        if failed.size:
            return done + int(failed[0]) + 1
        done, value, size = done + size, float(values[-1]), min(4 * size, 16384)
        if not math.isfinite(value) or value == 0:
            return None
    return None
