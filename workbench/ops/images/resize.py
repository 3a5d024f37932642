"""Resizing of images (batch, height, width, channels) and of regions of them.

Height and width are resized separately: each position of the result is a weighted sum of a few positions of the source,
with indices and weights computed once for all rows and once for all columns. A position i of the result lies at ``i *
scale`` in the source, with ``half_pixel_centers`` at ``(i + 1/2) * scale - 1/2``; the scale is in / out, with
``align_corners`` (in - 1) / (out - 1). As in TensorFlow, positions are computed in float32.

Source: https://www.tensorflow.org/api_docs/python/tf/image/resize and .../tf/raw_ops/ResizeBicubic; the cubic kernel
is that of R. Keys, "Cubic convolution interpolation for digital image processing" (1981).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.define import define
from workbench.ops.neural.windows import checked
from workbench.ops.rules import (
    UNSEEN,
    WRONG_ATTR,
    WRONG_SHAPE,
    RuleError,
    need_kinds,
    need_rank,
    setting,
    setting_at_run,
)

FAMILY = "images"
TF = "https://www.tensorflow.org/api_docs/python/tf/"
METHODS = ("nearest", "bilinear", "bicubic", "area")
F = np.float32
#: number of steps between two pixels at which the cubic kernel is tabulated
CUBIC_STEPS = 1024


class Taps(NamedTuple):
    """Positions in the source (out, k) and their weights for every position of the result."""

    places: np.ndarray
    weight: np.ndarray


def _scale(size: int, out: int, align: bool) -> np.float32:
    return F((size - 1) / (out - 1)) if align and out > 1 else F(size) / F(max(out, 1))


def taps(size: int, out: int, attrs: Mapping[str, Any]) -> Taps:
    """Weights along one axis from ``size`` to ``out`` positions."""
    method, align = attrs.get("method", "bilinear"), bool(attrs.get("align_corners", False))
    half, scale, i = bool(attrs.get("half_pixel_centers", False)), _scale(size, out, align), np.arange(out, dtype=F)
    if method == "nearest":
        at = (i + F(0.5)) * scale if half else i * scale
        index = np.floor(at + F(0.5)) if align else np.floor(at)
        return Taps(np.clip(index, 0, size - 1).astype(np.int64)[:, None], np.ones((out, 1), F))
    if method == "area":
        return _area(size, out, scale)
    at = (i + F(0.5)) * scale - F(0.5) if half else i * scale
    below = np.floor(at)
    if method == "bilinear":
        index = np.stack([np.maximum(below, 0), np.minimum(np.ceil(at), size - 1)], axis=1).astype(np.int64)
        part = at - below
        return Taps(np.clip(index, 0, size - 1), np.stack([1 - part, part], axis=1))
    return _cubic(size, below.astype(np.int64), at - below, half)


def _cubic(size: int, below: np.ndarray, part: np.ndarray, half: bool) -> Taps:
    """Keys' kernel with a = -1/2, or a = -3/4 without half pixel centers, as in TensorFlow."""
    a = F(-0.5 if half else -0.75)
    x = (np.rint(part * CUBIC_STEPS) / F(CUBIC_STEPS)).astype(F)

    def near(d):
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d):
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    weight = np.stack([far(x + 1), near(x), near(1 - x), far(2 - x)], axis=1)
    wanted = below[:, None] + np.arange(-1, 3)
    index = np.clip(wanted, 0, size - 1)
    if half:  # pixels outside have no weight; without half pixel centers they equal the edge
        weight = np.where(index == wanted, weight, F(0))
        weight /= weight.sum(axis=1, keepdims=True)
    return Taps(index, weight)


def _area(size: int, out: int, scale: np.float32) -> Taps:
    """The share of every source pixel in the interval that a pixel of the result covers."""
    begin = np.arange(out, dtype=F) * scale
    end = np.arange(1, out + 1, dtype=F) * scale
    first = np.floor(begin)
    count = int(np.max(np.ceil(end) - first, initial=1))
    places = first[:, None] + np.arange(count, dtype=F)
    weight = np.minimum(end[:, None], places + 1) - np.maximum(begin[:, None], places)
    return Taps(np.clip(places, 0, size - 1).astype(np.int64), np.maximum(weight, 0) / scale)


def _apply(x: np.ndarray, along: Taps, axis: int) -> np.ndarray:
    shape = [1] * x.ndim
    shape[axis] = -1
    parts = (
        np.take(x, along.places[:, k], axis=axis) * along.weight[:, k].reshape(shape)
        for k in range(along.places.shape[1])
    )
    total = next(parts)
    for part in parts:
        total += part
    return total


def _resize_type(types, attrs, values):
    x = types[0]
    need_kinds(x, "iuf", "image", "integers or real numbers")
    need_rank(x, 4, "image")
    method = attrs.get("method", "bilinear")
    if method not in METHODS:
        raise RuleError(WRONG_ATTR, f"has no method {method!r}.", f"Give one of {', '.join(METHODS)}.")
    if attrs.get("align_corners", False) and attrs.get("half_pixel_centers", False):
        raise RuleError(WRONG_ATTR, "takes either align_corners or half_pixel_centers.", "Leave one of them out.")
    size = setting(attrs, "size", types, values, 1)
    if size is None:
        raise RuleError(WRONG_ATTR, "needs 'size', as an attr or as the second input.", "Give height and width.")
    if size is not UNSEEN and (len(size) != 2 or min(size) < 1):
        raise RuleError(WRONG_ATTR, f"got the size {size}.", "Give a positive height and width.")
    height, width = (None, None) if size is UNSEEN else size
    n, h, w, c = x.shape if x.shape is not None else (None,) * 4
    if 0 in (h, w):
        raise RuleError(WRONG_SHAPE, f"cannot resize {x}.", "Give it an image with pixels.")
    return TensorType(x.dtype if method == "nearest" else "float32", (n, height, width, c))


