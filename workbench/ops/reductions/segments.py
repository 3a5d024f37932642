"""Reductions over groups of rows: each index of the first axis, or in unsorted segments of the first axes, has a
segment number.

Sorted segments are numbered from 0 in ascending order; the last number determines their count, and a missing number
gives 0 (1 for the product). Unsorted segments may be in any order, with their count as an input; negative numbers are
ignored; a segment without rows gives 0, 1, or the smallest or greatest number of the dtype. Source:
https://www.tensorflow.org/api_docs/python/tf/math#Segmentation.
"""

from __future__ import annotations

import numpy as np

from workbench.ir.types import TensorType, dtype_name
from workbench.ops.define import REQUIRED, define
from workbench.ops.rules import (
    WRONG_ATTR,
    WRONG_DTYPE,
    WRONG_SHAPE,
    RuleError,
    highest,
    kind_of,
    lowest,
    need_kinds,
    need_numbers,
    need_rank,
    working,
)

FAMILY = "segments"
TF = "https://www.tensorflow.org/api_docs/python/tf/"
UFUNCS = {"sum": np.add, "mean": np.add, "sqrt_n": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}
ATTRS = {"reduction": REQUIRED}


def _finite(number: np.ndarray) -> np.ndarray:
    """The start value as in TensorFlow, which uses the largest finite number in place of infinity."""
    if number.dtype.kind in "biu" or np.isfinite(number):
        return number
    tiny = np.nextafter(number, np.zeros((), number.dtype)) if dtype_name(number.dtype) != "bfloat16" else None
    return np.asarray(tiny if tiny is not None else np.copysign(3.3895313892515355e38, number), number.dtype)


def _start(reduction: str, dtype: np.dtype, finite: bool) -> np.ndarray:
    """The result of reducing no rows."""
    if reduction not in ("max", "min"):
        return np.asarray(1 if reduction == "prod" else 0, dtype)
    limit = lowest(dtype) if reduction == "max" else highest(dtype)
    return _finite(limit) if finite else limit


def _check(x: TensorType, attrs) -> None:
    reduction = attrs["reduction"]
    if reduction not in UFUNCS:
        raise RuleError(WRONG_ATTR, f"has no reduction {reduction!r}.", f"Give one of {', '.join(UFUNCS)}.")
    need_numbers([x])
    if kind_of(x.dtype) == "b" or (kind_of(x.dtype) == "c" and reduction in ("max", "min")):
        raise RuleError(WRONG_DTYPE, f"finds no {reduction} of {x}.", "Cast the input first.")


def _rest(x: TensorType, count: int | None, axes: int | None) -> TensorType:
    """Type of the result: the first ``axes`` axes of x become one axis of size ``count``."""
    if x.shape is None or axes is None:
        return TensorType(x.dtype, None)
    if not 0 < axes <= len(x.shape):
        raise RuleError(WRONG_SHAPE, f"takes a tensor with a segment for each row, but got {x}.", "Add an axis.")
    return TensorType(x.dtype, (count, *x.shape[axes:]))


def _same_rows(x: TensorType, ids: TensorType) -> None:
    if x.shape is None or ids.shape is None:
        return
    pairs = zip(x.shape, ids.shape, strict=False)
    if len(ids.shape) > len(x.shape) or any(None not in pair and pair[0] != pair[1] for pair in pairs):
        raise RuleError(WRONG_SHAPE, f"takes a segment for each row of {x}, but got {ids}.", "Number each row.")


def _sorted_count(ids: np.ndarray) -> int:
    if ids.size and (np.any(np.diff(ids) < 0) or ids[0] < 0):
        raise RuleError(WRONG_ATTR, "takes segment numbers in ascending order, from 0 on.", "Sort the rows first.")
    return int(ids[-1]) + 1 if ids.size else 0


def _segment_type(types, attrs, values):
    x, ids = types
    _check(x, attrs)
    need_kinds(ids, "iu", "segments", "integers")
    need_rank(ids, 1, "segments")
    _same_rows(x, ids)
    return _rest(x, None if values[1] is None else _sorted_count(values[1]), 1)


