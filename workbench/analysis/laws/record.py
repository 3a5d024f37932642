"""``FallingRecord``: the values that a condition compares, as something that falls below a mark.

A residual, a loss or a distance is looked at in the logarithm: what is left to do is a ratio there, and its decays are
lines.  Anything else stays as it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np


class Sums(NamedTuple):
    """Sums of u, z, u u, u z, z z over the first 0 .. n values: a line through any part of them is one formula."""

    u: np.ndarray
    z: np.ndarray
    uu: np.ndarray
    uz: np.ndarray
    zz: np.ndarray

    def lines(self, first: np.ndarray, upto: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Slopes, intercepts and standard deviations of the least-squares lines through the values first .. upto."""
        u, z, uu, uz, zz = (sums[upto] - sums[first] for sums in self)
        m = upto - first
        spread = uz - u * z / m
        slope = spread / (uu - u * u / m)
        rest = np.maximum(zz - z * z / m - slope * spread, 0.0)
        return slope, (z - slope * u) / m, np.sqrt(rest / np.maximum(1, m - 2))


def sums(u: np.ndarray, z: np.ndarray) -> Sums:
    """The sums of z (n,) over u (n,); both should lie about zero, so that no digits are lost."""
    parts = (u, z, u * u, u * z, z * z)
    return Sums(*(np.concatenate(((0.0,), np.cumsum(part))) for part in parts))


@dataclass(frozen=True)
class FallingRecord:
    """``z`` (n,) falls from z[0] towards ``mark``; ``logarithmic`` says that z is the logarithm of the values."""

    z: np.ndarray
    mark: float
    logarithmic: bool

    @cached_property
    def best(self) -> np.ndarray:
        """The lowest value so far, (n,)."""
        return np.minimum.accumulate(self.z)

    @cached_property
    def middle(self) -> float:
        """The mean of z."""
        return float(self.z.mean())

    @cached_property
    def line_sums(self) -> Sums:
        """Sums of z over the iteration, both about their means."""
        return sums(np.arange(len(self.z)) - 0.5 * (len(self.z) - 1), self.z - self.middle)


def as_record(x: np.ndarray, keep: str, threshold: float) -> FallingRecord | None:
    """The record of ``x keep threshold``, n values; None where it has no direction, or is not finite."""
    if keep not in (">", ">=", "<", "<=") or not math.isfinite(threshold) or not np.isfinite(x).all():
        return None
    sign = 1.0 if keep in (">", ">=") else -1.0
    y, mark = sign * np.asarray(x, dtype=np.float64), sign * threshold
    if mark > 0 and float(y.min()) > 0:
        return FallingRecord(np.log(y), math.log(mark), True)
    return FallingRecord(y, mark, False)
