"""Joining, splitting and reversing of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.ir.types import TensorType, numpy_dtype
from workbench.ops.define import NUMPY, define
from workbench.ops.rules import (
    UNSEEN,
    WRONG_ARITY,
    WRONG_ATTR,
    WRONG_SHAPE,
    RuleError,
    axes_in,
    axis_in,
    need_kinds,
    need_rank,
    promote,
    setting,
    setting_at_run,
    show,
)

FAMILY = "array"
TF = "https://www.tensorflow.org/api_docs/python/tf/"


def _meet(shapes, skip: int | None = None):
    """The common shape of all shapes, except on axis ``skip``; each may have other unknown dimensions."""
    rank = len(shapes[0])
    out: list[int | None] = [None] * rank
    for shape in shapes:
        if len(shape) != rank:
            raise RuleError(
                WRONG_SHAPE,
                f"takes inputs of one rank, but got {show(shapes[0])} and {show(shape)}.",
                "Reshape or expand the inputs.",
            )
        for i, d in enumerate(shape):
            if i == skip or d is None:
                continue
            if out[i] not in (None, d):
                raise RuleError(WRONG_SHAPE, f"cannot join sizes {out[i]} and {d} on axis {i}.", "Make them equal.")
            out[i] = d
    return out


def _parts(types, attrs):
    """The inputs to join; with ``axis_input`` the last input is the axis."""
    parts = types[:-1] if attrs.get("axis_input", False) else types
    if not parts:
        raise RuleError(WRONG_ARITY, "takes one or more inputs, but got none.", "Give it something to join.")
    return parts


def _concat_type(types, attrs, values):
    parts = _parts(types, attrs)
    dtype = promote(parts)
    if attrs.get("axis_input", False):
        need_kinds(types[-1], "iu", "axis", "an integer")
        axis = UNSEEN if values[-1] is None else int(values[-1].reshape(-1)[0])
    else:
        axis = attrs.get("axis", 0)
    known = [x.shape for x in parts if x.shape is not None]
    if any(s == () for s in known):
        raise RuleError(WRONG_SHAPE, "cannot join scalars.", "Use stack, or expand the scalars to vectors.")
    if not known:
        return TensorType(dtype, None)
    if axis is UNSEEN:
        return TensorType(dtype, (None,) * len(known[0]))
    axis = axis_in(axis, len(known[0]))
    dims = _meet(known, axis)
    sizes = [None if x.shape is None else x.shape[axis] for x in parts]
    dims[axis] = None if None in sizes else sum(s for s in sizes if s is not None)
    return TensorType(dtype, tuple(dims))


def _concat(arrays, attrs):
    parts = _parts(arrays, attrs)
    axis = int(arrays[-1].reshape(-1)[0]) if attrs.get("axis_input", False) else attrs.get("axis", 0)
    return np.concatenate(parts, axis)


def _stack_type(types, attrs, values):
    parts = _parts(types, {})
    known = [x.shape for x in parts if x.shape is not None]
    if not known:
        return TensorType(promote(parts), None)
    dims = _meet(known)
    dims.insert(axis_in(attrs.get("axis", 0), len(dims) + 1), len(parts))
    return TensorType(promote(parts), tuple(dims))


def _unstack_type(types, attrs, values):
    x, num = types[0], attrs.get("num")
    axis = axis_in(attrs.get("axis", 0), x.rank)
    size = None if x.shape is None else x.shape[axis]
    if num is None and size is None:
        raise RuleError(WRONG_ATTR, f"cannot tell how many parts {x} has.", "Give num=...")
    if None not in (num, size) and num != size:
        raise RuleError(WRONG_SHAPE, f"cannot give {num} parts of an axis of size {size}.", "Correct num.")
    shape = None if x.shape is None else x.shape[:axis] + x.shape[axis + 1 :]
    parts: Any = size if num is None else num
    return [TensorType(x.dtype, shape)] * parts


def _unstack(arrays, attrs):
    x, axis = arrays[0], attrs.get("axis", 0)
    return [np.squeeze(p, axis) for p in np.split(x, x.shape[axis], axis)] if x.shape[axis] else []


def _split_sizes(size, num, uneven):
    if not uneven:
        if size % num:
            raise RuleError(
                WRONG_SHAPE,
                f"cannot cut an axis of size {size} into {num} equal parts.",
                "Give sizes, or set uneven=True.",
            )
        return (size // num,) * num
    chunk = -(-size // num)
    return tuple(max(0, min(chunk, size - i * chunk)) for i in range(num))


def _split_type(types, attrs, values):
    x, num = types[0], attrs.get("num")
    sizes = setting(attrs, "sizes", types, values, 1)
    axis = axis_in(attrs.get("axis", 0), x.rank)
    size = None if x.shape is None else x.shape[axis]
    if sizes is UNSEEN or sizes is None:
        if num is None and sizes is UNSEEN and types[1].shape:
            num = types[1].shape[0]
        if num is None:
            raise RuleError(WRONG_ATTR, "needs 'num' or 'sizes'.", "Give one of them.")
        unknown = sizes is UNSEEN or size is None
        sizes = (None,) * num if unknown else _split_sizes(size, num, attrs.get("uneven", False))
    elif -1 in sizes:
        rest = None if size is None else size - sum(s for s in sizes if s != -1)
        sizes = tuple(rest if s == -1 else s for s in sizes)
    if size is not None and None not in sizes and (sum(sizes) != size or min(sizes, default=0) < 0):
        raise RuleError(WRONG_SHAPE, f"cannot cut an axis of size {size} into {sizes}.", "Make the sizes add up.")
    shapes = [None if x.shape is None else (*x.shape[:axis], s, *x.shape[axis + 1 :]) for s in sizes]
    return [TensorType(x.dtype, s) for s in shapes]


def _split(arrays, attrs):
    x, axis, sizes = arrays[0], attrs.get("axis", 0), setting_at_run(attrs, "sizes", arrays, 1)
    size = x.shape[axis]
    if sizes is None:
        sizes = _split_sizes(size, attrs["num"], attrs.get("uneven", False))
    elif -1 in sizes:
        sizes = tuple(size - sum(sizes) - 1 if s == -1 else s for s in sizes)
    if sum(sizes) != size:
        raise RuleError(WRONG_SHAPE, f"cannot cut an axis of size {size} into {sizes}.")
    return np.split(x, np.cumsum(sizes, dtype=np.int64)[:-1], axis)


def _reverse_type(types, attrs, values):
    axes = setting(attrs, "axis", types, values, 1)
    if axes not in (None, UNSEEN) and types[0].rank is not None:
        axes_in(axes, types[0].rank)
    return types[0]


def _roll_type(types, attrs, values):
    shift, axes = setting(attrs, "shift", types, values, 1, (1,)), setting(attrs, "axis", types, values, 2)
    if axes is None or axes is UNSEEN:
        return types[0]
    if shift is not UNSEEN and 1 not in (len(shift), len(axes)) and len(shift) != len(axes):
        raise RuleError(WRONG_ATTR, f"got the shifts {shift} for the axes {axes}.", "Give a shift for each axis.")
    for axis in axes if types[0].rank is not None else ():
        axis_in(axis, types[0].rank)
    return types[0]


def _roll(arrays, attrs):
    shift, axes = setting_at_run(attrs, "shift", arrays, 1), setting_at_run(attrs, "axis", arrays, 2)
    return np.roll(arrays[0], (1,) if shift is None else shift, axes)


def _repeat_type(types, attrs, values):
    x, axis, n = types[0], attrs.get("axis"), attrs.get("repeats", 1)
    if not isinstance(n, int) or n < 0:
        raise RuleError(WRONG_ATTR, f"takes one whole number from 0 up as repeats, but got {n!r}.", "Repeat evenly.")
    if axis is None:
        known = x.shape is not None and None not in x.shape
        return TensorType(x.dtype, (int(np.prod(x.shape, dtype=np.int64)) * n if known else None,))
    if x.shape is None:
        return x
    axis = axis_in(axis, len(x.shape))
    return TensorType(x.dtype, tuple(d * n if i == axis and d is not None else d for i, d in enumerate(x.shape)))


def _one_hot_type(types, attrs, values):
    indices, depth = types[:2]
    need_kinds(indices, "iu", "indices", "integers")
    need_kinds(depth, "iu", "depth", "an integer")
    if len(types) == 3:
        raise RuleError(WRONG_ARITY, "takes an on value and an off value together.", "Give both or none.")
    dtype = promote(types[2:]) if len(types) == 4 else attrs.get("dtype", "float32")
    if depth.rank not in (None, 0) and depth.shape not in ((1,), (None,)):
        need_rank(depth, 0, "depth")
    if indices.shape is None:
        return TensorType(dtype, None)
    axis = axis_in(attrs.get("axis", -1), len(indices.shape) + 1)
    size = None if values[1] is None else int(values[1].reshape(-1)[0])
    return TensorType(dtype, (*indices.shape[:axis], size, *indices.shape[axis:]))


def _one_hot(arrays, attrs):
    indices, depth, axis = arrays[0], int(arrays[1].reshape(-1)[0]), attrs.get("axis", -1)
    sizes = [1] * (indices.ndim + 1)
    sizes[axis] = depth
    places, at = np.arange(depth).reshape(sizes), np.expand_dims(indices, axis)
    hit = at == places
    if attrs.get("wrap_negative", False):
        hit = hit | (at + depth == places)
    if len(arrays) == 4:
        return np.where(hit, arrays[2].reshape(()), arrays[3].reshape(()))
    return hit.astype(numpy_dtype(attrs.get("dtype", "float32")))


def _define(name, inputs, infer, evaluate, doc, attrs, url=None, **more):
    define(
        name,
        inputs,
        infer,
        evaluate,
        doc,
        FAMILY,
        attrs=attrs,
        source=url or f"{NUMPY}generated/numpy.{name}.html",
        **more,
    )


_define(
    "concat",
    "*xs",
    _concat_type,
    _concat,
    "The inputs one after the other along `axis`; with `axis_input` the last input is the axis.",
    {"axis": 0, "axis_input": False},
    f"{NUMPY}generated/numpy.concatenate.html",
    aliases=("concatenate",),
)
_define(
    "stack",
    "*xs",
    _stack_type,
    lambda a, attrs: np.stack(a, attrs.get("axis", 0)),
    "The inputs, of one shape, side by side on a new axis.",
    {"axis": 0},
)
_define(
    "unstack",
    "x",
    _unstack_type,
    _unstack,
    "The slices of x on `axis`; `num` says how many if the graph cannot tell.",
    {"axis": 0, "num": None},
    f"{TF}unstack",
    outputs="*parts",
)
_define(
    "split",
    "x sizes?",
    _split_type,
    _split,
    "x cut along `axis` into `num` equal parts (the last smaller with `uneven`) or into parts of `sizes`, where -1 "
    "takes the rest.",
    {"axis": 0, "num": None, "sizes": None, "uneven": False},
    outputs="*parts",
)
_define(
    "reverse",
    "x axis?",
    _reverse_type,
    lambda a, attrs: np.flip(a[0], setting_at_run(attrs, "axis", a, 1)),
    "x turned round on `axis`, or on all axes.",
    {"axis": None},
    f"{NUMPY}generated/numpy.flip.html",
    aliases=("flip",),
)
_define(
    "roll",
    "x shift? axis?",
    _roll_type,
    _roll,
    "x rolled round by `shift` (1) along `axis`, flattened without one.",
    {"shift": None, "axis": None},
)
_define(
    "repeat",
    "x",
    _repeat_type,
    lambda a, attrs: np.repeat(a[0], attrs.get("repeats", 1), attrs.get("axis")),
    "Each element `repeats` times along `axis`; flattened without one.",
    {"repeats": 1, "axis": None},
)
_define(
    "one_hot",
    "indices depth on? off?",
    _one_hot_type,
    _one_hot,
    "The on value (1) where the position on the new axis equals the index, else the off value (0); an index out of "
    "range gives no on value. `wrap_negative` counts negative ones from the end, as ONNX does.",
    {"axis": -1, "dtype": "float32", "wrap_negative": False},
    f"{TF}one_hot",
)
