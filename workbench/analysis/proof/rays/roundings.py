"""Bounds floats that are rounded differently in each period.

The error of rounding to nearest is at most half a spacing, that is a share 2^-bits of the exact result (IEEE 754-2019,
section 4.3.1); for numbers below the normal range, which some processors flush to zero, the smallest normal number is
used. The error of a sum of n numbers, added in any order, is at most n - 1 such shares of the sum of their magnitudes
(N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, SIAM 2002, section 4.2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from workbench.analysis.proof.rays.horizon import PRECISION, Between, Horizon, Moving, Unfollowed
from workbench.analysis.proof.rays.polynomials import Polynomial, added, multiplied, scaled, sign

#: maximum degree of the bounds
DEGREE = 6
Number = Moving | Between


def rounded_between(low: Polynomial, high: Polynomial, dtype: str, horizon: Horizon) -> Between:
    """The bounds, after rounding, of a number that lies between these."""
    return _spread(low, high, _size(low, high, horizon), 1, dtype, horizon)


def sum_between(terms: Sequence[Number], dtype: str, horizon: Horizon, mean: bool = False) -> Between:
    """The sum of some numbers, added in any order, or their mean."""
    low: Polynomial = ()
    high: Polynomial = ()
    size: Polynomial = ()
    for t in terms:
        low, high, size = added(low, t.low), added(high, t.high), added(size, _size(t.low, t.high, horizon))
    out = _spread(low, high, size, 2 * len(terms), dtype, horizon)
    share = Fraction(1, len(terms)) if mean else 1
    return Between(dtype, scaled(out.low, share), scaled(out.high, share))


def _spread(low: Polynomial, high: Polynomial, size: Polynomial, n: int, dtype: str, horizon: Horizon) -> Between:
    """The bounds, widened by the error of n roundings of numbers of that magnitude."""
    bits, lowest, highest = PRECISION[dtype]
    if len(size) > DEGREE + 1:
        raise Unfollowed
    off = added(scaled(size, n * Fraction(1, 2**bits)), (n * Fraction(2) ** lowest,))
    horizon.within(added(size, off), 0, Fraction(2) ** highest)
    return Between(dtype, added(low, off, -1), added(high, off))


def _size(low: Polynomial, high: Polynomial, horizon: Horizon) -> Polynomial:
    """A polynomial that bounds the magnitude of a number between these."""
    if sign(low[0] if low else 0) < 0 < sign(high[0] if high else 0):
        horizon.keep(low, (-1, 0))
        horizon.keep(high, (0, 1))
        return added(high, low, -1)
    return _positive(Between("", low, high), horizon)[1]


def _positive(x: Number, horizon: Horizon) -> tuple[Polynomial, Polynomial, int]:
    """The bounds of the magnitude of a number that keeps its sign, and the sign."""
    if sign(x.low[0] if x.low else 0) >= 0:
        horizon.keep(x.low, (0, 1))
        return x.low, x.high, 1
    horizon.keep(x.high, (0, -1))
    return scaled(x.high, -1), scaled(x.low, -1), -1


def _signed(low: Polynomial, high: Polynomial, s: int) -> tuple[Polynomial, Polynomial]:
    return (low, high) if s > 0 else (scaled(high, -1), scaled(low, -1))


Bounds = tuple[Polynomial, Polynomial]


def _add(x: Sequence[Number], horizon: Horizon) -> Bounds:
    return added(x[0].low, x[1].low), added(x[0].high, x[1].high)


def _subtract(x: Sequence[Number], horizon: Horizon) -> Bounds:
    return added(x[0].low, x[1].high, -1), added(x[0].high, x[1].low, -1)


def _negative(x: Sequence[Number], horizon: Horizon) -> Bounds:
    return _signed(x[0].low, x[0].high, -1)


def _abs(x: Sequence[Number], horizon: Horizon) -> Bounds:
    return _positive(x[0], horizon)[:2]


def _multiply(x: Sequence[Number], horizon: Horizon) -> Bounds:
    (a, b, s), (c, d, t) = (_positive(v, horizon) for v in x)
    return _signed(multiplied(a, c), multiplied(b, d), s * t)


def _square(x: Sequence[Number], horizon: Horizon) -> Bounds:
    return _multiply([x[0], x[0]], horizon)


def _divide(x: Sequence[Number], horizon: Horizon) -> Bounds:
    if x[1].low != x[1].high or len(x[1].low) != 1:
        raise Unfollowed
    by = Fraction(x[1].low[0])
    low, high = (scaled(p, 1 / abs(by)) for p in (x[0].low, x[0].high))
    return _signed(low, high, sign(by))


def _same(x: Sequence[Number], horizon: Horizon) -> Bounds:
    return x[0].low, x[0].high


def compute_between(op: str, x: Sequence[Number], dtype: str, horizon: Horizon) -> Number:
    """The result of an op with an operand that is only known to lie between bounds."""
    if dtype not in PRECISION:
        raise Unfollowed
    if op in ("minimum", "maximum") and x[0].dtype == x[1].dtype == dtype:
        first = horizon.ordered("less_equal" if op == "minimum" else "greater_equal", x[0], x[1])
        return x[0] if first else x[1]
    rule = RULES.get(op)
    if rule is None:
        raise Unfollowed
    low, high = rule([v if v.dtype == dtype else rounded_between(v.low, v.high, dtype, horizon) for v in x], horizon)
    return rounded_between(low, high, dtype, horizon)


RULES: dict[str, Callable[[Sequence[Number], Horizon], Bounds]] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "divide": _divide,
    "negative": _negative,
    "abs": _abs,
    "square": _square,
    "cast": _same,
}
