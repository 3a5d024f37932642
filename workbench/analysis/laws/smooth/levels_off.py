"""A geometric approach to a limit other than the mark: the level at which a loss settles, or the floor of a residual.

Source: Aitken's extrapolation (Proc. Roy. Soc. Edinburgh 46, 1926), here of the means of the three thirds of the
record, so that noise averages out; the time is that at which L + c q**k reaches the level.

Holds for losses above their irreducible part and for errors above a floor; predicts never if the limit is above the
level.  Fails if the record does not slow down (it then gives no answer) or slows down like a power, whose limit it
estimates too high.
"""

from __future__ import annotations

import numpy as np

from workbench.analysis.laws.law import DeclaredLaw, Family
from workbench.analysis.laws.record import FallingRecord

#: Minimum length of a part of the record.
LEAST = 6
#: The last shares of the record that are divided into thirds.
SHARES = np.array(((1.0,), (0.5,)))
#: A ratio of two steps below this is a jump rather than an approach.
JUMP = 1e-6


def _times(r: FallingRecord, seen: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Times from the plain values by each share, then from all of z; its last half costs more than it adds."""
    plain, to = (np.exp(r.z), np.exp(levels)) if r.logarithmic else (r.z, levels)
    y, to = np.stack((plain, r.z)), np.stack((to, levels))[:, None]
    total = np.concatenate((np.zeros((2, 1)), np.cumsum(y, axis=1)), axis=1)
    third = np.maximum(1, np.minimum(np.maximum(LEAST, (SHARES * seen).astype(np.int64)), seen) // 3)
    sums = [total[:, seen - i * third] for i in range(4)]
    late, middle, early = ((sums[i] - sums[i + 1]) / third for i in range(3))
    before, after = middle - early, late - middle
    ratio = after / before
    limit = (late + after * ratio / (1.0 - ratio))[..., None]
    slows = (before < 0) & (ratio < 1) & (ratio > JUMP)
    steps = np.log((to - limit) / (late[..., None] - limit)) / (np.log(ratio) / third)[..., None]
    there = np.where(to > limit, steps - (0.5 * (third - 1))[..., None], np.inf)
    still = np.where((before < 0) & (ratio >= 1), np.nan, np.inf)
    return np.where(slows[..., None], there, still[..., None]).reshape(4, *levels.shape)[:3]


FAMILY = Family(
    (
        DeclaredLaw("levels off", -1.0, "an approach to a limit"),
        DeclaredLaw("levels off, last half", -1.0, "an approach to a limit in its last half"),
        DeclaredLaw("flattens", -1.0, "a rate that falls to nothing"),
    ),
    _times,
)
