"""Reading and writing parts of arrays.

Starts, ends, axes and steps are inputs or attrs. Indices may be negative, counted from the end, as in NumPy; an index
out of range fails the run, a slice is clipped to the array.
"""

from __future__ import annotations

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.define import NUMPY, REQUIRED, define
from workbench.ops.index import decode_index, indexed_shape, known_items
from workbench.ops.rules import (
    UNSEEN,
    WRONG_ATTR,
    WRONG_SHAPE,
    RuleError,
    axis_in,
    broadcast,
    count_of,
    need_kinds,
    promote,
    setting,
    setting_at_run,
)

FAMILY = "indexing"
PARTS = ("starts", "ends", "axes", "steps")
ONNX, TF = "https://onnx.ai/onnx/operators/", "https://www.tensorflow.org/api_docs/python/tf/"


def _getitem_type(types, attrs, values):
    return TensorType(types[0].dtype, indexed_shape(types[0].shape, known_items(attrs["index"], types[1:], values[1:])))


def _setitem_type(types, attrs, values):
    part = indexed_shape(types[0].shape, known_items(attrs["index"], types[2:], values[2:]))
    if promote(types[:2]) != types[0].dtype and "any" not in (types[0].dtype, types[1].dtype):
        need_kinds(types[1], "biufc" if types[0].dtype != "string" else "S", "value", f"{types[0].dtype} values")
    if part is not None and types[1].shape is not None and len(types[1].shape) <= len(part):
        broadcast(part, types[1].shape)
    return types[0]


def _setitem(arrays, attrs):
    out = arrays[0].copy()
    out[decode_index(attrs["index"], arrays[2:])] = arrays[1]
    return out


def _slice_key(shape, starts, ends, axes, steps):
    key = [slice(None)] * len(shape)
    for i, axis in enumerate(range(len(starts)) if axes is None else axes):
        step = 1 if steps is None else steps[i]
        key[axis] = slice(_first(starts[i], step, shape[axis]), ends[i], step)
    return tuple(key)


def _first(start, step, size):
    """Start of a slice by ONNX's rule: a start before the array in a backward slice means the first element; NumPy
    selects nothing.
    """
    if UNSEEN in (start, step) or size is None or step is None:
        return start
    return 0 if step < 0 and start < -size else start


def _slice_type(types, attrs, values):
    x = types[0]
    starts, ends, axes, steps = (setting(attrs, k, types, values, i + 1) for i, k in enumerate(PARTS))
    if starts is None or ends is None:
        raise RuleError(WRONG_ATTR, "needs 'starts' and 'ends', as attrs or as inputs.", "Give both.")
    if x.shape is None:
        return x
    count = next((len(p) for p in (starts, ends, axes, steps) if p is not None and p is not UNSEEN), None)
    if count is None:
        count = next((c for t in types[1:] if (c := count_of(t)) is not None), None)
    if axes is UNSEEN or (axes is None and count is None):
        return TensorType(x.dtype, (None,) * len(x.shape))
    at = list(range(count or 0)) if axes is None else [axis_in(a, len(x.shape)) for a in axes]
    if len(at) > len(x.shape) or any(p not in (None, UNSEEN) and len(p) != len(at) for p in (starts, ends, steps)):
        raise RuleError(WRONG_SHAPE, f"got lists of unlike lengths for {x}.", "Give one entry for each axis.")
    items = [slice(None)] * len(x.shape)
    for i, axis in enumerate(at):
        parts = [UNSEEN if p is UNSEEN else None if p is None else p[i] for p in (starts, ends, steps)]
        items[axis] = slice(_first(parts[0], parts[2], x.shape[axis]), *parts[1:])
    return TensorType(x.dtype, indexed_shape(x.shape, items))


def _slice(arrays, attrs):
    parts = (setting_at_run(attrs, k, arrays, i + 1) for i, k in enumerate(PARTS))
    return arrays[0][(*_slice_key(arrays[0].shape, *parts), Ellipsis)]


def _slice_size_type(types, attrs, values):
    x, begin, size = types[0], *(setting(attrs, k, types, values, i) for i, k in ((1, "begin"), (2, "size")))
    rank = len(x.shape) if x.shape is not None else count_of(types[1]) if count_of(types[1]) else count_of(types[2])
    if rank is None:
        return TensorType(x.dtype, None)
    dims = x.shape or (None,) * rank
    out: list[int | None] = []
    for i, d in enumerate(dims):
        want = None if size is UNSEEN else size[i]
        start = None if begin is UNSEEN else begin[i]
        if want == -1:
            want = None if d is None or start is None else d - start
        elif want is not None and d is not None and (start or 0) + want > d:
            raise RuleError(WRONG_SHAPE, f"cannot take {want} elements from {start or 0} of {d}.", "Take fewer.")
        out.append(want)
    return TensorType(x.dtype, tuple(out))


def _slice_size(arrays, attrs):
    x, begin, size = arrays
    key = [slice(int(b), None if s == -1 else int(b + s)) for b, s in zip(begin, size, strict=True)]
    return x[(*key, Ellipsis)]


