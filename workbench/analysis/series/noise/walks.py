"""Step 7, walks: distinguishes a record without mean reversion from noise that decorrelates slowly.

A walk of independent steps is recognised in its second half: its steps are uncorrelated and their sum drifts far. For
correlated steps the augmented Dickey-Fuller test (Dickey and Fuller, J. Am. Stat. Assoc. 74, 1979; Said and Dickey,
Biometrika 71, 1984) decides, with a constant: the steps are regressed on the value before them and on the steps before
them. A walk is DIVERGING: its variance grows without bound.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.series.noise.swings import envelope
from workbench.analysis.series.noise.trends import moving_mean
from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.value_series import History
from workbench.kernels import fits

#: Critical values of the Dickey-Fuller and of the weighted symmetric statistic: one walk in a hundred is below the
#: first, and one in forty below the second. A record below either reverts to its mean and is not a walk.
LEANING = (-3.5, -2.77)
#: Critical value of both statistics for the end of a record that has settled, and maximum standard deviation of that
#: end, as a share of that of all values.
RETURNS, RESTED = -4.0, 0.2
#: Minimum number of values (with fewer, half a slow wave looks like a walk) and maximum number of (last) values.
LEAST, MOST = 1000, 8192
#: Number of earlier steps in the regression, and the 5 % critical value with a constant.
LAGS, CRITICAL = 8, -2.86
#: Minimum share of the steps' variance that the regression leaves for noise.
NOISE = 0.05


def leans(lean: list[float]) -> bool:
    """True if either statistic shows that the record reverts to its mean."""
    return any(t < least for t, least in zip(lean, LEANING, strict=True))


def rests(h: History) -> bool:
    """True if the last 30 %, 30 values or more, are noise about a level, or approach one, in a small part of the range
    of all values: such a record has now reached its level.
    """
    end = h.tail(3 * len(h) // 10)
    tail = np.ascontiguousarray(h.x[-len(end) :])
    if len(end) < 30 or float(tail.std()) > RESTED * float(h.x.std()):
        return False
    *_, fuller, symmetric = fits.walk(tail)
    if fuller < RETURNS and symmetric < RETURNS:
        return True
    moving = moving_mean(end)
    return moving is not None and moving.label is Pattern.CONVERGING


def random_walk(h: History) -> Finding | None:
    """The verdict on independent steps whose sum drifts far, tested on the second half, of at least 40 values."""
    steps, t, lag, wandered, *lean = fits.walk(h.x)
    if steps < 40 or leans(lean) or abs(lag) > 0.3 or wandered < steps / 60.0:
        return None
    early, *_, late = fits.block_spreads(h.d, 4)
    if late < 0.6 * early or rests(h):
        return None  # a running mean's steps shrink
    if late > 2.5 * early:
        wider = envelope(h)
        if wider is not None and wider.label is Pattern.DIVERGING:
            return wider
    if abs(t) > 4.5:
        return Finding(
            Pattern.DIVERGING, "noisy_drift", f"Independent steps with a mean {abs(t):.3g} standard errors from zero."
        )
    return Finding(
        Pattern.DIVERGING,
        "random_walk",
        "Independent steps of constant spread: a random walk, whose variance grows.",
        doubt=0.4,
    )


def unit_root(h: History) -> Finding | None:
    """DIVERGING if the test does not exclude that the record is a walk."""
    x = h.x[-MOST:]
    if len(x) < LEAST:
        return None
    d = np.diff(x)
    if np.all(d >= 0) or np.all(d <= 0):
        return None  # a walk moves in both directions
    first, *_, late = fits.block_spreads(d, 4)
    if late < 0.6 * first or rests(h):
        return None  # the steps of a record that comes to rest shrink
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
