"""Distances between items of two arrays: absolute ones, and in representable numbers.

Distances are taken in float64 (long double for 64-bit integers against floats; two integers exactly); the ulp distance
counts the representable numbers between the two, in the coarser of both dtypes, with -0.0 and 0.0 as one number.
"""

from __future__ import annotations

import numpy as np

#: mantissa bits of real dtypes, coarsest first for comparisons
_MANTISSA = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}


def widened(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both arrays in a dtype in which they can be compared exactly."""
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


def distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind == "b":
        return (a != b).astype(np.float64)
    if a.dtype.kind in "iu" and a.dtype == b.dtype:  # exact, even if the difference overflows the dtype
        low, high = np.minimum(a, b).astype("i8" if a.dtype.kind == "i" else "u8"), np.maximum(a, b)
        return (high.astype(low.dtype).view(np.uint64) - low.view(np.uint64)).astype(np.float64)
    if a.dtype.kind == "f" and a.dtype.itemsize < 8 or b.dtype.kind == "f" and b.dtype.itemsize < 8:
        return np.abs(_double(a) - _double(b))
    return np.abs(a - b)


def _double(a: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) if a.dtype.kind == "f" and a.dtype.itemsize < 8 else a


def magnitude(a: np.ndarray) -> np.ndarray:
    return np.abs(a.astype(np.float64) if a.dtype.kind in "biu" else _double(a))


def ulps(a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """Number of representable numbers from each item of one to that of the other, as float64; None unless both are
    floats.

    The coarser of both dtypes counts, and for complex numbers the larger distance of both parts.
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
    """Floats as int64 that sort in the same order, with neighbours one apart."""
    bits = np.ascontiguousarray(a).view(f"i{a.dtype.itemsize}")
    lowest = np.iinfo(bits.dtype).min
    return np.where(bits < 0, np.subtract(lowest, bits, dtype=bits.dtype), bits).astype(np.int64)
