"""Detects recurring movements, in which values from long ago predict the present one.

In a movement on a torus, nearly the same phases recur after some lag, for any shape of the wave (almost periodic
functions: H. Bohr, Acta Math. 45, 1925); a sum of values at a few such lags then predicts the present one, up to the
noise. Chaos and correlated noise have no such memory: no lag of several periods predicts anything.  This is true for
many phases, for bent waves, and under noise, where neighbours in few delay coordinates do not determine the phase.

Chaos within narrow alternating bands recurs up to the width of the bands; but there neighbours predict the next value
much better than the past does, which distinguishes the two.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.series.noise.spectrum import periodic_signal
from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.rules.chaos import crossings
from workbench.analysis.series.rules.local_rule import LINEAR_VALUES, level, predictability
from workbench.analysis.series.value_series import History
from workbench.analysis.series.waveform import pattern_in_noise
from workbench.kernels import fits

#: Minimum number of values; maximum number of lags in the sum; minimum lag in mean periods, and as a fraction 1 / AWAY
#: of the record.
LEAST, LAGS, PERIODS, AWAY = 48, 16, 1.5, 8
#: Maximum error of the past, as a share of the deviation, if the error of neighbours is at least this part of it, or is
#: small also far ahead; and maximum error if neighbours predict better, or are too few.
LEFT, PART, STAYED, CLOSE = 0.3, 0.4, 0.15, 0.01
#: Minimum error of the past for a rule that forgets; maximum error of neighbours relative to it; minimum growth of that
#: error, and its minimum size far ahead.
FORGOTTEN, KNOWN, GROWN, FAR = 0.04, 0.2, 6.0, 0.01
#: Minimum factor by which orbits of a map fitted to few values separate, if the map counts as chaotic.
PARTING = 1.06
#: Methods whose OSCILLATING comes from neighbours, maps or waves, and is reviewed.
_TURNING = frozenset(("neighbours", "local_map", "smooth_curve", "spectrum", "map", "return_map", "folded"))


def past_error(h: History) -> float:
    """Error of the best sum of values from long ago, as a share of the record's standard deviation; inf for a record
    that is too short.
    """
    if "past_error" not in h.known:
        h.known["past_error"] = _past_error(h)
    return h.known["past_error"]


def _past_error(h: History) -> float:
    n = len(h)
    if n < LEAST or not level(h.x):
        return math.inf
    # with few distinct values, values are equal by chance
    if len(np.unique(h.x)) < n // 2:
        return math.inf
    away = max(min(n, 1024) // AWAY, int(PERIODS * crossings(h.x)), 8)
    return fits.long_lags(np.ascontiguousarray(h.x), away, LAGS)[0]


def reviewed(h: History, found: Finding) -> Finding:
    """The finding, or a correction from the past: OSCILLATING if the movement recurs, CHAOTIC if a rule that seemed to
    oscillate forgets.
    """
    turning = found.label is Pattern.OSCILLATING
    if turning and found.method not in _TURNING or len(h) < LEAST:
        return found
    error = past_error(h)
    if turning:
        return _forgets(h, error) or found
    found = _recurs(h, error, found) or found
    return found


def _recurs(h: History, error: float, found: Finding) -> Finding | None:
    if error > LEFT:
        return None
    p = predictability(h) if len(h) >= LINEAR_VALUES else None
    if error > CLOSE and (p is None or p.local[0] < PART * error and max(p.local) > STAYED * error):
        return None
    if p is None and found.method == "map" and (found.rate or 1.0) > PARTING:
        return None
    why = f"Values of several periods ago predict the present one within {error:.2g} of the deviation: it recurs."
    wave = pattern_in_noise(h) or periodic_signal(h, 0.8)
    period = wave.period if wave is not None else crossings(h.x)
    return Finding(Pattern.OSCILLATING, "recurrence", why, period=period, doubt=0.1 if error < 0.1 else 0.2)


def _forgets(h: History, error: float) -> Finding | None:
    if not FORGOTTEN < error < math.inf:
        return None
    p = predictability(h)
    if p is None or len(p.local) < 6 or p.local[0] > KNOWN * error or not p.rule:
        return None
    if max(p.local[-2:]) < max(GROWN * p.local[0], FAR):
        return None
    why = (
        f"Neighbours predict the next value within {p.local[0]:.2g} of the deviation, "
        f"values of several periods ago only within {error:.2g}: a rule that forgets where it began."
    )
    return Finding(Pattern.CHAOTIC, "forgetting", why, doubt=0.2)
