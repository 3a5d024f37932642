"""Detects patterns that repeat under noise, and compares values at the same phase of a wave.

Patterns of a whole number of values are found by epoch folding (Leahy et al., Astrophys. J. 266, 1983): the record is
cut into rows of p values; the means of the columns are the pattern, the rest is noise.  Candidates are the highest
peaks of the autocorrelation and their divisors; the Bayesian information (Schwarz, Ann. Statist. 6, 1978) penalises a
pattern for each of its values.  A smooth wave whose period is not an integer drifts along the rows: then the residual
recurs one row later, and the pattern is rejected.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from workbench.analysis.series.noise.spectrum import SPECTRUM, spectral_peak
from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.value_series import WINDOW, History
from workbench.kernels import fits


def folded(h: History, period: float) -> float:
    """Median distance of values that are adjacent in the phase of a wave of this period."""
    x = h.x[-WINDOW:]
    order = np.argsort(np.arange(len(x)) / period % 1.0)
    return float(np.median(np.abs(np.diff(x[order]))))


#: Minimum number of repetitions, number of candidates from the autocorrelation, and nats by which the pattern must beat
#: a level.
ROWS, CANDIDATES, NATS = 4, 6, 25.0
#: Minimum autocorrelation at a candidate; for a pattern with a third of the variance it is about a third.
LIKE = 0.22
#: Maximum median distance of values adjacent in a wave's phase, relative to their deviation, for a wave without noise.
WITHIN = 0.05


class Fold(NamedTuple):
    """The period, the share of the variance that the pattern leaves, and the gain in information over a level."""

    period: int
    rest: float
    nats: float


def fold(h: History) -> Fold | None:
    """The pattern that explains the last values best; None if none is far better than a level."""
    x = h.x[-SPECTRUM:]
    n = len(x)
    if n < 4 * ROWS:
        return None
    y = x - x.mean()
    total = float(y @ y)
    if total <= 0 or not math.isfinite(total):
        return None
    spectrum = np.fft.rfft(y, 1 << (2 * n - 1).bit_length())
    r = np.fft.irfft(spectrum.real**2 + spectrum.imag**2)[: n // ROWS + 1]
    r /= np.arange(n, n - len(r), -1)
    high = np.flatnonzero(r > LIKE * r[0])
    high = high[high >= 2]
    top = high[np.argsort(-r[high], kind="stable")[:CANDIDATES]].tolist()
    # the first of equally high multiples may be lower than the others by chance
    periods = {*top, *(q for q in high.tolist() for p in top if p % q == 0)}
    found = [f for p in periods if (f := _of(y, p)) is not None]
    best = max(found, key=lambda f: f.nats, default=None)
    return best if best is not None and best.nats > NATS and not _drifts(y, best.period) else None


def _of(y: np.ndarray, p: int) -> Fold | None:
    rows = y[len(y) % p :].reshape(-1, p)
    total = float(np.sum(rows * rows)) - rows.size * float(rows.mean()) ** 2
    if total <= 0:
        return None
    rest = float(np.sum((rows - rows.mean(axis=0)) ** 2)) / total
    count = rows.size
    return Fold(p, rest, -0.5 * count * math.log(max(rest, 1e-12)) - 0.5 * (p - 1) * math.log(count))


def _drifts(y: np.ndarray, p: int) -> bool:
    """True if the residual of the pattern recurs one row later, as it does if the period is not an integer."""
    rows = y[len(y) % p :].reshape(-1, p)
    left = rows - rows.mean(axis=0)
    power = float(np.sum(left * left))
    return power > 0 and float(np.sum(left[1:] * left[:-1])) > 0.3 * power


def pattern_in_noise(h: History) -> Finding | None:
    """OSCILLATING if a repeated pattern explains a third of the variance or more, in both halves of the record."""
    found = fold(h)
    if found is None or found.rest > 0.67:
        return None
    _, period = spectral_peak(h)
    if period > 2 and 1.0 - fits.sine(h.x[-SPECTRUM:], period)[0] < found.rest / 0.6:
        return None  # a sine of any period leaves an equally small residual
    half = len(h.x) // 2
    early, late = (float(np.var(part)) for part in (h.x[:half], h.x[half:]))
    if not 0.25 * early < late < 4.0 * early:
        return None
    why = f"A pattern of {found.period} values repeats under noise and explains {1 - found.rest:.0%} of the variance."
    return Finding(Pattern.OSCILLATING, "folded", why, period=_wave_within(h, found.period), doubt=0.1)


def _wave_within(h: History, p: int) -> float:
    """The period of a wave of which ``p`` values contain two or more, sampled at different phases; ``p`` if there is
    none.
    """
    _, period = spectral_peak(h)
    if period < 2 or p < 1.9 * period:
        return float(p)
    _, fitted = fits.sine(h.x[-SPECTRUM:], period)
    waves = p / fitted
    whole = abs(waves - round(waves)) < 0.05 * min(1.0, p / len(h.x) * ROWS)
    return fitted if whole and folded(h, fitted) < WITHIN * float(np.std(h.x)) else float(p)
