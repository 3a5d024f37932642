"""Backtest: the errors that each law would have made on the record's own past, which set its weight and its interval.

At seven earlier moments each law predicts when the record will reach levels that it has reached by now, and the
predicted times are compared with the actual ones, in their logarithm (rolling origins: Tashman, Int. J. Forecasting 16,
2000; the predictive view of model choice: Dawid, J. R. Statist. Soc. A 147, 1984).  Without this test, nominal 90 %
intervals of the same average of the same laws cover 40 %.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from workbench.analysis.laws.law import Family
from workbench.analysis.laws.record import FallingRecord

#: Earlier moments, as shares of the record; the levels to predict are those reached at the later moments, and now.
MOMENTS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
#: Minimum number of values known at an earlier moment.
LEAST = 6
#: Maximum error of the logarithm of the time, also the error of "never" for a level that was reached; and the share of
#: it that is the error of a law without an answer.
WORST, SILENT = 2.5, 0.6
#: Times below this share of the record have less weight, in proportion: predicting them is easy.
NEAR = 0.02
#: Predictions on one record are correlated: together they count as at most this many, and as half of it when their
#: total weight is ``HALF``.
INDEPENDENT, HALF = 6.0, 0.3
#: The prior error of a law, the number of predictions that it counts as, and the minimum of the measured error. Errors
#: are averaged in the logarithm, so that a law with small errors has a narrow interval.
ERROR, COUNTS, EXACT = 0.4, 2.0, 0.03
#: A measured bias counts by half after this many predictions.
SHRINK = 2.0


class Tested(NamedTuple):
    """For each law (m,): iterations to the mark from now, bias and spread of their logarithm, and its log evidence."""

    now: np.ndarray
    bias: np.ndarray
    spread: np.ndarray
    evidence: np.ndarray


def backtest(families: tuple[Family, ...], r: FallingRecord) -> Tested:
    """The iterations to the mark by each law, with the errors of its earlier predictions."""
    n, best = len(r.z), r.best
    places = [int(share * n) for share in MOMENTS]
    moments = np.array(sorted({k for k in places if k >= LEAST}))
    reached = np.array(sorted({*places[1:], n}))
    levels = best[reached - 1]
    took = np.searchsorted(-best, -levels)[None, :] - (moments[:, None] - 1)
    seen = np.concatenate((moments, (n,)))
    targets = np.broadcast_to(levels, (len(seen), len(levels))).copy()
    targets[-1] = r.mark
    with np.errstate(all="ignore"):
        times = np.concatenate([family.times(r, seen, targets) for family in families])

    counts = (reached[None, :] > moments[:, None]) & (took >= 1)
    weight = counts * (moments[:, None] / n) ** 2 * np.minimum(1.0, took / max(1.0, NEAR * n))
    weight *= np.clip(took / moments[:, None], 0.05, 1.0)
    total = float(weight.sum())
    off = np.log(np.maximum(times[:, :-1], 1.0)) - np.log(np.maximum(took, 1))
    off = np.where(np.isnan(off), SILENT * WORST, np.clip(off, -WORST, WORST))
    shares = weight / total if total else weight
    questions = INDEPENDENT * total / (total + HALF)
    bias = (shares * off).sum((1, 2)) * questions / (questions + SHRINK)
    square = (shares * off * off).sum((1, 2)) - bias * (shares * off).sum((1, 2))
    log_square = np.log(np.maximum(square, EXACT**2))
    variance = np.exp((COUNTS * 2.0 * math.log(ERROR) + questions * log_square) / (COUNTS + questions))
    evidence = -0.5 * (COUNTS + questions) * np.log(variance)
    return Tested(np.maximum(times[:, -1, 0], 1.0), bias, np.sqrt(variance), evidence)
