"""Distances between two whole arrays: relative to the range, by angle, and as a signal-to-noise ratio."""

from __future__ import annotations

import math

import numpy as np


def finite_pairs(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The items that are finite numbers on both sides, in float64; None for different shapes, and for strings."""
    one, other = np.asarray(a), np.asarray(b)
    if one.shape != other.shape or any(x.dtype.kind not in "iuf" and x.dtype.isbuiltin != 2 for x in (one, other)):
        return None
    x, y = one.astype(np.float64).ravel(), other.astype(np.float64).ravel()
    known = np.isfinite(x) & np.isfinite(y)
    return (x[known], y[known]) if known.any() else None


def range_error(a: np.ndarray, b: np.ndarray) -> float | None:
    """The largest distance relative to the range (largest - smallest number) of ``a``; None if the range is 0."""
    found = finite_pairs(a, b)
    span = 0.0 if found is None else float(np.ptp(found[0]))
    return None if found is None or not span else float(np.abs(found[0] - found[1]).max()) / span


def cosine(a: np.ndarray, b: np.ndarray) -> float | None:
    """Cosine of the angle between two arrays as vectors; None for a vector of zeros, and for single numbers."""
    found = finite_pairs(a, b)
    if found is None or found[0].size < 2:
        return None
    x, y = (v / m if (m := float(np.abs(v).max())) else v for v in found)  # the squares of large numbers overflow
    size = math.sqrt(float(x @ x)) * math.sqrt(float(y @ y))
    return None if not size else max(-1.0, min(1.0, float(x @ y) / size))


def sqnr_of(a: np.ndarray, b: np.ndarray) -> float | None:
    """Signal to (quantisation) noise in decibels: 10 log10 of sum(a^2) / sum((a - b)^2). Infinite if both are equal;
    None if ``a`` is zero.
    """
    found = finite_pairs(a, b)
    if found is None:
        return None
    largest = float(np.abs(found[0]).max())
    if not largest:
        return None
    signal, noise = found[0] / largest, (found[0] - found[1]) / largest
    power = float(noise @ noise)
    return math.inf if not power else 10.0 * math.log10(float(signal @ signal) / power) if np.isfinite(power) else None


__all__ = ["cosine", "finite_pairs", "range_error", "sqnr_of"]
