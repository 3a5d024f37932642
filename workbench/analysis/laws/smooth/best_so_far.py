"""The pace of the best value so far: the same gain in the same number of iterations, whatever other values do.

Source: the naive forecast with drift (Hyndman and Athanasopoulos, Forecasting: Principles and Practice, 2021, section
5.2) of the running minimum, the value that decides a stopping rule ``until value < bound``.

Holds for searches, for residuals that jump by decades (BiCGSTAB, CGS) and for noise: outliers above the best value do
not change it.  Fails if the start differs from the rest, for instance if the first step gains most; the law of the last
half covers that case.
"""

from __future__ import annotations

import numpy as np

from workbench.analysis.laws.law import DeclaredLaw, Family
from workbench.analysis.laws.record import FallingRecord

#: The last shares of the record from which the pace is measured.
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
