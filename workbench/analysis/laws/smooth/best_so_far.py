"""The pace of the best value so far: as far again in as many iterations, whatever the record does between its records.

Source: the naive forecast with drift (Hyndman and Athanasopoulos, Forecasting: Principles and Practice, 2021, section
5.2) of the running minimum, which is what a stopping rule ``until value < bound`` looks at.

Holds for searches, for residuals that jump by decades (BiCGSTAB, CGS) and for noise: no outlier above the best value
moves it.  Fails where the start differs from the rest, such as a first step that gains most; the half looks at that.
"""

from __future__ import annotations

import numpy as np

from workbench.analysis.laws.law import DeclaredLaw, Family
from workbench.analysis.laws.record import FallingRecord

#: The shares of the record that the pace is taken from.
SHARES = np.array(((1.0,), (0.5,)))


def _times(r: FallingRecord, seen: np.ndarray, levels: np.ndarray) -> np.ndarray:
    before = (seen * (1.0 - SHARES)).astype(np.int64)
    now = r.best[seen - 1]
    gained = (r.best[before] - now)[..., None]
    took = (seen - 1 - before)[..., None]
    return np.where(gained > 0, (now[:, None] - levels) / gained * took, np.inf)


FAMILY = Family(
    (
        DeclaredLaw("pace", 1.5, "the pace of its best value"),
        DeclaredLaw("pace, last half", 1.5, "the pace of its best value in its last half"),
    ),
    _times,
)
