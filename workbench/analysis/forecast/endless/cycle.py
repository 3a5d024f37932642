"""Decides of a record that shows one whole cycle, and the same again, if the cycle stays clear of the threshold.

Each value of the last cycle is compared with that one period before, between the samples; the largest fall of them, in
the lower half of the swing, is the pace.
"""

from __future__ import annotations

import numpy as np

from workbench.analysis.forecast.endless.pace import LENGTHS
from workbench.kernels import laws

#: Fewest values; what differs at the nearest whole lag, and between the samples, as a share of the scatter.
FEWEST, NEARLY, ALIKE = 24, 0.35, 0.03
#: Shortest lag, and the part of the cycle at least that is seen again.
SHORTEST, AGAIN = 6, 0.9
#: Lags between the whole ones that are tried first.
PLACES = np.linspace(-0.75, 0.75, 7)


def cycle_clear(y: np.ndarray) -> float | None:
    """The gap that stays if y (n,) > 0, the distance to the threshold, repeats its last cycle; else None."""
    n = len(y)
    if n < FEWEST or not (y > 0).all():
        return None
    whole = laws.repeat_lag(y, NEARLY, SHORTEST, SHORTEST, 1.0)
    if whole is None:
        return None
    size = min(n - whole - 3, whole + 1)
    if size < AGAIN * whole:
        return None
    rests = [float(np.var(_differences(y, whole + f, size))) for f in PLACES]
    best = int(np.argmin(rests))
    lag = whole + float(PLACES[best])
    if 0 < best < len(rests) - 1:
        left, bend = rests[best - 1], rests[best - 1] - 2.0 * rests[best] + rests[best + 1]
        lag += 0.5 * (left - rests[best + 1]) / bend * float(PLACES[1] - PLACES[0]) if bend > 0 else 0.0
    rest, last = _differences(y, lag, size), y[-size:]
    if float(rest @ rest) > ALIKE * ALIKE * size * float(np.var(last)):
        return None
    low = last < 0.5 * (float(last.max()) + float(last.min()))
    gap, fall = float(last.min()), float(-rest[low].min())
    return gap if LENGTHS * n / lag * fall < gap else None


def _differences(y: np.ndarray, lag: float, size: int) -> np.ndarray:
    """The last ``size`` values less those ``lag`` before, by cubic interpolation (Lagrange)."""
    n, whole = len(y), int(np.ceil(lag))
    f = whole - lag  # of the step after the value ``whole`` before
    before, at, after = (f - 1) * (f - 2), (f + 1) * (f - 2), f * (f + 1)
    weights = -f * before / 6, (f + 1) * before / 2, -f * at / 2, after * (f - 1) / 6
    first = n - size - whole
    return y[-size:] - sum(w * y[first - 1 + i : first - 1 + i + size] for i, w in enumerate(weights))
