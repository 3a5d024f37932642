"""Ops on sparse and ragged tensors that give plain arrays."""

from __future__ import annotations

import numpy as np

from workbench.errors import ExecutionError
from workbench.graph.types import TensorType
from workbench.ops.define import define
from workbench.ops.rules import WRONG_DTYPE, WRONG_SHAPE, RuleError, attr_dtype, need_kinds, need_rank
from workbench.ops.stored import MAX_ZEROS

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
            slug=WRONG_SHAPE, fix="Give both the same shape.",
        )  # fmt: skip
    if np.any((indices < 0) | (indices >= np.asarray(dense.shape, indices.dtype))):
        raise ExecutionError(f"A sparse tensor has an index outside of its shape {list(dense.shape)}.",
                             slug="bad-index", fix="Look where the indices are computed.")  # fmt: skip
    out = np.array(dense, copy=True)
    np.add.at(out, tuple(indices.T), values)
    return out


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
        raise ExecutionError(f"The ranges have {int(counts.sum()):,} numbers in all.", slug="too-large",
                             fix="Look where the limits are computed.")  # fmt: skip
    within = np.arange(int(counts.sum())) - np.repeat(splits[:-1].astype(np.int64), counts)
    values = np.repeat(starts, counts) + np.repeat(deltas, counts) * within.astype(starts.dtype)
    return splits, values.astype(starts.dtype)


define("sparse_dense_add", "indices values shape dense", _add_type, _add,
       "A dense array and a sparse one (a row of `indices` for each of `values`) added; repeated indices add up.",
       FAMILY, source=TF + "SparseTensorDenseAdd")  # fmt: skip
define("ragged_range", "starts limits deltas", _range_type, _range,
       "Ranges one after another, and where each begins and the last ends (of `dtype`); scalars stand for every range.",
       FAMILY, outputs="splits values", source=TF + "RaggedRange", attrs={"dtype": "int64"})  # fmt: skip
