"""Detects noise around a level that no longer moves, far from the threshold: a residual's floor, a settled sensor."""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.forecast.endless.pace import is_walk
from workbench.analysis.forecast.laws.exact_continuation import median
from workbench.analysis.series.value_series import changes
from workbench.kernels import laws

#: Minimum ratio of the median step to the root mean square step of noise; maximum share of zero steps in a record whose
#: other values hardly recur.
QUIET, WAITS = 0.25, 0.2
#: Minimum number of turning points of correlated noise, as a share of its values; a random walk turns at half of its
#: values, white noise at two thirds. The second applies to records of fewer than 40 values, in which a slow wave has
#: some turning points too.
TURNS, TURNS_OF_FEW = 0.25, 0.4
#: Maximum gap below a floor that was reached within the record, as a share of the descent to it; or else the number of
#: record lengths in which the steepest plausible slope must not cover the gap; the last is that number for a level
#: whose approach is not in the record.
AFTER, LASTS, ANYWAY = 0.5, 6.0, 25.0


def far_from_noise(x: np.ndarray, keep: str, t: float) -> float | None:
    """The gap, in standard deviations, between t and a stationary noisy record whose range stays well away from t; else
    None.

    Tests the whole record if it has 40 values or more, and its last half if this has 20 values or more: the record must
    have stayed at its level for as long as it took to get there. Positive values are tested by their logarithm. The
    quarters must lie on one level, and the gap to the threshold must exceed five standard deviations and twice the
    range. Unless its steps revert to the mean, the noise is correlated: then the gap must be ten times the range, and a
    slope has the error of an AR(1) record. A record that rests and moves only now and then is a search rather than
    noise.
    """
    if keep not in (">", ">=", "<", "<="):
        return None
    n = len(x)
    for start, least in ((0, 40), (n // 2, 20)):
        late = x[start:]
        if len(late) >= least:
            gap = _stationary_gap(x, late, keep, t)
            if gap is not None:
                return gap
    return None


def _stationary_gap(x: np.ndarray, late: np.ndarray, keep: str, t: float) -> float | None:
    """The gap in standard deviations if ``late`` is stationary noise and the descent to it is over; else None."""
    side = 1.0 if keep in (">", ">=") else -1.0
    y, mark, whole = late, t, x
    if (x > 0).all() and t > 0 and (side > 0 or float(late.max()) > 10.0 * float(late.min())):
        y, mark, whole = np.log(late), math.log(t), np.log(x)
    gap, span = float((side * (y - mark)).min()), float(np.ptp(y))
    if gap <= 2.0 * span:
        return None
    spread = float(y.std(ddof=1))
    if gap <= 5.0 * spread or spread == 0 or _intermittent(y):
        return None
    k = np.arange(len(y)) - (len(y) - 1) / 2
    slope = float(k @ y / (k @ k))
    rest = y - y.mean() - slope * k
    se = math.sqrt(float(rest @ rest) / (len(y) - 2) / float(k @ k))
    fell = side * (float(whole[:2].mean()) - float(y.mean()))
    correlated = laws.lag_one(y) > (-0.2 if len(y) >= 15 else 0.1)  # with few values it is only known to within a third
    if correlated:
        own = float(rest @ rest)  # 0 for a line without noise
        r = min(max(float(rest[1:] @ rest[:-1]) / own, 0.0), 0.95) if own > 0 else 0.0
        se *= math.sqrt((1.0 + r) / (1.0 - r))
    means = np.array([part.mean() for part in np.array_split(y, 4)])
    apart = 2.2 if correlated else max(1.4, 4.0 / math.sqrt(len(y) // 4))  # range of four means of a few values
    if -side * slope > 2.5 * se or float(np.ptp(means)) > apart * spread:
        return None
    turns = TURNS if len(y) >= 40 else TURNS_OF_FEW
    if correlated and (gap <= 10.0 * span or changes(np.diff(y) > 0) < turns * len(y)):
        return None  # a smooth bend is not noise
    if correlated and y is late and is_walk(y):
        return None
    fastest = max(-side * slope, 0.0) + 2.0 * se
    # either the descent is in the record and over, or the level can hardly move that far
    down = max(int(np.argmax(side * (whole - y.mean()) < spread)), 1)
    arrived = fell > 6.0 * spread and fastest < 0.15 * fell / down
    lasts = gap / max(fastest, 1e-300) / len(x)
    return gap / spread if arrived and (gap < AFTER * fell or lasts > LASTS) or lasts > ANYWAY else None


def _intermittent(y: np.ndarray) -> bool:
    """True if few steps make up most of the movement, or a fifth of the values repeat the one before: a search that
    pauses.

    The median step of normal noise is 0.67 of the root mean square step; for Student's t with three degrees of freedom
    it is 0.4.
    """
    d = np.abs(y[1:] - y[:-1])
    if median(d) < QUIET * math.sqrt(float(np.mean(d * d))):
        return True
    rests = np.count_nonzero(d == 0)
    return bool(rests > WAITS * len(d) and len(np.unique(y)) > 0.9 * (len(y) - rests))
