"""The rules of the upstream system, as its decision record describes them (VariablePattern, LoopTerminationAnalyzer).

The record gives one line a pattern: remaining constant, approaching a limit, growing without bound, alternating in a
pattern, no discernible pattern. They are taken word for word over the last ten values. Its termination analyser tells
nothing from the condition's operands: no rule of it gives a number, and an endless loop is noticed by a cap of 10,000
iterations.
"""

from __future__ import annotations

import numpy as np

from tests.evaluation.methods.method import finite
from tests.evaluation.scoring.cases import Watched

LAST = 10
CAP = 10_000


class Upstream:
    name = "rules of the upstream system"

    def label(self, values: np.ndarray) -> str:
        x = finite(values)[-LAST:]
        if not np.all(np.isfinite(x)):
            return "DIVERGING"
        d = np.diff(x)
        if np.all(d == 0):
            return "STABLE"
        if np.all(np.abs(d[1:]) < np.abs(d[:-1])):
            return "CONVERGING"
        if np.all(np.abs(d[1:]) > np.abs(d[:-1])):
            return "DIVERGING"
        if np.all(d[1:] * d[:-1] < 0):
            return "OSCILLATING"
        return "CHAOTIC"

    def end(self, loop: Watched, upto: int) -> int | str | None:
        return "never" if upto >= CAP else None
