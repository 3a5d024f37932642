"""Rows of ragged tensors selected by index, and sparse tensors as plain arrays."""

from __future__ import annotations

import math

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.arrays.ragged import FAMILY, TF
from workbench.ops.define import REQUIRED, define
from workbench.ops.result_size import need_room
from workbench.ops.rules import WRONG_ARITY, WRONG_ATTR, WRONG_DTYPE, WRONG_SHAPE, RuleError, as_ints, need_kinds
from workbench.ops.state.stored_elements import MAX_ZEROS


def _gather_type(types, attrs, values):
    rank = _ragged_rank(attrs, len(types))
    splits, given, indices = types[:rank], types[rank], types[rank + 1]
    for x in (*splits, indices):
        need_kinds(x, "iu", "splits and indices", "integers")
    count = int(attrs["num"]) - 1
    if indices.rank is not None and indices.rank - 1 + rank != count:
        raise RuleError(WRONG_ATTR, f"gives {indices.rank - 1 + rank} splits, but is to give {count}.", "Count again.")
    rows = () if given.shape is None else ((None, *given.shape[1:]),)
    return (*(TensorType(splits[0].dtype, (None,)) for _ in range(count)), TensorType(given.dtype, *rows))


def _ragged_rank(attrs, count: int) -> int:
    rank = int(attrs["ragged_rank"])
    if rank < 1 or count != rank + 2 or not 1 <= int(attrs["num"]) <= 64:
        raise RuleError(
            WRONG_ARITY,
            f"takes the splits of {rank} dimensions, values and indices, but got {count} inputs.",
            "Give all of them.",
        )
    return rank


def _gather(arrays, attrs):
    rank = _ragged_rank(attrs, len(arrays))
    given = [np.asarray(a) for a in arrays]
    dtype, indices = given[0].dtype, given[rank + 1].astype(np.int64)
    nested = [s.reshape(-1).astype(np.int64) for s in given[:rank]]
    values = given[rank]
    _need_splits(nested, len(values))
    picked = indices.reshape(-1)
    if len(picked) and not 0 <= picked.min() <= picked.max() < len(nested[0]) - 1:
        raise RuleError("bad-index", f"picks one outside of {len(nested[0]) - 1} rows.", "Give indices of rows.")
    out = [np.arange(math.prod(indices.shape[:d]) + 1) * indices.shape[d] for d in range(1, indices.ndim)]
    for splits in nested:
        lengths = splits[picked + 1] - splits[picked]
        ends = np.append(0, np.cumsum(lengths))
        if ends[-1] * 8 > MAX_ZEROS:
            raise RuleError("too-large", f"would give {int(ends[-1]):,} rows.", "Pick fewer.")
        out.append(ends)
        picked = np.repeat(splits[picked] - ends[:-1], lengths) + np.arange(ends[-1])
    return (*(s.astype(dtype) for s in out), values[picked])


def _need_splits(nested: list[np.ndarray], count: int) -> None:
    for splits, inner in zip(nested, [*(len(s) - 1 for s in nested[1:]), count], strict=True):
        if not len(splits) or splits[0] != 0 or splits[-1] != inner or np.any(splits[1:] < splits[:-1]):
            raise RuleError(
                "wrong-value", f"got the splits {splits[:8].tolist()} for {inner} rows.", "Give ascending splits."
            )


def _to_sparse_type(types, attrs, values):
    for x in types[:-1]:
        need_kinds(x, "iu", "splits", "integers")
    rank = None if types[-1].rank is None else len(types) - 1 + types[-1].rank
    return TensorType("int64", (None, rank)), TensorType(types[-1].dtype, (None,)), TensorType("int64", (rank,))


