"""Staircases with treads of equal length: the label of the values at the steps.

A schedule that halves every p iterations, or a sum to which each epoch adds a term, follows a law at its steps and none
between them.  The values at the steps are classified; rates and periods are then those of one iteration.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.analysis.series.models import Stairs
from workbench.analysis.series.result import Finding
from workbench.analysis.series.value_series import History

#: Minimum number of steps, with treads of equal length, at least two values.
LEAST = 4


def staircase(h: History, decide: Callable[[History], Finding]) -> Finding | None:
    """The finding about the values at the steps; None if the treads are not equally long."""
    moves = h.words[1:] != h.words[:-1]
    if not LEAST <= np.count_nonzero(moves) <= len(h) // 2:
        return None
    moved = np.flatnonzero(moves) + 1
    every, rest = int(moved[1] - moved[0]), len(h) - int(moved[-1])
    if not np.all(np.diff(moved) == every) or int(moved[0]) > every or rest > every:
        return None
    starts = np.concatenate([[0], moved])
    steps = History(h.exact[starts], h.start // every, h.dtype)
    found = decide(steps)
    h.refused |= steps.refused
    found.why = f"The values step every {every} iterations; of the values at the steps: {found.why}"
    # the record and its steps have the same largest value, and thus the same scale
    if found.rate is not None and found.rate > 0:
        found.rate **= 1.0 / every
    if found.period is not None:
        found.period *= every
    if found.model is not None:
        found.model = Stairs(found.model, every, every - rest, float(h.x[-1]))
    return found
