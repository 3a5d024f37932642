"""Intervals of sums, products, quotients, extrema, casts and integer divisions.

These operations are correctly rounded and monotone in each argument, so their bounds are those at the ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.analysis.intervals.interval import FLOATS, NO, Interval, box, converted, fitted
from workbench.analysis.intervals.table import Attrs, dead_of, float_box, has, in_dtype, least, most, rule, unbounded


@rule("add", "subtract")
def _add(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
    sides = in_dtype(boxes, dtype)
    if sides is None or dtype == "bool":
        return None
    return _sum(sides[0], sides[1] if attrs["_op"] == "add" else negated(sides[1]), attrs)


def negated(x: Interval) -> Interval:
    return box(x.dtype, -x.hi, -x.lo, x.nan, x.dead)  # here the bounds of an integer may lie outside its dtype


def _sum(x: Interval, y: Interval, attrs: Attrs) -> Interval:
    if x.integral:
        return fitted(x.dtype, x.lo + y.lo, x.hi + y.hi, x.dead | y.dead, not attrs.get("checked"))
    inf = np.inf
    clash = (x.hi == inf) & (y.lo == -inf) | (x.lo == -inf) & (y.hi == inf)
    return float_box(x.dtype, x.lo + y.lo, x.hi + y.hi, clash, [x, y])


@rule("multiply")
def _multiply(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
    sides = in_dtype(boxes, dtype)
    if sides is None or dtype == "bool":
        return None
    x, y = sides
    ends = [a * b for a in (x.lo, x.hi) for b in (y.lo, y.hi)]
    if x.integral:
        lo, hi = least(ends), most(ends)
        return fitted(dtype, lo, hi, x.dead | y.dead, not attrs.get("checked"))
    ends = [np.where(np.isnan(e), 0, e).astype(dtype) for e in ends]  # 0 * inf at an end: the bound is 0, and NaN
    return float_box(dtype, least(ends), most(ends), has(x, 0) & unbounded(y) | unbounded(x) & has(y, 0), sides)


@rule("divide")
def _divide(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
    sides = in_dtype(boxes, dtype)
    if sides is None or dtype not in FLOATS:
        return None
    if attrs.get("checked") and any(b.integral for b in boxes):
        return None  # Python divides integers without rounding them first
    return quotient(*sides)


def quotient(x: Interval, y: Interval) -> Interval:
    ends = [a / b for a in (x.lo, x.hi) for b in (y.lo, y.hi)]
    ends = [np.where(np.isnan(e), 0, e).astype(x.dtype) for e in ends]
    through = has(y, 0)  # the sign of a zero is unknown, too
    lo, hi = np.where(through, -np.inf, least(ends)), np.where(through, np.inf, most(ends))
    nan = through & has(x, 0) | unbounded(x) & unbounded(y)
    return float_box(x.dtype, lo, hi, nan, [x, y])


@rule("reciprocal")
def _reciprocal(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
    one = np.ones(1, dtype) if dtype in FLOATS else None
    return None if one is None or boxes[0].dtype != dtype else quotient(box(dtype, one, one), boxes[0])


@rule("negative")
def _negative(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
    x = negated(boxes[0])
    return x if not x.integral else fitted(dtype, x.lo, x.hi, x.dead, not attrs.get("checked"))


@rule(
    "positive",
    "Identity",
    "stop_gradient",
    "check_numerics",
    "ensure_shape",
    "reshape",
    "flatten",
    "transpose",
    "expand_dims",
    "squeeze",
    "broadcast_to",
    "reverse",
    "sort",
    "diagonal",
    "tile",
    "roll",
    "getitem",
    "slice",
)
def _as_it_is(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
    """The result holds elements of the first input; the other inputs only select them."""
    x = boxes[0]
    return box(dtype, x.lo, x.hi, x.nan, dead_of(boxes)) if x.dtype == dtype else None


@rule("abs")
def _abs(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
    x = boxes[0]
    if x.dtype != dtype or dtype == "bool":
        return None
    ends = [np.abs(x.lo), np.abs(x.hi)]
    lo = np.where(has(x, 0), 0, least(ends))
    if x.integral:
        return fitted(dtype, lo, most(ends), x.dead, not attrs.get("checked"))
    return float_box(dtype, lo, most(ends), False, boxes)


@rule("square", "squared_difference")
def _square(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
    if attrs["_op"] == "squared_difference":
        difference = _add(boxes, {**attrs, "_op": "subtract"}, dtype)
        return None if difference is None else _square([difference], {"_op": "square"}, dtype)
    x = boxes[0]
    if x.dtype != dtype or dtype == "bool":
        return None
    ends = [x.lo * x.lo, x.hi * x.hi]
    lo = np.where(has(x, 0), 0, least(ends))
    return fitted(dtype, lo, most(ends), x.dead) if x.integral else float_box(dtype, lo, most(ends), False, boxes)


@rule("maximum", "minimum")
def _extremum(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
    sides = in_dtype(boxes, dtype)
    if sides is None:
        return None
    x, y = sides
    pick: Any = np.maximum if attrs["_op"] == "maximum" else np.minimum
    if x.integral:
        return box(dtype, pick(x.lo, y.lo), pick(x.hi, y.hi), NO, x.dead | y.dead)
    return float_box(dtype, pick(x.lo, y.lo), pick(x.hi, y.hi), False, sides)


@rule("clip")
def _clip(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
    low = _extremum(boxes[:2], {"_op": "maximum"}, dtype)
    return None if low is None else _extremum([low, boxes[2]], {"_op": "minimum"}, dtype)


@rule("cast")
def _cast(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
    return converted(boxes[0], dtype)


@rule("floor_divide", "remainder")
def _whole(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
    """Quotients and remainders of integers by a positive constant; of floats, only the range of the remainder."""
    sides = in_dtype(boxes, dtype)
    if sides is None or dtype == "bool":
        return None
    x, y = sides
    fixed = bool((y.lo == y.hi).all() and (y.lo > 0).all()) and not y.nan.any()
    if not fixed:
        return None
    if not x.integral:
        if attrs["_op"] != "remainder":
            return None
        shape = np.broadcast_shapes(np.shape(x.lo), np.shape(y.lo))
        return float_box(dtype, np.zeros(shape, dtype), np.broadcast_to(y.hi, shape), unbounded(x), sides)
    low, high = x.lo // y.lo, x.hi // y.lo
    if attrs["_op"] == "floor_divide":
        return box(dtype, low, high, NO, x.dead | y.dead)
    same = np.asarray(low == high, bool)
    lo, hi = np.where(same, x.lo - low * y.lo, 0), np.where(same, x.hi - low * y.lo, y.lo - 1)
    return box(dtype, lo, hi, NO, x.dead | y.dead)
