"""Colours of images: two perceptually uniform scales, and the ends of a scale.

One-sided values get plotly's Inferno (the map of Smith and van der Walt, 2015); values on both sides of zero get blue,
white and orange, chosen here with equal steps of CIE lightness. Values outside a scale have the colour of its end; NaN
and infinities have a separate colour.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import Any

import numpy as np
from plotly.colors import hex_to_rgb, sequential

from workbench.widgets.base import theme
from workbench.widgets.text.labels import number

INFERNO = tuple(sequential.Inferno)
SIGNED = ("#04528f", "#3179c6", "#82a1d7", "#bfcce9", "#f9f9f9", "#e9c5b2", "#d2926e", "#b5602d", "#873800")
#: number of colours of a scale, and index of the colour for NaN and infinities
COLOURS, BAD = 255, 255
#: a scale ends at one of these numbers times a power of ten
STEPS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
#: values on one side of zero smaller than this share of the other side are taken for rounding errors
ROUNDING = 1e-3


@dataclass(frozen=True, slots=True)
class Scale:
    """Ends of a colour scale; ``signed`` scales have zero in the middle."""

    low: float
    high: float
    signed: bool = False

    @property
    def colorscale(self) -> list[list[Any]]:
        """The colours in plotly's format."""
        stops = SIGNED if self.signed else INFERNO
        return [[k / (len(stops) - 1), colour] for k, colour in enumerate(stops)]

    def within(self, other: Scale, part: float) -> bool:
        """True if all values of this scale have nearly one colour in another scale, less than ``part`` of it."""
        width = other.high / 2 - other.low / 2
        begins = other.low if not other.signed else 0.0
        return max(abs(self.low / 2 - begins / 2), abs(self.high / 2 - begins / 2)) < part * width

    @property
    def ticks(self) -> list[str]:
        """Numbers of the colour bar, from low to high, equally spaced."""
        return [number(self.low / 4 * (4 - k) + self.high / 4 * k, 4) for k in range(5)]


def scale_of(low: float, high: float) -> Scale:
    """The scale for values from ``low`` to ``high``, rounded outwards to round numbers."""
    if not (isfinite(low) and isfinite(high) and low <= high) or low == high == 0.0:
        return Scale(0.0, 1.0)
    size = max(abs(low), abs(high))
    if low < -ROUNDING * size and high > ROUNDING * size:
        return Scale(-_above(size), _above(size), True)
    if high - low < 0.25 * size and high > low:  # far from zero the scale need not begin there
        step = _above((high - low) / 4)
        low, high = floor(low / step) * step, ceil(high / step) * step
        return Scale(low, high) if isfinite(low) and isfinite(high) and low < high else Scale(0.0, size)
    return Scale(0.0, _above(high)) if high > -low else Scale(-_above(-low), 0.0)


def _above(value: float) -> float:
    """The next round number."""
    power = 10.0 ** floor(log10(value)) if value > 1e-300 else value
    found = next((f * power for f in STEPS if value <= f * power * (1 + 1e-12)), value)
    return found if isfinite(found) else value


def indexes(view: np.ndarray, scale: Scale) -> np.ndarray:
    """The colour of each item as one byte: 0 to 254 from ``low`` to ``high``, 255 for NaN and infinities."""
    values = view if view.dtype in (np.float32, np.float64) else view.astype(np.float64)
    width = scale.high / 2 - scale.low / 2  # halves, because the whole may overflow
    with np.errstate(all="ignore"):
        part = np.multiply(values, (COLOURS - 1) / 2 / width)  # few passes, because this runs for each played image
        part -= scale.low / 2 / width * (COLOURS - 1) - 0.5
        low, high = (float(part.min()), float(part.max())) if part.size else (0.0, 0.0)
        if not (low >= 0.0 and high < COLOURS):  # also if one of them is NaN
            finite = np.isfinite(values)
            np.clip(part, 0.0, COLOURS - 1, out=part)
            part[~finite] = BAD
    return part.astype(np.uint8)


def palettes() -> bytes:
    """Red, green and blue of 256 colours for one-sided scales, and of 256 for signed ones."""
    return b"".join(_palette(stops) for stops in (INFERNO, SIGNED))


def _palette(stops: tuple[str, ...]) -> bytes:
    at = np.linspace(0.0, len(stops) - 1.0, COLOURS)
    rgb = np.array([hex_to_rgb(colour) for colour in stops], dtype=np.float64)
    mixed = np.stack([np.interp(at, np.arange(len(stops)), rgb[:, k]) for k in range(3)], axis=1)
    return np.rint(np.vstack([mixed, [hex_to_rgb(theme.BAD)]])).astype(np.uint8).tobytes()
