"""Polynomials of several variables over the integers, or modulo a power of two: products, substitution, division.

A polynomial is a dict from exponents, one for each variable, to its coefficient. Polynomials that grow too large are
not computed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Exponents = tuple[int, ...]
Terms = dict[Exponents, int]
#: maximum number of terms, degree and coefficient bits of a polynomial
TERMS, DEGREE, BITS = 240, 16, 512


class TooLarge(Exception):
    """A polynomial has too many terms, too high a degree or too large coefficients."""


def tidy(terms: Mapping[Exponents, int], bits: int | None) -> Terms:
    """The polynomial without zero terms; if ``bits`` is given, coefficients modulo 2^bits, the smaller of c and c -
    2^bits.
    """
    out = {}
    for e, c in terms.items():
        if bits is not None:
            c = (c + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
        if c:
            out[e] = c
    if len(out) > TERMS or any(sum(e) > DEGREE or c.bit_length() > BITS for e, c in out.items()):
        raise TooLarge
    return out


def constant(value: int, variables: int, bits: int | None) -> Terms:
    return tidy({(0,) * variables: value}, bits)


def added(p: Terms, q: Terms, bits: int | None, factor: int = 1) -> Terms:
    """p + factor q."""
    out = dict(p)
    for e, c in q.items():
        out[e] = out.get(e, 0) + factor * c
    return tidy(out, bits)


def multiplied(p: Terms, q: Terms, bits: int | None) -> Terms:
    if len(p) * len(q) > 16 * TERMS:
        raise TooLarge
    out: Terms = {}
    for e, c in p.items():
        for f, d in q.items():
            g = tuple(a + b for a, b in zip(e, f, strict=True))
            out[g] = out.get(g, 0) + c * d
    return tidy(out, bits)


def substituted(p: Terms, by: Sequence[Terms | None], bits: int | None) -> Terms | None:
    """p with ``by`` substituted for the variables; None if it needs one that is None."""
    out: Terms = {}
    powers: dict[tuple[int, int], Terms] = {}
    for e, c in p.items():
        product: Terms = constant(c, len(e), bits)
        for i, n in enumerate(e):
            if not n:
                continue
            base = by[i]
            if base is None:
                return None
            if (i, n) not in powers:
                power = base
                for _ in range(n - 1):
                    power = multiplied(power, base, bits)
                powers[i, n] = power
            product = multiplied(product, powers[i, n], bits)
        out = added(out, product, bits)
    return out


def divided(p: Terms, q: Terms, bits: int | None) -> tuple[Terms, Terms]:
    """(c, r) with p = c q + r, where no term of r is divisible by the leading term of q, unless its coefficient is not
    divisible.
    """
    if not q:
        return {}, p
    lead = max(q)
    by = q[lead]
    inverse = pow(by, -1, 1 << bits) if bits is not None and by % 2 else None
    quotient: Terms = {}
    rest: Terms = {}
    left = dict(p)
    for _ in range(4 * TERMS):
        if not left:
            return quotient, rest
        top = max(left)
        c = left[top]
        factor = c * inverse if inverse is not None else c // by if c % by == 0 else None
        if factor is None or any(a < b for a, b in zip(top, lead, strict=True)):
            rest[top] = left.pop(top)
            continue
        step = tidy({tuple(a - b for a, b in zip(top, lead, strict=True)): factor}, bits)
        quotient = added(quotient, step, bits)
        left = added(left, multiplied(step, q, bits), bits, -1)
    raise TooLarge


def content(p: Terms) -> int:
    """The greatest common divisor of the coefficients; 0 if there are none."""
    return math.gcd(*p.values()) if p else 0


def value(p: Terms, at: Sequence[int], bits: int | None) -> int:
    """The value of the polynomial at a point."""
    out = 0
    for e, c in p.items():
        out += c * math.prod(x**n for x, n in zip(at, e, strict=True) if n)
    return out if bits is None else out % (1 << bits)


def written(p: Terms, names: Sequence[str]) -> str:
    """The polynomial as text, its leading term first: ``x*x - 2*y*y - 1``."""
    parts: list[str] = []
    for e, c in sorted(p.items(), reverse=True):
        factors = [name if n == 1 else f"{name}**{n}" for name, n in zip(names, e, strict=True) if n]
        size = [] if abs(c) == 1 and factors else [str(abs(c))]
        sign = (" - " if c < 0 else " + ") if parts else ("-" if c < 0 else "")
        parts.append(sign + "*".join(size + factors))
    return "".join(parts) or "0"
