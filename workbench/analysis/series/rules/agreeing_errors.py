"""Rules of many coordinates: do the errors of a linear map agree where the state is nearly the same?

Of linear noise these errors are independent of each other, whatever the state; of a rule that is bent they are a
function of it.  So the nearest neighbours of a record in delay coordinates have errors that agree even where they are
too few, and too far apart, to foretell much: a flow of four variables, sampled seldom, in some hundred values.  This is
the test of residuals for neglected nonlinearity (Brock, Dechert, Scheinkman and LeBaron, Econometric Reviews 15, 1996)
by the sign and size of the errors instead of their distance: their spread may depend on the state, as it does where
volatility clusters, and says nothing.  The values are replaced by normal scores first, so that a static function of
linear noise is linear noise again (Theiler et al., Physica D 58, 1992).
"""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist

import numpy as np

from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.rules.local_rule import DIFFERENT, EXCLUDE, LEAST, Predictability
from workbench.analysis.series.rules.recurrence import NOTHING, past_error
from workbench.analysis.series.value_series import History
from workbench.kernels import fits

#: Values that are looked at, the last ones; past values of the linear map.
LAST, ORDER = 1024, 12
#: Delay coordinates of bent maps and of flows; agreement of the errors, on average, from which on a rule is told.  That
#: of independent errors scatters by a twentieth, and threshold models and noise in two wells reach a fifth.
FEW, MANY, AGREE = (2, 3), (4, 5, 6), 0.25
#: Error of the linear map from which on neighbours that tell no more than it does settle that there is no rule.
ROUGH = 0.4
#: Agreement up to which the first of the coordinates settles that there is none.
NONE = 0.08


@lru_cache(maxsize=1)
def _normal_quantiles() -> tuple[np.ndarray, np.ndarray]:
    shares = (np.arange(LAST) + 0.5) / LAST
    return shares, np.array([NormalDist().inv_cdf(share) for share in shares.tolist()])


def _scores(x: np.ndarray) -> np.ndarray:
    """The normal score of each value: the quantile of a normal variable at the value's rank."""
    ranks = np.empty(len(x))
    ranks[np.argsort(x, kind="stable")] = (np.arange(len(x)) + 0.5) / len(x)
    return np.interp(ranks, *_normal_quantiles())


def agreeing_errors(h: History, p: Predictability) -> Finding | None:
    """CHAOTIC where the errors of a linear map agree between neighbours, and values of long ago tell nothing; None for
    fewer than 200 values, or of which some are equal."""
    if len(h) < LEAST or len(p.local) < 5:
        return None
    if p.local[0] > p.linear[0] > ROUGH:
        return None
    x = h.x[-LAST:]
    if len(np.unique(x)) < DIFFERENT * len(x):
        return None
    coordinates, errors = _linear_errors(_scores(x))
    order = np.argsort(coordinates[0])
    agree = max(_agreement(coordinates, order, errors, ms) for ms in (FEW, MANY))
    if agree < AGREE or not past_error(h) > NOTHING:
        return None
    why = (
        f"The errors of a linear map agree by {agree:.2g} between nearest neighbours, where those of noise are "
        "independent: a rule of many coordinates, and values of long ago tell nothing."
    )
    return Finding(Pattern.CHAOTIC, "agreeing_errors", why, doubt=0.2)


def _linear_errors(y: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """(the delay coordinates of each state, the error of the linear map from it to the next value)."""
    n = len(y)
    delayed = [np.ascontiguousarray(y[ORDER - 1 - k : n - 1 - k]) for k in range(ORDER)]
    rows = np.stack([*delayed, np.ones(n - ORDER)], axis=1)
    after = y[ORDER:]
    solved = np.linalg.pinv(rows.T @ rows, rcond=1e-12) @ (rows.T @ after)
    return delayed[: MANY[-1]], np.ascontiguousarray(after - rows @ solved)


def _agreement(coordinates: list[np.ndarray], order: np.ndarray, errors: np.ndarray, ms: tuple[int, ...]) -> float:
    found: list[float] = []
    for m in ms:
        agree = fits.alike_errors(coordinates[:m], order, errors, EXCLUDE)
        if not agree:
            return 0.0
        found.append(min(agree))
        if found[0] < NONE:
            break  # the usual case, noise
    return sum(found) / len(found)
