"""The pace at which an operand approaches its threshold, and whether it may be that of a random walk.

A loop that will end at a constant pace within ``LENGTHS`` record lengths has already covered a certain part of the way
to its threshold: if the record covers less, by more than its scatter, there is no such end.  y is the distance to the
threshold, n values, all above 0.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from workbench.kernels import laws

#: Lengths of the record for which the pace must not lead to the threshold.
LENGTHS = 10.0
#: The same for a pace that is visible in the record.
CLOSES = 16.0
#: Correlation of the steps of a smooth curve; variance over q steps, as a share of a walk's, below which a record is
#: not a walk; the same where the gap is less than that many deviations of a walk.
SMOOTH, NARROW, REFLECTED, WALK = 0.5, 0.15, 0.03, 2.5
#: The lags (numbers of steps) at which it is tested.
LAGS = (3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28)
#: Difference at a lag, as a share of the scatter, up to which a record repeats; and the number of values in a block.
LAG_RATIO, BLOCK = 0.15, 8
#: Correlation of mean-reverting steps, as of noise around a level.
LEANS = -0.3
#: Standard errors from which a fall is significant, and its share of the fall before, below which it is about to end.
FALL_ERRORS, SLOWING = 2.0, 0.35
#: Maximum difference between the remaining shares of a level and of its swings, if they shrink together.
TOGETHER = 0.15


def is_walk(y: np.ndarray, gap: float | None = None) -> bool:
    """True if the record spreads like a random walk with its steps at every lag, and is not a smooth curve.

    The variance of the difference over q steps is q times that of one step for a walk, and much less for swings.  A
    walk that may cross the gap is harder to distinguish from swings, because a reflected walk is narrow too.
    """
    alike = laws.lag_one(y)
    if alike > SMOOTH:
        return False
    step = _variance(y[1:] - y[:-1])
    within = gap is not None and gap * gap < WALK * WALK * 9.0 * len(y) * step and alike > LEANS
    narrow = (REFLECTED if within else NARROW) * step
    return all(_variance(y[q:] - y[:-q]) > narrow * q for q in LAGS if 3 * q <= len(y))


def may_walk(y: np.ndarray, gap: float) -> bool:
    """True for a walk whose last three quarters do not repeat to within a seventh, which a walk never does."""
    return is_walk(y, gap) and laws.repeat_lag(y[len(y) // 4 :], LAG_RATIO, BLOCK, 3, 1.0) is None


def _variance(d: np.ndarray) -> float:
    mean = float(d.sum()) / len(d)
    return float(d @ d) / len(d) - mean * mean


def closes_in(y: np.ndarray, gap: float) -> bool:
    """True if the level falls by more than its scatter, fast enough to reach 0, and not much more slowly than before.

    The level is the mean under three Hann windows, each 3/8 of the record long, which swings of any phase hardly
    change.
    """
    n = len(y)
    size = 3 * n // 8
    if size < 4:
        return False
    (first, before, last), spread = levels(y)
    fall = before - last
    # a level that shrinks together with its swings is on its way to zero, whatever its initial speed
    together = last < before and abs(spread[2] / max(spread[1], 1e-300) - last / before) < TOGETHER * last / before
    slowing = 0.0 if together else SLOWING
    step, window = np.diff(y[n - 2 * size :]), _hann(size)
    bend = np.diff(step)  # for noise three times the variance of a step, for a smooth curve less
    noise = min(float(step @ step) / len(step), float(bend @ bend) / (3.0 * len(bend)))
    scatter = math.sqrt(noise * float(window @ window))
    return fall > max(FALL_ERRORS * scatter, slowing * (first - before)) and fall * n / size * CLOSES > gap


def levels(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and deviations (3,) under Hann windows: the first, the last but one, and the last."""
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
