"""Step 7, waves: one frequency and its harmonics in the spectrum of the last values."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.value_series import History
from workbench.kernels import fits

#: Maximum number of (last) values for the spectrum.
SPECTRUM = 2048


@lru_cache(maxsize=16)
def taper(n: int) -> tuple[np.ndarray, np.ndarray, float]:
    """(Hann window, centred times, their sum of squares) of n values."""
    k = np.arange(n) - (n - 1) / 2
    return np.hanning(n), k, float(k @ k)


def spectral_peak(h: History) -> tuple[float, float]:
    """(share of the variance in one frequency and its harmonics, period) of the detrended last 2048 values."""
    x = h.x[-SPECTRUM:]
    n = len(x)
    if n < 16:
        return 0.0, 0.0
    window, k, kk = taper(n)
    y = x - x.mean()
    y -= k * (float(k @ y) / kk)
    y *= window
    spectrum = np.fft.rfft(y)
    power = spectrum.real**2 + spectrum.imag**2
    power[:2] = 0.0
    total = float(power.sum())
    if total <= 0:
        return 0.0, 0.0
    i = int(power.argmax())
    if i < 3:
        return 0.0, 0.0
    near = power[i - 1 : i + 2].tolist()
    center = i + ((near[2] if len(near) > 2 else 0.0) - near[0]) / sum(near)
    covered, reach, share = 0, 0, 0.0
    for harmonic in range(1, 6):
        at = round(harmonic * center)
        if harmonic * center >= len(power):
            break
        low, high = max(at - 2, reach), min(at + 3, len(power))
        if low < high:
            share += float(power[low:high].sum())
            covered, reach = covered + high - low, high
    # wide masks include noise too: subtract the share that noise of the same total would have
    share, expected = share / total, covered / len(power)
    return max(0.0, (share - expected) / max(1.0 - expected, 1e-9)), n / center


def periodic_signal(h: History, least: float, peak: tuple[float, float] | None = None) -> Finding | None:
    """OSCILLATING if one frequency and its harmonics carry ``least`` or more of the variance."""
    share, period = spectral_peak(h) if peak is None else peak
    if share < least or len(h) < 3 * period:
        return None
    x = h.x[-SPECTRUM:]
    n = len(x)
    explained, period = fits.sine(x, period)
    # probability that a white record contains such a sine at one of its frequencies; short records get no credit for
    # harmonics
    if (
        math.log(n) + 0.5 * (n - 3) * math.log(max(1.0 - explained, 1e-300)) > math.log(1e-5)
        or n < 64
        and explained < least
        # a drifting mean also has most of its variance in a few slow oscillations
        or n < 6 * period
        and explained < 0.9
        or explained < 0.3
    ):
        return None
    half = len(h.d) // 2
    early, late = (float(np.std(part)) for part in (h.x[:half], h.x[half:]))
    if late < 0.5 * early or late > 2.0 * early:
        return None
    why = f"One frequency (period {period:.5g}) and its harmonics carry {share:.0%} of the variance."
    return Finding(Pattern.OSCILLATING, "spectrum", why, period=period, doubt=0.2 if share < 0.75 else 0.1)
