"""Decides if an operand's movement dies out before it can reach the threshold.

The movement is the distance from each value to the one a period later (period 1: to the next), summed over three
consecutive blocks. If each block has a fixed share of the movement of the block before, the remaining movement is a
geometric series.
"""

from __future__ import annotations

import numpy as np

#: Minimum number of values.
FEWEST = 24
#: Maximum movement of a block, as a share of that of the block before; and the factor by which the sum of the remaining
#: series is multiplied, for safety, before it is compared with the gap.
SHRINKS, REST = 0.6, 8.0
#: Number of record lengths within which the present movement must not reach the threshold; and the same for the part of
#: it that does not shrink (Aitken).
PRESENT, LASTING = 2.5, 10.0
#: Factor from one ratio of consecutive blocks' movements to the next, above which the ratios count as rising, as for a
#: power law.
RISING = 1.2
#: Maximum movement from one cycle to the next, as a share of the movement within a cycle.
REPEATS = 0.1
#: Maximum share of values that equal the one before: a search that pauses will move again.
WAITS = 0.125


def dies_out(y: np.ndarray, longest: int) -> tuple[float, int] | None:
    """(gap, period) if y (n,) > 0, the distance to the threshold, comes to rest or settles into a cycle before it
    reaches 0; else None.

    ``longest``: the longest period to try.
    """
    n = len(y)
    if n < FEWEST or not (y > 0).all() or np.count_nonzero(y[1:] == y[:-1]) > WAITS * n:
        return None
    steps = np.abs(y[1:] - y[:-1])
    least = float(y[-max(n // 8, 1) :].min())
    for period in range(1, min(n // 4, longest) + 1):
        # the usual case: the record moves too much at its end
        size = max(n // 8, period)
        last = float(np.abs(y[-size:] - y[-size - period : -period]).sum())
        if PRESENT * last * n > least * size * period:
            continue
        moves = np.abs(y[period:] - y[:-period])
        if period > 1 and float(moves[-period:].sum()) > REPEATS * float(steps[-period:].sum()):
            continue
        # a curve may pause for an eighth of its record, so only cycles are tested with blocks that short
        for size in (n // 4, max(n // 8, period))[: 1 if period == 1 else 2]:
            gap = float(y[-size:].min())
            if _shrinks(moves, size, period, gap * size / n):
                return gap, period
    return None


def _shrinks(moves: np.ndarray, size: int, period: int, allowed: float) -> bool:
    """True if the movement shrinks over the last three blocks, and the remaining movement cannot cover the gap.

    ``allowed``: the gap divided by the number of blocks in the record.
    """
    first, before, last = (float(moves[-i * size : len(moves) - (i - 1) * size].sum()) / period for i in (3, 2, 1))
    gap = allowed * len(moves) / size
    if not first > before > last or PRESENT * last > allowed:
        return False
    share = max(before / first, last / before)
    slows = first + last - 2.0 * before
    lasting = max((first * last - before * before) / slows, 0.0) if slows > 0 else last
    if first * last > RISING * before * before:
        lasting = last
    return share <= SHRINKS and REST * last * share / (1.0 - share) < gap and LASTING * lasting < allowed
