"""Distinguishes rules from noise and waves: neighbours in delay coordinates predict a rule better than one linear map
does.

A linear map of twelve past values predicts correlated noise as well as any method, and sums of waves better than
neighbours do.  Where local linear maps (Farmer and Sidorowich, Phys. Rev. Lett. 59, 1987; Casdagli, J. R. Stat. Soc. B
54, 1992) are much better than that, the record follows a curved or broken rule.  This remains true with measurement
noise of a few per cent, for area-preserving maps and for sampled flows.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.value_series import History
from workbench.kernels import fits

#: Minimum number of values for a rule, and for deciding that none is needed; number of points that are tested.
RULE_VALUES, LINEAR_VALUES, POINTS = 200, 100, 64
#: Numbers of iterations ahead, and minimum distance in time of two neighbours.
AHEADS, EXCLUDE = [1, 4, 8, 16, 32, 64], 8
#: Maximum error of the local maps for a rule, relative to that of the linear map at each of the steps ahead, and
#: relative to the record's standard deviation.
RULE_RATIOS, RULE_ERROR = (0.65, 0.6, 0.6, 0.6, 0.6), 0.6
#: Minimum of the same ratios if no rule is needed; maximum error of a linear map that leaves nothing to explain.
LINEAR_RATIO, LINEAR_ERROR = 0.72, 0.05
#: Number of values that are searched for close pairs; maximum difference of their next values, as a share of the linear
#: map's median error; minimum shares of the closest 16, 32 and 64 pairs that agree in this way, and minimum excess over
#: the share of all errors.
PAIR_VALUES, PAIR_TOLERANCE = 2048, 0.2
PAIR_SHARES, SHARE_EXCESS = (0.52, 0.38, 0.28), (0.42, 0.28, 0.2)
#: Minimum share of distinct values: a queue that is sometimes empty has pairs that agree by chance.
DISTINCT_SHARE = 0.95


class Predictability(NamedTuple):
    """Median errors, relative to the record's standard deviation, of linear maps and of local maps 1 to 64 steps ahead.

    ``agree`` is the share of the linear map's errors that are close to another such error: large if chance has few
    outcomes.
    """

    linear: list[float]
    agree: float
    local: list[float]

    @property
    def rule(self) -> bool:
        """True if local maps are much better than the linear one: one step ahead, or farther ahead for a smooth curve,
        on which a single step shows no difference.
        """
        better = [
            near < min(share * linear, RULE_ERROR)
            for near, linear, share in zip(self.local, self.linear, RULE_RATIOS, strict=False)
        ]
        further = any(b for b, linear in zip(better, self.linear, strict=False) if linear > LINEAR_ERROR)
        return better[0] or self.linear[0] < LINEAR_ERROR and further

    @property
    def linear_enough(self) -> bool:
        """True if the linear map is equally good, one step ahead and farther."""
        pairs = list(zip(self.local, self.linear, strict=False))[:3]
        as_good = all(near > LINEAR_RATIO * linear for near, linear in pairs if linear > LINEAR_ERROR)
        return as_good and pairs[-1][1] > LINEAR_ERROR and not self.rule


def predictability(h: History) -> Predictability | None:
    """The errors with which the next values are predicted; None for fewer than 100 values, few distinct ones, or a
    trend.
    """
    if "predictable" not in h.known:
        h.known["predictable"] = _predictability(h)
    return h.known["predictable"]


def _predictability(h: History) -> Predictability | None:
    n = len(h)
    if n < LINEAR_VALUES or not level(h.x) or len(np.unique(h.x)) < n // 2:
        return None
    x = np.ascontiguousarray(h.x)
    short, long = fits.linear_map(x, 4), fits.linear_map(x, 12)
    aheads = AHEADS if n >= RULE_VALUES else AHEADS[:4]
    best: list[float] = []
    for delays in (2, 3, 4):
        if delays == 4 and best and best[0] > short[0]:
            break  # the usual case, noise: another coordinate will not help
        local = fits.local_maps(x, delays, aheads, EXCLUDE, POINTS)
        if local and (not best or local[0] < best[0]):
            best = local
    if not best:
        return None
    linear = [min(short[0], long[0])]
    # more than two steps are needed only for a smooth curve
    linear += [fits.linear_map(x, 12, ahead)[0] for ahead in aheads[1 : 5 if linear[0] < LINEAR_ERROR else 3]]
    return Predictability(linear, max(short[1], long[1]), best)


def level(x: np.ndarray, loose: bool = False) -> bool:
    """True if the quarters have nearly the same mean and, unless ``loose``, their scatter does not steadily grow or
    shrink.
    """
    means, spreads = [], []
    y = x - float(x.mean())
    for quarter in np.array_split(y, 4):
        count = max(len(quarter), 1)
        mean = float(quarter.sum()) / count
        means.append(mean)
        spreads.append(math.sqrt(max(float(quarter @ quarter) / count - mean * mean, 0.0)))
    throughout = not loose and spreads in (sorted(spreads), sorted(spreads, reverse=True))
    steady = max(spreads) < (1.5 if throughout else 4.0) * min(spreads)
    if not steady or not loose and not 0.4 * spreads[0] < spreads[-1] < 2.5 * spreads[0]:
        return False
    return abs(sum(means[2:]) - sum(means[:2])) < 1.2 * (spreads[0] + spreads[-1])


def close_pairs(h: History, p: Predictability) -> Finding | None:
    """CHAOTIC if the closest of all pairs of points have similar next values, though most neighbours do not: a rule
    that stretches too much for the record's length.
    """
    x = np.ascontiguousarray(h.x[-PAIR_VALUES:])
    if len(h) < RULE_VALUES or len(np.unique(x)) < DISTINCT_SHARE * len(x):
        return None
    order = np.argsort(x)
    tolerance = PAIR_TOLERANCE * p.linear[0] * float(np.std(h.x[-1024:]))
    # values of similar magnitude may agree equally often, as in random switching between two levels
    after = x[order[order < len(x) - 1] + 1]
    agree = max(p.agree, float(np.mean(np.abs(np.diff(after)) <= tolerance)))
    found = [fits.close_pairs(x, order, delays, EXCLUDE, tolerance) for delays in (2, 3)]
    shares = [
        v
        for f in found
        for v, least, more in zip(f, PAIR_SHARES, SHARE_EXCESS, strict=True)
        if v > max(least, agree + more)
    ]
    if not shares:
        return None
    share = max(shares)
    why = (
        f"{share:.0%} of the closest pairs have similar next values, against {agree:.0%} by chance: "
        "a rule whose neighbours separate."
    )
    return Finding(Pattern.CHAOTIC, "close_pairs", why, doubt=0.2)
