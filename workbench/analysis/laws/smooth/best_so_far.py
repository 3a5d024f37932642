"""The pace of the best value so far: as far again in as many iterations, whatever the record does between its records.

Source: the naive forecast with drift (Hyndman and Athanasopoulos, Forecasting: Principles and Practice, 2021, section
5.2) of the running minimum, which is what a stopping rule ``until value < bound`` looks at.

Holds for searches, for residuals that jump by decades (BiCGSTAB, CGS) and for noise: no outlier above the best value
moves it.  Fails where the start differs from the rest, such as a first step that gains most; the half looks at that.
"""

from __future__ import annotations

import numpy as np

from workbench.analysis.laws.law import DeclaredLaw, Times
from workbench.analysis.laws.record import FallingRecord


def _pace(share: float) -> Times:
    def times(r: FallingRecord, seen: np.ndarray, levels: np.ndarray) -> np.ndarray:
        best = r.best
        before = (seen * (1.0 - share)).astype(np.int64)
        now = best[seen - 1]
        gained = (best[before] - now)[:, None]
        took = (seen - 1 - before)[:, None]
        return np.where(gained > 0, (now[:, None] - levels) / gained * took, np.inf)

    return times


LAWS = (
    DeclaredLaw("pace", 1.5, "the pace of its best value", _pace(1.0)),
    DeclaredLaw("pace, last half", 1.5, "the pace of its best value in its last half", _pace(0.5)),
)
