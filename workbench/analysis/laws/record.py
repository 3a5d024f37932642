"""``FallingRecord``: the values that a condition compares, as a record that falls towards a mark.

Positive values with a positive mark (a residual, a loss, a distance) are replaced by their logarithms, in which
geometric decay is a straight line.  Other values are used unchanged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np


class Sums(NamedTuple):
    """Sums of u, z, u u, u z, z z over the first 0 .. n values, which give the line through any part by one formula."""

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
    """The sums for z (n,) over u (n,); both should be centred at zero, so that no digits are lost."""
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
        """The running minimum, (n,)."""
        return np.minimum.accumulate(self.z)

    @cached_property
    def middle(self) -> float:
        """The mean of z."""
        return float(self.z.mean())

    @cached_property
    def line_sums(self) -> Sums:
        """Sums for z over the iteration, both centred at their means."""
        return sums(np.arange(len(self.z)) - 0.5 * (len(self.z) - 1), self.z - self.middle)


def as_record(x: np.ndarray, keep: str, threshold: float) -> FallingRecord | None:
    """The record of ``x keep threshold``, n values; None if ``keep`` has no direction or a number is not finite."""
    if keep not in (">", ">=", "<", "<=") or not math.isfinite(threshold) or not np.isfinite(x).all():
        return None
    sign = 1.0 if keep in (">", ">=") else -1.0
    y, mark = sign * np.asarray(x, dtype=np.float64), sign * threshold
    if mark > 0 and float(y.min()) > 0:
        return FallingRecord(np.log(y), math.log(mark), True)
    return FallingRecord(y, mark, False)
