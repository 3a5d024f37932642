"""Numbers as functions of the number of periods, and the periods for which they are known.

A number is a polynomial in k, the number of periods (:class:`Moving`), or lies between two polynomials
(:class:`Between`) if it is rounded differently in each period. :class:`Horizon` keeps the first k at which this, or the
value of a comparison, may change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from workbench.analysis.comparisons import NAMES, OPS
from workbench.analysis.proof.rays.polynomials import Number, Polynomial, added, first_outside, sign

#: number of bits of a float's significand, and the exponents of its smallest normal and its largest number
PRECISION = {"float64": (53, -1022, 1023), "float32": (24, -126, 127), "float16": (11, -14, 15)}
INTEGERS = frozenset(f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64))
COMPARE: dict[str, Callable[[int, int], bool]] = {name: OPS[sign] for name, sign in NAMES.items()}


class Unfollowed(Exception):
    """Raised for an op, or for values, that cannot be followed."""


class Symbol:
    """A value that is not an array."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Moving(Symbol):
    """A number of a dtype as a polynomial in k."""

    dtype: str
    of: Polynomial

    @property
    def low(self) -> Polynomial:
        return self.of

    @property
    def high(self) -> Polynomial:
        return self.of


@dataclass(frozen=True, slots=True)
class Between(Symbol):
    """A finite number of a float dtype between two polynomials in k, ends included."""

    dtype: str
    low: Polynomial
    high: Polynomial


@dataclass
class Horizon:
    """All results are valid for k < ``turn``, and fit in the ints of the graph for k < ``full`` (None: all k).

    ``turn`` is the first k at which a comparison, a wrap or a rounding may change, ``full`` the first at which a node
    of Python's arithmetic may overflow its 64 bits.
    """

    turn: int | None = None
    full: int | None = None

    def keep(self, p: Polynomial, signs: Collection[int]) -> None:
        """Require the sign of p(k) to be one of ``signs``."""
        self.until(first_outside(p, signs))

    def until(self, first: int | None) -> None:
        """Results are valid only for k < ``first``; Unfollowed if that is 0."""
        if first == 0:
            raise Unfollowed
        self.turn = earlier(self.turn, first)

    def within(self, p: Polynomial, low: Number, high: Number, checked: bool = False) -> None:
        """Require p(k) to be between low and high, both included."""
        first = earlier(first_outside(added(p, (low,), -1), (0, 1)), first_outside(added(p, (high,), -1), (0, -1)))
        if checked and first != 0:
            self.full = earlier(self.full, first)
        else:
            self.until(first)

    def ordered(self, op: str, x: Moving | Between, y: Moving | Between) -> bool:
        """The value of a comparison, which it is required to keep."""
        low, high = added(x.low, y.high, -1), added(x.high, y.low, -1)
        begin, end = (sign(p[0] if p else 0) for p in (low, high))
        values = {COMPARE[op](s, 0) for s in range(begin, end + 1)}
        if len(values) > 1:
            raise Unfollowed
        holds = values.pop()
        signs = [s for s in (-1, 0, 1) if COMPARE[op](s, 0) == holds]
        if low != high and 0 not in signs:  # no value in between may be 0, so neither bound may change its sign
            signs = [begin]
        self.keep(low, signs)
        self.keep(high, signs)
        return holds


def earlier(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else min(a, b)
