"""The errors that each law would have made about the record's own past: the weight that it deserves, and its interval.

At seven earlier moments each law predicts when the record will reach the levels that it has reached by now, and its
answers are compared with when it did, in the logarithm of the time (rolling origins: Tashman, Int. J. Forecasting 16,
2000; the predictive view of model choice: Dawid, J. R. Statist. Soc. A 147, 1984).  Without this test the same average
of the same laws covers 40 % with intervals of nominally 90.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from workbench.analysis.laws.law import Family
from workbench.analysis.laws.record import FallingRecord

#: Earlier moments, as shares of the record; the levels asked about are those reached at the later ones, and now.
MOMENTS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
#: Values known at the earliest of them, at least.
LEAST = 6
#: An error of the logarithm of the time counts at most as this, and so does "never" of what was reached; a law that had
#: nothing to say has this share of it.
WORST, SILENT = 2.5, 0.6
#: A time below this share of the record is nearly nothing to foretell.
NEAR = 0.02
#: Questions about one record hang together: all of them count as this many at most, and half of that is reached with a
#: total weight of ``HALF``.
INDEPENDENT, HALF = 6.0, 0.3
#: The error of a law before it was tested, and as how many questions that counts; an error below the last one is none.
#: The errors are averaged in the logarithm, so that a law which was hardly off has a narrow interval.
ERROR, COUNTS, EXACT = 0.4, 2.0, 0.03
#: A bias is believed by half after this many questions.
SHRINK = 2.0


class Tested(NamedTuple):
    """For each law (m,): iterations to the mark from now, bias and spread of their logarithm, and its log evidence."""

    now: np.ndarray
    bias: np.ndarray
    spread: np.ndarray
    evidence: np.ndarray


def backtest(families: tuple[Family, ...], r: FallingRecord) -> Tested:
    """The answers of the laws about the mark, with how wrong they were before."""
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
