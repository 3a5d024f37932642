"""Intervals: lower and upper bounds of values in their own dtype, for many pieces at once, and a flag for NaN.

The rounding of IEEE 754 is monotone, so the bounds of a correctly rounded operation result from the same operation on
the bounds, in the same dtype: outward rounding is not needed where the executor rounds correctly. Bounds of integers
are Python integers, which do not overflow.

Source: IEEE 754-2019, https://doi.org/10.1109/IEEESTD.2019.8766229, sections 4.3 and 5.4; interval arithmetic as in
IEEE 1788-2015, https://doi.org/10.1109/IEEESTD.2015.7140721.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

#: dtypes that have bounds
FLOATS = ("float16", "float32", "float64")
INTEGERS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


@functools.cache
def int_range(dtype: str) -> tuple[int, int]:
    """The smallest and largest value of an integer dtype, as Python ints; 0 and 1 for bool."""
    if dtype == "bool":
        return 0, 1
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """Bounds of a value in P pieces; for an array, of all its elements.

    ``lo`` and ``hi`` have shape (P,) or (1,): floats of the dtype, or Python ints. ``lo`` > ``hi`` means that the value
    is not a number: only NaN, if ``nan``. A piece with ``dead`` has no value: it is on a branch that is certainly not
    taken.
    """

    dtype: str
    lo: np.ndarray
    hi: np.ndarray
    nan: np.ndarray
    dead: np.ndarray

    @property
    def integral(self) -> bool:
        return self.dtype not in FLOATS

    @property
    def pieces(self) -> int:
        return max(len(self.lo), len(self.dead))


NO = np.zeros(1, bool)


def box(dtype: str, lo: Any, hi: Any, nan: Any = NO, dead: Any = NO) -> Interval:
    return Interval(dtype, lo, hi, np.asarray(nan, bool).reshape(-1), np.asarray(dead, bool).reshape(-1))


def bounds(dtype: str, lo: Any, hi: Any, nan: bool = False) -> Interval:
    """A box of one piece from two numbers."""
    kind: Any = dtype if dtype in FLOATS else object
    low, high = np.empty(1, kind), np.empty(1, kind)
    low[0], high[0] = lo, hi
    return box(dtype, low, high, nan)


def top(dtype: str, dead: Any = NO) -> Interval | None:
    """The box of all values of a dtype; None for a dtype without bounds."""
    if dtype in FLOATS:
        out = bounds(dtype, -np.inf, np.inf, True)
    elif dtype in INTEGERS:
        out = bounds(dtype, *int_range(dtype))
    else:
        return None
    return box(dtype, out.lo, out.hi, out.nan, dead)


def box_of(value: Any) -> Interval | None:
    """The tightest box that holds every element of an array; None for dtypes without bounds, and for empty arrays."""
    array = np.asarray(value)
    name = array.dtype.name
    if array.size == 0 or name not in FLOATS and name not in INTEGERS:
        return None
    if name in INTEGERS:
        return bounds(name, int(array.min()), int(array.max()))
    numbers = array[~np.isnan(array)]
    missing = numbers.size < array.size
    if numbers.size == 0:
        return bounds(name, np.inf, -np.inf, True)
    return bounds(name, numbers.min(), numbers.max(), missing)


def spread(x: Interval, pieces: int) -> Interval:
    """The same box with every part of shape (P,)."""
    wide = [np.broadcast_to(a, (pieces,)) for a in (x.lo, x.hi, x.nan, x.dead)]
    return Interval(x.dtype, *wide)


def hull(x: Interval, y: Interval) -> Interval:
    """The smallest box that holds x and y; a dead side adds nothing."""
    n = max(x.pieces, y.pieces)
    a, b = spread(x, n), spread(y, n)
    lo = np.where(a.dead, b.lo, np.where(b.dead, a.lo, np.minimum(a.lo, b.lo)))
    hi = np.where(a.dead, b.hi, np.where(b.dead, a.hi, np.maximum(a.hi, b.hi)))
    return Interval(x.dtype, lo, hi, (a.nan & ~a.dead) | (b.nan & ~b.dead), a.dead & b.dead)


def joined(x: Interval) -> Interval | None:
    """One piece that holds all pieces that are not dead; None if all are dead."""
    a = spread(x, x.pieces)
    alive = ~a.dead
    if not alive.any():
        return None
    return box(x.dtype, a.lo[alive].min(keepdims=True), a.hi[alive].max(keepdims=True), a.nan[alive].any())


def inside(x: Interval, y: Interval) -> bool:
    """True if every piece of x lies in the one piece of y."""
    a = spread(x, x.pieces)
    empty = a.lo > a.hi
    held = (empty | ((a.lo >= y.lo[0]) & (a.hi <= y.hi[0]))) & (~a.nan | bool(y.nan[0]))
    return bool((held | a.dead).all())


def fitted(dtype: str, lo: np.ndarray, hi: np.ndarray, dead: np.ndarray, wraps: bool = True) -> Interval:
    """Integer bounds brought back into the dtype: shifted if both wrap equally often, else the whole range.

    Without ``wraps`` the node fails for a number that does not fit, so that only numbers that fit remain.
    """
    low, high = int_range(dtype)
    span = high - low + 1
    if dtype == "bool":
        return box(dtype, lo, hi, NO, dead)
    if not wraps:
        return box(dtype, np.maximum(np.minimum(lo, high), low), np.minimum(np.maximum(hi, low), high), NO, dead)
    turns, turns_high = (lo - low) // span, (hi - low) // span
    same = np.asarray(turns == turns_high, bool)
    return box(dtype, np.where(same, lo - turns * span, low), np.where(same, hi - turns * span, high), NO, dead)


def converted(x: Interval, dtype: str) -> Interval | None:
    """A box in another dtype, as NumPy converts: floats round to nearest, integers wrap, bools are != 0."""
    if dtype == x.dtype:
        return x
    if dtype == "bool":
        return truth(x)
    if x.integral and dtype in INTEGERS:
        return fitted(dtype, x.lo, x.hi, x.dead)
    if x.integral and dtype in FLOATS:
        source: Any = x.dtype if x.dtype != "bool" else "uint8"
        return box(dtype, x.lo.astype(source).astype(dtype), x.hi.astype(source).astype(dtype), NO, x.dead)
    if dtype in FLOATS:
        return box(dtype, x.lo.astype(dtype), x.hi.astype(dtype), x.nan, x.dead)
    if dtype in INTEGERS:
        return _truncated(x, dtype)
    return None


def _truncated(x: Interval, dtype: str) -> Interval:
    """Floats to integers: truncated towards zero; any integer if a value may not fit, which depends on the machine."""
    low, high = int_range(dtype)
    a = spread(x, x.pieces)
    lo, hi = np.empty(len(a.lo), object), np.empty(len(a.lo), object)
    for k, (p, q, bad) in enumerate(zip(a.lo.tolist(), a.hi.tolist(), a.nan.tolist(), strict=True)):
        fits = not bad and p <= q and abs(p) != np.inf and abs(q) != np.inf and int(p) >= low and int(q) <= high
        lo[k], hi[k] = (int(p), int(q)) if fits else (low, high)
    return box(dtype, lo, hi, NO, x.dead)


def truth(x: Interval) -> Interval:
    """x != 0 as bools; NaN counts as true."""
    zero = (x.lo <= 0) & (x.hi >= 0)
    only = (x.lo == 0) & (x.hi == 0) & ~x.nan
    return box("bool", _ints(~zero), _ints(~only), NO, x.dead)


def _ints(flags: Any) -> np.ndarray:
    return np.asarray(flags, bool).astype(int).astype(object)


def logical(sure: Any, possible: Any, dead: Any = NO) -> Interval:
    """A bool: certainly true where ``sure``, certainly false where not ``possible``."""
    return box("bool", _ints(sure), _ints(possible), NO, dead)
