"""Ops that make views of an array, join arrays, or put one into another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.device import semantics
from workbench.device.rules.rule import Rule, RuleNode, single
from workbench.device.semantics import is_number
from workbench.errors import WorkbenchError
from workbench.ir.types import numpy_dtype
from workbench.ops.arrays.shapes import pad_widths
from workbench.ops.index import decode_index

#: results have the items of the first input in the same order
RESHAPING = frozenset(("reshape", "flatten", "expand_dims", "squeeze", "stop_gradient"))
#: results are parts of the first input, which NumPy returns as views
CUTTING = frozenset(("getitem", "slice", "slice_size", "strided_slice", "split", "unstack", "reverse"))
MOVING = frozenset(
    (*RESHAPING, *CUTTING, "transpose", "broadcast_to", "concat", "stack", "pad", "setitem", "gather", "roll")
)


def moving_rule(node: RuleNode) -> Rule | None:
    """The rule of such an op; None if it depends on values, or if NumPy would copy item by item."""
    known = all(v is not None for v in node.values[1:])
    shape = node.out
    if node.op in RESHAPING:
        if not known:
            return None
        return single(lambda xp, arrays: xp.reshape(_array(xp, node, arrays[0], 0), shape))
    if node.op in CUTTING:
        return _cut(node) if known else None
    if node.op == "transpose":
        return _transposed(node) if known else None
    if node.op == "broadcast_to" and known:
        return single(lambda xp, arrays: xp.broadcast_to(_array(xp, node, arrays[0], 0), shape))
    if node.op in ("concat", "stack"):
        return _joined(node)
    if node.op == "pad":
        return _padded(node) if known else None
    if node.op == "setitem":
        return _written(node)
    if node.op == "gather":
        return _gathered(node)
    if node.op == "roll" and isinstance(node.attrs.get("shift"), int) and isinstance(node.attrs.get("axis"), int):
        shift, axis = node.attrs["shift"], node.attrs["axis"]
        return single(lambda xp, arrays: xp.roll(arrays[0], shift, axis=axis)) if len(node.ins) == 1 else None
    return None


def _array(xp: Any, node: RuleNode, value: Any, k: int) -> Any:
    """An operand, array or number, as an array of the library."""
    return xp.asarray(value.item(), dtype=getattr(xp, node.ins[k].dtype)) if is_number(value) else value


def _views(node: RuleNode) -> tuple[np.ndarray, Sequence[np.ndarray]] | None:
    """An uninitialized array of the first input's type, and NumPy's views of it; None if one is a copy."""
    if node.spec.evaluate is None or not node.ins[0].shape:
        return None
    x = np.empty(node.dims(0), numpy_dtype(node.ins[0].dtype))
    try:
        results = node.spec.evaluate([x, *node.values[1:]], node.attrs)
    except (IndexError, ValueError, WorkbenchError):
        return None  # the host's call raises the error
    inside = all(isinstance(r, np.ndarray) and (r.size == 0 or np.may_share_memory(r, x)) for r in results)
    return (x, results) if inside else None


def slices_of(x: np.ndarray, part: np.ndarray) -> tuple[slice, ...] | None:
    """The slices that pick a view's items out of a contiguous array, in order; None if an axis was moved."""
    at, slices = part.ctypes.data - x.ctypes.data, list[slice]()
    steps = [(s, n) for s, n in zip(part.strides, part.shape, strict=True) if n > 1]
    for stride, size in zip(x.strides, x.shape, strict=True):
        start, at = divmod(at, stride) if size > 1 else (0, at)
        if steps and size > 1 and steps[0][0] % stride == 0 and abs(steps[0][0]) < stride * size:
            step, n = steps.pop(0)
            last = start + step // stride * (n - 1)
            if not 0 <= last < size:
                return None
            end = last + (1 if step > 0 else -1)
            slices.append(slice(start, None if end < 0 else end, step // stride))
        else:
            slices.append(slice(start, start + 1, 1))
    return None if steps or at or math.prod(x.shape) == 0 or part.size == 0 else tuple(slices)


def _cut(node: RuleNode) -> Rule | None:
    found = _views(node)
    if found is None:
        return None
    x, parts = found
    slices = [slices_of(x, part) for part in parts]
    if any(s is None for s in slices):
        return None
    shapes = [part.shape for part in parts]
    return lambda xp, arrays: [xp.reshape(arrays[0][s], shape) for s, shape in zip(slices, shapes, strict=True)]


def _transposed(node: RuleNode) -> Rule | None:
    rank = len(node.dims(0))
    perm = node.attrs.get("perm") if len(node.ins) == 1 else node.values[1]
    order = tuple(range(rank))[::-1] if perm is None else tuple(int(p) % rank for p in np.ravel(perm))
    return single(lambda xp, arrays: xp.permute_dims(arrays[0], order))


def _joined(node: RuleNode) -> Rule | None:
    if node.attrs.get("axis_input") or any(t.dtype != node.outs[0].dtype for t in node.ins) or not node.ins:
        return None
    axis, name = int(node.attrs.get("axis", 0)) % len(node.out), node.op

    def call(xp: Any, arrays: Any) -> Any:
        parts = [_array(xp, node, a, k) for k, a in enumerate(arrays)]
        return getattr(xp, name)(parts, axis=axis)

    return single(call)


def _padded(node: RuleNode) -> Rule | None:
    if node.attrs.get("mode", "constant") != "constant":
        return None
    widths = pad_widths(node.attrs, node.ins, node.values)
    fill = node.values[2] if len(node.ins) > 2 else node.attrs.get("value", 0)
    number = semantics.as_number(np.reshape(np.asarray(fill), ()), numpy_dtype(node.outs[0].dtype))
    shape, dims = node.out, node.dims(0)
    if any(low < 0 or high < 0 for low, high in widths):
        return None
    inside = tuple(slice(low, low + d) for (low, _), d in zip(widths, dims, strict=True))

    def call(xp: Any, arrays: Any) -> Any:
        out = xp.full(shape, number, dtype=arrays[0].dtype)
        out[inside] = arrays[0]
        return out

    return single(call)


def _written(node: RuleNode) -> Rule | None:
    """A copy of x with a part replaced."""
    if len(node.ins) != 2 or node.ins[1].dtype != node.outs[0].dtype or node.ins[0] != node.outs[0]:
        return None
    x = np.empty(node.dims(0), numpy_dtype(node.ins[0].dtype))
    part = x[decode_index(node.attrs["index"], [])]
    if not isinstance(part, np.ndarray) or not np.may_share_memory(part, x):
        return None  # fancy
    slices = slices_of(x, part)
    if slices is None:
        return None
    shape, cut = part.shape, x[slices].shape

    def call(xp: Any, arrays: Any) -> Any:
        out = xp.asarray(arrays[0], copy=True)
        value = _array(xp, node, arrays[1], 1)
        out[slices] = xp.reshape(xp.broadcast_to(value, shape), cut)
        return out

    return single(call)


def _gathered(node: RuleNode) -> Rule | None:
    if node.attrs.get("batch_dims") or len(node.ins) != 2 or not node.ins[0].shape or not node.ins[1].shape:
        return None
    axis = int(node.attrs.get("axis", 0)) % len(node.dims(0))
    if not node.ins[1].dtype.startswith("int") or not node.plain("axis"):
        return None
    return single(lambda xp, arrays: semantics.take(xp, arrays[0], xp.astype(arrays[1], xp.int64), axis))
