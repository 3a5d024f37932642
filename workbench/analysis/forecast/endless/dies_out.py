"""Decides if an operand's movement dies out before it can reach the threshold.

The movement is the distance from each value to the one a period later (period 1: to the next), summed over three
consecutive blocks. If each block has a fixed share of the movement of the block before, the remaining movement is a
geometric series.
"""

from __future__ import annotations

import numpy as np

#: Fewest values.
FEWEST = 24
#: A block's movement as a share of that of the block before, at most, and how many times the rest of the series must
#: not lead to the threshold.
SHRINKS, REST = 0.6, 8.0
#: Record lengths for which the present movement must not reach the threshold, nor the part that does not shrink
#: (Aitken).
PRESENT, LASTING = 2.5, 10.0
#: The ratio of two consecutive blocks' movements over the ratio before, from which it counts as rising, as for a power
#: law.
RISING = 1.2
#: Maximum movement over a cycle, as a share of that within it.
REPEATS = 0.1
#: Maximum share of values that equal the one before: a search that waits moves again.
WAITS = 0.125


def dies_out(y: np.ndarray, longest: int) -> tuple[float, int] | None:
    """(gap, period) if y (n,) > 0, the distance to the threshold, comes to rest or into a cycle before 0; else None.

    ``longest``: the longest period that is tried.
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
        # a curve may stop for an eighth of its record, a cycle repeats itself
        for size in (n // 4, max(n // 8, period))[: 1 if period == 1 else 2]:
            gap = float(y[-size:].min())
            if _shrinks(moves, size, period, gap * size / n):
                return gap, period
    return None


def _shrinks(moves: np.ndarray, size: int, period: int, allowed: float) -> bool:
    """True if the movement of the last three blocks shrinks, and the remaining movement cannot cover the gap.

    ``allowed``: the gap over the number of blocks in the record.
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
