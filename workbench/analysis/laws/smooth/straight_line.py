"""Straight lines through the record: geometric decay in the logarithm, steady progress elsewhere.

Source: the linear convergence of first-order methods (Nesterov, Introductory Lectures on Convex Optimization, 2004,
theorem 2.1.15) and of Krylov methods between their superlinear phases (Trefethen and Bau, Numerical Linear Algebra,
1997, lecture 38).  On records of other people's solvers no other law is as often within a factor of two.

Holds where the rate settled; through the last half or quarter where it changed.  Fails for sublinear decays, whose rate
falls for ever (it is then too early), and at a floor, which it does not see.
"""

from __future__ import annotations

import numpy as np

from workbench.analysis.laws.law import DeclaredLaw, Family
from workbench.analysis.laws.record import FallingRecord

#: A part of a record is as long as this at least, where the record is.
LEAST = 8
#: Noise meets the level before its trend does, by this many of its standard deviations.
DIP = 0.5


#: The shares of the record that the lines lie in.
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