def _reduce(x: np.ndarray, ids: np.ndarray, count: int, reduction: str, start: np.ndarray) -> np.ndarray:
    work = working(x.dtype)
    if work.kind in "iu" and reduction in ("mean", "sqrt_n"):  # the sum may not fit
        work = np.dtype(f"{work.kind}8")
    out = np.full((count, *x.shape[1:]), start, work)
    UFUNCS[reduction].at(out, ids, x.astype(work, copy=False))
    if reduction in ("mean", "sqrt_n"):
        n = np.maximum(np.bincount(ids, minlength=count), 1).reshape(-1, *(1,) * (x.ndim - 1))
        if work.kind in "iu":  # division of integers as in C
            out = np.trunc(out / n)
        else:
            out = out / (np.sqrt(n) if reduction == "sqrt_n" else n).astype(work.type(0).real.dtype)
    return out.astype(x.dtype, copy=False)


def _segment(arrays, attrs):
    x, ids = arrays
    reduction, count = attrs["reduction"], _sorted_count(ids)
    out = _reduce(x, ids, count, reduction, _start(reduction, x.dtype, False))
    if reduction in ("max", "min"):
        out[np.bincount(ids, minlength=count) == 0] = 0
    return out


def _unsorted_type(types, attrs, values):
    x, ids, num = types
    _check(x, attrs)
    need_kinds(ids, "iu", "segments", "integers")
    need_kinds(num, "iu", "num_segments", "an integer")
    need_rank(num, 0, "num_segments")
    _same_rows(x, ids)
    count = None if values[2] is None else int(values[2])
    if count is not None and count < 0:
        raise RuleError(WRONG_ATTR, f"cannot make {count} segments.", "Give a number from 0 on.")
    if ids.shape == ():
        return TensorType(x.dtype, None if x.shape is None else (count, *x.shape))
    return _rest(x, count, ids.rank)


def _unsorted(arrays, attrs):
    x, ids, count = arrays[0], arrays[1], int(arrays[2])
    rows = x.reshape(-1 if x.size else ids.size, *x.shape[ids.ndim :])
    flat = ids.reshape(-1)
    if flat.size and flat.max() >= count:
        raise RuleError(WRONG_ATTR, f"has no segment {flat.max()} of {count}.", "Raise num_segments.")
    used = flat >= 0
    reduction = attrs["reduction"]
    return _reduce(rows[used], flat[used], count, reduction, _start(reduction, x.dtype, True))


def _sparse_type(types, attrs, values):
    x, indices, ids = types[:3]
    _check(x, attrs)
    for numbers, what in ((indices, "indices"), (ids, "segments")):
        need_kinds(numbers, "iu", what, "integers")
        need_rank(numbers, 1, what)
    _same_rows(indices, ids)
    if len(types) > 3:
        need_kinds(types[3], "iu", "num_segments", "an integer")
        return _rest(x, None if values[3] is None else int(values[3].reshape(())), 1)
    return _rest(x, None if values[2] is None else _sorted_count(values[2]), 1)


def _sparse(arrays, attrs):
    x, indices, ids = arrays[:3]
    count = _sorted_count(ids)
    if len(arrays) > 3:
        wanted = int(arrays[3].reshape(()))
        if wanted < count:
            raise RuleError(WRONG_ATTR, f"has no segment {count - 1} of {wanted}.", "Raise num_segments.")
        count = wanted
    return _reduce(x[indices], ids, count, attrs["reduction"], _start(attrs["reduction"], x.dtype, True))


define(
    "segment_reduce",
    "x segments",
    _segment_type,
    _segment,
    "The rows of x with one segment number reduced to one; `reduction` is sum, mean, sqrt_n, prod, max or min.",
    FAMILY,
    attrs=ATTRS,
    source=f"{TF}math/segment_sum",
)
define(
    "unsorted_segment_reduce",
    "x segments num_segments",
    _unsorted_type,
    _unsorted,
    "The rows of x with one segment number, in any order, reduced to one.",
    FAMILY,
    attrs=ATTRS,
    source=f"{TF}math/unsorted_segment_sum",
)
define(
    "sparse_segment_reduce",
    "x indices segments num_segments?",
    _sparse_type,
    _sparse,
    "The rows of x at `indices` reduced by segment; `reduction` is sum, mean or sqrt_n.",
    FAMILY,
    attrs=ATTRS,
    source=f"{TF}sparse/segment_sum",
)
