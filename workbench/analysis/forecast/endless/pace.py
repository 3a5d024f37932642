"""The pace at which an operand comes nearer to its threshold, and if it may be that of a random walk.

A loop that ends within ``LENGTHS`` times the length of its record, at one pace, has shown a part of the way to its
threshold in it: where the record shows less, by more than its scatter, no such end lies ahead.  y is the distance to
the threshold, n values, all above 0.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from workbench.kernels import laws

#: Lengths of the record for which the pace must not lead to the threshold.
LENGTHS = 10.0
#: The same for a pace that is seen.
CLOSES = 16.0
#: Correlation of the steps of a smooth curve, and variance over q steps of what does not walk as a share of a walk's;
#: the same where the gap is less than so many deviations of a walk.
SMOOTH, NARROW, REFLECTED, WALK = 0.5, 0.15, 0.03, 2.5
#: Numbers of steps that are asked for it.
LAGS = (3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28)
#: What differs at a lag as a share of the scatter, where a record repeats, and values of a block that are asked.
LAG_RATIO, BLOCK = 0.15, 8
#: Correlation of steps that lean back, as those of noise about a level do.
LEANS = -0.3
#: Standard errors of a fall that is one, and its share of the fall before it from which it is about to end.
FALL_ERRORS, SLOWING = 2.0, 0.35
#: Difference of the shares that are left of a level and of its swings, if they shrink together.
TOGETHER = 0.15


def is_walk(y: np.ndarray, gap: float | None = None) -> bool:
    """True if the record is as wide as a random walk of its steps at every lag, and no smooth curve.

    The variance of the difference over q steps is q times that of one step for a walk, and much less for swings.  A
    walk that may cross the gap is harder to distinguish from swings: one that is reflected is narrow, too.
    """
    alike = laws.lag_one(y)
    if alike > SMOOTH:
        return False
    step = _variance(y[1:] - y[:-1])
    within = gap is not None and gap * gap < WALK * WALK * 9.0 * len(y) * step and alike > LEANS
    narrow = (REFLECTED if within else NARROW) * step
    return all(_variance(y[q:] - y[:-q]) > narrow * q for q in LAGS if 3 * q <= len(y))


def may_walk(y: np.ndarray, gap: float) -> bool:
    """True for a walk whose last three quarters do not repeat themselves: a walk never does, to a seventh."""
    return is_walk(y, gap) and laws.repeat_lag(y[len(y) // 4 :], LAG_RATIO, BLOCK, 3, 1.0) is None


def _variance(d: np.ndarray) -> float:
    mean = float(d.sum()) / len(d)
    return float(d @ d) / len(d) - mean * mean


def closes_in(y: np.ndarray, gap: float) -> bool:
    """True if the level falls, by more than its scatter, at a pace that ends it, and not much more slowly than before.

    The level is that under three windows of Hann's, of 3/8 of the record, which swings of whatever phase hardly change.
    """
    n = len(y)
    size = 3 * n // 8
    if size < 4:
        return False
    (first, before, last), spread = levels(y)
    fall = before - last
    # what shrinks with its swings is on its way to zero, however fast it was at first
    together = last < before and abs(spread[2] / max(spread[1], 1e-300) - last / before) < TOGETHER * last / before
    slowing = 0.0 if together else SLOWING
    step, window = np.diff(y[n - 2 * size :]), _hann(size)
    bend = np.diff(step)  # of noise three times the variance of a step, of a smooth curve less
    noise = min(float(step @ step) / len(step), float(bend @ bend) / (3.0 * len(bend)))
    scatter = math.sqrt(noise * float(window @ window))
    return fall > max(FALL_ERRORS * scatter, slowing * (first - before)) and fall * n / size * CLOSES > gap


def levels(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and deviations (3,) under windows of Hann's at the start, before the last, and at the end."""
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
