"""How far two blocks of firings are apart: per firing the largest absolute, relative and ulp distance, and where.

Two items agree if they are equal, both NaN, or within one of the tolerances::

    |a - b| <= atol + rtol * max(|a|, |b|)        or        ulp distance <= ulp

The rule is symmetric, so that ``diff(a, b)`` and ``diff(b, a)`` find the same. NaN against a number, an infinity
against anything else, and true against false are never within a tolerance. Distances are taken in float64 (long double
for 64-bit integers against floats; two integers exactly); the ulp distance counts the representable numbers between the
two, in the coarser of both dtypes, with -0.0 and 0.0 as one number.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError

#: items of both sides that are compared at once
BLOCK_ITEMS = 1 << 17
#: blocks of so many bytes are first compared as they are: most values of a large graph agree, and are small
_SMALL = 4096
#: bits of the mantissa of real dtypes, coarsest first where they are compared
_MANTISSA = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}


class Kind(Enum):
    """What a difference is; the value is the sentence for it."""

    VALUE = "The numbers differ by more than the tolerance."
    NAN = "One side is NaN where the other is not."
    INF = "One side is infinite where the other is not."
    SHAPE = "The shapes differ."
    DTYPE = "The dtypes differ."
    OTHER = "The values are of different kinds, or differ as texts or objects."
    BRANCH = "A branch or a loop decides otherwise."
    ONLY_A = "It fired in a only: in b its branch was not taken."
    ONLY_B = "It fired in b only: in a its branch was not taken."
    LENGTH = "A loop runs through another number of iterations."


_KINDS = tuple(Kind)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """``ulp`` None: no ulp distance but 0 is allowed. ``dtypes``: another dtype is a difference by itself."""

    rtol: float = 0.0
    atol: float = 0.0
    ulp: int | None = None
    dtypes: bool = False

    def __post_init__(self) -> None:
        for name in ("rtol", "atol", "ulp"):
            given = getattr(self, name)
            if given is None and name == "ulp":
                continue
            is_number = isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool)
            if not is_number or not given >= 0:
                raise WorkbenchError(
                    f"The tolerance {name} is a number of 0 or more, {given!r} came.", slug="bad-tolerance",
                    fix="write something like wb.diff(a, b, rtol=1e-6).",
                )  # fmt: skip

    def __str__(self) -> str:
        parts = [f"rtol {self.rtol:g}", f"atol {self.atol:g}"]
        return ", ".join(parts + ([] if self.ulp is None else [f"ulp {self.ulp}"]))


@dataclass(slots=True)
class Measured:
    """Of n pairs of firings: those beyond the tolerance, the distances of each (NaN where there is no such number), and
    the flat index of its worst item, -1 without one."""

    differs: np.ndarray
    kind: np.ndarray
    absolute: np.ndarray
    relative: np.ndarray
    ulp: np.ndarray
    worst: np.ndarray

    @classmethod
    def equal(cls, n: int) -> Measured:
        zeros = np.zeros(n)
        return cls(np.zeros(n, bool), np.full(n, -1, np.int8), zeros, zeros.copy(), zeros.copy(), np.full(n, -1))

    def put(self, at: Any, other: Measured) -> None:
        for name in self.__slots__:
            getattr(self, name)[at] = getattr(other, name)


def kind_of(code: int) -> Kind:
    return _KINDS[code]


def code_of(kind: Kind) -> int:
    return _KINDS.index(kind)


def measure(a: Any, b: Any, tolerance: Tolerance) -> Measured:
    """Compare the firings of two blocks of the same length: arrays (n, ...), or lists of single values."""
    n = len(a)
    if _stacked(a) and _stacked(b):
        return _same_shape(a, b, tolerance) if a.shape == b.shape else _each(n, Kind.SHAPE)
    found, start = Measured.equal(n), 0
    while start < n:  # runs of firings that are alike are measured together
        stop, like = start + 1, _like(a[start], b[start])
        while like is not None and stop < n and stop - start < BLOCK_ITEMS and _like(a[stop], b[stop]) == like:
            stop += 1
        part = slice(start, stop)
        if like is None:
            found.put(part, _single(a[start], b[start], tolerance))
        else:
            found.put(part, _same_shape(np.stack(list(a[part])), np.stack(list(b[part])), tolerance))
        start = stop
    return found


def _stacked(block: Any) -> bool:
    return isinstance(block, np.ndarray) and block.dtype != object


def _like(a: Any, b: Any) -> Any:
    """What two values have in common with others that can be stacked with them; None if they cannot be."""
    if not (isinstance(a, np.ndarray | np.generic) and isinstance(b, np.ndarray | np.generic)):
        return None
    if a.shape != b.shape or a.dtype == object or b.dtype == object:
        return None
    return a.shape, a.dtype, b.dtype


def _each(n: int, kind: Kind) -> Measured:
    found = Measured.equal(n)
    found.differs[:], found.kind[:] = True, code_of(kind)
    for column in (found.absolute, found.relative, found.ulp):
        column[:] = np.nan
    return found


def _single(a: Any, b: Any, tolerance: Tolerance) -> Measured:
    """Values that are no arrays of one shape."""
    if isinstance(a, np.ndarray | np.generic) and isinstance(b, np.ndarray | np.generic):
        if a.shape != b.shape:
            return _each(1, Kind.SHAPE)
        return _same_shape(np.asarray(a)[None], np.asarray(b)[None], tolerance)
    if _is_sequence(a) and _is_sequence(b):  # the first of their elements that differs
        if len(a) != len(b):
            return _each(1, Kind.SHAPE)
        worst = Measured.equal(1)
        for one, other in zip(a, b, strict=True):
            found = _single(one, other, tolerance)
            if found.differs[0] and not worst.differs[0]:
                worst = found
        return worst
    same = a is b or type(a) is type(b) and isinstance(a, str | bytes | bool | int | float) and a == b
    return Measured.equal(1) if same else _each(1, Kind.OTHER)


def _is_sequence(value: Any) -> bool:
    """Lists, and what stands for them in graphs."""
    return not isinstance(value, np.ndarray | np.generic | str | bytes) and (
        hasattr(value, "__len__") and hasattr(value, "__iter__")
    )


def _same_shape(a: np.ndarray, b: np.ndarray, tolerance: Tolerance) -> Measured:
    n = len(a)
    found = Measured.equal(n)
    if a.nbytes <= _SMALL and a.dtype == b.dtype and a.tobytes() == b.tobytes():
        return found
    if tolerance.dtypes and a.dtype != b.dtype:
        found = _each(n, Kind.DTYPE)
        found.absolute[:] = found.relative[:] = found.ulp[:] = 0.0
    if n == 0 or a.size == 0:
        return found
    a, b = a.reshape(n, -1), b.reshape(n, -1)
    if not (_is_number(a.dtype) and _is_number(b.dtype)):
        unequal = np.asarray(a != b, bool).reshape(n, -1) if a.dtype.kind == b.dtype.kind else np.ones(a.shape, bool)
        found.put(unequal.any(axis=1), _texts(unequal[unequal.any(axis=1)]))
        return found
    wide_a, wide_b = widened(a, b)
    with np.errstate(invalid="ignore"):
        unequal = wide_a != wide_b
        if wide_a.dtype.kind in "fc":
            unequal &= ~(np.isnan(wide_a) & np.isnan(wide_b))
    rows = np.flatnonzero(unequal.any(axis=1))
    if not len(rows):
        return found
    everything = len(rows) == n
    part = slice(None) if everything else rows
    measured = _numbers(a[part], b[part], wide_a[part], wide_b[part], tolerance)
    if tolerance.dtypes and a.dtype != b.dtype:
        measured.kind[~measured.differs] = code_of(Kind.DTYPE)
        measured.differs[:] = True
    found.put(part, measured)
    return found


def _texts(unequal: np.ndarray) -> Measured:
    found = _each(len(unequal), Kind.OTHER)
    found.worst[:] = unequal.argmax(axis=1) if len(unequal) else found.worst
    return found


def _is_number(dtype: np.dtype) -> bool:
    return dtype.kind in "biufc" or dtype.isbuiltin == 2  # bfloat16 and its kin


def widened(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both in a dtype in which they can be compared exactly."""
    one, other = _plain(a), _plain(b)
    if one.dtype == other.dtype or {one.dtype.kind, other.dtype.kind} <= set("fc"):
        return one, other
    if {one.dtype.kind, other.dtype.kind} <= set("biu"):
        mixed = {one.dtype, other.dtype}
        if np.dtype(np.uint64) in mixed and any(d.kind == "i" for d in mixed):
            return one.astype(np.longdouble), other.astype(np.longdouble)
        return one.astype(np.result_type(one, other)), other.astype(np.result_type(one, other))
    wide = np.clongdouble if "c" in (one.dtype.kind, other.dtype.kind) else np.longdouble
    return one.astype(wide), other.astype(wide)


