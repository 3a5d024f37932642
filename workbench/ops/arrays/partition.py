"""Ops on several tensors: partition by number, stitching by position, sums of many, one output for each input."""

from __future__ import annotations

import numpy as np

from workbench.ir.types import ANY, TensorType, numpy_dtype
from workbench.ops.define import REQUIRED, define
from workbench.ops.rules import (
    WRONG_ARITY,
    WRONG_ATTR,
    WRONG_DTYPE,
    WRONG_SHAPE,
    RuleError,
    attr_dtype,
    broadcast,
    count_of,
    need_kinds,
    need_numbers,
    promote,
    show,
)

FAMILY = "array"
TF = "https://www.tensorflow.org/api_docs/python/tf/"


def _partition_type(types, attrs, values):
    x, parts = types
    need_kinds(parts, "iu", "partitions", "integers")
    num = int(attrs["num"])
    if num < 1:
        raise RuleError(WRONG_ATTR, f"cannot make {num} parts.", "Give a number from 1 on.")
    if x.shape is None or parts.shape is None:
        return [TensorType(x.dtype, None)] * num
    pairs = zip(x.shape, parts.shape, strict=False)
    if len(parts.shape) > len(x.shape) or any(None not in pair and pair[0] != pair[1] for pair in pairs):
        raise RuleError(WRONG_SHAPE, f"takes a part number for each slice of {x}, but got {parts}.", "Number each.")
    counts = [None] * num if values[1] is None else [int(np.sum(values[1] == i)) for i in range(num)]
    return [TensorType(x.dtype, (n, *x.shape[len(parts.shape) :])) for n in counts]


def _partition(arrays, attrs):
    x, parts = arrays
    num = int(attrs["num"])
    if parts.size and not 0 <= parts.min() <= parts.max() < num:
        raise RuleError(WRONG_ATTR, f"has no part {parts.max()} of {num}.", "Number the parts from 0 on.")
    return [x[parts == i] for i in range(num)]


