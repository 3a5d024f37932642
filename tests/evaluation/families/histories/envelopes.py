"""Rates near 1, with and without noise, slow envelopes, beats, and vectors whose components differ."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import HISTORY, C, D, O, Rng, S, X, case, family, orbit, placed, scale, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY)
def rate_near_one(rng: Rng) -> Case:
    """No noise; the record ends before a third of the way, or after it."""
    gap = 10 ** rng.uniform(-4, -2.5)
    k = np.arange(max(40, min(int(rng.uniform(0.3, 5) / gap), 10_000)))
    return placed(rng, (1 - gap) ** k, C, hard=True, quarter=False, rate=1 - gap, limit=0.0)


@family(HISTORY)
def rate_near_one_in_noise(rng: Rng) -> Case:
    """An approach of 30 to 300 spreads, four to eight times its own time long."""
    n, folds = size(rng, 600, 10_000), rng.uniform(4, 8)
    v = rng.uniform(30, 300) * np.exp(-folds * np.arange(n) / n) + rng.normal(size=n)
    return placed(rng, v, C, hard=True, quarter=False, rate=math.exp(-folds / n))


@family(HISTORY)
def rate_in_relative_noise(rng: Rng) -> Case:
    """A residual whose every value is off by some percent."""
    n = size(rng, 300, 6000)
    rate = math.exp(-rng.uniform(8, 60) / n)
    v = rate ** np.arange(n) * np.exp(rng.uniform(0.02, 0.3) * rng.normal(size=n))
    return case(v * abs(scale(rng)), C, hard=True, quarter=False, rate=rate, limit=0.0)


@family(HISTORY)
def growth_near_one(rng: Rng) -> Case:
    gap = 10 ** rng.uniform(-3.5, -1.7)
    k = np.arange(max(60, min(int(rng.uniform(1, 20) / gap), 10_000)))
    return case(scale(rng) * (1 + gap) ** k, D, quarter=False, rate=1 + gap)


@family(HISTORY)
def growth_in_relative_noise(rng: Rng) -> Case:
    n = size(rng, 200, 6000)
    rate = math.exp(rng.uniform(5, 40) / n)
    v = rate ** np.arange(n) * np.exp(rng.uniform(0.02, 0.2) * rng.normal(size=n))
    return case(v * abs(scale(rng)) * 1e-6, D, hard=True, quarter=False)


@family(HISTORY)
def slow_decay_of_a_wave(rng: Rng) -> Case:
    """A wave that loses four fifths and more of its height over a hundred turns."""
    p, n = rng.uniform(5, 40), size(rng, 800, 8000)
    rate = math.exp(-rng.uniform(1.6, 8) / n)
    v = rate ** np.arange(n) * np.sin(2 * math.pi * np.arange(n) / p)
    return placed(rng, v, C, hard=True, quarter=False, rate=rate, limit=0.0)


@family(HISTORY)
def slow_decay_of_a_wave_in_noise(rng: Rng) -> Case:
    p, n = rng.uniform(5, 40), size(rng, 1000, 8000)
    v = np.exp(-rng.uniform(4, 9) * np.arange(n) / n) * np.sin(2 * math.pi * np.arange(n) / p)
    return placed(rng, v + 0.01 * rng.normal(size=n), C, hard=True, quarter=False)


@family(HISTORY)
def slow_growth_of_a_wave(rng: Rng) -> Case:
    p, n = rng.uniform(5, 40), size(rng, 800, 8000)
    rate = math.exp(rng.uniform(1.6, 8) / n)
    v = rate ** np.arange(n) * np.sin(2 * math.pi * np.arange(n) / p)
    return placed(rng, v, D, hard=True, quarter=False, rate=rate)


@family(HISTORY)
def linear_growth_of_a_wave(rng: Rng) -> Case:
    """Resonance: the height grows by a constant each turn."""
    p, n = rng.uniform(5, 40), size(rng, 400, 6000)
    k = np.arange(n)
    return placed(rng, k / n * np.sin(2 * math.pi * k / p), D, hard=True, quarter=False)


@family(HISTORY)
def beats(rng: Rng) -> Case:
    """Two close frequencies, over six beats and more."""
    p = rng.uniform(6, 20)
    q = p * (1 + 1 / rng.uniform(8, 15))
    k = np.arange(int(rng.uniform(6, 20) / (1 / p - 1 / q)))
    return placed(rng, np.sin(2 * math.pi * k / p) + np.sin(2 * math.pi * k / q), O, hard=True, quarter=False)


@family(HISTORY)
def modulated_wave(rng: Rng) -> Case:
    p = rng.uniform(6, 20)
    k = np.arange(int(p * 12 * rng.uniform(6, 25)))
    v = (1 + rng.uniform(0.2, 0.6) * np.sin(2 * math.pi * k / (11.3 * p))) * np.sin(2 * math.pi * k / p)
    return placed(rng, v, O, hard=True, quarter=False)


@family(HISTORY)
def wave_in_noise(rng: Rng) -> Case:
    """Noise up to half of the wave's height, over 30 turns and more."""
    p = rng.uniform(4, 60)
    n = int(p * rng.uniform(30, 100))
    v = np.sin(2 * math.pi * np.arange(n) / p + rng.uniform(0, 6)) + rng.uniform(0.1, 0.5) * rng.normal(size=n)
    return placed(rng, v, O, hard=True, quarter=False, period=p)


