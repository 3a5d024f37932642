"""Random histories with noise, and rounded ones."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.random_histories.base import C, D, Drawn, O, Rng, S, length, shift


def sgd(rng: Rng) -> Drawn:
    n, size = length(rng, 60, 4000), 10.0 ** rng.uniform(-2, 0)
    k, e = np.arange(n), rng.normal(size=n)
    rate = math.exp(-rng.uniform(8, 60) / n)
    values, facts = shift(rng, rng.normal() + 8 * size * rng.uniform(2, 20) * rate**k + size * e)
    return Drawn("sgd", values, C, quarter=False)


def sgd_decay(rng: Rng) -> Drawn:
    n, p = length(rng, 100, 4000), rng.uniform(0.55, 1.2)
    k = np.arange(1.0, n + 1)
    kind = rng.integers(0, 2)
    if kind:
        return Drawn("running_mean", 5 * rng.normal() + np.cumsum(rng.normal(size=n)) / k, C, quarter=False)
    return Drawn("sgd_decay", shift(rng, rng.normal() + rng.normal(size=n) / k**p)[0], C, quarter=False)


def still_noise(rng: Rng) -> Drawn:
    n = length(rng, 40, 4000)
    e = rng.normal(size=n) if rng.random() < 0.5 else rng.uniform(-1, 1, n)
    values, _ = shift(rng, rng.normal() * 3 + 10.0 ** rng.uniform(-4, 0) * e)
    return Drawn("noise", values, S)


def noisy_growth(rng: Rng) -> Drawn:
    n = length(rng, 60, 4000)
    k, e = np.arange(n), rng.normal(size=n)
    kind = rng.integers(0, 3)
    if kind == 0:
        return Drawn("noisy_counter", rng.uniform(0.2, 5) * (k + rng.uniform(0.05, 2) * e), D)
    if kind == 1:
        rate = math.exp(rng.uniform(4, 40) / n)
        return Drawn("noisy_growth", rate**k * (1 + rng.uniform(0.01, 0.1) * e), D, quarter=False)
    return Drawn("noise_growing", math.exp(rng.uniform(3, 10) / n) ** k * e, D, quarter=False)


def noisy_approach(rng: Rng) -> Drawn:
    n = length(rng, 100, 3000)
    k, e = np.arange(n), rng.normal(size=n)
    rate = math.exp(-rng.uniform(5, 20) / n)
    return Drawn("noisy_approach", rng.normal() + 3 * rate**k * (1 + rng.uniform(0.002, 0.05) * e), C, quarter=False)


def noisy_sine(rng: Rng) -> Drawn:
    w, n = rng.uniform(0.15, 2.5), length(rng, 200, 2000)
    k = np.arange(n)
    size = rng.uniform(0.01, 0.25)
    values = 2 * np.sin(w * k) + 2 * size * rng.normal(size=n)
    return Drawn("noisy_sine", values, O, {"period": 2 * math.pi / w}, n / 4 * w > 20)


def random_walk(rng: Rng) -> Drawn:
    n = length(rng, 300, 4000)
    return Drawn("random_walk", np.cumsum(rng.normal(size=n)), D, quarter=False)


def quantised(rng: Rng) -> Drawn:
    n = length(rng, 60, 800)
    k = np.arange(n)
    rate = math.exp(-rng.uniform(4, 12) / n)
    return Drawn("rounded_approach", np.round(rng.normal() + 5 * rate**k, 3), C, quarter=False)
