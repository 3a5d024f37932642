"""Measures the pace at which an operand approaches its threshold, and tests if it may be a random walk.

A loop that will end at a constant pace within ``LENGTHS`` record lengths has already covered a certain part of the way
to its threshold: if it has covered less, by more than its scatter, it will not end so. The array y has the n distances
to the threshold, all above 0.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from workbench.kernels import laws

#: Number of record lengths within which the pace must not lead to the threshold.
LENGTHS = 10.0
#: The same for a fall that is visible in the record.
CLOSES = 16.0
#: Minimum correlation of the steps of a smooth curve; variance of the change over q steps, as a share of a walk's,
#: below which a record is not a walk; the same if the gap is small; and the limit of a small gap, in standard
#: deviations of a walk.
SMOOTH, NARROW, REFLECTED, WALK = 0.5, 0.15, 0.03, 2.5
#: The lags (numbers of steps) at which a walk is tested.
LAGS = (3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28)
#: Maximum difference at a lag for which a record repeats, as a share of its scatter; and the number of values in a
#: block.
LAG_RATIO, BLOCK = 0.15, 8
#: Maximum correlation of mean-reverting steps, as of noise around a level.
LEANS = -0.3
#: Number of standard errors above which a fall is significant; and its share of the earlier fall, below which it is
#: about to end.
FALL_ERRORS, SLOWING = 2.0, 0.35
#: Maximum relative difference between the factors by which a level and its swings shrink, if they shrink together.
TOGETHER = 0.15


def is_walk(y: np.ndarray, gap: float | None = None) -> bool:
    """True if the record spreads, at every lag, like a random walk with the same steps, and is not a smooth curve.

    The variance of the change over q steps is q times that of one step for a walk, and much less for swings. If a walk
    could cross the gap, the test is stricter, because a reflected walk spreads less too.
    """
    alike = laws.lag_one(y)
    if alike > SMOOTH:
        return False
    step = _variance(y[1:] - y[:-1])
    within = gap is not None and gap * gap < WALK * WALK * 9.0 * len(y) * step and alike > LEANS
    narrow = (REFLECTED if within else NARROW) * step
    return all(_variance(y[q:] - y[:-q]) > narrow * q for q in LAGS if 3 * q <= len(y))


def may_walk(y: np.ndarray, gap: float) -> bool:
    """True for a walk, unless the last three quarters of the record repeat to within a seventh of their scatter: a walk
    never does.
    """
    return is_walk(y, gap) and laws.repeat_lag(y[len(y) // 4 :], LAG_RATIO, BLOCK, 3, 1.0) is None


def _variance(d: np.ndarray) -> float:
    mean = float(d.sum()) / len(d)
    return float(d @ d) / len(d) - mean * mean


def closes_in(y: np.ndarray, gap: float) -> bool:
    """True if the level falls by more than its scatter, fast enough to reach 0, and not much more slowly than before.

    The level is the mean under each of three Hann windows, 3/8 of the record long; swings hardly change it, whatever
    their phase.
    """
    n = len(y)
    size = 3 * n // 8
    if size < 4:
        return False
    (first, before, last), spread = levels(y)
    fall = before - last
    # a level that shrinks together with its swings tends to zero, whatever its initial speed
    together = last < before and abs(spread[2] / max(spread[1], 1e-300) - last / before) < TOGETHER * last / before
    slowing = 0.0 if together else SLOWING
    step, window = np.diff(y[n - 2 * size :]), _hann(size)
    bend = np.diff(step)  # its variance is three times that of a step for noise, and less for a smooth curve
    noise = min(float(step @ step) / len(step), float(bend @ bend) / (3.0 * len(bend)))
    scatter = math.sqrt(noise * float(window @ window))
    return fall > max(FALL_ERRORS * scatter, slowing * (first - before)) and fall * n / size * CLOSES > gap


def levels(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations (3,) under the first, the second to last and the last Hann window."""
    n = len(y)
    size = 3 * n // 8
    window = _hann(size)
    parts = np.stack([y[k : k + size] for k in (0, n - 2 * size, n - size)])
    means = parts @ window
    return means, np.sqrt((parts - means[:, None]) ** 2 @ window)


@functools.cache
def _hann(size: int) -> np.ndarray:
    window = np.hanning(size + 2)[1:-1]
    return np.asarray(window / window.sum())
