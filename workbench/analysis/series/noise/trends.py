"""Step 7, trends: a noisy record whose mean still moves, by a law without a limit or towards a level.

A moving mean is judged by its block means: of drift, logarithm, root, power with a limit and exponential, the law with
the smallest residual is chosen; a law with a limit must be clearly better than one without.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.value_series import History
from workbench.kernels import fits

#: Minimum distance between the first and last block mean of a trend with swings, in units of the scatter in a block.
SWING_RATIO = 2.0
#: Minimum distance covered in the second half by a law with a limit, in units of the scatter of the means around it.
BEND_RATIO = 10.0
#: Minimum distance covered in the later half of the octaves of time, as a share of that in the earlier half, for a
#: record without a limit.
ON = 0.3
#: Ratio of later to earlier steps, below which the record has a limit.
SMALLER = 0.35
#: Minimum number of steps in two octaves of time, and maximum share in the two following ones, for a record that
#: saturates.
OCTAVES, FILLED = 16, 0.25


def _slope(y: list[float]) -> tuple[float, float]:
    """(slope, standard error) of the line through y over its index."""
    n = len(y)
    middle, mean = (n - 1) / 2, sum(y) / n
    tt = n * (n * n - 1) / 12.0
    slope = sum((i - middle) * v for i, v in enumerate(y)) / tt
    rest = sum((v - mean - slope * (i - middle)) ** 2 for i, v in enumerate(y))
    return slope, math.sqrt(rest / (n - 2) / tt) + 1e-300


def moving_mean(h: History) -> Finding | None:
    """The verdict on a mean that still moves in the second half, judged by dyadic blocks."""
    n = len(h)
    blocks = 16 if n >= 128 else 8
    if n < 3 * blocks:
        return None
    size = n // blocks
    m = fits.block_means(h.x, blocks)
    slope, se = _slope(m[blocks // 2 :])
    # eight means may lie on a line by chance: their own noise counts, too
    se = max(se, _error(h, size) / math.sqrt(42.0)) if blocks == 16 else se
    kind, exponent, level, rest, moved = fits.asymptote(m, size)
    if blocks == 16:
        # the means lie on a curve, but a line may leave equally small residuals
        bent = kind != 0 and moved > BEND_RATIO * math.sqrt(rest / 13.0) and moved > 3.0 * _error(h, size)
        if abs(slope) / se < 7.0 and not bent:
            return None
    else:  # four late means alone are not enough: all eight must move, and the late ones in the same direction
        whole, se = _slope(m)
        if abs(whole) / se < 8.0 or slope / whole < 0.3:
            return None
    if kind:
        law = f"k**{exponent:.3g}" if kind == 1 else f"an exponential of {exponent} of the record"
        return Finding(
            Pattern.CONVERGING,
            "moving_mean",
            f"Noisy; block means approach a level ({law}).",
            rate=math.exp(-1.0 / (exponent * n)) if kind == 2 else None,
            limit=level,
            limit_error=abs(level - m[-1]) + _error(h, size),
            doubt=0.2,
        )
    law = f"k**{exponent:.3g}" if exponent else "a logarithm"
    *_, before, late = fits.block_spreads(h.d, 8)
    if late < 0.25 * before:
        return None  # a mean that has moved until now and rests at the end
    return Finding(Pattern.DIVERGING, "moving_mean", f"Noisy; block means keep moving ({law}).", doubt=0.1)


def _error(h: History, size: int) -> float:
    """Standard error of the mean of the last ``size`` values, if they were independent."""
    return float(np.std(h.x[-size:])) / math.sqrt(size)


def drifting(h: History) -> Finding | None:
    """DIVERGING if the means of eight blocks all move in one direction, farther than the values scatter within a block,
    and follow a law without a limit: then the record oscillates about a trend.
    """
    n = len(h)
    if n < 48:
        return None
    means = fits.block_means(h.x, 8)
    steps = [b - a for a, b in pairwise(means)]
    if min(steps) < 0.0 < max(steps):
        return None
    size = n // 8
    rows = h.x[n - 8 * size :].reshape(8, size)
    if abs(means[-1] - means[0]) < SWING_RATIO * float(np.sqrt(np.mean(np.var(rows, axis=1)))):
        return None
    found = moving_mean(h)
    return found if found is not None and found.label is Pattern.DIVERGING else None


def one_way(h: History) -> Finding | None:
    """A label for records that step in only one direction and rest at least every other time, as running maxima do:
    DIVERGING if they move about as far in the later half of the octaves of time as in the earlier, as a logarithm does,
    and the later steps are not much smaller than the earlier ones.
    """
    d = h.d
    n = len(h)
    if n < 24 or 2 * int(np.count_nonzero(d)) > len(d) or float(d.min()) < 0.0 < float(d.max()):
        return None
    early, middle, last = (float(h.x[k]) for k in (0, math.isqrt(n), n - 1))
    before, late = abs(middle - early), abs(last - middle)
    sizes = np.abs(d[d != 0.0])
    if len(sizes) < 3:
        return None
    half = len(sizes) // 2
    smaller = float(np.median(sizes[-half:])) < SMALLER * float(np.median(sizes[:half]))
    # a logarithm has equally many steps in each octave; if the last two have few, the record saturates
    most, newest = (int(np.count_nonzero(d[a:b])) for a, b in ((len(d) // 16, len(d) // 4), (len(d) // 4, len(d))))
    smaller = smaller or most >= OCTAVES and newest < FILLED * most
    if late >= ON * before and not smaller:
        why = "All steps lead one way, with rests between, about as far in later octaves of time as in earlier ones."
        return Finding(Pattern.DIVERGING, "one_way", why, doubt=0.4)
    why = "All steps lead one way, with rests between, less far in later octaves of time than in earlier ones."
    return Finding(Pattern.CONVERGING, "one_way", why, limit=last, limit_error=before + late, doubt=0.4)
