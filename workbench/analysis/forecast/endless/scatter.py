"""Decides if the smallest of the scattered distances to the threshold stays above 0.

Two tests must exclude a crossing within ``LENGTHS`` record lengths. The first takes the lower tail to be exponential,
the heaviest tail of bounded noise, and averages over its rate, which is estimated from a third of the values (B. M.
Hill, Ann. Statist. 3, 1975). The second looks for a drift: if the values drifted to the threshold, the smallest values
of the record without that drift would be early. In a random order their times are spread evenly, whatever their
distribution, which gives a permutation test of the mean time (E. J. G. Pitman, 1937).

The values may depend on earlier ones, as those of a chaotic iteration do, but must form neither a smooth curve nor a
random walk.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.forecast.endless.pace import is_walk
from workbench.kernels import laws

#: Minimum number of values.
FEWEST = 32
#: Number of record lengths within which no crossing may occur, and the maximum chance of one by the tail.
LENGTHS, CHANCE = 10.0, 0.02
#: Shares of the values that count as the smallest; the number of standard errors by which their mean time must be early
#: without the drift, and the number by which it may be late in the record itself.
LEAST, EARLY, LATE = (0.12, 0.25, 0.5), 2.2, 1.5


def scattered_clear(z: np.ndarray) -> float | None:
    """The chance that z (n,) > 0, a scattering record, crosses 0, if that chance is small; else None.

    z is the logarithm of a residual divided by its threshold, or a distance.
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
    # dips are deep in a logarithm, and would look like the steps of a walk, so they are cut off
    return None if is_walk(np.maximum(z, low[n // 4]), gap) else chance


def _drifts_not(z: np.ndarray, gap: float) -> bool:
    """True if the record does not drift across ``gap`` within ``LENGTHS`` record lengths: without such a drift, its
    smallest values would be early.

    In the record itself they must not be late either: a visible fall may become steeper.
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