@family(HISTORY)
def pulses(rng: Rng) -> Case:
    """A spike now and then, on a level with a little noise."""
    m = int(rng.integers(8, 80))
    k = np.arange(int(m * rng.uniform(12, 40)))
    v = np.exp(-(((k % m) - m / 2) ** 2) / 3) + 0.01 * rng.normal(size=len(k))
    return placed(rng, v, O, hard=True, quarter=False, period=float(m))


@family(HISTORY)
def vector_slowest_decides(rng: Rng) -> Case:
    """Every component has its own rate; the slowest one is small."""
    slow = rng.uniform(0.9, 0.995)
    rates = np.r_[slow, slow ** rng.uniform(2, 20, int(rng.integers(1, 6)))]
    heights = np.r_[rng.uniform(0.05, 0.5), rng.uniform(1, 20, len(rates) - 1)]
    k = np.arange(int(rng.uniform(6, 24) / -math.log(slow)) + 20)[:, None]
    return case(heights * rates**k, C, hard=True, quarter=False, rate=slow)


@family(HISTORY)
def vector_one_grows(rng: Rng) -> Case:
    """A small component grows while large ones settle."""
    rate = rng.uniform(1.01, 1.2)
    k = np.arange(int(rng.uniform(8, 25) / math.log(rate)) + 20)
    v = np.stack([5 + 10 * 0.8**k, 0.01 * rate**k, 3 - 2 * 0.9**k], axis=1)
    return case(v * scale(rng), D, hard=True, quarter=False, rate=rate)


@family(HISTORY)
def vector_one_counts(rng: Rng) -> Case:
    """A counter beside a residual that settles."""
    k = np.arange(size(rng, 40, 2000))
    return case(np.stack([100 * rng.uniform(0.5, 0.95) ** k, k * 1.0], axis=1), D, hard=True, quarter=False)


@family(HISTORY)
def vector_one_oscillates(rng: Rng) -> Case:
    """One component cycles, the others settle or stay."""
    p = int(rng.integers(2, 12))
    k = np.arange(size(rng, max(100, 12 * p), 2000))
    v = np.stack([2 + 0.7**k, np.resize(rng.permutation(p), len(k)), np.full(len(k), 4.0)], axis=1)
    return case(v, O, hard=True, quarter=False, period=float(p))


@family(HISTORY)
def vector_noise(rng: Rng) -> Case:
    v = rng.normal(size=(size(rng, 200, 4000), int(rng.integers(2, 6)))) * 0.3 + 2
    return case(v * scale(rng), S, hard=True)


@family(HISTORY)
def vector_chaotic_component(rng: Rng) -> Case:
    """A full logistic map beside two components at rest."""
    x = orbit(lambda x: 3.99 * x * (1 - x), rng.uniform(0.2, 0.8), size(rng, 300, 4000))
    return case(np.stack([np.full(len(x), 2.0), x, 1 + 0.5 ** np.arange(len(x))], axis=1), X, hard=True)


@family(HISTORY)
def vector_constant(rng: Rng) -> Case:
    v = np.tile(rng.normal(size=int(rng.integers(2, 8))), (size(rng, 12, 1000), 1))
    return case(v.astype(rng.choice([np.float64, np.float32])), S)


@family(HISTORY)
def vector_turning_inwards(rng: Rng) -> Case:
    rate, t = rng.uniform(0.9, 0.995), rng.uniform(0.2, 2.8)
    z = (rate * complex(math.cos(t), math.sin(t))) ** np.arange(int(rng.uniform(6, 24) / (1 - rate)) + 20)
    return case(np.stack([z.real, z.imag], axis=1) * scale(rng), C, quarter=False, rate=rate)


@family(HISTORY)
def largest_component_outwards(rng: Rng) -> Case:
    """max(|x|, |y|) of a vector that turns outwards."""
    rate, t = 1 + 10 ** rng.uniform(-2.3, -1), rng.uniform(0.15, 1.4)
    k = np.arange(min(int(rng.uniform(6, 30) / (rate - 1)) + 40, 5000))
    v = rate**k * np.maximum(np.abs(np.cos(t * k)), np.abs(np.sin(t * k)))
    return case(v * abs(scale(rng)), D, hard=True, quarter=False, rate=rate)


@family(HISTORY)
def largest_component_on_a_circle(rng: Rng) -> Case:
    """max(|x|, |y|) of a vector that turns: a quarter turn is its period."""
    t = rng.uniform(0.02, 0.3)
    k = np.arange(int(math.pi / 2 / t * rng.uniform(12, 60)))
    v = np.maximum(np.abs(np.cos(t * k + 1)), np.abs(np.sin(t * k + 1)))
    return case(v * abs(scale(rng)), O, hard=True, quarter=False, period=math.pi / 2 / t)
