"""Power laws of the iteration, value ~ k**-p: a line through the logarithms of both.

Source: sublinear convergence, 1/k of subgradient and Frank-Wolfe steps and 1/k**2 of accelerated ones (Nesterov 2004,
sections 2.1.5 and 2.2); learning curves (Hestness et al., "Deep Learning Scaling is Predictable, Empirically", 2017).

Holds for averages, for harmonic steps and late in training.  Fails for every geometric decay, which early on looks like
one: it is then too late by orders of magnitude, and its prior is low for that.
"""

from __future__ import annotations

import numpy as np

from workbench.analysis.laws.law import DeclaredLaw, Family
from workbench.analysis.laws.record import FallingRecord, sums
from workbench.analysis.laws.smooth.straight_line import DIP

#: A longer way is not told from for ever.
LONGEST = 60.0


def _times(r: FallingRecord, seen: np.ndarray, levels: np.ndarray) -> np.ndarray:
    at = np.log(np.arange(1.0, len(r.z) + 1.0))
    centre = float(at.mean())
    slope, level, sd = (v[:, None] for v in sums(at - centre, r.z - r.middle).lines(np.zeros_like(seen), seen))
    there = (levels - r.middle + DIP * sd - level) / slope + centre
    return np.where(slope < 0, np.exp(np.minimum(there, LONGEST)) - seen[:, None], np.inf)[None]


FAMILY = Family((DeclaredLaw("power", -2.0, "a power of the iteration"),), _times)
