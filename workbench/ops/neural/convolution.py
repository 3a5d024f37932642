"""Convolution over any number of spatial axes, with strides, dilations, padding and groups of channels.

A filter has the axes (spatial..., channels in a group, channels out) with ``filter_layout`` "last", as TensorFlow
writes it, or (out, in a group, spatial...) with "first", as ONNX does. ``groups`` None means the number of groups
implied by the channels. ``depthwise`` is TensorFlow's own form of groups: each channel is a group, the filter has the
axes (spatial..., channels, multiplier), and output channel ``c * multiplier + m`` comes from input channel c.

Sources: https://www.tensorflow.org/api_docs/python/tf/nn/convolution, https://onnx.ai/onnx/operators/onnx__Conv.html.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.ir.types import ANY, TensorType
from workbench.ops.define import define
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
from workbench.ops.rules import WRONG_ATTR, WRONG_DTYPE, WRONG_SHAPE, RuleError, need_kinds, need_rank, working

FAMILY = "convolution"
ATTRS = {**WINDOW_ATTRS, "groups": 1, "depthwise": False, "filter_layout": "last"}
#: maximum bytes of unrolled windows multiplied at a time
BLOCK = 1 << 25


def common_dtype(types: Sequence[TensorType]) -> str:
    """The common dtype of all inputs, which must be integers or real floats."""
    for x in types:
        need_kinds(x, "iuf", "input", "integers or real numbers")
    names = {x.dtype for x in types} - {ANY}
    if len(names) > 1:
        raise RuleError(WRONG_DTYPE, f"takes inputs of one dtype, but got {' and '.join(sorted(names))}.", "Cast them.")
    return names.pop() if names and not any(x.dtype == ANY for x in types) else ANY


def filter_shape(w: TensorType, attrs: Mapping[str, Any], rank: int) -> tuple[int | None, ...]:
    """The shape (spatial..., channels in a group, channels out) in terms of ``groups``, also for a depthwise filter."""
    need_rank(w, rank, "filter")
    shape = w.shape if w.shape is not None else (None,) * rank
    if layout_of(attrs, "filter_layout") == "first":
        shape = (*shape[2:], shape[1], shape[0])
    if attrs.get("depthwise", False):
        channels, times = shape[-2:]
        return (*shape[:-2], 1, None if channels is None or times is None else channels * times)
    return shape


def groups_of(attrs: Mapping[str, Any], channels: int | None, w: TensorType, inner: int | None) -> int | None:
    """Number of groups; None if it depends on unknown numbers of channels."""
    groups = attrs.get("groups", 1)
    if not attrs.get("depthwise", False):
        if groups is None:
            return None if channels is None or not inner else max(1, channels // inner)
        if groups < 1:
            raise RuleError(WRONG_ATTR, f"got {groups} groups.", "Give one or more.")
        return groups
    if groups not in (1, None):
        raise RuleError(WRONG_ATTR, "takes either groups or depthwise.", "Leave one of them out.")
    own = None
    if w.shape is not None:
        own = w.shape[1] if layout_of(attrs, "filter_layout") == "first" else w.shape[-2]
    if own is not None and channels is not None and own != channels:
        raise RuleError(
            WRONG_SHAPE, f"got {channels} channels and a depthwise filter for {own}.", "Make the channels agree."
        )
    return channels if channels is not None else own


def check_channels(channels: int | None, inner: int | None, out: int | None, groups: int | None) -> None:
    if groups is None:
        return
    if channels is not None and inner is not None and channels != inner * groups:
        raise RuleError(
            WRONG_SHAPE,
            f"got {channels} channels, but a filter for {inner} in each of {groups} group{'s' * (groups != 1)}.",
            "Make the channels agree, or check the layouts.",
        )
    if out is not None and groups and out % groups:
        raise RuleError(
            WRONG_SHAPE, f"cannot share {out} output channels among {groups} groups.", "Make them divisible."
        )


def geometry(x: TensorType, w: TensorType, attrs: Mapping[str, Any]) -> tuple[Any, list[Axis], Any]:
    """Shape of the result (channels last), the windows, the number of groups; RuleError for inputs that do not fit."""
    need_spatial(x, "input")
    need_spatial(w, "filter")
    rank = x.rank if x.rank is not None else w.rank
    if rank is None:
        return None, [], None
    shape = channels_last(x.shape if x.shape is not None else (None,) * rank, layout_of(attrs))
    kernel = filter_shape(w, attrs, rank)
    groups = groups_of(attrs, shape[-1], w, kernel[-2])
    check_channels(shape[-1], kernel[-2], kernel[-1], groups)
    axes = axes_of(attrs, shape[1:-1], kernel[:-2])
    return (shape[0], *(a.out for a in axes), kernel[-1]), axes, groups


def _conv_type(types, attrs, values):
    dtype = common_dtype(types)
    shape, _, _ = geometry(types[0], types[1], attrs)
    if len(types) == 3:
        need_rank(types[2], 1, "bias")
        out, count = None if shape is None else shape[-1], None if types[2].shape is None else types[2].shape[0]
        if out is not None and count is not None and out != count:
            raise RuleError(WRONG_SHAPE, f"got {count} biases for {out} output channels.", "Give one for each channel.")
    return TensorType(dtype, channels_as(shape, layout_of(attrs)))


def grouped_filter(w: np.ndarray, attrs: Mapping[str, Any], groups: int) -> np.ndarray:
    """The filter as (spatial..., group, channels in the group, output channels of the group)."""
    if layout_of(attrs, "filter_layout") == "first":
        w = np.moveaxis(w, (0, 1), (-1, -2))
    if attrs.get("depthwise", False):
        w = w.reshape(*w.shape[:-2], 1, -1)
    inner, out = w.shape[-2:]
    return np.moveaxis(w.reshape(*w.shape[:-2], inner, groups, out // groups), -2, -3)


def _conv(arrays, attrs):
    x, w = arrays[0], arrays[1]
    shape, axes, groups = geometry(TensorType.of(x), TensorType.of(w), attrs)
    dtype = working(x.dtype)
    x = padded(to_last(x.astype(dtype, copy=False), layout_of(attrs)), axes)
    w = grouped_filter(w.astype(dtype, copy=False), attrs, groups)
    y = np.empty(shape, dtype)
    if w.shape[-2] == 1 and groups > 1:
        _multiply_channels(x, w, axes, y.reshape(*shape[:-1], *w.shape[-3::2]))
    else:
        _multiply(patches(x, axes), w, y)
    if len(arrays) == 3:
        y += arrays[2].astype(dtype, copy=False)
    return from_last(y.astype(arrays[0].dtype, copy=False), layout_of(attrs))


def offsets(axes: Sequence[Axis]) -> Iterator[tuple[int, ...]]:
    """The offsets of the elements of a window."""
    return itertools.product(*(range(a.window or 0) for a in axes))


def _multiply_channels(x: np.ndarray, w: np.ndarray, axes: Sequence[Axis], y: np.ndarray) -> None:
    """Write the products for groups of one channel, which would be many thin matrices; ``y`` has an axis for the
    groups.
    """
    y[...] = 0
    for offset in offsets(axes):
        y += x[at_offset(offset, axes)][..., None] * w[offset][:, 0]


def _multiply(windows: np.ndarray, w: np.ndarray, y: np.ndarray) -> None:
    """Write windows times filter into ``y``, a block of positions at a time: each block is one matrix product."""
    groups, inner, out = w.shape[-3:]
    size = math.prod(w.shape[:-3])
    # (group, window and channels of the group, output channels of the group)
    matrix = np.ascontiguousarray(np.moveaxis(w, -3, 0)).reshape(groups, size * inner, out)
    row = max(1, math.prod(windows.shape[2:]) * windows.itemsize)
    rows = max(1, min(windows.shape[1], BLOCK // row))
    batch = max(1, BLOCK // (row * rows)) if rows == windows.shape[1] else 1
    for b in range(0, windows.shape[0], batch):
        for r in range(0, windows.shape[1], rows):
            block = windows[b : b + batch, r : r + rows]
            target = y[b : b + batch, r : r + rows]
            if groups == 1:
                target[...] = (block.reshape(-1, size * inner) @ matrix[0]).reshape(target.shape)
                continue
            split = block.reshape(-1, size, groups, inner).transpose(2, 0, 1, 3).reshape(groups, -1, size * inner)
            target[...] = np.moveaxis(split @ matrix, 0, 1).reshape(target.shape)


define(
    "conv",
    "x filter bias?",
    _conv_type,
    checked(_conv_type, _conv),
    "The sums of the products of a filter and the windows of x, at every position, for every output channel.",
    FAMILY,
    attrs=ATTRS,
    source=SOURCE,
)
