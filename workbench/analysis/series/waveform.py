"""Smooth oscillations of any shape: do the last periods repeat the one before, larger, smaller or the same?

Linear prediction knows sines and few harmonics; a relaxation oscillation, a predator and its prey or a swinging
pendulum have many.  The period is the first large peak of the autocorrelation, refined between iterations, and the last
two and a half periods are fitted by gain * x(t - period) + constant.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.value_series import WINDOW, History
from workbench.kernels import fits

#: Values that are looked at: the last ones.
MOST = 2048
#: Share of the variance that a repetition may leave.
REST = 0.003


def turns(h: History) -> int:
    """Changes of direction in the last values."""
    up = h.d[-MOST:] > 0
    return int(np.count_nonzero(up[1:] != up[:-1]))


def folded(h: History, period: float) -> float:
    """Median distance of values that are neighbours in the phase of a wave of this period."""
    x = h.x[-WINDOW:]
    order = np.argsort(np.arange(len(x)) / period % 1.0)
    return float(np.median(np.abs(np.diff(x[order]))))


def waveform(h: History) -> Finding | None:
    """A verdict if the record is smooth, turns four times or more, and repeats itself up to a gain."""
    x = h.x[-MOST:]
    n, bends = len(x), turns(h)
    if n < 32 or bends < 4 or n < 4 * bends:
        return None
    period = _period(x)
    if period is None:
        return None
    rest, gain, period = fits.waveform(x, period)
    for part in (2, 3):  # between two iterations a peak looks lower than at a multiple of the period
        shorter = fits.waveform(x, period / part)
        if shorter[0] < max(3e-4, 4 * rest) and shorter[1] > 0.5:
            rest, gain, period = shorter
            break
    if rest > REST:
        return None
    periods = n / period
    text = f"The last periods of {period:.5g} iterations repeat the one before within {math.sqrt(rest):.1%}"
    # how sure the gain is: its error is about that of the fit
    slack = max(0.01, 3.0 * math.sqrt(rest) / math.sqrt(2.5 * period))
    before = fits.waveform(x[: n - int(period)], period)[1] if periods >= 4 else gain
    if periods >= 6 and fits.waveform(x[: n - int(3 * period)], period)[0] > 10 * REST:
        return None  # an orbit that passed near an unstable cycle
    steady = abs(math.log(max(before, 1e-3))) > 0.3 * abs(math.log(max(gain, 1e-3)))
    if gain < 1.0 - slack and steady and before < 1.0:
        level = float(np.mean(x[-int(period) :]))
        return Finding(
            Pattern.CONVERGING,
            "waveform",
            text + f", but {gain:.4g} times as large.",
            rate=gain ** (1.0 / period) if gain > 0 else None,
            limit=level,
            limit_error=float(np.ptp(x[-int(period) :])),
            doubt=0.1,
        )
    if gain > 1.0 + slack and steady and before > 1.0:
        why = text + f", {gain:.4g} times as large."
        return Finding(Pattern.DIVERGING, "waveform", why, rate=gain ** (1.0 / period), doubt=0.1)
    return Finding(Pattern.OSCILLATING, "waveform", text + ".", period=period, doubt=0.0 if periods >= 4 else 0.2)


def _period(x: np.ndarray) -> float | None:
    """The first peak of the autocorrelation that is nearly as high as the highest; None if there is none."""
    n = len(x)
    y = x - x.mean()
    spectrum = np.fft.rfft(y, 1 << (2 * n - 1).bit_length())
    r = np.fft.irfft(spectrum.real**2 + spectrum.imag**2)[: n // 2]
    energy = np.cumsum(y * y)
    total = float(energy[-1])
    lag = np.arange(1, len(r))
    # of the part that overlaps: as many values at either end are left out as the lag is long
    overlap = np.sqrt(np.maximum((total - energy[lag - 1]) * energy[n - 1 - lag], 1e-300))
    r = np.concatenate([[1.0], r[1:] / overlap])
    negative = np.flatnonzero(r < 0)
    if not negative.size:
        return None
    first = int(negative[0])
    after = r[first:]
    if not after.size or after.max() < 0.5:
        return None
    high = after >= 0.95 * after.max()
    start = int(np.argmax(high))
    stop = start + int(np.argmin(high[start:])) if not high[start:].all() else len(high)
    return float(first + start + int(np.argmax(after[start:stop])))
