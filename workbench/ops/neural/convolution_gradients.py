"""The gradients of a convolution with respect to its input and to its filter, and the transposed convolution.

``conv`` is linear in each of its inputs, so each gradient is the transposed map: contributions of a window are added to
the positions that it read. A transposed convolution is the gradient with respect to the input of a ``conv`` whose
output has the shape of x. The attrs are those of that ``conv``.

Sources: https://www.tensorflow.org/api_docs/python/tf/raw_ops/Conv2DBackpropInput,
https://onnx.ai/onnx/operators/onnx__ConvTranspose.html.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.define import define
from workbench.ops.neural.convolution import (
    ATTRS,
    FAMILY,
    check_channels,
    common_dtype,
    filter_shape,
    geometry,
    groups_of,
    offsets,
)
from workbench.ops.neural.convolution import grouped_filter as grouped
from workbench.ops.neural.windows import (
    Axis,
    at_offset,
    channels_as,
    channels_last,
    checked,
    from_last,
    layout_of,
    need_spatial,
    padded,
    per_axis,
    to_last,
)
from workbench.ops.rules import WRONG_ATTR, WRONG_SHAPE, RuleError, Shape, as_ints, need_kinds, need_rank, working

SOURCE = "https://www.tensorflow.org/api_docs/python/tf/raw_ops/"


def _sizes(x: TensorType, value: np.ndarray | None, rank: int | None) -> Shape:
    """The shape given by an input of sizes."""
    need_kinds(x, "iu", "sizes", "integers")
    need_rank(x, 1, "sizes")
    count = None if x.shape is None else x.shape[0]
    if count is not None and rank is not None and count != rank:
        raise RuleError(WRONG_SHAPE, f"takes a tensor of rank {rank}, but got {count} sizes.", f"Give {rank} sizes.")
    if value is not None:
        return as_ints(value)
    known = rank if rank is not None else count
    return None if known is None else (None,) * known


def _need_gradient(gradient: TensorType, wanted: Shape) -> None:
    if not TensorType(gradient.dtype, wanted).accepts(gradient):
        wish = TensorType(gradient.dtype, wanted)
        raise RuleError(WRONG_SHAPE, f"takes a gradient of type {wish}, but got {gradient}.", "Check sizes and pads.")


def _rank(*types: TensorType) -> int | None:
    for x in types:
        need_spatial(x, "input")
    return next((x.rank for x in types if x.rank is not None), None)


def _input_type(types, attrs, values):
    sizes, w, gradient = types
    dtype = common_dtype([w, gradient])
    rank = _rank(w, gradient)
    shape = _sizes(sizes, values[0], rank)
    if shape is None:
        return TensorType(dtype, None)
    out, _, _ = geometry(TensorType(dtype, shape), w, attrs)
    wanted = channels_as(out, layout_of(attrs))
    _need_gradient(gradient, wanted)
    if values[0] is None and gradient.shape is not None:
        shape = (gradient.shape[0], *shape[1:])
    return TensorType(dtype, shape)


def _filter_type(types, attrs, values):
    x, sizes, gradient = types
    dtype = common_dtype([x, gradient])
    shape = _sizes(sizes, values[1], _rank(x, gradient))
    if shape is None:
        return TensorType(dtype, None)
    out, _, _ = geometry(x, TensorType(dtype, shape), attrs)
    _need_gradient(gradient, channels_as(out, layout_of(attrs)))
    return TensorType(dtype, shape)


def _by_group(y: np.ndarray, groups: int) -> np.ndarray:
    """(positions..., channels) -> (group, all positions, channels of the group)."""
    return np.moveaxis(y.reshape(-1, groups, y.shape[-1] // groups), 1, 0)


def _add_back(dy: np.ndarray, w: np.ndarray, shape: tuple[int, ...], axes: Sequence[Axis]) -> np.ndarray:
    """The gradient with respect to the input of ``shape``; all channels last, ``w`` by groups."""
    groups, inner = w.shape[-3:-1]
    extent = padded(np.broadcast_to(dy.dtype.type(0), (1, *shape[1:-1], 1)), axes).shape[1:-1]
    whole = np.zeros((shape[0], *extent, shape[-1]), dy.dtype)
    split = _by_group(dy, groups)
    for offset in offsets(axes):
        if inner == 1 and groups > 1:  # otherwise many thin matrices
            part = np.einsum("...gm,gm->...g", dy.reshape(*dy.shape[:-1], groups, -1), w[offset][:, 0])
        else:
            part = np.moveaxis(split @ np.swapaxes(w[offset], -1, -2), 0, 1)
        whole[at_offset(offset, axes)] += part.reshape(*dy.shape[:-1], groups * inner)
    begins = [a.pad[0] if a.pad else 0 for a in axes]
    return whole[(slice(None), *(slice(b, b + n) for b, n in zip(begins, shape[1:-1], strict=True)))]


def _input_gradient(arrays, attrs):
    sizes, w, dy = arrays
    layout, dtype = layout_of(attrs), working(dy.dtype)
    full = as_ints(sizes)
    shape = channels_last(full, layout)
    _, axes, groups = geometry(TensorType("float32", full), TensorType.of(w), attrs)
    last = to_last(dy.astype(dtype, copy=False), layout)
    dx = _add_back(last, grouped(w.astype(dtype, copy=False), attrs, groups), shape, axes)
    return np.ascontiguousarray(from_last(dx, layout)).astype(dy.dtype, copy=False)


def _filter_gradient(arrays, attrs):
    x, sizes, dy = arrays
    layout, dtype = layout_of(attrs), working(x.dtype)
    shape = as_ints(sizes)
    _, axes, groups = geometry(TensorType.of(x), TensorType("float32", shape), attrs)
    wide = padded(to_last(x.astype(dtype, copy=False), layout), axes)
    split = _by_group(to_last(dy.astype(dtype, copy=False), layout), groups)
    inner = wide.shape[-1] // groups
    dw = np.empty((*(a.window for a in axes), inner, groups, split.shape[-1]), dtype)
    for offset in offsets(axes):
        part = _by_group(np.ascontiguousarray(wide[at_offset(offset, axes)]), groups)
        if inner == 1 and groups > 1:
            dw[offset][0] = np.einsum("grc,grm->gm", part, split)
        else:
            dw[offset] = np.moveaxis(np.swapaxes(part, -1, -2) @ split, 0, 1)
    if attrs.get("depthwise", False):
        out = dw.reshape(*dw.shape[:-3], groups, -1)
    else:
        out = dw.reshape(*dw.shape[:-2], -1)
    if layout_of(attrs, "filter_layout") == "first":
        out = np.moveaxis(out, (-1, -2), (0, 1))
    return np.ascontiguousarray(out).astype(x.dtype, copy=False)


def _transposed_size(n: int | None, axis: Axis, extra: int, pads: Any) -> tuple[int | None, tuple[int, int] | None]:
    """Size of the result along one axis, and the padding of the convolution that maps it back to n."""
    if axis.window is None or n is None:
        return None, None
    covered = (axis.window - 1) * axis.dilation + 1
    if not isinstance(pads, str):
        return axis.stride * (n - 1) + extra + covered - sum(pads), pads
    if pads == "valid":
        return axis.stride * (n - 1) + extra + covered, (0, 0)
    total = max(axis.stride * (n - 1) + extra + covered - n * axis.stride, 0)
    less, more = total // 2, total - total // 2
    return n * axis.stride, ((less, more) if pads == "same" else (more, less))


def _transposed(x: TensorType, w: TensorType, attrs: Mapping[str, Any]) -> tuple[Shape, dict[str, Any]]:
    """Shape of the result, and the attrs of the convolution that has it as input."""
    rank = _rank(x, w)
    layout = layout_of(attrs)
    if rank is None:
        return None, {}
    shape = channels_last(x.shape if x.shape is not None else (None,) * rank, layout)
    kernel = filter_shape(w, attrs, rank)
    count, pads = rank - 2, attrs.get("pads", "valid")
    given = attrs.get("output_padding")
    extra = (0,) * count if given is None else tuple(given)
    strides, dilations = per_axis(attrs, "strides", count), per_axis(attrs, "dilations", count)
    if len(extra) != count or any(e < 0 or e >= max(s, d) for e, s, d in zip(extra, strides, dilations, strict=True)):
        raise RuleError(
            WRONG_ATTR, f"got the output padding {extra}.", "Give one number below the stride for each axis."
        )
    groups = groups_of(attrs, None, w, kernel[-2])
    check_channels(None, kernel[-2], kernel[-1], groups)
    if shape[-1] is not None and kernel[-1] is not None and shape[-1] != kernel[-1]:
        raise RuleError(
            WRONG_SHAPE, f"got {shape[-1]} channels, but a filter for {kernel[-1]}.", "Make the channels agree."
        )
    found = [
        _transposed_size(n, Axis(None, k, s, d, None, None), e, pads if isinstance(pads, str) else tuple(pads[i]))
        for i, (n, k, s, d, e) in enumerate(zip(shape[1:-1], kernel[:-2], strides, dilations, extra, strict=True))
    ]
    if any(size is not None and size < 1 for size, _ in found):
        raise RuleError(WRONG_SHAPE, f"would give the sizes {[s for s, _ in found]}.", "Pad less.")
    channels = None if kernel[-2] is None or groups is None else kernel[-2] * groups
    known = {k: v for k, v in attrs.items() if k in ATTRS}
    if all(p is not None for _, p in found):
        known["pads"] = tuple(p for _, p in found)
    return (shape[0], *(size for size, _ in found), channels), known


def _transpose_type(types, attrs, values):
    dtype = common_dtype(types)
    shape, _ = _transposed(types[0], types[1], attrs)
    if len(types) == 3:
        need_rank(types[2], 1, "bias")
        count, out = types[2].shape[0] if types[2].shape else None, shape[-1] if shape is not None else None
        if count is not None and out is not None and count != out:
            raise RuleError(WRONG_SHAPE, f"got {count} biases for {out} output channels.", "Give one for each channel.")
    return TensorType(dtype, channels_as(shape, layout_of(attrs)))


def _transpose(arrays, attrs):
    x, w = arrays[:2]
    shape, known = _transposed(TensorType.of(x), TensorType.of(w), attrs)
    layout = layout_of(attrs)
    sizes = np.asarray(channels_as(shape, layout), np.int64)
    y = _input_gradient([sizes, w, x], known)
    if len(arrays) == 2:
        return y
    bias = arrays[2] if layout == "last" else arrays[2].reshape(-1, *(1,) * (y.ndim - 2))
    return (y + bias).astype(x.dtype, copy=False)


define(
    "conv_input_gradient",
    "sizes filter gradient",
    _input_type,
    checked(_input_type, _input_gradient),
    "The gradient of a conv with respect to its input, which has the shape `sizes`.",
    FAMILY,
    attrs=ATTRS,
    source=f"{SOURCE}Conv2DBackpropInput",
)
define(
    "conv_filter_gradient",
    "x sizes gradient",
    _filter_type,
    checked(_filter_type, _filter_gradient),
    "The gradient of a conv with respect to its filter, which has the shape `sizes`.",
    FAMILY,
    attrs=ATTRS,
    source=f"{SOURCE}Conv2DBackpropFilter",
)
define(
    "conv_transpose",
    "x filter bias?",
    _transpose_type,
    checked(_transpose_type, _transpose),
    "Each element of x times the filter, added up where the windows of a conv that leads back to x overlap.",
    FAMILY,
    attrs={**ATTRS, "output_padding": None},
    source="https://onnx.ai/onnx/operators/onnx__ConvTranspose.html",
)