def _halves(items):
    if not items or len(items) % 2:
        raise RuleError(WRONG_ARITY, f"takes pairs of inputs, but got {len(items)}.", "Give indices and data.")
    return items[: len(items) // 2], items[len(items) // 2 :]


def _stitch_type(types, attrs, values):
    indices, data = _halves(types)
    dtype = promote(data)
    rest: tuple | None = None
    for i, x in zip(indices, data, strict=True):
        need_kinds(i, "iu", "indices", "integers")
        if i.shape is None or x.shape is None:
            continue
        if not TensorType(x.dtype, i.shape).accepts(TensorType(x.dtype, x.shape[: len(i.shape)])):
            raise RuleError(WRONG_SHAPE, f"takes a slice for each index, but got {i} and {x}.", "Give as many.")
        tail = x.shape[len(i.shape) :]
        if rest is not None and not TensorType(ANY, rest).accepts(TensorType(ANY, tail)):
            raise RuleError(WRONG_SHAPE, f"cannot join slices of shapes {show(rest)} and {show(tail)}.", "Reshape.")
        rest = tail if rest is None else tuple(b if a is None else a for a, b in zip(rest, tail, strict=True))
    if rest is None:
        return TensorType(dtype, None)
    given = values[: len(indices)]
    known = all(v is not None for v in given)
    return TensorType(dtype, (_stitched([v for v in given if v is not None]) if known else None, *rest))


def _stitched(indices) -> int:
    lowest = min((int(i.min()) for i in indices if i.size), default=0)
    if lowest < 0:
        raise RuleError(WRONG_ATTR, f"cannot write to the place {lowest}.", "Count places from 0 on.")
    return max((int(i.max()) for i in indices if i.size), default=-1) + 1


def _stitch(arrays, attrs):
    indices, data = _halves(arrays)
    dtype = numpy_dtype(promote([TensorType.of(x) for x in data]))
    rest = data[0].shape[indices[0].ndim :]
    out = np.zeros((_stitched(indices), *rest), dtype)
    for i, x in zip(indices, data, strict=True):
        out[i.reshape(-1)] = x.reshape(i.size, *rest)  # the last of equal positions wins
    return out


def _add_n_type(types, attrs, values):
    if not types:
        raise RuleError(WRONG_ARITY, "takes one or more inputs, but got none.", "Give it something to add.")
    need_numbers(types)
    if len({x.dtype for x in types} - {ANY}) > 1:
        text = " and ".join(x.dtype for x in types)
        raise RuleError(WRONG_DTYPE, f"takes inputs of one dtype, but got {text}.", "Cast the inputs first.")
    dtype = next((x.dtype for x in types if x.dtype != ANY), ANY)
    known = [x.shape for x in types if x.shape is not None]
    for shape in known[1:]:
        if not TensorType(ANY, known[0]).accepts(TensorType(ANY, shape)):
            raise RuleError(WRONG_SHAPE, f"cannot add the shapes {show(known[0])} and {show(shape)}.", "Reshape.")
    if not known:
        return TensorType(dtype, None)
    dims = (next((d for d in sizes if d is not None), None) for sizes in zip(*known, strict=True))
    return TensorType(dtype, tuple(dims))


def _add_n(arrays, attrs):
    total = arrays[0]
    for x in arrays[1:]:
        total = np.add(total, x)
    return total


def _shapes_type(types, attrs, values):
    return [TensorType(attr_dtype({"dtype": "int64", **attrs}), (x.rank,)) for x in types]


def _shapes(arrays, attrs):
    return [np.array(x.shape, numpy_dtype(attrs.get("dtype", "int64"))) for x in arrays]


def _broadcast_args_type(types, attrs, values):
    for x in types:
        need_kinds(x, "iu", "shape", "integers")
    if all(v is not None for v in values):
        broadcast(*(tuple(int(d) for d in v.reshape(-1)) for v in values))
    counts = [count_of(x) for x in types]
    known = [c for c in counts if c is not None]
    return TensorType(promote(types), (max(known) if len(known) == len(counts) else None,))


def _broadcast_args(arrays, attrs):
    shapes = [tuple(int(d) for d in x.reshape(-1)) for x in arrays]
    return np.array(broadcast(*shapes), np.result_type(*arrays)).reshape(-1)


def _rows_type(types, attrs, values):
    cond, x, y = types
    need_kinds(cond, "b", "condition", "bools", "Compare first, for instance with not_equal(x, 0).")
    dtype = promote([x, y])
    if not TensorType(ANY, x.shape).accepts(TensorType(ANY, y.shape)):
        raise RuleError(WRONG_SHAPE, f"takes two tensors of one shape, but got {x} and {y}.", "Broadcast them first.")
    if x.shape is None or y.shape is None:
        return TensorType(dtype, y.shape if x.shape is None else x.shape)
    shape = tuple(b if a is None else a for a, b in zip(x.shape, y.shape, strict=True))
    fits = cond.shape is None or len(cond.shape) in (0, 1, len(shape))
    lead = shape[: len(cond.shape)] if cond.shape is not None else None
    if not fits or not TensorType(ANY, lead).accepts(TensorType(ANY, cond.shape)):
        raise RuleError(WRONG_SHAPE, f"cannot choose by {cond} from {show(shape)}.", "Give a bool for each row.")
    return TensorType(dtype, shape)


def _rows(arrays, attrs):
    cond, x, y = arrays
    return np.where(cond.reshape(cond.shape + (1,) * (x.ndim - cond.ndim)), x, y)


define(
    "dynamic_partition",
    "x partitions",
    _partition_type,
    _partition,
    "`num` parts of x: part i holds the slices whose partition number is i, in their order.",
    FAMILY,
    outputs="*parts",
    attrs={"num": REQUIRED},
    source=f"{TF}dynamic_partition",
)
define(
    "dynamic_stitch",
    "indices data *more",
    _stitch_type,
    _stitch,
    "The slices of the second half of the inputs at the places in the first half; the last of equal places stays, a "
    "place never named is 0.",
    FAMILY,
    source=f"{TF}dynamic_stitch",
)
define(
    "add_n",
    "*xs",
    _add_n_type,
    _add_n,
    "The sum of all inputs, which have one shape and dtype.",
    FAMILY,
    source=f"{TF}math/add_n",
)
define(
    "identity_n",
    "*xs",
    lambda types, attrs, values: list(types),
    lambda arrays, attrs: list(arrays),
    "Each input as it is.",
    FAMILY,
    outputs="*values",
    source=f"{TF}identity_n",
)
define(
    "shape_n",
    "*xs",
    _shapes_type,
    _shapes,
    "The sizes of each input.",
    FAMILY,
    outputs="*shapes",
    attrs={"dtype": "int64"},
    source=f"{TF}shape_n",
)
define(
    "broadcast_args",
    "shape0 shape1",
    _broadcast_args_type,
    _broadcast_args,
    "The shape, as a vector, to which tensors of two shapes broadcast.",
    FAMILY,
    source=f"{TF}broadcast_dynamic_shape",
)
define(
    "select_rows",
    "condition x y",
    _rows_type,
    _rows,
    "x where the condition holds, else y, which have one shape; a condition with fewer axes counts from the first "
    "axis: a vector chooses rows.",
    FAMILY,
    source=f"{TF}compat/v1/where",
)
