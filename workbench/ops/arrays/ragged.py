"""Ops on sparse and ragged tensors that return plain arrays."""

from __future__ import annotations

import math

import numpy as np

from workbench.errors import ExecutionError
from workbench.ir.types import TensorType
from workbench.ops.define import REQUIRED, define
from workbench.ops.result_size import need_room
from workbench.ops.rules import (
    WRONG_ATTR,
    WRONG_DTYPE,
    WRONG_SHAPE,
    RuleError,
    as_ints,
    attr_dtype,
    need_kinds,
    need_rank,
    working,
)
from workbench.ops.state.stored_elements import MAX_ZEROS

FAMILY = "sparse"
TF = "https://www.tensorflow.org/api_docs/python/tf/raw_ops/"


def _add_type(types, attrs, values):
    indices, given, shape, dense = types
    need_kinds(indices, "iu", "indices", "integers")
    need_rank(indices, 2, "indices")
    need_rank(given, 1, "values")
    need_rank(shape, 1, "shape")
    need_kinds(dense, "iufc", "dense", "numbers")
    if "any" not in (given.dtype, dense.dtype) and given.dtype != dense.dtype:
        raise RuleError(WRONG_DTYPE, f"takes values of one dtype, but got {given} and {dense}.", "Cast one of them.")
    return dense


def _add(arrays, attrs):
    indices, values, shape, dense = arrays
    if tuple(shape.tolist()) != dense.shape or indices.shape != (len(values), dense.ndim):
        raise ExecutionError(
            f"A sparse tensor of shape {shape.tolist()} ({indices.shape[0]} indices of {indices.shape[1]} numbers, "
            f"{len(values)} values) cannot be added to an array of shape {list(dense.shape)}.",
            slug=WRONG_SHAPE,
            fix="Give both the same shape.",
        )
    if np.any((indices < 0) | (indices >= np.asarray(dense.shape, indices.dtype))):
        raise ExecutionError(
            f"A sparse tensor has an index outside of its shape {list(dense.shape)}.",
            slug="bad-index",
            fix="Look where the indices are computed.",
        )
    out = np.array(dense, working(dense.dtype), copy=True)
    np.add.at(out, tuple(indices.T), values.astype(out.dtype, copy=False))
    return out.astype(dense.dtype, copy=False)


def _range_type(types, attrs, values):
    names = ("starts", "limits", "deltas")
    for x, what in zip(types, names, strict=True):
        need_kinds(x, "iuf", what, "numbers")
        if x.rank is not None and x.rank > 1:
            raise RuleError(WRONG_SHAPE, f"takes a scalar or a list as {what}, but got {x}.", "Flatten it.")
    lengths = [x.shape[0] for x in types if x.shape is not None and len(x.shape) == 1]
    known = [n for n in lengths if n is not None]
    if len(set(known)) > 1:
        raise RuleError(WRONG_SHAPE, f"takes starts, limits and deltas of one length, but got {known}.", "Match them.")
    scalars = all(x.shape == () for x in types)
    count = known[0] + 1 if known else 2 if scalars else None
    return TensorType(attr_dtype(attrs) if attrs.get("dtype") else "int64", (count,)), TensorType(
        types[0].dtype, (None,)
    )


