"""Correlated noise about a level, and several waves under noise: neither follows a rule that separates neighbours."""

from __future__ import annotations

import math

import numpy as np
from scipy import signal

from tests.evaluation.families.base import HISTORY, O, Rng, S, case, family, placed, sign, size
from tests.evaluation.scoring.cases import Case


def _filtered(rng: Rng, b: object, a: object, n: int, noise: np.ndarray | None = None) -> np.ndarray:
    """White noise through a filter, from long before the record on."""
    e = rng.normal(size=n + 600) if noise is None else noise
    return signal.lfilter(b, a, e)[600:]


@family(HISTORY, new=5)
def pseudo_cyclic_ar2(rng: Rng) -> Case:
    """AR(2) with complex roots: waves that forget their phase within some periods."""
    r, w, n = rng.uniform(0.5, 0.92), rng.uniform(0.3, 2.8), size(rng, 300, 2500)
    return placed(rng, _filtered(rng, [1], [1, -2 * r * math.cos(w), r * r], n), S, hard=True, quarter=False)


@family(HISTORY, new=5)
def alternating_ar1(rng: Rng) -> Case:
    """AR(1) with a coefficient from -0.5 to -0.9."""
    return placed(
        rng, _filtered(rng, [1], [1, rng.uniform(0.5, 0.9)], size(rng, 120, 2500)), S, hard=True, quarter=False
    )


@family(HISTORY, new=5)
def ar2_of_real_roots(rng: Rng) -> Case:
    a, b = rng.uniform(-0.85, 0.85, 2)
    return placed(
        rng, _filtered(rng, [1], np.convolve([1, -a], [1, -b]), size(rng, 250, 2500)), S, hard=True, quarter=False
    )


@family(HISTORY, new=5)
def arma_two_one(rng: Rng) -> Case:
    r, w = rng.uniform(0.4, 0.85), rng.uniform(0.3, 2.8)
    den = [1, -2 * r * math.cos(w), r * r]
    return placed(
        rng, _filtered(rng, [1, rng.uniform(-0.9, 0.9)], den, size(rng, 250, 2500)), S, hard=True, quarter=False
    )


@family(HISTORY, new=5)
def noise_of_differences(rng: Rng) -> Case:
    """e(k) - e(k - 1), or twice so: noise that turns nearly each time."""
    e = np.diff(rng.normal(size=size(rng, 150, 2500) + 2), n=int(rng.integers(1, 3)))
    return placed(rng, e, S, hard=True, quarter=False)


@family(HISTORY, new=5)
def heavy_tailed_ar1(rng: Rng) -> Case:
    """AR(1) of either sign, driven by Student's noise with three degrees of freedom."""
    n, phi = size(rng, 250, 2500), sign(rng) * rng.uniform(0.4, 0.85)
    return placed(rng, _filtered(rng, [1], [1, -phi], n, rng.standard_t(3, n + 600)), S, hard=True, quarter=False)


@family(HISTORY, new=5)
def two_regimes_of_noise(rng: Rng) -> Case:
    """A threshold autoregression: one coefficient above zero, another below."""
    up, down, x, out = rng.uniform(-0.8, 0.7), rng.uniform(-0.8, 0.7), 0.0, []
    for e in rng.normal(size=size(rng, 250, 2000) + 50):
        x = (up if x > 0 else down) * x + e
        out.append(x)
    return placed(rng, np.array(out[50:]), S, hard=True, quarter=False)


@family(HISTORY, new=5)
def rating_that_wanders_about_a_level(rng: Rng) -> Case:
    """A rating by wins, draws and losses against players of many ratings, at its level from the start."""
    rating, true, out, k = 0.0, 0.0, [], rng.uniform(8, 40)
    for _ in range(size(rng, 300, 2000) + 100):
        other = 150 * rng.normal()
        chance, stated = (1 / (1 + 10 ** ((other - r) / 400)) for r in (true, rating))
        result = 0.5 if rng.random() < 0.2 else float(rng.random() < chance)
        rating += k * (result - stated)
        out.append(rating)
    return case(1500 + np.array(out[100:]), S, hard=True, quarter=False)


def _noisy(rng: Rng, y: np.ndarray, low: float = 0.01, high: float = 0.05) -> Case:
    y = y + rng.uniform(low, high) * y.std() * rng.normal(size=len(y))
    return placed(rng, y, O, hard=True, quarter=False)


@family(HISTORY, new=5)
def two_waves_in_noise(rng: Rng) -> Case:
    """Two waves of whatever periods, with noise of one to five hundredths."""
    t, p = np.arange(size(rng, 250, 2000)), rng.uniform(5, 25)
    q = p * rng.uniform(1.25, 3.5)
    return _noisy(rng, np.sin(2 * np.pi * t / p) + rng.uniform(0.4, 1) * np.sin(2 * np.pi * t / q + rng.uniform(0, 6)))


@family(HISTORY, new=5)
def amplitude_modulated_in_noise(rng: Rng) -> Case:
    t, p = np.arange(size(rng, 400, 2000)), rng.uniform(4, 12)
    q = p * rng.uniform(4, 9)
    return _noisy(rng, (1 + rng.uniform(0.4, 0.9) * np.sin(2 * np.pi * t / q)) * np.sin(2 * np.pi * t / p))


@family(HISTORY, new=5)
def product_of_two_waves_in_noise(rng: Rng) -> Case:
    t, p = np.arange(size(rng, 400, 2000)), rng.uniform(5, 15)
    q = p * rng.uniform(1.3, 2.9)
    return _noisy(rng, np.cos(2 * np.pi * t / p) * np.cos(2 * np.pi * t / q + rng.uniform(0, 6)))


@family(HISTORY, new=5)
def three_tones_of_a_tide(rng: Rng) -> Case:
    """Waves of half a day, a day and a month or so, hourly, with a little noise."""
    t = np.arange(size(rng, 500, 2000))
    y = sum(a * np.sin(2 * np.pi * t / p + rng.uniform(0, 6)) for p, a in ((12.42, 1), (12.0, 0.45), (25.82, 0.5)))
    return _noisy(rng, y)


@family(HISTORY, new=5)
def bent_wave_on_a_torus(rng: Rng) -> Case:
    """A curved function of two phases, with noise: lines at many sums of two frequencies."""
    t, p = np.arange(size(rng, 500, 2000)), rng.uniform(5, 12)
    u = 2 * np.pi * t / p
    v = u * rng.uniform(0.2, 0.7) + 1
    return _noisy(rng, np.tanh(1.2 * np.sin(u) + 0.8 * np.sin(v)), 0.005, 0.03)


@family(HISTORY, new=5)
def folded_wave_and_sine(rng: Rng) -> Case:
    """A triangle wave and a sine of another period, with noise."""
    t, p = np.arange(size(rng, 400, 2000)), rng.uniform(6, 20)
    q = p * rng.uniform(1.4, 3)
    return _noisy(rng, signal.sawtooth(2 * np.pi * t / p, 0.5) + 0.6 * np.sin(2 * np.pi * t / q))