def _plain(a: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) if a.dtype.isbuiltin == 2 else a


def _numbers(
    a: np.ndarray, b: np.ndarray, wide_a: np.ndarray, wide_b: np.ndarray, tolerance: Tolerance
) -> Measured:  # fmt: skip
    n, found = len(a), Measured.equal(len(a))
    with np.errstate(all="ignore"):
        absolute = _distance(wide_a, wide_b)
        size = np.maximum(_magnitude(wide_a), _magnitude(wide_b))
        relative = np.where(absolute == 0, 0.0, absolute / size)
        steps = ulps(a, b)
        within = (absolute <= tolerance.atol + tolerance.rtol * size) | (wide_a == wide_b)
        if tolerance.ulp is not None and steps is not None:
            within |= steps <= tolerance.ulp
        if wide_a.dtype.kind == wide_b.dtype.kind == "b":
            within = wide_a == wide_b  # there is nothing between true and false
    nan = np.zeros(absolute.shape, bool)
    infinite = nan
    if wide_a.dtype.kind in "fc" or wide_b.dtype.kind in "fc":
        nan_a, nan_b = np.isnan(wide_a), np.isnan(wide_b)
        nan = nan_a != nan_b
        infinite = (np.isinf(wide_a) | np.isinf(wide_b)) & (wide_a != wide_b) & ~nan
        within = (within | (nan_a & nan_b)) & ~nan & ~infinite
        odd = nan_a | nan_b | infinite | (np.isinf(wide_a) & np.isinf(wide_b))
        absolute, relative = np.where(odd, 0.0, absolute), np.where(odd, 0.0, relative)
        if steps is not None:
            steps = np.where(odd, 0, steps)
    found.differs = ~within.all(axis=1)
    found.absolute = absolute.max(axis=1).astype(np.float64)
    found.relative = relative.max(axis=1).astype(np.float64)
    found.ulp = np.full(n, np.nan) if steps is None else steps.max(axis=1).astype(np.float64)
    # worst: what breaks the pattern of NaN and infinities first, then what is furthest beyond the tolerance
    rank = np.where(within, -1.0, absolute) if found.differs.any() else absolute
    has_nan, has_infinite = nan.any(axis=1), infinite.any(axis=1)
    found.worst = rank.argmax(axis=1)
    for rows, pattern in ((has_infinite, infinite), (has_nan, nan)):
        if rows.any():
            found.worst = np.where(rows, pattern.argmax(axis=1), found.worst)
    kinds = np.where(has_nan, code_of(Kind.NAN), np.where(has_infinite, code_of(Kind.INF), 0))
    found.kind = np.where(found.differs, kinds, -1).astype(np.int8)
    return found


