"""The chance that a record which has stopped improving will not improve again.

The waits between its improvements are assumed to be exchangeable: after many waits, one that is by far the longest is
improbable if the improvements continue (the chance to be the longest of c + 1 is 1 / (c + 1), raised because waits are
correlated; beyond the longest, a tail like that of Pareto's law).  It is combined with the prior probability that a run
stops.

Source: the generalised records of exchangeable sequences (Nevzorov, Records: Mathematical Theory, 2001, chapter 2); the
predictive tail is that of Gott's argument (Nature 363, 1993).

Holds for residuals at the floor of their precision, searches in a local minimum and losses that have turned.  Fails on
a plateau, where a long rest is followed by a fall: the values seen so far do not distinguish the two.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from workbench.analysis.laws.record import FallingRecord

#: Size of an improvement: a share of the distance left to the mark, or of the distance covered, whichever is less.
SHARE, DONE = 0.01, 0.02
#: Minimum rest, in iterations; the chance of a shorter one is 0.
LEAST = 32
#: The prior probability that a run stops.
STOPS = 0.2


class Rest(NamedTuple):
    """A rest of ``length`` values since the last improvement, at index ``since``; ``longest`` is the longest earlier
    wait, ``chance`` the probability that the record will not improve again.
    """

    since: int
    length: int
    longest: int
    chance: float


def rest(r: FallingRecord) -> Rest:
    """The rest at the end of a record that has not reached its mark."""
    best, n = r.best, len(r.z)
    step = min(SHARE * (float(best[-1]) - r.mark), DONE * float(best[0] - best[-1]))
    improved = np.flatnonzero(np.diff(np.floor((best[0] - best) / step)) > 0) + 1 if step > 0 else np.empty(0, np.int64)
    since = int(improved[-1]) if len(improved) else 0
    length = n - 1 - since
    if not len(improved):
        return Rest(since, length, 0, 0.0)  # without an improvement there are no waits to compare with
    waits = np.diff(improved, prepend=0)
    longest = max(1, int(waits.max()))
    if length < LEAST:
        return Rest(since, length, longest, 0.0)
    goes_on = longest / (longest + length) / math.sqrt(1 + len(waits))
    return Rest(since, length, longest, STOPS / (STOPS + (1.0 - STOPS) * goes_on))
