"""Computes ops on numbers that depend on the number of periods, exactly as in the arithmetic of their dtype.

The result of an op is a polynomial only as long as nothing changes: a comparison keeps its value, an integer stays in
its range, a float is rounded the same way. A float that is rounded differently is known to lie between two polynomials
(:mod:`roundings`), which is enough for a comparison that is not close.

Rounding of a float: a sum that is a multiple of q = 2^-s of at most 2^53 q is exact. Within one binade, rounding
commutes with the addition of multiples of the spacing (of two spacings, because a tie is rounded to the even number),
so that round(a + b k) = round(a) + b k there (IEEE 754-2019, section 4.3.1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from workbench.analysis.proof.rays.horizon import (
    COMPARE,
    INTEGERS,
    PRECISION,
    Between,
    Horizon,
    Moving,
    Symbol,
    Unfollowed,
    earlier,
)
from workbench.analysis.proof.rays.polynomials import (
    Number,
    Polynomial,
    added,
    differences,
    first_outside,
    multiplied,
    power_of_two,
    scaled,
    sign,
    trimmed,
)
from workbench.analysis.proof.rays.roundings import DEGREE, compute_between, rounded_between
from workbench.analysis.slicing import work

#: nominal seconds of an op on numbers that move
OP_SECONDS = 20e-6


class KnownPeriods(Horizon):
    """Computes with moving numbers, and with predicates whose values are the same in every period."""

    def truth(self, value: Any) -> bool:
        """The value of a predicate, which is the same for all k."""
        if isinstance(value, Symbol) or np.ndim(value):
            raise Unfollowed
        return bool(value)

    def compute(self, op: str, given: list[Any], dtype: str, attrs: Mapping[str, Any]) -> Any:
        """The result of an op with a moving input."""
        work.charge(OP_SECONDS)
        return compute(op, given, dtype, attrs, self)


def known(value: Any) -> Moving | Between:
    """A value, constant or not, as a polynomial or as a value between two."""
    return value if isinstance(value, Between) else moving(value)


def moving(value: Any) -> Moving:
    """A value, constant or not, as a polynomial; Unfollowed if it is not a single finite number."""
    if isinstance(value, Moving):
        return value
    if isinstance(value, Symbol):
        raise Unfollowed
    dtype = value.dtype.name
    if value.ndim or not (dtype in PRECISION or dtype in INTEGERS) or not np.isfinite(value):
        raise Unfollowed
    if not value and dtype in PRECISION and np.signbit(value):  # a polynomial cannot represent the negative zero
        raise Unfollowed
    return Moving(dtype, trimmed([int(value) if dtype in INTEGERS else Fraction(float(value))]))


def settled(x: Moving) -> Any:
    """The array of a number that does not move; a moving number is returned as it is."""
    if len(x.of) > 1:
        return x
    return as_array(x.dtype, x.of[0] if x.of else 0)


def as_array(dtype: str, value: Number) -> np.ndarray:
    """The array of a number, which must be representable in its dtype."""
    kind: Any = np.dtype(dtype).type
    return np.asarray(kind(int(value) if dtype in INTEGERS else float(value)))


def in_range(x: Moving, horizon: Horizon, checked: bool = False) -> Moving:
    """An int, as long as it does not wrap."""
    info = np.iinfo(x.dtype)
    horizon.within(x.of, int(info.min), int(info.max), checked)
    return x


def rounded(p: Polynomial, dtype: str, horizon: Horizon) -> Moving:
    """A number rounded to a float dtype."""
    bits, lowest, highest = PRECISION[dtype]
    if len(p) <= 1:
        return Moving(dtype, trimmed([_nearest(Fraction(p[0]), bits, lowest, highest)] if p else []))
    fine = min(power_of_two(Fraction(d)) for d in differences(p) if d)
    size = abs(Fraction(p[0]))
    first: int | None = 0
    if fine >= lowest - bits + 1:
        limit = min(Fraction(2) ** (fine + bits), Fraction(2) ** highest)
        first = earlier(first_outside(added(p, (limit,), -1), (-1, 0)), first_outside(added(p, (limit,)), (1, 0)))
    out = p
    if first is not None and len(p) == 2 and size:
        exponent = _exponent(size)
        spacing = Fraction(2) ** (exponent - bits + 1)
        tie = (size / spacing).denominator == 2
        if lowest <= exponent < highest and (Fraction(p[1]) / (2 * spacing if tie else spacing)).denominator == 1:
            up = sign(p[0])
            one, two = scaled(p, up), Fraction(2) ** exponent
            until = earlier(
                first_outside(added(one, (two,), -1), (0, 1)), first_outside(added(one, (2 * two,), -1), (-1,))
            )
            if first < (until if until is not None else first + 1):
                first = until
                out = trimmed([_nearest(Fraction(p[0]), bits, lowest, highest), p[1]])
    horizon.until(first)
    return Moving(dtype, out)


def _exponent(x: Fraction) -> int:
    """e with 2^e <= x < 2^(e + 1)."""
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if Fraction(2) ** e <= x else e - 1


def _nearest(x: Fraction, bits: int, lowest: int, highest: int) -> Fraction:
    """x rounded to the nearest number of that many bits, a tie to the even one."""
    if not x:
        return x
    exponent = max(_exponent(abs(x)), lowest)
    spacing = Fraction(2) ** (exponent - bits + 1)
    out = round(x / spacing) * spacing  # round() of a Fraction rounds a tie to the even number
    if abs(out) >= Fraction(2) ** (highest + 1):
        raise Unfollowed
    return out


def compare(op: str, a: Any, b: Any, checked: bool, horizon: Horizon) -> np.ndarray:
    """The comparison, as long as it keeps its value."""
    for one, other, flip in ((a, b, 1), (b, a, -1)):
        if not isinstance(other, Symbol) and other.ndim == 0 and other.dtype.kind == "f" and not np.isfinite(other):
            side = 0 if np.isnan(other) else -flip * (1 if other > 0 else -1)
            holds = op == "not_equal" if np.isnan(other) else COMPARE[op](side, 0)
            if not isinstance(one, Moving | Between):
                raise Unfollowed
            return np.asarray(holds)
    x, y = known(a), known(b)
    if x.dtype != y.dtype and not checked:
        if "uint64" in (x.dtype, y.dtype):
            raise Unfollowed
        for z in (x, y):
            if z.dtype in INTEGERS and (x.dtype in PRECISION or y.dtype in PRECISION):
                horizon.within(z.low, -(2**53), 2**53)
            if z.dtype == "float16":  # compared with a small int, it remains a float16
                raise Unfollowed
    return np.asarray(horizon.ordered(op, x, y))


def compute(op: str, given: list[Any], dtype: str, attrs: Mapping[str, Any], horizon: Horizon) -> Any:
    """The result of an op with a moving input; Unfollowed if it is not a polynomial."""
    checked = bool(attrs.get("checked"))
    if op in COMPARE:
        return compare(op, given[0], given[1], checked, horizon)
    rule = RULES.get(op)
    if rule is None or not (dtype in PRECISION or dtype in INTEGERS):
        raise Unfollowed
    found = [known(x) for x in given]
    operands = [x for x in found if isinstance(x, Moving)]
    if len(operands) < len(found):
        return compute_between(op, found, dtype, horizon)
    if op == "cast":
        return settled(_cast(operands[0], dtype, checked, horizon))
    if op == "divide":  # Python divides ints before it rounds
        for x in operands:
            if x.dtype in INTEGERS:
                horizon.within(x.of, -(2**53), 2**53)
    operands = [_cast(x, dtype, False, horizon) for x in operands]
    out = rule(operands, dtype, horizon)
    if len(out) > DEGREE + 1:
        raise Unfollowed
    if dtype in INTEGERS:
        return settled(in_range(Moving(dtype, out), horizon, checked))
    try:
        return settled(rounded(out, dtype, horizon))
    except Unfollowed:
        return rounded_between(out, out, dtype, horizon)


def _cast(x: Moving, dtype: str, checked: bool, horizon: Horizon) -> Moving:
    if x.dtype == dtype:
        return x
    if dtype in PRECISION:
        return rounded(x.of, dtype, horizon)
    if x.dtype in INTEGERS:
        return in_range(Moving(dtype, x.of), horizon, checked)
    whole = [Fraction(d).denominator == 1 for d in differences(x.of)]
    if not all(whole[1:]):
        raise Unfollowed
    p = x.of
    if not whole[0]:
        positive = p[0] > 0
        down = p[0] - p[0].__floor__()
        edge = added(p, (down,), -1) if positive else added(p, (1 - down,))
        horizon.keep(edge, (0, 1) if positive else (0, -1))
        p = edge
    return in_range(Moving(dtype, p), horizon, checked)


Rule = Callable[[list[Moving], str, Horizon], Polynomial]


def _add(x: list[Moving], dtype: str, horizon: Horizon) -> Polynomial:
    return added(x[0].of, x[1].of)


def _subtract(x: list[Moving], dtype: str, horizon: Horizon) -> Polynomial:
    return added(x[0].of, x[1].of, -1)


def _signed(p: Polynomial, dtype: str, horizon: Horizon) -> Polynomial:
    """Require a float whose zero might be negative not to become zero."""
    if dtype in PRECISION:
        begin = sign(p[0] if p else 0)
        if not begin:
            raise Unfollowed
        horizon.keep(p, (begin,))
    return p


def _multiply(x: list[Moving], dtype: str, horizon: Horizon) -> Polynomial:
    return _signed(multiplied(x[0].of, x[1].of), dtype, horizon)


def _negative(x: list[Moving], dtype: str, horizon: Horizon) -> Polynomial:
    return _signed(scaled(x[0].of, -1), dtype, horizon)


def _abs(x: list[Moving], dtype: str, horizon: Horizon) -> Polynomial:
    up = sign(x[0].of[0] if x[0].of else 0) or 1
    horizon.keep(x[0].of, (0, 1) if up > 0 else (-1,))
    return scaled(x[0].of, up)


def _square(x: list[Moving], dtype: str, horizon: Horizon) -> Polynomial:
    return multiplied(x[0].of, x[0].of)


def _chosen(largest: int) -> Rule:
    def rule(x: list[Moving], dtype: str, horizon: Horizon) -> Polynomial:
        d = added(x[0].of, x[1].of, -1)
        begin = sign(d[0] if d else 0) or 1
        horizon.keep(d, (0, begin))
        return x[0].of if begin == largest else x[1].of

    return rule


def _sign(x: list[Moving], dtype: str, horizon: Horizon) -> Polynomial:
    begin = sign(x[0].of[0] if x[0].of else 0)
    horizon.keep(x[0].of, (begin,))
    return trimmed([begin])


def _divide(x: list[Moving], dtype: str, horizon: Horizon) -> Polynomial:
    if dtype in INTEGERS or len(x[1].of) != 1:
        raise Unfollowed
    return _signed(scaled(x[0].of, 1 / Fraction(x[1].of[0])), dtype, horizon)


def _parts(x: list[Moving], dtype: str, horizon: Horizon) -> tuple[Polynomial, Polynomial]:
    """(quotient, remainder) of the division by a constant int, rounded down."""
    if dtype not in INTEGERS or len(x[1].of) != 1:
        raise Unfollowed
    p, m = x[0].of, int(x[1].of[0])
    quotient, rest = divmod(int(p[0]) if p else 0, m)
    if all(d % m == 0 for d in differences(p)[1:]):
        return scaled(added(p, (rest,), -1), Fraction(1, m)), trimmed([rest])
    left = added(p, (quotient * m,), -1)
    horizon.within(left, min(0, m + 1), max(0, m - 1))
    return trimmed([quotient]), left


def _floor_divide(x: list[Moving], dtype: str, horizon: Horizon) -> Polynomial:
    return _parts(x, dtype, horizon)[0]


def _remainder(x: list[Moving], dtype: str, horizon: Horizon) -> Polynomial:
    return _parts(x, dtype, horizon)[1]


def _power(x: list[Moving], dtype: str, horizon: Horizon) -> Polynomial:
    exponent = x[1].of[0] if x[1].of else 0
    if dtype not in INTEGERS or len(x[1].of) > 1 or not 0 <= exponent <= DEGREE:
        raise Unfollowed
    out: Polynomial = (1,)
    for _ in range(int(exponent)):
        out = multiplied(out, x[0].of)
    return out


def _shift(left: bool) -> Rule:
    def rule(x: list[Moving], dtype: str, horizon: Horizon) -> Polynomial:
        by = x[1].of[0] if x[1].of else 0
        if dtype not in INTEGERS or len(x[1].of) > 1 or not 0 <= by < np.iinfo(dtype).bits:
            raise Unfollowed
        factor = 1 << int(by)
        return scaled(x[0].of, factor) if left else _parts([x[0], Moving(dtype, (factor,))], dtype, horizon)[0]

    return rule


def _masked(x: list[Moving], dtype: str, horizon: Horizon) -> Polynomial:
    """x & (2^s - 1) is a remainder."""
    for one, other in (x, x[::-1]):
        if len(other.of) == 1 and other.of[0] > 0 and (int(other.of[0]) & (int(other.of[0]) + 1)) == 0:
            return _parts([one, Moving(dtype, (int(other.of[0]) + 1,))], dtype, horizon)[1]
    raise Unfollowed


def _same(x: list[Moving], dtype: str, horizon: Horizon) -> Polynomial:
    return x[0].of


RULES: dict[str, Rule] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "negative": _negative,
    "abs": _abs,
    "square": _square,
    "minimum": _chosen(-1),
    "maximum": _chosen(1),
    "sign": _sign,
    "divide": _divide,
    "floor_divide": _floor_divide,
    "remainder": _remainder,
    "power": _power,
    "whole_power": _power,
    "left_shift": _shift(True),
    "right_shift": _shift(False),
    "bitwise_and": _masked,
    "cast": _same,
}
