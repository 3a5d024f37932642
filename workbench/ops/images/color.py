"""Colours: contrast, hue and saturation, and conversions between RGB and HSV, on the last axis."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.ops.define import define
from workbench.ops.neural.windows import checked
from workbench.ops.rules import WRONG_SHAPE, RuleError, need_kinds, need_rank, working

FAMILY = "images"
TF = "https://www.tensorflow.org/api_docs/python/tf/image/"


def _color_type(types, attrs, values):
    x = types[0]
    need_kinds(x, "f", "image", "real numbers", "Cast the image to floats from 0 to 1.")
    if x.rank == 0 or (x.shape is not None and x.shape[-1] not in (3, None)):
        raise RuleError(WRONG_SHAPE, f"takes three colours on the last axis, but got {x}.", "Put the channels last.")
    return x


def _factor_type(types, attrs, values):
    need_kinds(types[1], "f", "factor", "a real number")
    need_rank(types[1], 0, "factor")
    return _color_type(types[:1], attrs, values)


def _contrast_type(types, attrs, values):
    x, factor = types
    need_kinds(x, "f", "image", "real numbers", "Cast the image to floats first.")
    need_kinds(factor, "f", "factor", "a real number")
    need_rank(factor, 0, "factor")
    if x.rank is not None and x.rank < 3:
        raise RuleError(WRONG_SHAPE, f"takes height, width and channels, but got {x}.", "Add axes of size 1.")
    return x


def _contrast(arrays, attrs):
    x, factor = arrays[0], arrays[1]
    if not x.size:
        return x
    wide = x.astype(working(x.dtype), copy=False)
    # the mean in double precision, because a large image has many pixels
    mean = wide.mean(axis=(-3, -2), keepdims=True, dtype=np.float64).astype(wide.dtype)
    return ((wide - mean) * wide.dtype.type(factor) + mean).astype(x.dtype, copy=False)


def to_hsv(rgb: np.ndarray) -> np.ndarray:
    """Hue, saturation and value, each from 0 to 1 for colours from 0 to 1; grey has the hue 0."""
    r, g, b = (rgb[..., i] for i in range(3))
    value = rgb.max(axis=-1)
    spread = value - rgb.min(axis=-1)
    one = rgb.dtype.type(1)
    step = np.where(spread > 0, one / (6 * np.where(spread > 0, spread, one)), 0)
    hue = np.where(
        r == value, step * (g - b), np.where(g == value, step * (b - r) + one / 3, step * (r - g) + 2 * one / 3)
    )
    hue = np.where(spread > 0, hue, 0)
    saturation = np.where(value > 0, spread / np.where(value > 0, value, one), 0)
    return np.stack([np.where(hue < 0, hue + 1, hue), saturation, value], axis=-1).astype(rgb.dtype, copy=False)


def _parts(hue: np.ndarray) -> np.ndarray:
    """Red, green and blue of a hue, each scaled from the least of the three (0) to the greatest (1)."""
    turn = hue * 6
    full = (np.abs(turn - 3) - 1, 2 - np.abs(turn - 2), 2 - np.abs(turn - 4))
    return np.clip(np.stack(full, axis=-1), 0, 1)


def to_rgb(hsv: np.ndarray) -> np.ndarray:
    """The inverse of :func:`to_hsv`."""
    hue, saturation, value = hsv[..., 0], hsv[..., 1:2], hsv[..., 2:]
    return ((1 - saturation + saturation * _parts(hue)) * value).astype(hsv.dtype, copy=False)


def _hue(rgb: np.ndarray, delta: float) -> np.ndarray:
    # the greatest and the least of the three colours are kept, so that this also works for colours outside 0 .. 1
    least = rgb.min(axis=-1, keepdims=True)
    hue = np.mod(to_hsv(rgb)[..., 0] + rgb.dtype.type(delta), 1)
    return least + (rgb.max(axis=-1, keepdims=True) - least) * _parts(hue)


def _saturation(rgb: np.ndarray, factor: float) -> np.ndarray:
    hsv = to_hsv(rgb)
    hsv[..., 1] = np.clip(hsv[..., 1] * hsv.dtype.type(factor), 0, 1)
    return to_rgb(hsv)


def _converted(convert: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """``convert(image, factor)`` computed in at least single precision."""

    def evaluate(arrays, attrs):
        x = arrays[0].astype(working(arrays[0].dtype), copy=False)
        return convert(x, *(float(a) for a in arrays[1:])).astype(arrays[0].dtype, copy=False)

    return evaluate


define(
    "adjust_contrast",
    "image factor",
    _contrast_type,
    checked(_contrast_type, _contrast),
    "(x - mean) * factor + mean, the mean of each channel over height and width.",
    FAMILY,
    source=f"{TF}adjust_contrast",
)
define(
    "adjust_hue",
    "image delta",
    _factor_type,
    checked(_factor_type, _converted(_hue)),
    "The hue of an RGB image turned by delta, where 1 is all the way round.",
    FAMILY,
    source=f"{TF}adjust_hue",
)
define(
    "adjust_saturation",
    "image factor",
    _factor_type,
    checked(_factor_type, _converted(_saturation)),
    "The saturation of an RGB image times factor, cut to 0 .. 1.",
    FAMILY,
    source=f"{TF}adjust_saturation",
)
define(
    "rgb_to_hsv",
    "image",
    _color_type,
    checked(_color_type, _converted(to_hsv)),
    "Red, green and blue as hue, saturation and value.",
    FAMILY,
    source=f"{TF}rgb_to_hsv",
)
define(
    "hsv_to_rgb",
    "image",
    _color_type,
    checked(_color_type, _converted(to_rgb)),
    "Hue, saturation and value as red, green and blue.",
    FAMILY,
    source=f"{TF}hsv_to_rgb",
)