def _to_sparse(arrays, attrs):
    *given, values = map(np.asarray, arrays)
    nested = [s.reshape(-1).astype(np.int64) for s in given]
    _need_splits(nested, len(values))
    columns, shape = [np.arange(len(nested[0]) - 1)], [len(nested[0]) - 1]
    for splits in nested:
        lengths = np.diff(splits)
        columns = [np.repeat(c, lengths) for c in columns]
        columns.append(np.arange(splits[-1]) - np.repeat(splits[:-1], lengths))
        shape.append(int(lengths.max(initial=0)))
    size = math.prod(values.shape[1:])
    inner = np.indices(values.shape[1:]).reshape(values.ndim - 1, size)
    columns = [np.repeat(c, size) for c in columns] + [np.tile(c, len(values)) for c in inner]
    indices = np.stack(columns, axis=1).astype(np.int64)
    return indices, values.reshape(-1), np.array([*shape, *values.shape[1:]], np.int64)


def _sparse_type(types, attrs, values):
    indices, shape, given, default = types
    need_kinds(indices, "iu", "indices", "integers")
    need_kinds(shape, "iu", "shape", "integers")
    if "any" not in (given.dtype, default.dtype) and given.dtype != default.dtype:
        raise RuleError(WRONG_DTYPE, f"takes values of one dtype, but got {given} and {default}.", "Cast one of them.")
    if values[1] is not None:
        return TensorType(given.dtype, tuple(d if d >= 0 else None for d in as_ints(values[1])))
    known = shape.shape is not None and None not in shape.shape
    return TensorType(given.dtype, (None,) * math.prod(d or 0 for d in shape.shape or ()) if known else None)


def _sparse(arrays, attrs):
    indices, shape, given, default = map(np.asarray, arrays)
    dims = as_ints(shape)
    rows = indices.reshape(-1, 1) if indices.ndim < 2 else indices
    if (
        rows.ndim != 2
        or rows.shape[1] != len(dims)
        or given.ndim > 1
        or given.size not in (1, len(rows))
        or min(dims, default=0) < 0
        or (given.ndim == 1 and given.size != len(rows))
        or default.ndim
    ):
        raise RuleError(
            WRONG_SHAPE,
            f"got indices of shape {list(indices.shape)} and values of shape {list(given.shape)} for the "
            f"shape {list(dims)}.",
            "Give a row of indices for each value.",
        )
    if np.any((rows < 0) | (rows >= np.asarray(dims, np.int64))):
        raise RuleError("bad-index", f"has an index outside of its shape {list(dims)}.", "Give indices within it.")
    if 0 not in dims:
        need_room(TensorType(TensorType.of(given).dtype, dims))
    if attrs.get("checked", True) and len(rows) > 1:
        # in ascending order, without duplicates
        flat = np.ravel_multi_index(tuple(rows.T), dims) if dims else np.zeros(len(rows), np.int64)
        if np.any(flat[1:] <= flat[:-1]):
            raise RuleError("wrong-value", "got indices that are out of order or come twice.", "Sort them.")
    out = np.empty(dims, given.dtype)
    out[...] = default
    out[tuple(rows.T)] = given
    return out


define(
    "ragged_gather",
    "*inputs",
    _gather_type,
    _gather,
    "Rows of a ragged tensor by index. Takes the splits of its `ragged_rank` dimensions, values and indices; gives "
    "splits and values, `num` in all.",
    FAMILY,
    outputs="*parts",
    attrs={"ragged_rank": REQUIRED, "num": REQUIRED},
    source=TF + "RaggedGather",
)
define(
    "ragged_to_sparse",
    "splits next *rest",
    _to_sparse_type,
    _to_sparse,
    "A ragged tensor (all its splits, and last its values) as a sparse one: indices, values, shape.",
    FAMILY,
    outputs="indices values shape",
    source=TF + "RaggedTensorToSparse",
)
define(
    "sparse_to_dense",
    "indices shape values default",
    _sparse_type,
    _sparse,
    "An array of `shape` with values at indices and the default elsewhere; `checked`: indices ascend.",
    FAMILY,
    attrs={"checked": True},
    source=TF + "SparseToDense",
)
