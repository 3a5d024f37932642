"""Windows that slide over the spatial axes of a tensor: the geometry shared by convolution, pooling and patches.

A tensor has the axes batch, channels and one or more spatial ones; ``layout`` is "last" (NHWC) or "first" (NCHW), the
position of the channels. Inside these modules the channels are always last. Along a spatial axis of size n, a window of
k elements at distance d covers ``(k - 1) * d + 1`` elements and moves by the stride s. ``pads`` is

- "valid": none,
- "same": as much as needed for ``ceil(n / s)`` positions, an odd element at the end ("same_lower": at the beginning),
- or a (begin, end) pair for each spatial axis.

Sources: https://www.tensorflow.org/api_docs/python/tf/nn#notes_on_padding_2,
https://onnx.ai/onnx/operators/onnx__Conv.html.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.rules import WRONG_ATTR, WRONG_SHAPE, RuleError, Shape

LAYOUTS = ("last", "first")
PADS = ("valid", "same", "same_lower")
WINDOW_ATTRS: Mapping[str, Any] = {"strides": None, "dilations": None, "pads": "valid", "layout": "last"}
SOURCE = "https://www.tensorflow.org/api_docs/python/tf/nn#notes_on_padding_2"


@dataclass(frozen=True, slots=True)
class Axis:
    """Windows along one spatial axis; sizes that are not known yet are None."""

    size: int | None
    window: int | None
    stride: int
    dilation: int
    pad: tuple[int, int] | None
    out: int | None


def layout_of(attrs: Mapping[str, Any], key: str = "layout") -> str:
    layout = attrs.get(key, "last")
    if layout not in LAYOUTS:
        raise RuleError(WRONG_ATTR, f"has no {key} {layout!r}.", "Give 'last' or 'first', the place of the channels.")
    return layout


def channels_last(shape: Shape, layout: str) -> Any:
    """``shape`` in the order batch, spatial axes, channels."""
    return shape if shape is None or layout == "last" else (shape[0], *shape[2:], shape[1])


def channels_as(shape: Shape, layout: str) -> Shape:
    """The inverse of :func:`channels_last`."""
    return shape if shape is None or layout == "last" else (shape[0], shape[-1], *shape[1:-1])


def to_last(x: np.ndarray, layout: str) -> np.ndarray:
    return x if layout == "last" else np.moveaxis(x, 1, -1)


def from_last(x: np.ndarray, layout: str) -> np.ndarray:
    return x if layout == "last" else np.ascontiguousarray(np.moveaxis(x, -1, 1))


def need_spatial(x: TensorType, what: str) -> None:
    if x.rank is not None and x.rank < 3:
        raise RuleError(
            WRONG_SHAPE, f"takes batch, channels and spatial axes as {what}, but got {x}.", "Add axes of size 1."
        )


def per_axis(attrs: Mapping[str, Any], key: str, count: int) -> tuple[int, ...]:
    """One positive integer for each spatial axis, from a single one or one for each; 1 if the attr is missing."""
    given = attrs.get(key)
    found = (1 if given is None else given,) * count if given is None or isinstance(given, int) else tuple(given)
    if len(found) != count or any(v < 1 for v in found):
        raise RuleError(WRONG_ATTR, f"got {key} {found} for {count} spatial axes.", f"Give {count} positive integers.")
    return found


def pads_of(attrs: Mapping[str, Any], count: int) -> str | tuple[tuple[int, int], ...]:
    pads = attrs.get("pads", "valid")
    if isinstance(pads, str):
        if pads not in PADS:
            raise RuleError(WRONG_ATTR, f"has no padding {pads!r}.", f"Give one of {', '.join(PADS)}, or pairs.")
        return pads
    pairs = tuple(tuple(p) for p in pads)
    if len(pairs) != count or any(len(p) != 2 or min(p) < 0 for p in pairs):
        raise RuleError(WRONG_ATTR, f"got the pads {pairs} for {count} spatial axes.", "Give (begin, end) pairs.")
    return pairs  # type: ignore[return-value]


def axes_of(attrs: Mapping[str, Any], sizes: Sequence[int | None], windows: Sequence[int | None]) -> list[Axis]:
    """The windows along every spatial axis; RuleError if one does not fit."""
    count = len(sizes)
    strides, dilations = per_axis(attrs, "strides", count), per_axis(attrs, "dilations", count)
    pads = pads_of(attrs, count)
    return [
        _axis(size, window, strides[i], dilations[i], pads if isinstance(pads, str) else pads[i], attrs)
        for i, (size, window) in enumerate(zip(sizes, windows, strict=True))
    ]


def _axis(size: int | None, window: int | None, stride: int, dilation: int, pad: Any, attrs: Mapping[str, Any]) -> Axis:
    if window is not None and window < 1:
        raise RuleError(WRONG_SHAPE, f"got a window of {window} elements.", "Give it one or more.")
    if pad == "valid":
        pad = (0, 0)
    if isinstance(pad, str):
        if size is None:
            return Axis(size, window, stride, dilation, None, None)
        out = -(-size // stride)
        if window is None:
            return Axis(size, window, stride, dilation, None, out)
        total = max((out - 1) * stride + (window - 1) * dilation + 1 - size, 0)
        less, more = total // 2, total - total // 2
        return Axis(size, window, stride, dilation, (less, more) if pad == "same" else (more, less), out)
    if size is None or window is None:
        return Axis(size, window, stride, dilation, pad, None)
    covered, padded = (window - 1) * dilation + 1, size + pad[0] + pad[1]
    if padded < covered:
        if size == 0:
            return Axis(size, window, stride, dilation, pad, 0)
        raise RuleError(
            WRONG_SHAPE,
            f"slides a window over {covered} elements along an axis of {size}, {padded} with its padding.",
            "Pad more, or make the window or its dilation smaller.",
        )
    out = (padded - covered) // stride + 1
    if attrs.get("ceil_mode", False):
        out = -(-(padded - covered) // stride) + 1
        if (out - 1) * stride >= size + pad[0]:  # a window that begins in the padding at the end is left out
            out -= 1
    return Axis(size, window, stride, dilation, pad, out)


def padded(x: np.ndarray, axes: Sequence[Axis], value: Any = 0) -> np.ndarray:
    """``x`` (channels last) with its padding, extended to the end of the last windows."""
    widths = [(0, 0)]
    for axis in axes:
        assert axis.pad is not None and axis.window is not None and axis.size is not None and axis.out is not None
        reach = (axis.out - 1) * axis.stride + (axis.window - 1) * axis.dilation + 1
        widths.append((axis.pad[0], max(axis.pad[1], reach - axis.size - axis.pad[0])))
    if not any(map(any, widths)):
        return x
    return np.pad(x, [*widths, (0, 0)], constant_values=value)


def patches(x: np.ndarray, axes: Sequence[Axis]) -> np.ndarray:
    """A read-only view of the padded ``x`` with the axes batch, positions, elements of the window, channels."""
    spatial = x.strides[1:-1]
    shape = (x.shape[0], *(a.out for a in axes), *(a.window for a in axes), x.shape[-1])
    steps = [s * a.stride for s, a in zip(spatial, axes, strict=True)]
    inner = [s * a.dilation for s, a in zip(spatial, axes, strict=True)]
    return np.lib.stride_tricks.as_strided(x, shape, (x.strides[0], *steps, *inner, x.strides[-1]), writeable=False)


def at_offset(offset: Sequence[int], axes: Sequence[Axis]) -> tuple[slice, ...]:
    """Positions in the padded tensor of the element ``offset`` of every window."""
    found = [slice(None)]
    for k, a in zip(offset, axes, strict=True):
        begin = k * a.dilation
        found.append(slice(begin, begin + ((a.out or 0) - 1) * a.stride + 1 if a.out else begin, a.stride))
    return tuple(found)


def checked(infer: Callable[..., Any], compute: Callable[..., Any]) -> Callable[..., Any]:
    """``compute(arrays, attrs)`` after a check of the op's rules, for types that were unknown when the graph
    was built.
    """

    def evaluate(arrays: Sequence[np.ndarray], attrs: Mapping[str, Any]) -> Any:
        infer([TensorType.of(a) for a in arrays], attrs, arrays)
        return compute(arrays, attrs)

    return evaluate
