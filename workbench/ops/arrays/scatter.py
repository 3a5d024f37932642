"""Writing into copies of arrays at positions given as data.

``reduction`` combines the existing element and the update: "none" (the update, the last one for repeated positions),
"add", "sub", "mul", "max" or "min".
"""

from __future__ import annotations

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.define import REQUIRED, define
from workbench.ops.rules import (
    WRONG_ATTR,
    WRONG_DTYPE,
    WRONG_SHAPE,
    RuleError,
    axis_in,
    broadcast,
    dims_of,
    need_kinds,
    setting,
    widened,
    working,
)

FAMILY = "indexing"
WRITERS = {"none": None, "add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def _check(x, indices, updates, attrs):
    need_kinds(indices, "iu", "indices", "integers")
    if "any" not in (x.dtype, updates.dtype) and x.dtype != updates.dtype:
        raise RuleError(WRONG_DTYPE, f"takes updates of dtype {x.dtype}, but got {updates}.", "Cast the updates.")
    if attrs.get("reduction", "none") not in WRITERS:
        raise RuleError(WRONG_ATTR, f"has no reduction {attrs['reduction']!r}.", f"Give one of {', '.join(WRITERS)}.")


def _write(out: np.ndarray, key: tuple, updates: np.ndarray, attrs) -> np.ndarray:
    ufunc = WRITERS[attrs.get("reduction", "none")]
    if ufunc is None:
        out[key] = updates
        return out
    wide = widened(out)
    ufunc.at(wide, key, updates.astype(wide.dtype, copy=False))  # unbuffered: applies all repeats
    return wide.astype(out.dtype, copy=False)


def _update_shape(x, indices):
    if x.shape is None or not indices.shape or indices.shape[-1] is None:
        return None
    if indices.shape[-1] > len(x.shape):
        raise RuleError(WRONG_SHAPE, f"cannot index {x} by {indices.shape[-1]} numbers each.", "Shorten the last axis.")
    return indices.shape[:-1] + x.shape[indices.shape[-1] :]


def _update_type(types, attrs, values):
    x, indices, updates = types
    _check(x, indices, updates, attrs)
    wanted = TensorType(updates.dtype, _update_shape(x, indices))
    if not wanted.accepts(updates):
        raise RuleError(WRONG_SHAPE, f"takes updates of type {wanted}, but got {updates}.", "Reshape the updates.")
    return x


def _update(arrays, attrs):
    x, indices, updates = arrays
    return _write(x.copy(), tuple(np.moveaxis(indices, -1, 0)), updates, attrs)


def _scatter_type(types, attrs, values):
    indices, updates = types[:2]
    sizes = setting({}, "shape", types, values, 2)
    x = TensorType(updates.dtype, dims_of(sizes, types[2]))
    need_kinds(updates, "biufc", "updates", "numbers")
    return _update_type((x, indices, updates), {}, values)


def _scatter(arrays, attrs):
    indices, updates, shape = arrays
    out = np.zeros(tuple(int(d) for d in shape), working(updates.dtype))
    np.add.at(out, tuple(np.moveaxis(indices, -1, 0)), updates.astype(out.dtype, copy=False))
    return out.astype(updates.dtype, copy=False)


def _along_type(types, attrs, values):
    x, indices, updates = types
    _check(x, indices, updates, attrs)
    if x.shape is not None and indices.shape is not None:
        axis_in(attrs["axis"], len(x.shape))
        if len(x.shape) != len(indices.shape):
            raise RuleError(WRONG_SHAPE, f"takes indices of the rank of {x}, but got {indices}.", "Reshape them.")
    if indices.shape is not None and updates.shape is not None:
        broadcast(indices.shape, updates.shape)
    return x


def _along(arrays, attrs):
    x, indices, updates = arrays
    axis = attrs["axis"] % x.ndim
    key = list(np.indices(indices.shape, sparse=True))
    key[axis] = indices
    return _write(x.copy(), tuple(key), updates, attrs)


define(
    "scatter_update",
    "x indices updates",
    _update_type,
    _update,
    "A copy of x with the elements or slices at the tuples in the last axis of `indices` replaced.",
    FAMILY,
    attrs={"reduction": "none"},
    source="https://onnx.ai/onnx/operators/onnx__ScatterND.html",
)
define(
    "scatter_nd",
    "indices updates shape",
    _scatter_type,
    _scatter,
    "Zeros of `shape`, to which the updates are added at the tuples in the last axis of `indices`.",
    FAMILY,
    source="https://www.tensorflow.org/api_docs/python/tf/scatter_nd",
)
define(
    "put_along_axis",
    "x indices updates",
    _along_type,
    _along,
    "A copy of x with the elements at `indices` along `axis` replaced.",
    FAMILY,
    attrs={"axis": REQUIRED, "reduction": "none"},
    source="https://onnx.ai/onnx/operators/onnx__ScatterElements.html",
)
