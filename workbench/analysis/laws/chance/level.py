"""Noise about a level that no longer moves: the level is passed by the first value that is low enough.

Source: the waiting time for a normal deviate below a threshold is geometric with mean 1 / Phi(z) (Leadbetter, Lindgren
and Rootzen, Extremes and Related Properties of Random Sequences and Processes, 1983, chapter 1).

Holds for the floor of a residual and for measured noise; fails for anything that still moves, which the backtest shows:
the levels that such a record reached lie many deviations below those before.  Correlation only delays the passage.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.laws.law import DeclaredLaw
from workbench.analysis.laws.record import FallingRecord

#: The level is that of this share of the record.
SHARE = 0.5


def _times(r: FallingRecord, seen: np.ndarray, levels: np.ndarray) -> np.ndarray:
    middle = float(r.z.mean())
    total, squares = (np.concatenate(((0.0,), np.cumsum((r.z - middle) ** p))) for p in (1, 2))
    first = (seen * SHARE).astype(np.int64)
    mean, square = ((s[seen] - s[first]) / (seen - first) for s in (total, squares))
    sd = np.sqrt(np.maximum(square - mean * mean, 0.0))
    return np.exp(-log_phi((levels - middle - mean[:, None]) / sd[:, None]))


def log_phi(z: np.ndarray) -> np.ndarray:
    """Logarithm of the normal distribution function, by Abramowitz and Stegun 26.2.17 (error below 1e-7 of Phi).

    Below -8, where only the first term of the asymptotic series 26.2.12 counts, by that.
    """
    a = np.minimum(np.abs(z), 40.0)
    t = 1.0 / (1.0 + 0.2316419 * a)
    poly = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    log_tail = -a * a / 2.0 + np.log(poly / math.sqrt(2 * math.pi))
    far = -z * z / 2.0 - np.log(np.maximum(np.abs(z), 1.0) * math.sqrt(2 * math.pi))
    return np.where(z > 0, np.log1p(-np.exp(log_tail)), np.where(z < -8.0, far, log_tail))


LAWS = (DeclaredLaw("level", -1.0, "noise about a level", _times),)
