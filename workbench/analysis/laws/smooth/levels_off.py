"""A geometric approach to a limit of its own: the level at which a loss settles, or a residual its floor.

Source: Aitken's extrapolation (Proc. Roy. Soc. Edinburgh 46, 1926), here of the means of three thirds of the record, so
that noise averages out; the time is that of L + c q**k.

Holds for losses above their irreducible part and for errors above a floor; never, where the limit lies above the level.
Fails where the record does not slow (it then has nothing to say) or slows like a power, whose limit it puts too high.
"""

from __future__ import annotations

import numpy as np

from workbench.analysis.laws.law import DeclaredLaw, Times
from workbench.analysis.laws.record import FallingRecord

#: A part of a record is as long as this at least.
LEAST = 6
#: A ratio of two steps below this is a jump, and no approach.
JUMP = 1e-6


def _limit(share: float, logarithm: bool) -> Times:
    def times(r: FallingRecord, seen: np.ndarray, levels: np.ndarray) -> np.ndarray:
        plain = r.logarithmic and not logarithm
        y, to = (np.exp(r.z), np.exp(levels)) if plain else (r.z, levels)
        total = np.concatenate(((0.0,), np.cumsum(y)))
        third = np.maximum(1, np.minimum(np.maximum(LEAST, (share * seen).astype(np.int64)), seen) // 3)
        means = [(total[seen - i * third] - total[seen - (i + 1) * third]) / third for i in range(3)]
        early, late = means[1] - means[2], means[0] - means[1]
        ratio = late / early
        limit = means[0] + late * ratio / (1.0 - ratio)
        slows = (early < 0) & (ratio < 1) & (ratio > JUMP)
        steps = np.log((to - limit[:, None]) / (means[0] - limit)[:, None]) / (np.log(ratio) / third)[:, None]
        there = np.where(to > limit[:, None], steps - (0.5 * (third - 1))[:, None], np.inf)
        still = np.where((early < 0) & (ratio >= 1), np.nan, np.inf)
        return np.where(slows[:, None], there, still[:, None])

    return times


LAWS = (
    DeclaredLaw("levels off", -1.0, "an approach to a limit", _limit(1.0, False)),
    DeclaredLaw("levels off, last half", -1.0, "an approach to a limit in its last half", _limit(0.5, False)),
    DeclaredLaw("flattens", -1.0, "a rate that falls to nothing", _limit(1.0, True)),
    DeclaredLaw("flattens, last half", -1.0, "a rate that falls to nothing in its last half", _limit(0.5, True)),
)
