"""Straight lines through the record: geometric decay if it holds logarithms, else steady progress.

Source: the linear convergence of first-order methods (Nesterov, Introductory Lectures on Convex Optimization, 2004,
theorem 2.1.15) and of Krylov methods between their superlinear phases (Trefethen and Bau, Numerical Linear Algebra,
1997, lecture 38).  On records of solvers by other authors, it is within a factor of two more often than any other law.

Holds if the rate has settled, or with the last half or quarter if it changed before.  Fails for sublinear decays, whose
rate keeps falling (the prediction is then too early), and at a floor, which the line ignores.
"""

from __future__ import annotations

import numpy as np

from workbench.analysis.laws.law import DeclaredLaw, Family
from workbench.analysis.laws.record import FallingRecord

#: Minimum length of a part of the record, if the record is that long.
LEAST = 8
#: Noise reaches the level before the trend does: when the trend is this many standard deviations above it.
DIP = 0.5


#: The last shares of the record to which the lines are fitted.
SHARES = np.array(((1.0,), (0.5,), (0.25,)))


def _times(r: FallingRecord, seen: np.ndarray, levels: np.ndarray) -> np.ndarray:
    half = 0.5 * (len(r.z) - 1)
    first = np.maximum(0, seen - np.maximum(LEAST, (SHARES * seen).astype(np.int64)))
    slope, level, sd = (v[..., None] for v in r.line_sums.lines(first, seen))
    there = (levels - r.middle + DIP * sd - level) / slope + half
    return np.where(slope < 0, there - (seen[:, None] - 1), np.inf)


FAMILY = Family(
    (
        DeclaredLaw("line", 1.0, "a straight line"),
        DeclaredLaw("line, last half", 1.0, "the straight line of its last half"),
        DeclaredLaw("line, last quarter", 1.0, "the straight line of its last quarter"),
    ),
    _times,
)
