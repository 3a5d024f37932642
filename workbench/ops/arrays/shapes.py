"""Shapes of arrays: reshape, transpose, new and dropped axes, broadcast, tile, pad, and queries of shapes.

Integers that a source may pass as tensors (a shape, axes, repeats) are the attr or the second input, never both. These
ops move elements of any dtype, strings too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.ir.types import TensorType, numpy_dtype
from workbench.ops.define import NUMPY, define
from workbench.ops.rules import (
    UNSEEN,
    WRONG_ATTR,
    WRONG_SHAPE,
    RuleError,
    attr_dtype,
    axes_in,
    axis_in,
    broadcast,
    count_of,
    dims_of,
    element_count,
    promote,
    setting,
    setting_at_run,
    show,
)

FAMILY = "array"


def _setting(attrs, key, types, values):
    got = setting(attrs, key, types, values, 1)
    if got is None:
        raise RuleError(WRONG_ATTR, f"needs {key!r}, as an attr or as its second input.", f"Give {key}=...")
    return got


def _second(types):
    return types[1] if len(types) > 1 else None


def _reshape_type(types, attrs, values):
    x, sizes = types[0], _setting(attrs, "shape", types, values)
    if sizes is UNSEEN:
        return TensorType(x.dtype, dims_of(sizes, types[1]))
    out: list[int | None] = list(sizes)
    if sum(d == -1 for d in sizes) > 1 or min(sizes, default=0) < -1:
        raise RuleError(WRONG_ATTR, f"cannot take the shape {sizes}.", "Use -1 at most once, and no other negatives.")
    if attrs.get("copy_zeros", False):
        for i, d in enumerate(sizes):
            if d == 0:
                if x.shape is not None and i >= len(x.shape):
                    raise RuleError(WRONG_SHAPE, f"has no axis {i} to copy from {x}.", "Drop the 0.")
                out[i] = None if x.shape is None else x.shape[i]
    rest, own = [d for d in out if d != -1], x.shape
    if None in rest or element_count(own) is None:
        return TensorType(x.dtype, tuple(None if d == -1 else d for d in out))
    if -1 in out and 0 in rest and 0 in (own or ()):  # as in TensorFlow, the open size follows from the nonzero sizes
        rest, own = [d for d in rest if d], tuple(d for d in own or () if d)
    total, product = element_count(own) or 0, element_count(tuple(rest)) or 0
    fits = product == total if -1 not in out else product and total % product == 0
    if not fits:
        raise RuleError(WRONG_SHAPE, f"cannot give {x} the shape {sizes}: {total} elements.", "Keep the element count.")
    missing = total // product if product else 0
    return TensorType(x.dtype, tuple(missing if d == -1 else d for d in out))


def _reshape(arrays, attrs):
    x, sizes = arrays[0], setting_at_run(attrs, "shape", arrays, 1)
    if attrs.get("copy_zeros", False):
        sizes = tuple(x.shape[i] if d == 0 else d for i, d in enumerate(sizes))
    if -1 in sizes and 0 in sizes and not x.size:
        sizes = _reshape_type([TensorType.of(x)], {"shape": sizes}, ()).shape
    return x.reshape(sizes)


def _flatten_type(types, attrs, values):
    shape, axis = types[0].shape, attrs.get("axis")
    if axis is None:
        return TensorType(types[0].dtype, (element_count(shape),))
    if shape is None:
        return TensorType(types[0].dtype, (None, None))
    at = len(shape) if axis == len(shape) else axis_in(axis, len(shape))
    return TensorType(types[0].dtype, (element_count(shape[:at]), element_count(shape[at:])))


def _flatten(arrays, attrs):
    x, axis = arrays[0], attrs.get("axis")
    if axis is None:
        return x.reshape(-1)
    at = axis if axis >= 0 else axis + x.ndim
    return x.reshape(int(np.prod(x.shape[:at], dtype=np.int64)), int(np.prod(x.shape[at:], dtype=np.int64)))


def _transpose_type(types, attrs, values):
    x, perm = types[0], setting(attrs, "perm", types, values, 1)
    if perm is UNSEEN:
        count = count_of(types[1]) if x.shape is None else len(x.shape)
        return TensorType(x.dtype, None if count is None else (None,) * count)
    if x.shape is None:
        return TensorType(x.dtype, None if perm is None else (None,) * len(perm))
    order = tuple(reversed(range(len(x.shape)))) if perm is None else axes_in(perm, len(x.shape))
    if len(order) != len(x.shape):
        raise RuleError(WRONG_ATTR, f"got {len(order)} axes in perm {perm} for {x}.", "Name each axis of the tensor.")
    return TensorType(x.dtype, tuple(x.shape[i] for i in order))


def _expand_type(types, attrs, values):
    x, axes = types[0], _setting(attrs, "axis", types, values)
    if x.shape is None:
        return TensorType(x.dtype, None)
    if axes is UNSEEN:
        count = count_of(types[1])
        return TensorType(x.dtype, None if count is None else (None,) * (len(x.shape) + count))
    places = axes_in(axes, len(x.shape) + len(axes))
    dims = iter(x.shape)
    return TensorType(x.dtype, tuple(1 if i in places else next(dims) for i in range(len(x.shape) + len(axes))))


def _squeeze_type(types, attrs, values):
    x, axes = types[0], setting(attrs, "axis", types, values, 1)
    if x.shape is None or (axes is None and None in x.shape):
        return TensorType(x.dtype, None)
    if axes is UNSEEN:
        count = count_of(types[1])
        return TensorType(x.dtype, None if count is None or count > len(x.shape) else (None,) * (len(x.shape) - count))
    drop = [i for i, d in enumerate(x.shape) if d == 1] if axes is None else axes_in(axes, len(x.shape))
    for i in drop:
        if x.shape[i] not in (1, None):
            raise RuleError(WRONG_SHAPE, f"cannot drop axis {i} of {x}: its size is not 1.", "Name axes of size 1.")
    return TensorType(x.dtype, tuple(d for i, d in enumerate(x.shape) if i not in drop))


def _broadcast_to_type(types, attrs, values):
    x, wanted = types[0], dims_of(_setting(attrs, "shape", types, values), _second(types))
    shape = broadcast(x.shape, wanted)
    if attrs.get("mutual", False):
        return TensorType(x.dtype, shape)
    if x.shape is not None and wanted is not None:
        ends = zip(reversed(x.shape), reversed(wanted), strict=False)
        if len(x.shape) > len(wanted) or any(w is not None and d not in (None, 1, w) for d, w in ends):
            raise RuleError(WRONG_SHAPE, f"cannot broadcast {x} to {show(wanted)}.", "Set mutual=True to widen both.")
    return TensorType(x.dtype, wanted)


def _broadcast_to(arrays, attrs):
    x, sizes = arrays[0], setting_at_run(attrs, "shape", arrays, 1)
    return np.broadcast_to(x, np.broadcast_shapes(x.shape, sizes) if attrs.get("mutual", False) else sizes)


def _tile_type(types, attrs, values):
    x, repeats = types[0], _setting(attrs, "repeats", types, values)
    count = count_of(types[1]) if repeats is UNSEEN else len(repeats)
    if x.shape is None or count is None:
        return TensorType(x.dtype, None)
    rank = max(len(x.shape), count)
    if repeats is UNSEEN:
        return TensorType(x.dtype, (None,) * rank)
    dims = (1,) * (rank - len(x.shape)) + x.shape
    times = (1,) * (rank - count) + repeats
    if min(times, default=0) < 0:
        raise RuleError(WRONG_ATTR, f"cannot repeat {repeats} times.", "Give numbers from 0 up.")
    sizes = (0 if n == 0 else None if d is None else d * n for d, n in zip(dims, times, strict=True))
    return TensorType(x.dtype, tuple(sizes))


def _pad_type(types, attrs, values):
    x, widths = types[0], pad_widths(attrs, types, values)
    if len(types) > 2:
        promote([types[0], types[2]])
    if widths is None or x.shape is None:
        return TensorType(x.dtype, None if x.shape is None else (None,) * len(x.shape))
    if len(widths) != len(x.shape):
        raise RuleError(WRONG_ATTR, f"got {len(widths)} pairs of pad widths for {x}.", "Give a pair for each axis.")
    if min((w for pair in widths for w in pair), default=0) < 0:
        raise RuleError(WRONG_ATTR, f"cannot pad by {widths}.", "Give widths from 0 up; slice to cut.")
    sizes = (None if d is None else d + a + b for d, (a, b) in zip(x.shape, widths, strict=True))
    return TensorType(x.dtype, tuple(sizes))


def pad_widths(attrs, arrays, values) -> Any:
    """Pad widths as pairs, from the attr or the (n, 2) input; None while unseen."""
    if len(arrays) > 1:
        return None if values[1] is None else tuple((int(a), int(b)) for a, b in values[1].reshape(-1, 2))
    if attrs.get("pad_width") is None:
        raise RuleError(WRONG_ATTR, "needs 'pad_width', as an attr or as its second input.", "Give pad_width=...")
    return tuple((int(a), int(b)) for a, b in attrs["pad_width"])


def _pad(arrays, attrs):
    x, mode = arrays[0], attrs.get("mode", "constant")
    widths = pad_widths(attrs, arrays, arrays)
    if mode != "constant":
        return np.pad(x, widths, mode)
    value = arrays[2].reshape(()) if len(arrays) > 2 else np.asarray(attrs.get("value", 0), object)
    out = np.full([d + a + b for d, (a, b) in zip(x.shape, widths, strict=True)], value, x.dtype)
    out[tuple(slice(a, a + d) for d, (a, _) in zip(x.shape, widths, strict=True))] = x
    return out


def _shape_type(types, attrs, values):
    rank, at = types[0].rank, slice(attrs.get("start", 0), attrs.get("end"))
    return TensorType(attr_dtype({"dtype": "int64", **attrs}), (None if rank is None else len(range(rank)[at]),))


def _scalar_int(types, attrs, values):
    return TensorType(attr_dtype({"dtype": "int64", **attrs}), ())


def _int_dtype(attrs):
    return numpy_dtype(attrs.get("dtype", "int64"))


def _shape_of(arrays, attrs):
    return np.array(arrays[0].shape[slice(attrs.get("start", 0), attrs.get("end"))], dtype=_int_dtype(attrs))


def _define(name, inputs, infer, evaluate, doc, attrs=None, aliases=(), url=None):
    source = url or f"{NUMPY}generated/numpy.{name}.html"
    define(name, inputs, infer, evaluate, doc, FAMILY, attrs=attrs, aliases=aliases, source=source)


def _axes(arrays, attrs, key):
    return setting_at_run(attrs, key, arrays, 1)


ONNX = "https://onnx.ai/onnx/operators/"
_define(
    "reshape",
    "x shape?",
    _reshape_type,
    _reshape,
    "The elements in another shape; one size may be -1. With `copy_zeros` a size 0 copies the input's, as in ONNX.",
    {"shape": None, "copy_zeros": False},
)
_define(
    "flatten",
    "x",
    _flatten_type,
    _flatten,
    "One axis; with `axis`, a matrix of the axes before it and the rest.",
    {"axis": None},
    ("ravel",),
    f"{ONNX}onnx__Flatten.html",
)
_define(
    "transpose",
    "x perm?",
    _transpose_type,
    lambda a, attrs: np.transpose(a[0], _axes(a, attrs, "perm")),
    "The axes in the order `perm`; without it, in reverse.",
    {"perm": None},
)
_define(
    "expand_dims",
    "x axis?",
    _expand_type,
    lambda a, attrs: np.expand_dims(a[0], _axes(a, attrs, "axis")),
    "New axes of size 1 at `axis`, counted in the result.",
    {"axis": None},
)
_define(
    "squeeze",
    "x axis?",
    _squeeze_type,
    lambda a, attrs: np.squeeze(a[0], _axes(a, attrs, "axis")),
    "Without the axes `axis`, which have size 1; without any of size 1 if none is named.",
    {"axis": None},
)
_define(
    "broadcast_to",
    "x shape?",
    _broadcast_to_type,
    _broadcast_to,
    "Stretched to `shape`; with `mutual`, to what x and `shape` broadcast to, as ONNX's Expand.",
    {"shape": None, "mutual": False},
)
_define(
    "tile",
    "x repeats?",
    _tile_type,
    lambda a, attrs: np.tile(a[0], _axes(a, attrs, "repeats")),
    "Repeated `repeats` times along each axis.",
    {"repeats": None},
)
_define(
    "pad",
    "x pad_width? value?",
    _pad_type,
    _pad,
    "Widened by `pad_width`, pairs (before, after) for each axis or an input (n, 2); mode is constant (with "
    "`value`), edge, reflect, symmetric or wrap.",
    {"pad_width": None, "mode": "constant", "value": 0},
)
_define(
    "shape",
    "x",
    _shape_type,
    _shape_of,
    "The sizes of x, from axis `start` to `end`.",
    {"dtype": "int64", "start": 0, "end": None},
)
_define(
    "size",
    "x",
    _scalar_int,
    lambda a, attrs: np.array(a[0].size, _int_dtype(attrs)),
    "The number of elements.",
    {"dtype": "int64"},
)
_define(
    "rank",
    "x",
    _scalar_int,
    lambda a, attrs: np.array(a[0].ndim, _int_dtype(attrs)),
    "The number of axes.",
    {"dtype": "int64"},
    ("ndim",),
    f"{NUMPY}generated/numpy.ndim.html",
)
