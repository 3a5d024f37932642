"""The chance that a record which has stopped improving will not improve again.

The waits between its improvements are taken for exchangeable: one that is the longest by far, after many, is improbable
if the improvements go on (the chance to be the longest of c + 1 is 1 / (c + 1), drawn towards one because waits are
correlated; a tail like that of Pareto's law beyond the longest).  The prior that a run stops weighs against it.

Source: the generalised records of exchangeable sequences (Nevzorov, Records: Mathematical Theory, 2001, chapter 2); the
predictive tail is that of Gott's argument (Nature 363, 1993).

Holds for residuals at the floor of their precision, searches in a local minimum and losses that have turned.  Fails at
the plateau of a valley, where a long rest is followed by a fall: nothing that was seen tells the two apart.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from workbench.analysis.laws.record import FallingRecord

#: An improvement is this share of what is left to do; of what was done, if that is less.
SHARE, DONE = 0.01, 0.02
#: Iterations of rest below which nothing is said.
LEAST = 32
#: The prior that a run stops.
STOPS = 0.2


class Rest(NamedTuple):
    """``length`` values since the last improvement, value ``since``; the ``longest`` such wait before; and the
    ``chance`` that it is for good."""

    since: int
    length: int
    longest: int
    chance: float


def rest(r: FallingRecord) -> Rest:
    """The rest at the end of a record that is above its mark."""
    best, n = r.best, len(r.z)
    step = min(SHARE * (float(best[-1]) - r.mark), DONE * float(best[0] - best[-1]))
    improved = np.flatnonzero(np.diff(np.floor((best[0] - best) / step)) > 0) + 1 if step > 0 else np.empty(0, np.int64)
    since = int(improved[-1]) if len(improved) else 0
    length = n - 1 - since
    if not len(improved):
        return Rest(since, length, 0, 0.0)  # nothing is known of how a run improves that never did
    waits = np.diff(improved, prepend=0)
    longest = max(1, int(waits.max()))
    if length < LEAST:
        return Rest(since, length, longest, 0.0)
    goes_on = longest / (longest + length) / math.sqrt(1 + len(waits))
    return Rest(since, length, longest, STOPS / (STOPS + (1.0 - STOPS) * goes_on))
