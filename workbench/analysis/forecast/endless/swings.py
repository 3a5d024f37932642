"""Decides if an operand that keeps swinging stays on one side of its threshold: limit cycles, turning vectors, relays.

The end of the record must repeat itself at some lag, to within a small share of its scatter; swings about a constant
level that stay farther away than their own range need no such lag. The mean and the minimum distance to the threshold
are compared over the last two or three blocks of whole periods. If the motion decays or drifts to the threshold, the
mean distance shrinks by the same share in each block, and the remaining progress, the sum of a geometric series (Aitken
1926), equals it. If the motion has arrived, or settles elsewhere, the remaining progress is much smaller than the gap.
"""

from __future__ import annotations

import numpy as np

from workbench.kernels import laws

#: Minimum number of values, shortest lag, minimum number of values in a block, and minimum number of turning points in
#: the last three quarters of the record.
FEWEST, SHORTEST, BLOCK, TURNS = 24, 3, 8, 4
#: A record repeats if the difference at its lag is less than this share of its scatter. The share is usually 0.9 or
#: more for noise, so the second, stricter bound applies to records that look like noise, and the third to records with
#: two blocks instead of three.
ALIKE, NOISY, CLOSELY = 0.5, 0.35, 0.2
#: Minimum difference at a shorter lag: a slow curve resembles itself at short lags without being periodic.
LEFT = 1.0
#: Minimum gap to the threshold, as a share of the swings' range: for a record that repeats, and for one that does not.
CLEAR, FAR = 0.25, 1.0
#: Maximum change from block to block that sampling explains: of the mean and of the minimum as shares of the range, and
#: of the minimum as a share of the gap.
EVEN, LEAST, NEAR = 0.06, 0.3, 0.3
#: For swings without a lag: minimum number of values, maximum range of the blocks' means as a share of a block's range,
#: and maximum ratio of two blocks' ranges, because the swings of a search that pauses are uneven.
MANY, LEVEL, ALL_ALIKE = 40, 0.2, 1.6
#: Minimum ratio of the gap to the remaining progress.
SAFE = 3.0


def swings_clear(y: np.ndarray) -> float | None:
    """The remaining gap, if y > 0, the distance to the threshold, swings without coming nearer to 0; else None."""
    n = len(y)
    late = y[n // 4 :]
    steps = np.diff(late)
    if n < FEWEST or not (y > 0).all() or np.count_nonzero(steps[1:] * steps[:-1] < 0) < TURNS:
        return None
    noisy = laws.is_noisy(late)
    period = laws.repeat_lag(late, NOISY if noisy else ALIKE, BLOCK, SHORTEST, LEFT)
    size = len(late) // 3 if period is None else period * max(-(-BLOCK // period), n // 3 // period)
    count = min(3, n // size)
    if count < 2:
        return None
    if count == 2 and laws.repeat_lag(late, CLOSELY, BLOCK, SHORTEST, LEFT) is None:
        return None
    blocks = y[n - count * size :].reshape(count, size)
    span, gap = float(np.ptp(blocks[-1])), float(blocks[-1].min())
    if not gap > (CLEAR if period is not None else FAR) * span:
        return None
    mean, least = (-np.diff(levels) for levels in (blocks.mean(1), blocks.min(1)))
    if least[-1] - max(mean[-1], 0.0) > min(LEAST * span, NEAR * gap):
        return None  # the swings grow
    if period is None:
        ranges = np.ptp(blocks, axis=1)
        level = n >= MANY and float(np.ptp(blocks.mean(1))) <= LEVEL * span
        return gap if level and float(ranges.max()) <= ALL_ALIKE * float(ranges.min()) else None
    if mean[-1] <= EVEN * span:
        return gap
    if mean[-1] > (0.5 if noisy else 1.0) * span:
        return None  # a descent with ripples
    if count == 3 and mean[1] < 0.8 * mean[0] and SAFE * mean[1] ** 2 / (mean[0] - mean[1]) < gap:
        return gap
    return None
