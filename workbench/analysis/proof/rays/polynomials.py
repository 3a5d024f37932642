"""Polynomials of one variable k = 0, 1, 2 ... with exact coefficients, and the first k at which one changes its sign.

Coefficients are ints or Fractions, the lowest power first, without zeros at the end. Signs are found on monotone
stretches: where the difference p(k + 1) - p(k) keeps its sign, p is monotone and changes its sign at most once, at a k
that bisection finds.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction

Number = int | Fraction
Polynomial = tuple[Number, ...]
ANY = frozenset((-1, 0, 1))
#: the exponent used for numbers like 1/3, which are not multiples of any power of two
NO_POWER = -(10**9)


def trimmed(coefficients: Iterable[Number]) -> Polynomial:
    """The polynomial without zeros at the end; whole Fractions become ints."""
    out = [int(c) if c.denominator == 1 else c for c in coefficients]
    while out and out[-1] == 0:
        out.pop()
    return tuple(out)


def added(p: Polynomial, q: Polynomial, factor: int = 1) -> Polynomial:
    """p + factor q."""
    n = max(len(p), len(q))
    return trimmed((p[i] if i < len(p) else 0) + factor * (q[i] if i < len(q) else 0) for i in range(n))


def scaled(p: Polynomial, factor: Number) -> Polynomial:
    return trimmed(c * factor for c in p)


def multiplied(p: Polynomial, q: Polynomial) -> Polynomial:
    if not p or not q:
        return ()
    out: list[Number] = [0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            out[i + j] += a * b
    return trimmed(out)


def at(p: Polynomial, k: int) -> Number:
    """p(k)."""
    out: Number = 0
    for c in reversed(p):
        out = out * k + c
    return out


def later(p: Polynomial, by: int = 1) -> Polynomial:
    """p(k + by)."""
    out: Polynomial = ()
    for c in reversed(p):
        out = added(multiplied(out, (by, 1)), (c,))
    return out


def through(values: Sequence[Number]) -> Polynomial:
    """The polynomial of lowest degree with these values at k = 0, 1, 2 ..."""
    row, out, basis = list(values), (), (Fraction(1),)
    for j in range(len(values)):
        out = added(out, scaled(basis, row[0]))
        row = [b - a for a, b in zip(row, row[1:], strict=False)]
        basis = scaled(multiplied(basis, (-j, 1)), Fraction(1, j + 1))
    return out


def differences(p: Polynomial) -> list[Number]:
    """p(0) and the differences of every order at 0: every p(k) is a sum of integer multiples of them."""
    row: list[Number] = [at(p, k) for k in range(len(p))]
    out = []
    while row:
        out.append(row[0])
        row = [b - a for a, b in zip(row, row[1:], strict=False)]
    return out


def sign(x: Number) -> int:
    return (x > 0) - (x < 0)


def power_of_two(x: Fraction) -> int:
    """The exponent of the largest power of two of which x is an integer multiple; far below all others if there is
    none.
    """
    n, d = abs(x.numerator), x.denominator
    return (n & -n).bit_length() - d.bit_length() if d & (d - 1) == 0 else NO_POWER


def first_outside(p: Polynomial, signs: Collection[int]) -> int | None:
    """The first k from 0 on at which the sign of p(k) is not in ``signs``; None if there is none."""
    if sign(p[0] if p else 0) not in signs:
        return 0
    if len(p) <= 1:
        return None
    return next((k for k in turns(p) if sign(at(p, k)) not in signs), None)


def turns(p: Polynomial) -> list[int]:
    """All k from 1 on at which the sign of p(k) is not that of p(k - 1), in order."""
    if len(p) <= 1:
        return []
    if any(c.denominator != 1 for c in p):
        p = scaled(p, math.lcm(*(c.denominator for c in p)))
    if len(p) == 2:
        a, b = (p[0], p[1]) if p[1] > 0 else (-p[0], -p[1])
        if a > 0:
            return []
        reached = -(a // b) if a else 0  # the first k with a + b k >= 0
        found = [reached] if reached else []
        return [*found, reached + 1] if a + b * reached == 0 else found
    out: list[int] = []
    begin = 0
    for end in [*turns(added(later(p), p, -1)), None]:  # between these, p is monotone
        here = sign(at(p, begin))
        if end is None:
            goal, end = sign(p[-1]), 2 * begin + 1
            while sign(at(p, end)) != goal:
                end *= 2
        while sign(at(p, end)) != here:
            low, high = begin, end
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if sign(at(p, middle)) == here else (low, middle)
            out.append(high)
            begin, here = high, sign(at(p, high))
        begin = end
    return out
