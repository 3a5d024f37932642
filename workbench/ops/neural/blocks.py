"""Spatial blocks moved into the batch or into the channels, and back; reversed sequences."""

from __future__ import annotations

import math

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.define import REQUIRED, define
from workbench.ops.neural.windows import channels_as, channels_last, checked, from_last, layout_of, to_last
from workbench.ops.rules import (
    UNSEEN,
    WRONG_ATTR,
    WRONG_SHAPE,
    RuleError,
    as_ints,
    axis_in,
    count_of,
    need_kinds,
    need_rank,
    setting,
    setting_at_run,
)

FAMILY = "blocks"
TF = "https://www.tensorflow.org/api_docs/python/tf/"


def _edges(x: TensorType, value: np.ndarray | None, what: str):
    """(number of axes, pairs or None) of an (n, 2) input of paddings or crops."""
    need_kinds(x, "iu", what, "integers")
    need_rank(x, 2, what)
    if x.shape is not None and x.shape[1] not in (None, 2):
        raise RuleError(WRONG_SHAPE, f"takes (begin, end) pairs as {what}, but got {x}.", "Give it the shape [n,2].")
    if value is None:
        return (None if x.shape is None else x.shape[0]), None
    pairs = [(int(a), int(b)) for a, b in value]
    if any(a < 0 or b < 0 for a, b in pairs):
        raise RuleError(WRONG_SHAPE, f"got the {what} {pairs}.", "Give no negative numbers.")
    return len(pairs), pairs


def _block(types, attrs, values, count):
    """(number of blocked axes, block sizes or None)."""
    sizes = setting(attrs, "block", types, values, 2)
    if sizes is None:
        raise RuleError(WRONG_ATTR, "needs 'block', as an attr or as the third input.", "Give the sizes of a block.")
    if sizes is UNSEEN:
        own = count_of(types[2])
        return (count if own is None else own), None
    if isinstance(attrs.get("block"), int):  # one size for every axis
        if count is None:
            return None, None
        sizes = sizes * count
    if any(b < 1 for b in sizes):
        raise RuleError(WRONG_ATTR, f"got the block {sizes}.", "Give positive sizes.")
    return len(sizes), sizes


def _both(types, attrs, values, what):
    listed, pairs = _edges(types[1], values[1], what)
    count, block = _block(types, attrs, values, listed)
    if count is not None and listed is not None and count != listed:
        raise RuleError(WRONG_SHAPE, f"got {count} block sizes and {listed} {what}.", "Give as many of each.")
    if count is not None and types[0].rank is not None and types[0].rank <= count:
        raise RuleError(WRONG_SHAPE, f"cannot block {count} axes after the batch of {types[0]}.", "Name fewer axes.")
    return count, block, pairs


