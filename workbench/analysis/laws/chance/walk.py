"""The chance that the record's own wandering leads it below its mark: a Brownian motion with its drift and its spread.

Source: the first-passage law of Brownian motion with drift (Schroedinger 1915; Cox and Miller, The Theory of Stochastic
Processes, 1965, section 5.7).

The spread is that of moves over a sixteenth of the record, so that noise about a level, which does not add up, counts
little.  A drift away from the mark counts by what exceeds its standard error; one towards it is the other laws' matter.
Holds for records that wander (simulated annealing, reinforcement learning, restarts); fails for a level with outliers.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.laws.record import FallingRecord


def passes(r: FallingRecord, since: int, within: float) -> float:
    """The chance to pass the mark within so many iterations, by the moves since one of them in the last half."""
    n = len(r.z)
    last = r.z[max(n // 2, since) :]
    lag, part = max(1, n // 16), max(1, len(last) // 4)
    if len(last) < lag + 3:
        return 1.0
    variance = float(np.var(last[lag:] - last[:-lag])) / lag
    drift = float(last[-part:].mean() - last[:part].mean()) / (0.75 * len(last))
    drift = max(0.0, drift - math.sqrt(variance / (0.75 * len(last))))
    gap, sd = float(r.z[-1]) - r.mark, math.sqrt(variance * within)
    if sd == 0.0:
        return 0.0
    turned = math.exp(-2.0 * drift * gap / variance)
    return min(1.0, _normal(-(gap + drift * within) / sd) + turned * _normal(-(gap - drift * within) / sd))


def _normal(z: float) -> float:
    """The standard normal distribution function."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))