def _resize(arrays, attrs):
    x = arrays[0]
    height, width = setting_at_run(attrs, "size", arrays, 1)
    rows, columns = taps(x.shape[1], height, attrs), taps(x.shape[2], width, attrs)
    if attrs.get("method", "bilinear") == "nearest":
        return x[:, rows.places, columns.places[:, 0]]
    return _apply(_apply(x.astype(F, copy=False), columns, 2), rows, 1)


def _crop_type(types, attrs, values):
    x, boxes, which = types[:3]
    need_kinds(x, "iuf", "image", "integers or real numbers")
    need_kinds(boxes, "f", "boxes", "real numbers")
    need_kinds(which, "iu", "the number of each box's image", "integers")
    need_rank(x, 4, "image")
    need_rank(which, 1, "the number of each box's image")
    if not TensorType(boxes.dtype, (None, 4)).accepts(boxes):
        raise RuleError(WRONG_SHAPE, f"takes boxes of shape [?,4], but got {boxes}.", "Give y1, x1, y2, x2 for each.")
    if attrs.get("method", "bilinear") not in METHODS[:2]:
        raise RuleError(WRONG_ATTR, f"has no method {attrs['method']!r}.", "Give 'nearest' or 'bilinear'.")
    count = {t.shape[0] for t in (boxes, which) if t.shape is not None} - {None}
    if len(count) > 1:
        raise RuleError(WRONG_SHAPE, f"got {boxes} and {which}.", "Give the number of an image for each box.")
    size = setting(attrs, "size", types, values, 3)
    if size is None:
        raise RuleError(WRONG_ATTR, "needs 'size', as an attr or as the fourth input.", "Give height and width.")
    if size is not UNSEEN and (len(size) != 2 or min(size) < 1):
        raise RuleError(WRONG_ATTR, f"got the size {size}.", "Give a positive height and width.")
    if values[2] is not None and x.shape is not None and x.shape[0] is not None and values[2].size:
        if values[2].min() < 0 or values[2].max() >= x.shape[0]:
            raise RuleError(WRONG_ATTR, f"got boxes for the image {values[2].max()} of {x.shape[0]}.", "Count from 0.")
    depth = None if x.shape is None else x.shape[3]
    return TensorType("float32", (count.pop() if count else None, *((None, None) if size is UNSEEN else size), depth))


def _places(begin: np.ndarray, end: np.ndarray, size: int, out: int) -> np.ndarray:
    """Positions in the source, (boxes, out): from one edge of the box to the other, or its centre for a single
    pixel.
    """
    begin, end = begin.astype(F), end.astype(F)
    if out == 1:
        return (F(0.5) * (begin + end) * (size - 1))[:, None]
    return begin[:, None] * (size - 1) + np.arange(out, dtype=F) * ((end - begin) * (size - 1) / F(out - 1))[:, None]


def _crop(arrays, attrs):
    x, boxes, which = arrays[:3]
    out = setting_at_run(attrs, "size", arrays, 3)
    ys, xs = (_places(boxes[:, i], boxes[:, i + 2], x.shape[i + 1], out[i]) for i in (0, 1))
    outside = ((ys < 0) | (ys > x.shape[1] - 1))[:, :, None] | ((xs < 0) | (xs > x.shape[2] - 1))[:, None, :]
    which = which.astype(np.int64)[:, None, None]

    def at(rows, columns):
        rows, columns = np.clip(rows, 0, x.shape[1] - 1), np.clip(columns, 0, x.shape[2] - 1)
        return x[which, rows.astype(np.int64)[:, :, None], columns.astype(np.int64)[:, None, :]].astype(F, copy=False)

    if attrs.get("method", "bilinear") == "nearest":
        found = at(np.floor(ys + F(0.5)), np.floor(xs + F(0.5)))
    else:
        top, left = np.floor(ys), np.floor(xs)
        down, right = (ys - top)[:, :, None, None], (xs - left)[:, None, :, None]
        bottom, end = np.ceil(ys), np.ceil(xs)
        above = at(top, left) * (1 - right) + at(top, end) * right
        below = at(bottom, left) * (1 - right) + at(bottom, end) * right
        found = above * (1 - down) + below * down
    return np.where(outside[..., None], F(attrs.get("extrapolation_value", 0.0)), found)


define(
    "resize_image",
    "image size?",
    _resize_type,
    checked(_resize_type, _resize),
    "Images of another height and width, by the nearest pixel, by linear or cubic interpolation or by the average "
    "over the area; float32 unless `method` is nearest.",
    FAMILY,
    attrs={"size": None, "method": "bilinear", "align_corners": False, "half_pixel_centers": False},
    source=f"{TF}image/resize",
)
define(
    "crop_and_resize",
    "image boxes which size?",
    _crop_type,
    checked(_crop_type, _crop),
    "The boxes (y1, x1, y2, x2 as parts of height and width less one pixel) of the images `which`, all in one size; "
    "`extrapolation_value` outside the image.",
    FAMILY,
    attrs={"size": None, "method": "bilinear", "extrapolation_value": 0.0},
    source=f"{TF}image/crop_and_resize",
)
