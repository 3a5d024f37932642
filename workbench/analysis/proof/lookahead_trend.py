"""The trend of the clause operands over a whole look-ahead, sampled at growing distances.

In a short stretch far ahead a slow sum looks like a straight line, and a straight line always meets its threshold.
Samples at marks k, 2k, 4k ... reveal the law of the sum: it has a limit if it behaves like L + c k^-p with p > 0 (the
sum of 1/k^2), and none if it behaves like log k or grows faster (the sum of 1/k, a counter); if it does not change, it
is at rest. L, c and p are those of the curve through three marks, which is Aitken's extrapolation for marks at equal
ratios (A. C. Aitken, 1926; for logarithmic sequences: C. Brezinski and M. Redivo Zaglia, "Extrapolation Methods",
1991).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

#: number of marks for a trend, and the minimum iteration of the last mark
LOOKS, LEAST = 4, 1 << 10
#: minimum power p that is distinguishable from a logarithm, and maximum difference of p between consecutive triples of
#: marks
POWERS, DRIFT = (0.15, 12.0), 0.25
#: minimum distance from the limit to the threshold, as a multiple of the limit's error
CLEAR = 4.0

Mark = tuple[int, list[tuple[Any, Any]]]


class ClauseTrend(NamedTuple):
    """``kind`` is "rest", "limit" or "open"; ``gap`` is the value or limit of left - right, with its ``error``."""

    kind: str
    gap: float = math.nan
    error: float = math.inf

    @property
    def never_turns(self) -> bool:
        """True if the clause keeps its value as long as the trend continues."""
        return self.kind == "rest" or self.kind == "limit" and abs(self.gap) > CLEAR * self.error


def clause_trends(marks: Sequence[Mark]) -> list[ClauseTrend]:
    """The trend of each clause from its operands at the marks, oldest first; [] for fewer than ``LOOKS`` marks."""
    if len(marks) < LOOKS or marks[-1][0] < LEAST:
        return []
    times, rows = [k for k, _ in marks[-LOOKS:]], [row for _, row in marks[-LOOKS:]]
    if len({len(row) for row in rows}) > 1:
        return []
    return [_trend(times, [row[i] for row in rows]) for i in range(len(rows[0]))]


def _trend(times: Sequence[int], pairs: Sequence[tuple[Any, Any]]) -> ClauseTrend:
    try:
        gaps = [float(left) - float(right) for left, right in pairs]
    except (TypeError, ValueError, OverflowError):
        return ClauseTrend("open")
    if not all(map(math.isfinite, gaps)):
        return ClauseTrend("open")
    if gaps[-1] == gaps[-2] == gaps[-3]:
        return ClauseTrend("rest", gaps[-1], 0.0)
    before, now = _power_law(times[:3], gaps[:3]), _power_law(times[1:], gaps[1:])
    if before is None or now is None or abs(now[1] - before[1]) > DRIFT * now[1] or now[0] * gaps[-1] <= 0:
        return ClauseTrend("open")
    return ClauseTrend("limit", now[0], abs(now[0] - before[0]))


def _power_law(times: Sequence[int], values: Sequence[float]) -> tuple[float, float] | None:
    """(L, p) of the curve L + c k^-p through three points; None if that curve has no limit."""
    (k, m, n), (x, y, z) = times, values
    early, late = y - x, z - y
    if early * late <= 0:
        return None
    ratio, (low, high) = late / early, POWERS

    def of(p: float) -> float:  # this decreases with p
        return ((n / m) ** -p - 1) / (1 - (m / k) ** p)

    if not of(high) <= ratio <= of(low):
        return None
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if of(middle) > ratio else (low, middle)
    p = (low + high) / 2
    return z - late * (n / m) ** -p / ((n / m) ** -p - 1), p