def _strided_items(attrs, begin, end, strides, count):
    """TensorFlow's strided slice as index items; bit i of a mask applies to entry i. UNSEEN parts stay UNSEEN."""

    def on(mask, i):
        return attrs.get(mask, 0) >> i & 1

    def part(values, i):
        return UNSEEN if values is UNSEEN else int(values[i])

    items: list = []
    for i in range(count):
        if on("ellipsis_mask", i):
            items.append(Ellipsis)
        elif on("new_axis_mask", i):
            items.append(None)
        elif on("shrink_axis_mask", i):
            items.append(part(begin, i))
        else:
            step = 1 if strides is None else part(strides, i)
            first = None if on("begin_mask", i) else part(begin, i)
            items.append(slice(first, None if on("end_mask", i) else part(end, i), step))
    return items


def _strided_slice_type(types, attrs, values):
    begin, end, strides = (setting(attrs, k, types, values, i + 1) for i, k in enumerate(("begin", "end", "strides")))
    count = next((c for t in types[1:] if (c := count_of(t)) is not None), None)
    if count is None:
        return TensorType(types[0].dtype, None)
    return TensorType(types[0].dtype, indexed_shape(types[0].shape, _strided_items(attrs, begin, end, strides, count)))


def _strided_slice(arrays, attrs):
    x, begin, end = arrays[:3]
    items = _strided_items(attrs, begin, end, arrays[3] if len(arrays) > 3 else None, len(begin))
    return x[tuple(items) if attrs.get("ellipsis_mask", 0) else (*items, Ellipsis)]


def _gather_axis(types, attrs, values):
    if len(types) < 3:
        return attrs.get("axis") or 0
    axis = setting({}, "axis", types, values, 2)
    return axis if axis is UNSEEN else axis[0]


def _batch(attrs, rank: int) -> int:
    """Number of batch axes of indices of this rank; a negative attr counts from the end."""
    batch = attrs.get("batch_dims", 0)
    if not -rank <= batch <= rank:
        raise RuleError(WRONG_ATTR, f"has no {batch} batch axes in indices of rank {rank}.", "Give fewer.")
    return batch + rank if batch < 0 else batch


def _gather_type(types, attrs, values):
    x, indices = types[:2]
    need_kinds(indices, "iu", "indices", "integers")
    axis = _gather_axis(types, attrs, values)
    if x.shape is None or indices.shape is None:
        return TensorType(x.dtype, None)
    if x.shape == ():
        raise RuleError(WRONG_SHAPE, f"cannot gather from the scalar {x}.", "Give it a tensor with axes.")
    batch = _batch(attrs, len(indices.shape))
    if axis is UNSEEN:
        return TensorType(x.dtype, (None,) * (len(x.shape) + len(indices.shape) - 1 - batch))
    axis = axis_in(axis, len(x.shape))
    if batch > axis:
        raise RuleError(WRONG_ATTR, f"gathers on axis {axis} after {batch} batch axes.", "Name a later axis.")
    if not TensorType(x.dtype, x.shape[:batch]).accepts(TensorType(x.dtype, indices.shape[:batch])):
        raise RuleError(WRONG_SHAPE, f"cannot gather from {x} at {indices}: the batch axes differ.", "Make them equal.")
    return TensorType(x.dtype, x.shape[:axis] + indices.shape[batch:] + x.shape[axis + 1 :])


def _gather(arrays, attrs):
    axis = int(arrays[2].reshape(-1)[0]) if len(arrays) > 2 else attrs.get("axis") or 0
    x, indices = arrays[:2]
    batch = _batch(attrs, indices.ndim)
    if not batch and not x.size and x.shape[axis]:  # np.take refuses an empty array
        return np.empty((*x.shape[:axis], *indices.shape, *x.shape[axis:][1:]), x.dtype)
    return _batched(x, indices, axis % x.ndim, batch) if batch else np.take(x, indices, axis=axis)


def _batched(x: np.ndarray, indices: np.ndarray, axis: int, batch: int) -> np.ndarray:
    """The elements of each batch of x at the indices of the same batch."""
    between, rest = x.shape[batch:axis], x.shape[axis + 1 :]
    grid: tuple[np.ndarray, ...] = np.indices(x.shape[:batch], sparse=True)
    lead = [g.reshape(g.shape + (1,) * (indices.ndim - batch)) for g in grid]
    moved = np.moveaxis(x, axis, batch)[(*lead, indices)]  # batch, indices, axes between, the rest
    back = range(indices.ndim, indices.ndim + len(between))
    return np.moveaxis(moved, back, range(batch, batch + len(between))).reshape(
        (*x.shape[:batch], *between, *indices.shape[batch:], *rest)
    )


