"""Counting and ordering: counts of numbers, the n-th smallest, permutations, differences of lists."""

from __future__ import annotations

import numpy as np

from workbench.ir.types import TensorType, numpy_dtype
from workbench.ops.define import REQUIRED, define
from workbench.ops.rules import (
    WRONG_ATTR,
    WRONG_DTYPE,
    WRONG_SHAPE,
    RuleError,
    attr_dtype,
    count_of,
    need_kinds,
    need_numbers,
    need_rank,
    promote,
    working,
)

FAMILY = "counting"
TF = "https://www.tensorflow.org/api_docs/python/tf/"


def _bincount_type(types, attrs, values):
    x = types[0]
    need_kinds(x, "iu", "numbers", "integers")
    need_kinds(types[1], "iu", "size", "an integer")
    dtype = attr_dtype({"dtype": "int32", **attrs})
    if len(types) > 2 and types[2].shape is not None and 0 not in types[2].shape:
        need_kinds(types[2], "biuf", "weights", "real numbers")
        if not TensorType(types[2].dtype, x.shape).accepts(types[2]):
            raise RuleError(WRONG_SHAPE, f"takes a weight for each number of {x}, but got {types[2]}.", "Give as many.")
    size = None if values[1] is None else int(values[1].reshape(-1)[0])
    if size is not None and size < 0:
        raise RuleError(WRONG_ATTR, f"cannot count in {size} bins.", "Give a number from 0 on.")
    if not attrs.get("rows", False):
        return TensorType(dtype, (size,))
    if x.rank is not None and x.rank not in (1, 2):
        raise RuleError(WRONG_SHAPE, f"takes a vector or rows of numbers, but got {x}.", "Reshape the numbers.")
    if x.shape is None:
        return TensorType(dtype, None)
    return TensorType(dtype, (*x.shape[:-1], size))


def _bincount(arrays, attrs):
    x, size = arrays[0], int(arrays[1].reshape(-1)[0])
    dtype = numpy_dtype(attrs.get("dtype", "int32"))
    if x.size and x.min() < 0:
        raise RuleError(WRONG_ATTR, f"counts numbers from 0 on, but got {x.min()}.", "Leave out negative numbers.")
    rows = x.reshape(1, -1) if not attrs.get("rows", False) or x.ndim == 1 else x
    weights = arrays[2].reshape(rows.shape) if len(arrays) > 2 and arrays[2].size else np.ones(rows.shape, dtype)
    counted = rows < size
    at = np.broadcast_to(np.arange(len(rows))[:, None], rows.shape)[counted]
    out = np.zeros((len(rows), size), working(dtype))
    if attrs.get("binary", False):
        out[at, rows[counted]] = 1
    else:
        np.add.at(out, (at, rows[counted]), weights[counted].astype(out.dtype, copy=False))
    out = out.astype(dtype, copy=False)
    return out if x.ndim == 2 and attrs.get("rows", False) else out[0]


def _nth_type(types, attrs, values):
    x, n = types
    need_kinds(x, "biuf", "input", "real numbers")
    need_kinds(n, "iu", "n", "an integer")
    need_rank(n, 0, "n")
    if x.shape == ():
        raise RuleError(WRONG_SHAPE, f"takes vectors, but got {x}.", "Give it a tensor with axes.")
    if x.shape is None:
        return TensorType(x.dtype, None)
    size = x.shape[-1]
    if values[1] is not None and size is not None and not 0 <= int(values[1]) < size:
        raise RuleError(WRONG_ATTR, f"has no element {int(values[1])} of {size} in order.", "Count from 0 on.")
    return TensorType(x.dtype, x.shape[:-1])


def _nth(arrays, attrs):
    x, n = arrays[0], int(arrays[1])
    if not 0 <= n < x.shape[-1]:
        raise RuleError(WRONG_ATTR, f"has no element {n} of {x.shape[-1]} in order.", "Count from 0 on.")
    return np.sort(x, axis=-1)[..., x.shape[-1] - 1 - n if attrs.get("reverse", False) else n]


def _permutation(x: np.ndarray) -> np.ndarray:
    out = np.full(x.shape, -1, x.dtype)
    if x.size and (x.min() < 0 or x.max() >= x.size):
        raise RuleError(WRONG_ATTR, f"takes the numbers from 0 to {x.size - 1} once each.", "Give a permutation.")
    out[x] = np.arange(x.size, dtype=x.dtype)
    if np.any(out < 0) if x.dtype.kind == "i" else len(np.unique(x)) < x.size:
        raise RuleError(WRONG_ATTR, f"takes the numbers from 0 to {x.size - 1} once each.", "Give a permutation.")
    return out


