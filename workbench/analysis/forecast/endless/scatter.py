"""Decides if the edge of values that scatter stays away from the threshold.

Two tests must exclude a crossing within ``LENGTHS`` record lengths. The tail: the lower tail is taken for exponential,
the heaviest that bounded noise has, and its rate, estimated from a third of the values, is averaged over (B. M. Hill,
Ann. Statist. 3, 1975). The drift: if the values drifted to the threshold, the record minus that drift would have its
smallest values early. The times of values in random order are spread evenly, whatever their distribution is: a
permutation test of their mean (E. J. G. Pitman, 1937).

The values may depend on the ones before, as those of a chaotic iteration do, but they must neither be smooth nor walk.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.forecast.endless.pace import is_walk
from workbench.kernels import laws

#: Minimum number of values.
FEWEST = 32
#: Record lengths within which it must not cross, and the maximum chance of a crossing by the tail.
LENGTHS, CHANCE = 10.0, 0.02
#: Shares of the values that count as the smallest; standard errors by which their mean time must be early after the
#: drift is removed, and may be late in the record.
LEAST, EARLY, LATE = (0.12, 0.25, 0.5), 2.2, 1.5


def scattered_clear(z: np.ndarray) -> float | None:
    """The chance that z (n,) > 0, which scatters, crosses 0, if it is small; else None.

    z is the logarithm of a residual over its threshold, or a distance.
    """
    n = len(z)
    gap = float(z.min())
    if n < FEWEST or gap <= 0:
        return None
    low = np.sort(z)
    k = n // 3
    spacing = float((low[k] - low[:k]).sum())
    if spacing <= 0:
        return None
    chance = (LENGTHS - 1.0) * k * (1.0 + float(low[k]) / spacing) ** -k
    if chance > CHANCE or not _drifts_not(z, gap) or not laws.is_noisy(z):
        return None
    # dips are long in a logarithm, and would look like the steps of a walk
    return None if is_walk(np.maximum(z, low[n // 4]), gap) else chance


def _drifts_not(z: np.ndarray, gap: float) -> bool:
    """True if, after removing a drift that crosses the gap within ``LENGTHS`` record lengths, the smallest values are
    early.

    In the record itself they must not be late: a visible fall may become steeper.
    """
    n = len(z)
    own, undone = (np.argsort(v) for v in (z, z + gap / LENGTHS * np.arange(n) / n))
    early = False
    for share in LEAST:
        m = int(share * n)
        error = math.sqrt((n + 1) * (n - m) / (12.0 * m))
        if float(own[:m].mean()) - (n - 1) / 2 > LATE * error:
            return False
        early = early or (n - 1) / 2 - float(undone[:m].mean()) > EARLY * error
    return early
