"""The test for a unit root: is a noisy record a walk, whose steps may be correlated, or does it return to a level?

The augmented Dickey-Fuller test (Dickey and Fuller, J. Am. Stat. Assoc. 74, 1979; Said and Dickey, Biometrika 71, 1984)
with a constant: the steps are regressed on the value before them and on the steps before them.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.value_series import History
from workbench.kernels import fits

#: Values at least (within fewer, half a slow wave looks like a walk) and at most: the last ones.
LEAST, MOST = 1000, 4096
#: Steps before that are regressed on, and the 5 % critical value with a constant.
LAGS, CRITICAL = 8, -2.86
#: Share of the steps' variance that the regression leaves at least in noise.
NOISE = 0.05


def unit_root(h: History) -> Finding | None:
    """DIVERGING where the test does not exclude that the record is a walk."""
    x = h.x[-MOST:]
    if len(x) < LEAST:
        return None
    d = np.diff(x)
    if np.all(d >= 0) or np.all(d <= 0):
        return None  # a walk goes both ways
    first, *_, late = fits.block_spreads(d, 4)
    if late < 0.6 * first:
        return None  # what comes to rest has steps that shrink
    n = len(d) - LAGS
    rows = np.stack([np.ones(n), x[LAGS:-1]] + [d[LAGS - i : -i] for i in range(1, LAGS + 1)], axis=1)
    rows[:, 1] -= rows[:, 1].mean()
    y = d[LAGS:]
    inverse = np.linalg.pinv(rows.T @ rows)
    a = inverse @ (rows.T @ y)
    rest = y - rows @ a
    variance = float(rest @ rest) / max(n - rows.shape[1], 1)
    if not variance > NOISE * float(np.var(d)):
        return None
    tau = float(a[1]) / math.sqrt(max(variance * float(inverse[1, 1]), 1e-300))
    if not tau > CRITICAL:
        return None
    why = f"Nothing draws the values back (Dickey-Fuller statistic {tau:.3g}): a walk with correlated steps."
    return Finding(Pattern.DIVERGING, "unit_root", why, doubt=0.4)