def _permutation_type(types, attrs, values):
    need_kinds(types[0], "iu", "permutation", "integers")
    need_rank(types[0], 1, "permutation")
    return types[0]


def _difference(arrays):
    x, y = arrays
    at = np.flatnonzero(~np.isin(x, y))
    return x[at], at


def _difference_type(types, attrs, values):
    for x in types:
        need_numbers([x])
        need_rank(x, 1, "list")
    if "any" not in (types[0].dtype, types[1].dtype) and types[0].dtype != types[1].dtype:
        raise RuleError(WRONG_DTYPE, f"takes two lists of one dtype, but got {types[0]} and {types[1]}.", "Cast one.")
    known = all(v is not None for v in values)
    size = len(_difference(values)[1]) if known else 0 if count_of(types[0]) == 0 else None
    return TensorType(types[0].dtype, (size,)), TensorType(attr_dtype({"dtype": "int32", **attrs}), (size,))


def _difference_at_run(arrays, attrs):
    left, at = _difference(arrays)
    return left, at.astype(numpy_dtype(attrs.get("dtype", "int32")))


def _bucketize_type(types, attrs, values):
    need_kinds(types[0], "biuf", "input", "real numbers")
    edges = attrs["boundaries"]
    if any(b < a for a, b in zip(edges, edges[1:], strict=False)):
        raise RuleError(WRONG_ATTR, f"got the boundaries {tuple(edges)}, which fall.", "Sort them.")
    return TensorType("int32", types[0].shape)


def _bucketize(arrays, attrs):
    return np.searchsorted(np.asarray(attrs["boundaries"], np.float64), arrays[0], side="right").astype(np.int32)


def _search_type(types, attrs, values):
    rows, x = types
    need_numbers([rows])
    promote(types)
    for t in types:
        need_rank(t, 2, "sorted rows" if t is rows else "values")
    if None not in (rows.shape, x.shape) and not TensorType(x.dtype, rows.shape[:1]).accepts(
        TensorType(x.dtype, x.shape[:1])
    ):
        raise RuleError(WRONG_SHAPE, f"takes as many sorted rows as rows of values, but got {rows} and {x}.", "Repeat.")
    return TensorType(attr_dtype({"dtype": "int32", **attrs}), (None, None) if x.shape is None else x.shape)


def _search(arrays, attrs):
    rows, x = arrays
    out = np.zeros(x.shape, numpy_dtype(attrs.get("dtype", "int32")))
    for i, row in enumerate(rows):
        out[i] = np.searchsorted(row, x[i], side="right" if attrs.get("right", False) else "left")
    return out


define(
    "bucketize",
    "x",
    _bucketize_type,
    _bucketize,
    "For each number of x, how many of the ascending `boundaries` are not above it.",
    FAMILY,
    attrs={"boundaries": REQUIRED},
    source="https://www.tensorflow.org/api_docs/python/tf/raw_ops/Bucketize",
)
define(
    "search_sorted",
    "sorted_rows values",
    _search_type,
    _search,
    "Where each value would have to stand in its sorted row: before its equals, or with `right` after them.",
    FAMILY,
    attrs={"right": False, "dtype": "int32"},
    source=f"{TF}searchsorted",
)
define(
    "bincount",
    "x size weights?",
    _bincount_type,
    _bincount,
    "How often each number from 0 to size - 1 comes in x, or the sum of its weights (1 each, if there are "
    "none); with `rows` for each row, with `binary` 1 for numbers that come.",
    FAMILY,
    attrs={"dtype": "int32", "rows": False, "binary": False},
    source=f"{TF}math/bincount",
)
define(
    "nth_element",
    "x n",
    _nth_type,
    _nth,
    "The n-th smallest (with `reverse` greatest) number of each vector in the last axis, counted from 0.",
    FAMILY,
    attrs={"reverse": False},
    source="https://www.tensorflow.org/api_docs/python/tf/raw_ops/NthElement",
)
define(
    "invert_permutation",
    "x",
    _permutation_type,
    lambda arrays, attrs: _permutation(arrays[0]),
    "The permutation that undoes the permutation x.",
    FAMILY,
    source=f"{TF}math/invert_permutation",
)
define(
    "list_difference",
    "x y",
    _difference_type,
    _difference_at_run,
    "The elements of the list x that are not in y, and where they are in x.",
    FAMILY,
    outputs="values indices",
    attrs={"dtype": "int32"},
    source=f"{TF}compat/v1/setdiff1d",
)
