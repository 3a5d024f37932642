"""Rates of records that no law fits: of the spread of their steps, of a noisy way to a level, of a few last steps.

What shrinks or grows geometrically does so whatever swings or noise lie on it: the logarithm of the steps' spread,
block by block, and that of the distance from the level are straight lines, whose slopes are fitted by least squares.
"""

from __future__ import annotations

import math

import numpy as np

#: Blocks into which the steps are cut, each of this many steps at least.
BLOCKS, LEAST = 8, 6
#: Correlation of the logarithms with time that a geometric law has at least.
STRAIGHT = 0.97


def spread_rate(d: np.ndarray) -> float | None:
    """Factor per iteration by which the steps' spread changes; None where its logarithm does not go straight."""
    size = len(d) // BLOCKS
    if size < LEAST:
        return None
    spread = np.sqrt(np.mean(d[len(d) - BLOCKS * size :].reshape(BLOCKS, size) ** 2, axis=1))
    if not np.all(spread > 0):
        return None
    y = np.log(spread)
    slope = _straight(size * np.arange(BLOCKS, dtype=float), y)
    return None if slope is None else math.exp(slope)


def approach_rate(x: np.ndarray, level: float, noise: float) -> float | None:
    """Factor per iteration of the distance from a level, as long as it exceeds four times the noise about it."""
    far = np.abs(x - level)
    near = np.flatnonzero(far < 4.0 * noise)
    count = int(near[0]) if near.size else len(x)
    if count < 4:
        return None
    slope = _straight(np.arange(count, dtype=float), np.log(far[:count]))
    return math.exp(slope) if slope is not None and slope < 0 else None


def step_ratio(size: np.ndarray) -> float | None:
    """Last ratio of a few steps, if the two before are like it within a twentieth."""
    if len(size) < 3 or not np.all(size > 0):
        return None
    ratios = (size[1:] / size[:-1])[-3:]
    return float(ratios[-1]) if float(np.ptp(ratios)) <= 0.05 * float(ratios[-1]) else None


def _straight(k: np.ndarray, y: np.ndarray) -> float | None:
    """Slope of the line through y, if it goes straight and does not bend: its halves have slopes alike."""
    if abs(float(np.corrcoef(k, y)[0, 1])) < STRAIGHT:
        return None
    half = len(y) // 2
    slope = float(np.polyfit(k, y, 1)[0])
    first, second = (float(np.polyfit(k[part], y[part], 1)[0]) for part in (slice(half), slice(len(y) - half, None)))
    return slope if min(first / slope, second / slope) > 0.4 else None
