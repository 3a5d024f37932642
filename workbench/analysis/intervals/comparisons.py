"""Intervals of comparisons, connectives and choices: certainly true, certainly false, or either."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.analysis.intervals.interval import FLOATS, NO, Interval, box, fitted, hull, logical, truth
from workbench.analysis.intervals.table import RULES, Attrs, dead_of, empty, in_dtype, rule


@rule("where")
def _where(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
    choice, sides = boxes[0], in_dtype(boxes[1:], dtype)
    if sides is None:
        return None
    x, y = sides
    never, always = np.asarray(choice.hi == 0, bool), np.asarray(choice.lo == 1, bool)
    out = hull(box(dtype, x.lo, x.hi, x.nan, never), box(dtype, y.lo, y.hi, y.nan, always))
    return box(dtype, out.lo, out.hi, out.nan, dead_of(boxes))


@rule("logical_not", "invert")
def _not(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
    if attrs["_op"] == "invert" and boxes[0].dtype != "bool":
        x = boxes[0]
        return fitted(dtype, -1 - x.hi, -1 - x.lo, x.dead) if x.integral else None
    x = truth(boxes[0])
    return box("bool", 1 - x.hi, 1 - x.lo, NO, x.dead)


@rule("logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor")
def _connect(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
    op = attrs["_op"]
    if dtype != "bool":
        x, y = boxes
        if op == "bitwise_and" and x.integral and y.integral and bool((x.lo >= 0).all() and (y.lo >= 0).all()):
            return box(dtype, 0 * x.lo + 0 * y.lo, np.minimum(x.hi, y.hi), NO, x.dead | y.dead)
        return None
    x, y = truth(boxes[0]), truth(boxes[1])
    if op.endswith("xor"):
        known = (x.lo == x.hi) & (y.lo == y.hi)
        return logical(known & (x.lo != y.lo), ~np.asarray(known, bool) | (x.lo != y.lo), x.dead | y.dead)
    pick: Any = np.minimum if op.endswith("and") else np.maximum
    return box("bool", pick(x.lo, y.lo), pick(x.hi, y.hi), NO, x.dead | y.dead)


@rule("isnan", "isinf", "isfinite")
def _special(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
    x, op = boxes[0], attrs["_op"]
    void = x.lo > x.hi
    infinite = ~void & ((x.lo == -np.inf) | (x.hi == np.inf))
    finite = ~void & ~((x.lo == x.hi) & infinite)
    always = ~void & (x.lo == x.hi) & infinite
    if op == "isnan":
        return logical(void & x.nan, x.nan | void, x.dead)
    if op == "isinf":
        return logical(always & ~x.nan, infinite, x.dead)
    return logical(~void & ~infinite & ~x.nan, finite, x.dead)


COMPARED = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")


@rule(*COMPARED)
def _compare(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
    """Compare as NumPy does: two integers exactly, and everything else in the common dtype."""
    op, (x, y) = attrs["_op"], boxes
    if not (x.integral and y.integral):
        if attrs.get("checked") and x.integral != y.integral:
            return None  # Python compares an int with a float exactly
        sides = in_dtype(boxes, np.result_type(x.dtype, y.dtype).name)
        if sides is None:
            return None
        x, y = sides
    if op in ("greater", "greater_equal"):
        x, y, op = y, x, {"greater": "less", "greater_equal": "less_equal"}[op]
    void = empty(x, y)
    nan, dead = x.nan | y.nan, x.dead | y.dead
    if op == "less":
        sure, possible = x.hi < y.lo, x.lo < y.hi
    elif op == "less_equal":
        sure, possible = x.hi <= y.lo, x.lo <= y.hi
    else:
        sure = (x.lo == x.hi) & (y.lo == y.hi) & (x.lo == y.lo)
        possible = (x.lo <= y.hi) & (y.lo <= x.hi)
    sure, possible = sure & ~nan & ~np.asarray(void, bool), possible & ~np.asarray(void, bool)
    if op == "not_equal":
        return logical(~np.asarray(possible, bool), ~np.asarray(sure, bool), dead)
    return logical(sure, possible, dead)


@rule("approximate_equal")
def _near(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
    """Bounds of three steps, each rounded once: difference, absolute value, comparison with the tolerance."""
    common = np.result_type(*(b.dtype for b in boxes)).name
    if common not in FLOATS:
        return None
    apart = RULES["subtract"](boxes, {"_op": "subtract"}, common)
    size = None if apart is None else RULES["abs"]([apart], {"_op": "abs"}, common)
    tolerance = np.full(1, attrs.get("tolerance", 1e-5), common)
    return size and _compare([size, box(common, tolerance, tolerance)], {"_op": "less_equal"}, dtype)