def _range(arrays, attrs):
    starts, limits, deltas = np.broadcast_arrays(*(np.atleast_1d(a) for a in arrays))
    if np.any(deltas == 0):
        raise ExecutionError("A range has the step 0.", slug="bad-range", fix="Give steps other than 0.")
    if starts.dtype.kind not in "iu":
        counts = np.maximum(np.ceil((limits - starts) / deltas), 0).astype(np.int64)
    else:
        span, step = (limits.astype(object) - starts.astype(object)), deltas.astype(object)
        counts = np.array([max(0, -(-s // d)) for s, d in zip(span, step, strict=True)], np.int64)
    splits = np.concatenate([[0], np.cumsum(counts)]).astype(attrs.get("dtype") or "int64")
    if int(counts.sum()) * starts.dtype.itemsize > MAX_ZEROS:
        raise ExecutionError(
            f"The ranges have {int(counts.sum()):,} numbers in all.",
            slug="too-large",
            fix="Look where the limits are computed.",
        )
    within = np.arange(int(counts.sum())) - np.repeat(splits[:-1].astype(np.int64), counts)
    values = np.repeat(starts, counts) + np.repeat(deltas, counts) * within.astype(starts.dtype)
    return splits, values.astype(starts.dtype)


def _to_dense_type(types, attrs, values):
    need_kinds(types[0], "iu", "shape", "integers")
    for x in types[3:]:
        need_kinds(x, "iu", "partitions", "integers")
    need_partitions(tuple(attrs["partition_types"]), len(types) - 3)
    given, default = types[1], types[2]
    if "any" not in (given.dtype, default.dtype) and given.dtype != default.dtype:
        raise RuleError(WRONG_DTYPE, f"takes values of one dtype, but got {given} and {default}.", "Cast one of them.")
    if given.rank is None:
        return TensorType(given.dtype, None)
    sizes = [None if n < 0 else n for n in as_ints(values[0])] if values[0] is not None and values[0].ndim else []
    rank = sum(t != "FIRST_DIM_SIZE" for t in attrs["partition_types"]) + given.rank
    return TensorType(given.dtype, tuple(sizes) if len(sizes) == rank else (None,) * rank)


def need_partitions(kinds: tuple[str, ...], count: int) -> None:
    rest = kinds[1:] if kinds[:1] == ("FIRST_DIM_SIZE",) else kinds
    wanted = "VALUE_ROWIDS" if len(rest) < len(kinds) else "ROW_SPLITS"
    if not rest or len(kinds) != count or any(k != wanted for k in rest):
        raise RuleError(
            WRONG_ATTR,
            f"got {count} partitions of the types {list(kinds)}.",
            "Give FIRST_DIM_SIZE and VALUE_ROWIDS, or ROW_SPLITS.",
        )


def _to_dense(arrays, attrs):
    shape, values, default, *partitions = map(np.asarray, arrays)
    kinds = tuple(attrs["partition_types"])
    need_partitions(kinds, len(partitions))
    if kinds[0] == "FIRST_DIM_SIZE":
        count, rows = int(partitions[0].reshape(())), [p.reshape(-1).astype(np.int64) for p in partitions[1:]]
    else:
        count, rows = len(partitions[0]) - 1, [_row_ids(p.reshape(-1).astype(np.int64)) for p in partitions]
    if not 0 <= count * 8 <= MAX_ZEROS:
        raise RuleError("too-large", f"is to have {count:,} rows.", "Look where the number of rows is computed.")
    rank = len(rows) + values.ndim
    sizes = [-1] * rank if shape.ndim == 0 else [int(n) for n in shape.tolist()]
    inner = sizes[len(rows) + 1 :]
    if len(sizes) != rank or any(n not in (-1, d) for n, d in zip(inner, values.shape[1:], strict=True)):
        raise RuleError(WRONG_SHAPE, f"cannot give {sizes} of values of shape {list(values.shape)}.", "Give -1.")
    sizes[0] = count if sizes[0] < 0 else sizes[0]
    place = np.where(np.arange(count) < sizes[0], np.arange(count), -1)
    for d, ids in enumerate(rows, 1):
        if len(ids) and not 0 <= ids.min() <= ids.max() < len(place):
            raise RuleError("bad-index", f"has a row id outside of {len(place)} rows.", "Give ids of rows.")
        starts = np.flatnonzero(np.append(True, ids[1:] != ids[:-1])) if len(ids) else np.zeros(0, np.int64)
        lengths = np.diff(np.append(starts, len(ids)))
        column = np.arange(len(ids)) - np.repeat(starts, lengths)
        sizes[d] = int(lengths.max(initial=0)) if sizes[d] < 0 else sizes[d]
        above = place[ids]
        place = np.where((above >= 0) & (column < sizes[d]), above * sizes[d] + column, -1)
    if len(place) != len(values):
        raise RuleError(WRONG_SHAPE, f"has places for {len(place)} values, but got {len(values)}.", "Match them.")
    dense = (*sizes[: len(rows) + 1], *values.shape[1:])
    if 0 not in dense:
        need_room(TensorType(TensorType.of(values).dtype, dense))
    out = np.empty((math.prod(sizes[: len(rows) + 1]), *values.shape[1:]), values.dtype)
    try:
        out[...] = default
    except ValueError:
        raise RuleError(WRONG_SHAPE, f"cannot spread a default of shape {list(default.shape)}.", "Give one.") from None
    out[place[place >= 0]] = values[place >= 0]
    return out.reshape(dense)


def _bincount_type(types, attrs, values):
    splits, given, size, weights = types
    for x, what in ((splits, "splits"), (given, "values"), (size, "size")):
        need_kinds(x, "iu", what, "integers")
    need_rank(splits, 1, "splits")
    need_rank(given, 1, "values")
    rows = None if splits.shape is None or splits.shape[0] is None else max(splits.shape[0] - 1, 0)
    columns = as_ints(values[2])[0] if values[2] is not None and values[2].size == 1 else None
    return TensorType(weights.dtype, (rows, columns if columns is not None and columns >= 0 else None))


def _bincount(arrays, attrs):
    splits, values, size, weights = map(np.asarray, arrays)
    rows, columns = _row_ids(splits.astype(np.int64)), as_ints(size)[0]
    if columns < 0 or len(rows) != len(values) or (weights.size and weights.shape != values.shape):
        raise RuleError(
            WRONG_SHAPE,
            f"got size {columns}, {len(values)} values in rows of {len(rows)} in all, and {weights.size} weights.",
            "Give one weight for each value, or none.",
        )
    if len(values) and values.min() < 0:
        raise RuleError("wrong-value", f"counts numbers from 0, but got {int(values.min())}.", "Give none below 0.")
    shape = (len(splits) - 1, columns)
    need_room(TensorType.of(weights) if 0 in shape else TensorType(TensorType.of(weights).dtype, shape))
    out = np.zeros(shape, working(weights.dtype))
    there = values < columns
    at = rows[there], values[there]
    if attrs.get("binary"):
        out[at] = 1
    else:
        np.add.at(out, at, weights[there].astype(out.dtype) if weights.size else out.dtype.type(1))
    return out.astype(weights.dtype, copy=False)


def _row_ids(splits: np.ndarray) -> np.ndarray:
    lengths = np.diff(splits)
    if not len(splits) or splits[0] != 0 or lengths.min(initial=0) < 0:
        raise RuleError("wrong-value", f"got the splits {splits[:8].tolist()}.", "Give ascending splits, the first 0.")
    if splits[-1] * 8 > MAX_ZEROS:
        raise RuleError("too-large", f"got splits for {int(splits[-1]):,} values.", "Give as many as there are values.")
    return np.repeat(np.arange(len(lengths)), lengths)


define(
    "sparse_dense_add",
    "indices values shape dense",
    _add_type,
    _add,
    "A dense array and a sparse one (a row of `indices` for each of `values`) added; repeated indices add up.",
    FAMILY,
    source=TF + "SparseTensorDenseAdd",
)
define(
    "ragged_range",
    "starts limits deltas",
    _range_type,
    _range,
    "Ranges one after another, and where each begins and the last ends (of `dtype`); scalars stand for every range.",
    FAMILY,
    outputs="splits values",
    source=TF + "RaggedRange",
    attrs={"dtype": "int64"},
)
define(
    "ragged_to_dense",
    "shape values default *partitions",
    _to_dense_type,
    _to_dense,
    "Rows of different lengths as one array of `shape` (-1: as large as needed), filled up with `default`; longer "
    "rows are cut.",
    FAMILY,
    attrs={"partition_types": REQUIRED},
    source=TF + "RaggedTensorToTensor",
)
define(
    "ragged_bincount",
    "splits values size weights",
    _bincount_type,
    _bincount,
    "How often each number below `size` is in each row, or the sum of its weights, if there are any; with `binary`, "
    "whether it is there.",
    FAMILY,
    attrs={"binary": False},
    source=TF + "RaggedBincount",
)
