"""The gradients of pooling, and dilation, which is a convolution with a maximum in place of the sum.

Sources: https://www.tensorflow.org/api_docs/python/tf/raw_ops/MaxPoolGrad, .../AvgPoolGrad, .../Dilation2D.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.define import define
from workbench.ops.neural.convolution import common_dtype, offsets
from workbench.ops.neural.pooling import ATTRS, FAMILY, counts, geometry
from workbench.ops.neural.windows import (
    WINDOW_ATTRS,
    at_offset,
    axes_of,
    channels_as,
    channels_last,
    checked,
    from_last,
    layout_of,
    padded,
    to_last,
)
from workbench.ops.rules import WRONG_SHAPE, RuleError, Shape, as_ints, lowest, need_kinds, need_rank, working

SOURCE = "https://www.tensorflow.org/api_docs/python/tf/raw_ops/"


def _need(x: TensorType, shape: Shape, what: str) -> None:
    wanted = TensorType(x.dtype, shape)
    if not wanted.accepts(x):
        raise RuleError(WRONG_SHAPE, f"takes {what} of type {wanted}, but got {x}.", "Check the window and the pads.")


def _max_type(types, attrs, values):
    x, y, gradient = types
    for t in types:
        need_kinds(t, "iuf", "input", "integers or real numbers")
    dtype = common_dtype(types)
    shape = channels_as(geometry(x, attrs)[0], layout_of(attrs))
    _need(y, shape, "a result")
    _need(gradient, shape, "a gradient")
    return TensorType(dtype, x.shape)


def _inside(whole: np.ndarray, axes: Any) -> np.ndarray:
    return whole[(slice(None), *(slice(a.pad[0], a.pad[0] + a.size) for a in axes))]


def _max_pool_gradient(arrays, attrs):
    x, y, gradient = (to_last(a, layout_of(attrs)) for a in arrays)
    _, axes = geometry(TensorType.of(arrays[0]), attrs)
    wide = padded(x, axes, lowest(x.dtype))
    whole, given = np.zeros_like(wide), np.zeros(y.shape, bool)
    for offset in offsets(axes):
        at = at_offset(offset, axes)
        hit = (wide[at] == y) & ~given  # the first of equals gets the whole gradient
        whole[at] += np.where(hit, gradient, gradient.dtype.type(0))
        given |= hit
    return np.ascontiguousarray(from_last(_inside(whole, axes), layout_of(attrs)))


def _average_type(types, attrs, values):
    sizes, gradient = types
    need_kinds(sizes, "iu", "sizes", "integers")
    need_kinds(gradient, "f", "gradient", "real numbers")
    need_rank(sizes, 1, "sizes")
    rank = len(attrs["window"]) + 2
    if sizes.shape is not None and sizes.shape[0] not in (None, rank):
        raise RuleError(WRONG_SHAPE, f"takes {rank} sizes, but got {sizes}.", "Give the shape of the input.")
    shape = (None,) * rank if values[0] is None else as_ints(values[0])
    out, _ = geometry(TensorType(gradient.dtype, shape), attrs)
    _need(gradient, channels_as(out, layout_of(attrs)), "a gradient")
    return TensorType(gradient.dtype, shape)


def _average_pool_gradient(arrays, attrs):
    layout, shape = layout_of(attrs), as_ints(arrays[0])
    _, axes = geometry(TensorType("float32", shape), attrs)
    share = to_last(arrays[1], layout).astype(working(arrays[1].dtype))
    for i, axis in enumerate(axes):
        parts = np.maximum(counts(axis, bool(attrs.get("count_include_pad", False))), 1).astype(share.dtype)
        share /= parts.reshape(-1, *(1,) * (len(axes) - i))
    last = channels_last(shape, layout)
    extent = padded(np.broadcast_to(share.dtype.type(0), (1, *last[1:-1], 1)), axes).shape[1:-1]
    whole = np.zeros((last[0], *extent, last[-1]), share.dtype)
    for offset in offsets(axes):
        whole[at_offset(offset, axes)] += share
    return np.ascontiguousarray(from_last(_inside(whole, axes), layout)).astype(arrays[1].dtype, copy=False)


def _dilation_geometry(x: TensorType, w: TensorType, attrs):
    need_rank(x, 4, "input")
    need_rank(w, 3, "filter")
    shape = channels_last(x.shape if x.shape is not None else (None,) * 4, layout_of(attrs))
    kernel = w.shape if w.shape is not None else (None,) * 3
    if None not in (shape[-1], kernel[-1]) and shape[-1] != kernel[-1]:
        raise RuleError(WRONG_SHAPE, f"got {x} and a filter {w}.", "Give the filter as many channels.")
    axes = axes_of(attrs, shape[1:-1], kernel[:-1])
    return (shape[0], *(a.out for a in axes), shape[-1]), axes


def _dilation_type(types, attrs, values):
    for t in types:
        need_kinds(t, "iuf", "input", "integers or real numbers")
    shape, _ = _dilation_geometry(types[0], types[1], attrs)
    return TensorType(common_dtype(types), channels_as(shape, layout_of(attrs)))


def _dilation(arrays, attrs):
    x, w = arrays
    _, axes = _dilation_geometry(TensorType.of(x), TensorType.of(w), attrs)
    low = lowest(x.dtype)
    wide = padded(to_last(x, layout_of(attrs)), axes, low)
    inside = padded(
        np.ones((1, *x.shape[1:-1], 1), bool) if layout_of(attrs) == "last" else np.ones((1, *x.shape[2:], 1), bool),
        axes,
        False,
    )
    best: Any = None
    for offset in offsets(axes):
        at = at_offset(offset, axes)
        part = np.where(inside[at], wide[at] + w[offset], np.asarray(low, x.dtype))
        best = part if best is None else np.maximum(best, part, out=best)
    return from_last(best.astype(x.dtype, copy=False), layout_of(attrs))


define(
    "max_pool_gradient",
    "x result gradient",
    _max_type,
    checked(_max_type, _max_pool_gradient),
    "The gradient of max_pool: each window hands its gradient to its greatest element, the first of equals.",
    FAMILY,
    attrs=ATTRS,
    source=f"{SOURCE}MaxPoolGrad",
)
define(
    "average_pool_gradient",
    "sizes gradient",
    _average_type,
    checked(_average_type, _average_pool_gradient),
    "The gradient of average_pool, whose input has the shape `sizes`: each window shares out its gradient.",
    FAMILY,
    attrs={**ATTRS, "count_include_pad": False},
    source=f"{SOURCE}AvgPoolGrad",
)
define(
    "dilation",
    "x filter",
    _dilation_type,
    checked(_dilation_type, _dilation),
    "The greatest sum of the filter and the window of x, at every position, for each channel apart.",
    FAMILY,
    attrs=WINDOW_ATTRS,
    source=f"{SOURCE}Dilation2D",
)