def _gather_nd_type(types, attrs, values):
    x, indices, batch = types[0], types[1], attrs.get("batch_dims", 0)
    need_kinds(indices, "iu", "indices", "integers")
    if x.shape is None or indices.shape is None or not indices.shape or indices.shape[-1] is None:
        return TensorType(x.dtype, None)
    depth = indices.shape[-1]
    if batch + depth > len(x.shape):
        raise RuleError(WRONG_SHAPE, f"cannot index {x} by {depth} numbers each.", "Shorten the last axis of indices.")
    return TensorType(x.dtype, indices.shape[:-1] + x.shape[batch + depth :])


def _gather_nd(arrays, attrs):
    x, indices = arrays
    batch = attrs.get("batch_dims", 0)
    rank = indices.ndim - 1
    lead = [g.reshape(g.shape + (1,) * (rank - batch)) for g in np.indices(indices.shape[:batch], sparse=True)]
    return x[(*lead, *np.moveaxis(indices, -1, 0), Ellipsis)]


def _along_type(types, attrs, values):
    x, indices = types
    need_kinds(indices, "iu", "indices", "integers")
    if x.shape is None or indices.shape is None:
        return TensorType(x.dtype, None)
    if len(x.shape) != len(indices.shape):
        raise RuleError(WRONG_SHAPE, f"takes indices of the rank of {x}, but got {indices}.", "Add axes of size 1.")
    axis = axis_in(attrs.get("axis", -1), len(x.shape))
    if attrs.get("crop", False):
        for k, (size, taken) in enumerate(zip(x.shape, indices.shape, strict=True)):
            if k != axis and None not in (size, taken) and taken > size:
                raise RuleError(WRONG_SHAPE, f"cannot take {indices} along axis {axis} of {x}.", "Take fewer.")
        return TensorType(x.dtype, indices.shape)
    dims = broadcast(x.shape[:axis] + (1,) + x.shape[axis + 1 :], indices.shape) or ()
    return TensorType(x.dtype, dims[:axis] + indices.shape[axis : axis + 1] + dims[axis + 1 :])


def _along(arrays, attrs):
    x, indices = arrays
    axis = attrs.get("axis", -1)
    if attrs.get("crop", False):
        sides = [slice(size) for size in indices.shape]
        sides[axis] = slice(None)
        x = x[tuple(sides)]
        if x.shape[:axis] != indices.shape[:axis] or x.shape[axis:][1:] != indices.shape[axis:][1:]:
            sentence = f"cannot take indices of shape {indices.shape} along axis {axis} of the shape {arrays[0].shape}."
            raise RuleError(WRONG_SHAPE, sentence, "Take fewer.")
    return np.take_along_axis(x, indices, axis)


define(
    "getitem",
    "x *indices",
    _getitem_type,
    lambda a, attrs: a[0][decode_index(attrs["index"], a[1:])],
    "x[index], with NumPy's rules; workbench.ops.encode_index makes `index` from a Python key.",
    FAMILY,
    attrs={"index": REQUIRED},
    source="https://numpy.org/doc/stable/user/basics.indexing.html",
)
define(
    "setitem",
    "x value *indices",
    _setitem_type,
    _setitem,
    "A copy of x in which x[index] is `value`.",
    FAMILY,
    attrs={"index": REQUIRED},
    source="https://numpy.org/doc/stable/user/basics.indexing.html",
)
define(
    "slice",
    "x starts? ends? axes? steps?",
    _slice_type,
    _slice,
    "x[start:end:step] on each of `axes` (all from the first, if not given), cut to the array.",
    FAMILY,
    attrs=dict.fromkeys(PARTS),
    source=f"{ONNX}onnx__Slice.html",
)
define(
    "slice_size",
    "x begin size",
    _slice_size_type,
    _slice_size,
    "`size` elements from `begin` on each axis; -1 takes the rest.",
    FAMILY,
    source=f"{TF}slice",
)
define(
    "strided_slice",
    "x begin end strides?",
    _strided_slice_type,
    _strided_slice,
    "x[begin:end:strides] as TensorFlow has it; bit i of a mask is for entry i.",
    FAMILY,
    attrs=dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0),
    source=f"{TF}strided_slice",
)
define(
    "gather",
    "x indices axis?",
    _gather_type,
    _gather,
    "The slices of x at `indices` on `axis` (0); the first `batch_dims` axes of both go together.",
    FAMILY,
    attrs={"axis": None, "batch_dims": 0},
    source=f"{NUMPY}generated/numpy.take.html",
    aliases=("take",),
)
define(
    "gather_nd",
    "x indices",
    _gather_nd_type,
    _gather_nd,
    "The elements or slices of x at the tuples in the last axis of `indices`.",
    FAMILY,
    attrs={"batch_dims": 0},
    source=f"{TF}gather_nd",
)
define(
    "take_along_axis",
    "x indices",
    _along_type,
    _along,
    "The elements of x at `indices` along `axis`, the other axes matched; with `crop`, x is cut to the sizes of "
    "indices on those.",
    FAMILY,
    attrs={"axis": -1, "crop": False},
    source=f"{NUMPY}generated/numpy.take_along_axis.html",
)