def _distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind == "b":
        return (a != b).astype(np.float64)
    if a.dtype.kind in "iu" and a.dtype == b.dtype:  # exact, also where the difference has no room in the dtype
        low, high = np.minimum(a, b).astype("i8" if a.dtype.kind == "i" else "u8"), np.maximum(a, b)
        return (high.astype(low.dtype).view(np.uint64) - low.view(np.uint64)).astype(np.float64)
    if a.dtype.kind == "f" and a.dtype.itemsize < 8 or b.dtype.kind == "f" and b.dtype.itemsize < 8:
        return np.abs(_double(a) - _double(b))
    return np.abs(a - b)


def _double(a: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) if a.dtype.kind == "f" and a.dtype.itemsize < 8 else a


def _magnitude(a: np.ndarray) -> np.ndarray:
    return np.abs(a.astype(np.float64) if a.dtype.kind in "biu" else _double(a))


def ulps(a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """Representable numbers from each item of one to that of the other, as float64; None for what are no floats.

    Of two dtypes the coarser counts; of complex numbers the larger distance of both parts.
    """
    if "c" in (a.dtype.kind, b.dtype.kind):
        parts = [ulps(np.ascontiguousarray(np.real(a)), np.ascontiguousarray(np.real(b)))]
        parts.append(ulps(np.ascontiguousarray(np.imag(a)), np.ascontiguousarray(np.imag(b))))
        return None if parts[0] is None or parts[1] is None else np.maximum(parts[0], parts[1])
    bits = [_MANTISSA.get(d.name) for d in (a.dtype, b.dtype)]
    if bits[0] is None or bits[1] is None:
        return None
    coarse = a.dtype if bits[0] <= bits[1] else b.dtype
    one, other = _ordered(a.astype(coarse)), _ordered(b.astype(coarse))
    return (np.maximum(one, other).view(np.uint64) - np.minimum(one, other).view(np.uint64)).astype(np.float64)


def _ordered(a: np.ndarray) -> np.ndarray:
    """Floats as int64 in the same order, neighbours one apart."""
    bits = np.ascontiguousarray(a).view(f"i{a.dtype.itemsize}")
    lowest = np.iinfo(bits.dtype).min
    return np.where(bits < 0, np.subtract(lowest, bits, dtype=bits.dtype), bits).astype(np.int64)
