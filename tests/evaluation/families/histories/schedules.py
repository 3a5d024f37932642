"""Schedules of learning rates, and the moments that an optimiser keeps."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import HISTORY, C, O, Rng, case, family, scale
from tests.evaluation.scoring.cases import Case


@family(HISTORY)
def adam_second_moment(rng: Rng) -> Case:
    """v of a constant gradient: g^2 (1 - b^k), far from settled where b = 0.999."""
    b, g = float(rng.choice([0.9, 0.99, 0.999])), rng.normal() * 3
    k = np.arange(1, int(rng.uniform(0.8, 6) / (1 - b)) + 24)
    return case(g * g * (1 - b**k), C, hard=b > 0.99, rate=b, limit=g * g)


@family(HISTORY)
def adam_bias_power(rng: Rng) -> Case:
    """b^k itself, for the bias correction."""
    b = float(rng.choice([0.9, 0.99, 0.999]))
    return case(b ** np.arange(1, int(rng.uniform(0.5, 6) / (1 - b)) + 24), C, hard=b > 0.99, rate=b, limit=0.0)


@family(HISTORY)
def warmup_then_inverse_root(rng: Rng) -> Case:
    """The transformer's schedule: min(k^(-1/2), k w^(-3/2))."""
    w = int(rng.integers(20, 100))
    k = np.arange(1.0, w * rng.uniform(30, 90))
    return case(np.minimum(k**-0.5, k * w**-1.5), C, hard=True, quarter=False, limit=0.0, exponent=0.5)


@family(HISTORY)
def triangular_schedule(rng: Rng) -> Case:
    m = int(rng.integers(6, 100))
    k = np.arange(int(2 * m * rng.uniform(4.3, 25)))
    v = 1e-4 + np.abs((k + m) % (2 * m) - m) * (0.1 / m)
    return case(v, O, quarter=len(k) > 34 * m, period=2.0 * m)


@family(HISTORY)
def cut_on_plateau(rng: Rng) -> Case:
    """Cut after waits of irregular length."""
    waits = rng.integers(5, 60, int(rng.integers(8, 16)))
    return case(
        abs(scale(rng)) * rng.uniform(0.2, 0.6) ** np.repeat(np.arange(len(waits)), waits), C, hard=True, quarter=False
    )


@family(HISTORY)
def warm_restarts(rng: Rng) -> Case:
    """Cosine annealing, restarted after each period."""
    m = int(rng.integers(10, 150))
    k = np.arange(int(m * rng.uniform(4.3, 25)))
    v = (1 + np.cos(math.pi * (k % m) / m)) / 2
    return case(v * abs(scale(rng)), O, quarter=len(k) > 17 * m, period=float(m))


@family(HISTORY)
def warm_restarts_decaying(rng: Rng) -> Case:
    """The same, each cycle lower by a factor."""
    m, f = int(rng.integers(8, 80)), rng.uniform(0.3, 0.7)
    k = np.arange(int(m * rng.integers(10, 25)))
    return case(f ** (k // m) * (1.1 + np.cos(math.pi * (k % m) / m)) / 2, C, hard=True, quarter=False, limit=0.0)
