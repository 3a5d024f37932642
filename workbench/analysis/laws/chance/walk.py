"""The chance that a random walk takes the record below its mark: a Brownian motion with the record's drift and spread.

Source: the first-passage law of Brownian motion with drift (Schroedinger 1915; Cox and Miller, The Theory of Stochastic
Processes, 1965, section 5.7).

The spread is that of moves over a sixteenth of the record, so that noise about a level, which does not accumulate,
counts little.  Of a drift away from the mark only the part above its standard error counts; a drift towards the mark is
left to the other laws. Holds for records that wander (simulated annealing, reinforcement learning, restarts); fails for
a level with outliers.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.laws.record import FallingRecord


def passes(r: FallingRecord, since: int, within: float) -> float:
    """The chance to pass the mark within ``within`` iterations, by the moves since index ``since`` in the record's last
    half.
    """
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
    """The cumulative distribution function of the standard normal distribution."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))