def _to_batch_type(types, attrs, values):
    x = types[0]
    count, block, pads = _both(types, attrs, values, "paddings")
    if x.shape is None or count is None:
        return TensorType(x.dtype, None if x.rank is None else (None,) * x.rank)
    sizes = []
    for i, size in enumerate(x.shape[1 : count + 1]):
        if size is None or block is None or pads is None:
            sizes.append(None)
            continue
        wide = size + sum(pads[i])
        if wide % block[i]:
            raise RuleError(WRONG_SHAPE, f"cannot cut {wide} elements into blocks of {block[i]}.", "Pad to a multiple.")
        sizes.append(wide // block[i])
    batch = None if x.shape[0] is None or block is None else x.shape[0] * math.prod(block)
    return TensorType(x.dtype, (batch, *sizes, *x.shape[count + 1 :]))


def _to_batch(arrays, attrs):
    x, pads = arrays[0], [tuple(map(int, p)) for p in arrays[1]]
    n = len(pads)
    given = setting_at_run(attrs, "block", arrays, 2)
    block = given * n if isinstance(attrs.get("block"), int) else given
    x = np.pad(x, [(0, 0), *pads, *[(0, 0)] * (x.ndim - n - 1)])
    sizes = [s // b for s, b in zip(x.shape[1:], block, strict=False)]
    split = [v for s, b in zip(sizes, block, strict=True) for v in (s, b)]
    rest = x.shape[n + 1 :]
    x = x.reshape(x.shape[0], *split, *rest)
    order = [*range(2, 2 * n + 1, 2), 0, *range(1, 2 * n + 1, 2), *range(2 * n + 1, x.ndim)]
    return np.ascontiguousarray(x.transpose(order)).reshape(
        -1 if x.size else x.shape[0] * math.prod(block), *sizes, *rest
    )


def _from_batch_type(types, attrs, values):
    x = types[0]
    count, block, crops = _both(types, attrs, values, "crops")
    if x.shape is None or count is None:
        return TensorType(x.dtype, None if x.rank is None else (None,) * x.rank)
    if block is not None and x.shape[0] is not None and x.shape[0] % math.prod(block):
        raise RuleError(
            WRONG_SHAPE, f"cannot take blocks of {math.prod(block)} from a batch of {x.shape[0]}.", "Check the block."
        )
    sizes = []
    for i, size in enumerate(x.shape[1 : count + 1]):
        if size is None or block is None or crops is None:
            sizes.append(None)
            continue
        left = size * block[i] - sum(crops[i])
        if left < 0:
            raise RuleError(WRONG_SHAPE, f"cannot crop {crops[i]} from {size * block[i]} elements.", "Crop less.")
        sizes.append(left)
    batch = None if x.shape[0] is None or block is None else x.shape[0] // math.prod(block)
    return TensorType(x.dtype, (batch, *sizes, *x.shape[count + 1 :]))


def _from_batch(arrays, attrs):
    x, crops = arrays[0], [tuple(map(int, p)) for p in arrays[1]]
    n = len(crops)
    given = setting_at_run(attrs, "block", arrays, 2)
    block = given * n if isinstance(attrs.get("block"), int) else given
    batch, spatial, rest = x.shape[0] // math.prod(block), x.shape[1 : n + 1], x.shape[n + 1 :]
    split = x.reshape(*block, batch, *spatial, *rest)
    order = [n, *(v for i in range(n) for v in (n + 1 + i, i)), *range(2 * n + 1, split.ndim)]
    wide = split.transpose(order).reshape(batch, *(s * b for s, b in zip(spatial, block, strict=True)), *rest)
    cut = tuple(slice(a, s - b) for (a, b), s in zip(crops, wide.shape[1:], strict=False))
    return np.ascontiguousarray(wide[(slice(None), *cut)])


def _image(x: TensorType, attrs):
    need_rank(x, 4, "input")
    size = attrs["block_size"]
    if size < 1:
        raise RuleError(WRONG_ATTR, f"got the block size {size}.", "Give a positive integer.")
    return channels_last(x.shape if x.shape is not None else (None,) * 4, layout_of(attrs)), size


def _to_depth_type(types, attrs, values):
    (n, h, w, c), b = _image(types[0], attrs)
    if any(s is not None and s % b for s in (h, w)):
        raise RuleError(WRONG_SHAPE, f"cannot cut {types[0]} into blocks of {b} by {b}.", "Pad it to a multiple.")
    out = (n, None if h is None else h // b, None if w is None else w // b, None if c is None else c * b * b)
    return TensorType(types[0].dtype, channels_as(out, layout_of(attrs)))


def _to_depth(arrays, attrs):
    layout, b = layout_of(attrs), attrs["block_size"]
    x = to_last(arrays[0], layout)
    n, h, w, c = x.shape
    y = x.reshape(n, h // b, b, w // b, b, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h // b, w // b, b * b * c)
    return from_last(y, layout)


def _from_depth_type(types, attrs, values):
    (n, h, w, c), b = _image(types[0], attrs)
    if attrs.get("mode", "DCR") not in ("DCR", "CRD"):
        raise RuleError(WRONG_ATTR, f"has no mode {attrs['mode']!r}.", "Give 'DCR' or 'CRD'.")
    if c is not None and c % (b * b):
        raise RuleError(WRONG_SHAPE, f"cannot spread {c} channels over blocks of {b} by {b}.", "Check the layout.")
    out = (n, None if h is None else h * b, None if w is None else w * b, None if c is None else c // (b * b))
    return TensorType(types[0].dtype, channels_as(out, layout_of(attrs)))


def _from_depth(arrays, attrs):
    layout, b = layout_of(attrs), attrs["block_size"]
    x = to_last(arrays[0], layout)
    n, h, w, c = x.shape
    if attrs.get("mode", "DCR") == "DCR":  # block position before channel, otherwise after
        y = x.reshape(n, h, w, b, b, c // (b * b)).transpose(0, 1, 3, 2, 4, 5)
    else:
        y = x.reshape(n, h, w, c // (b * b), b, b).transpose(0, 1, 4, 2, 5, 3)
    return from_last(y.reshape(n, h * b, w * b, c // (b * b)), layout)


def _reverse_type(types, attrs, values):
    x, lengths = types
    need_kinds(lengths, "iu", "lengths", "integers")
    need_rank(lengths, 1, "lengths")
    along, batch = axis_in(attrs["axis"], x.rank), axis_in(attrs.get("batch_axis", 0), x.rank)
    if along == batch:
        raise RuleError(WRONG_ATTR, "got the same axis for the sequence and the batch.", "Give two axes.")
    if x.shape is not None and lengths.shape is not None:
        have, want = lengths.shape[0], x.shape[batch]
        if have is not None and want is not None and have != want:
            raise RuleError(WRONG_SHAPE, f"got {have} lengths for {want} sequences.", "Give one for each.")
        if values[1] is not None and x.shape[along] is not None:
            longest = max(as_ints(values[1]), default=0)
            if longest > x.shape[along] or min(as_ints(values[1]), default=0) < 0:
                raise RuleError(WRONG_SHAPE, f"got the length {longest} for {x.shape[along]} steps.", "Lower it.")
    return x


def _reverse(arrays, attrs):
    x, lengths = arrays
    along, batch = axis_in(attrs["axis"], x.ndim), axis_in(attrs.get("batch_axis", 0), x.ndim)
    steps, length = np.arange(x.shape[along])[None, :], lengths.astype(np.int64)[:, None]
    index = np.where(steps < length, length - 1 - steps, steps)
    shape = [1] * x.ndim
    shape[batch], shape[along] = index.shape
    return np.take_along_axis(x, (index if batch < along else index.T).reshape(shape), along)


define(
    "space_to_batch",
    "x paddings block?",
    _to_batch_type,
    checked(_to_batch_type, _to_batch),
    "x, padded with zeros, cut into blocks along the axes after the batch; each place in the block becomes a batch.",
    FAMILY,
    attrs={"block": None},
    source=f"{TF}space_to_batch_nd",
)
define(
    "batch_to_space",
    "x crops block?",
    _from_batch_type,
    checked(_from_batch_type, _from_batch),
    "The inverse of space_to_batch; the result is cropped.",
    FAMILY,
    attrs={"block": None},
    source=f"{TF}batch_to_space",
)
define(
    "space_to_depth",
    "x",
    _to_depth_type,
    checked(_to_depth_type, _to_depth),
    "Square blocks of an image become channels.",
    FAMILY,
    attrs={"block_size": REQUIRED, "layout": "last"},
    source=f"{TF}nn/space_to_depth",
)
define(
    "depth_to_space",
    "x",
    _from_depth_type,
    checked(_from_depth_type, _from_depth),
    "Channels become square blocks of an image; with the mode CRD the place in the block is the last part of the "
    "channel number, with DCR the first.",
    FAMILY,
    attrs={"block_size": REQUIRED, "layout": "last", "mode": "DCR"},
    source="https://onnx.ai/onnx/operators/onnx__DepthToSpace.html",
)
define(
    "reverse_sequence",
    "x lengths",
    _reverse_type,
    checked(_reverse_type, _reverse),
    "The first `lengths[i]` elements along `axis` in reverse order, for each index i of `batch_axis`.",
    FAMILY,
    attrs={"axis": REQUIRED, "batch_axis": 0},
    source=f"{TF}reverse_sequence",
)
