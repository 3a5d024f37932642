"""Pooling: the maximum or the average of every window, and the extraction of the windows themselves.

Padding is ignored in a maximum and, without ``count_include_pad``, in an average. ``ceil_mode`` adds a window at the
end that only partly fits, as ONNX defines it.

Sources: https://www.tensorflow.org/api_docs/python/tf/nn/pool, https://onnx.ai/onnx/operators/onnx__MaxPool.html.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.define import REQUIRED, define
from workbench.ops.neural.convolution import offsets
from workbench.ops.neural.windows import (
    SOURCE,
    WINDOW_ATTRS,
    Axis,
    at_offset,
    axes_of,
    channels_as,
    channels_last,
    checked,
    from_last,
    layout_of,
    need_spatial,
    padded,
    patches,
    to_last,
)
from workbench.ops.rules import WRONG_ATTR, RuleError, lowest, need_kinds, need_numbers, working

FAMILY = "pooling"
ATTRS = {"window": REQUIRED, **WINDOW_ATTRS, "ceil_mode": False}


def geometry(x: TensorType, attrs: Mapping[str, Any]) -> tuple[Any, list[Axis]]:
    """Shape of the result (channels last) and the windows."""
    need_spatial(x, "input")
    window = tuple(attrs["window"])
    if x.rank is not None and x.rank != len(window) + 2:
        raise RuleError(
            WRONG_ATTR, f"got a window over {len(window)} axes for {x}.", "Give one size for each spatial axis."
        )
    if any(k < 1 for k in window):
        raise RuleError(WRONG_ATTR, f"got the window {window}.", "Give positive sizes.")
    shape = channels_last(x.shape if x.shape is not None else (None,) * (len(window) + 2), layout_of(attrs))
    axes = axes_of(attrs, shape[1:-1], window)
    return (shape[0], *(a.out for a in axes), shape[-1]), axes


def _max_type(types, attrs, values):
    need_kinds(types[0], "iuf", "input", "integers or real numbers")
    shape, _ = geometry(types[0], attrs)
    return TensorType(types[0].dtype, channels_as(shape, layout_of(attrs)))


def _average_type(types, attrs, values):
    need_kinds(types[0], "f", "input", "real numbers")
    shape, _ = geometry(types[0], attrs)
    return TensorType(types[0].dtype, channels_as(shape, layout_of(attrs)))


def _max_pool(arrays, attrs):
    x, layout = arrays[0], layout_of(attrs)
    _, axes = geometry(TensorType.of(x), attrs)
    wide = padded(to_last(x, layout), axes, lowest(x.dtype))
    best: Any = None
    for offset in offsets(axes):
        part = wide[at_offset(offset, axes)]
        best = part.copy() if best is None else np.maximum(best, part, out=best)
    return from_last(best, layout)


def _argmax_type(types, attrs, values):
    out = _max_type(types, attrs, values)
    return out, TensorType("int64", out.shape)


def _max_pool_with_argmax(arrays, attrs):
    x, layout = arrays[0], layout_of(attrs)
    _, axes = geometry(TensorType.of(x), attrs)
    # the flat index of every element of x, padded like x itself
    places = np.arange(x.size, dtype=np.int64).reshape(x.shape)
    if not attrs.get("include_batch", True):
        places = np.broadcast_to(places[:1], x.shape)
    wide, where = padded(to_last(x, layout), axes, lowest(x.dtype)), padded(to_last(places, layout), axes, -1)
    best: Any = None
    index: Any = None
    for offset in offsets(axes):
        at = at_offset(offset, axes)
        if best is None:
            best, index = wide[at].copy(), where[at].copy()
            continue
        # padding is never chosen if there is a real element, even if all are the lowest number
        better = ((wide[at] > best) | (index < 0)) & (where[at] >= 0)
        np.copyto(best, wide[at], where=better)
        np.copyto(index, where[at], where=better)
    return from_last(best, layout), from_last(index, layout)


def counts(axis: Axis, include: bool) -> np.ndarray:
    """Number of elements in the average of each window along one axis."""
    assert axis.out is not None and axis.pad is not None and axis.size is not None and axis.window is not None
    low, high = (-axis.pad[0], axis.size + axis.pad[1]) if include else (0, axis.size)
    places = (np.arange(axis.out) * axis.stride - axis.pad[0])[:, None] + np.arange(axis.window) * axis.dilation
    return ((places >= low) & (places < high)).sum(axis=1)


def _average_pool(arrays, attrs):
    x, layout = arrays[0], layout_of(attrs)
    _, axes = geometry(TensorType.of(x), attrs)
    wide = padded(to_last(x.astype(working(x.dtype), copy=False), layout), axes)
    total: Any = None
    for offset in offsets(axes):
        part = wide[at_offset(offset, axes)]
        total = part.copy() if total is None else np.add(total, part, out=total)
    for i, axis in enumerate(axes):
        parts = np.maximum(counts(axis, bool(attrs.get("count_include_pad", False))), 1).astype(total.dtype)
        total /= parts.reshape(-1, *(1,) * (len(axes) - i))
    return from_last(total.astype(x.dtype, copy=False), layout)


def _patches_type(types, attrs, values):
    need_numbers(types)
    shape, _ = geometry(types[0], attrs)
    depth = None if shape[-1] is None else shape[-1] * math.prod(attrs["window"])
    return TensorType(types[0].dtype, (*shape[:-1], depth))


def _extract_patches(arrays, attrs):
    x = arrays[0]
    shape, axes = geometry(TensorType.of(x), attrs)
    found = patches(padded(to_last(x, layout_of(attrs)), axes), axes)
    return np.array(found).reshape(*shape[:-1], math.prod(attrs["window"]) * shape[-1])


define(
    "max_pool",
    "x",
    _max_type,
    checked(_max_type, _max_pool),
    "The greatest element of every window.",
    FAMILY,
    attrs=ATTRS,
    source=SOURCE,
)
define(
    "max_pool_with_argmax",
    "x",
    _argmax_type,
    checked(_argmax_type, _max_pool_with_argmax),
    "The greatest element of every window and its position in x, counted through all of x as it is laid out, or "
    "without `include_batch` through its own sample. The first of equals.",
    FAMILY,
    outputs="output argmax",
    attrs={**ATTRS, "include_batch": True},
    source="https://www.tensorflow.org/api_docs/python/tf/nn/max_pool_with_argmax",
)
define(
    "average_pool",
    "x",
    _average_type,
    checked(_average_type, _average_pool),
    "The average of every window.",
    FAMILY,
    attrs={**ATTRS, "count_include_pad": False},
    source=SOURCE,
)
define(
    "extract_patches",
    "x",
    _patches_type,
    checked(_patches_type, _extract_patches),
    "The elements of every window side by side, in the order of the window and then of the channels.",
    FAMILY,
    attrs=ATTRS,
    source="https://www.tensorflow.org/api_docs/python/tf/image/extract_patches",
)
