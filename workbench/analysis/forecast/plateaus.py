"""Records that rest between moves: continues a staircase, and decides if a rest is long enough to be final.

A staircase is a record of runs of equal values (a learning rate halved every epoch, a loss that moves once in a while).
Its values at the steps follow simpler laws than the record itself, and its run lengths determine when the next step is
due. A rest at the end of a record counts as final only if it is many times as long as every rest before it: in a search
that keeps its best value the rests become longer and longer, but each of them ends.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

#: A run of equal values at the end is taken to be final if it is longer than this multiple of the longest earlier run,
#: and at least this share of the earlier record.
TIMES, SHARE = 10, 0.25
#: The same if no earlier value was repeated: minimum number of values in the run, and in the record.
AT_ONCE, DISTINCT_VALUES = 5, 12
#: The same for a record that never moved: minimum number of values. A solver that prepares its first step looks the
#: same.
REST_VALUES = 32
#: Maximum number of steps computed ahead if the run lengths grow.
MOST = 100_000


class Plateaus(NamedTuple):
    """The runs of equal values of a record, oldest first; the last may continue, the first may be incomplete."""

    values: list[Any]
    lengths: list[int]

    @property
    def rest(self) -> int:
        """Length of the run at the end."""
        return self.lengths[-1]

    @property
    def longest(self) -> int:
        """Length of the longest earlier run; 0 if the record never moved."""
        return max(self.lengths[:-1], default=0)

    @property
    def stepped(self) -> bool:
        """True if the record is a staircase: at most half of its earlier values are the first of a run, and an earlier
        run has two or more values.
        """
        before = self.lengths[:-1]
        return self.longest > 1 and 2 * len(before) <= sum(before)

    @property
    def final(self) -> bool:
        """True if the rest at the end is far longer than every earlier one."""
        return outlasts(self.rest, self.longest, sum(self.lengths[:-1]))


def outlasts(run: int, longest: int, before: int) -> bool:
    """True if a run of equal values is final, after ``before`` others whose longest run was ``longest``."""
    if not before:
        return run >= REST_VALUES
    if longest < 2:
        return run >= AT_ONCE and run + before >= DISTINCT_VALUES
    return run > TIMES * longest and run >= SHARE * before


def moves_too_often(xs: Sequence[Any]) -> bool:
    """True if more than half of the values differ from the one before: then the record is not a staircase.

    This is the usual case, and far cheaper to detect than the runs.
    """
    if any(map(operator.ne, xs, xs)):  # NaN
        return False
    return 2 * sum(map(operator.eq, xs, xs[1:])) < len(xs) - 1


def plateaus(xs: Sequence[Any]) -> Plateaus:
    """The runs of a record; NaN equals NaN."""
    values, lengths = [xs[0]], [1]
    for x in xs[1:]:
        if x == values[-1] or (x != x and values[-1] != values[-1]):
            lengths[-1] += 1
        else:
            values.append(x)
            lengths.append(1)
    return Plateaus(values, lengths)


def due(runs: Plateaus, steps: float) -> int | None:
    """Number of evaluations until the ``steps``-th move from now, from the lengths of the complete runs; None if they
    follow no rule.

    The lengths may be constant, grow by a constant or by an integer factor.
    """
    lengths = runs.lengths
    inner = lengths[1:-1] if len(lengths) > 3 else lengths[:-1]
    if not inner or steps < 1 or steps != steps:
        return None
    if len(set(inner)) == 1 and lengths[0] <= inner[0]:
        p = inner[0]
        if runs.rest > p or p < 2:
            return None
        return int(p - runs.rest + 1 + (int(steps) - 1) * p) if steps < 1 << 62 else None
    if len(inner) < 4 or steps > MOST:
        return None
    add, factor = inner[-1] - inner[-2], inner[-1] // max(inner[-2], 1)
    if all(b - a == add for a, b in zip(inner, inner[1:], strict=False)) and add > 0:
        following = [inner[-1] + add * (i + 1) for i in range(int(steps))]
    elif factor > 1 and all(b == factor * a for a, b in zip(inner, inner[1:], strict=False)) and steps < 64:
        following = [inner[-1] * factor ** (i + 1) for i in range(int(steps))]
    else:
        return None
    return sum(following) - runs.rest + 1 if runs.rest <= following[0] else None


def certainty(rest: int, longest: int, moved: bool) -> float:
    """Probability that a rest of ``rest`` evaluations lasts for ever.

    For a record that never moved, by Laplace's rule of succession. Otherwise one half for a rest as long as the longest
    before it; the doubt is inversely proportional to the length of the rest.
    """
    if not moved:
        return (rest + 1) / (rest + 2)
    return 1.0 - 0.5 / max(rest / max(longest, 1), 1.0)
