"""Unseen histories: searches, filters, epidemics, algebra and chaotic maps that no other family has."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import HISTORY, C, D, Rng, S, X, case, family, orbit, placed, scale, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=2)
def adam_to_the_minimum(rng: Rng) -> Case:
    """The distance to the minimum of a quadratic by Adam whose step shrinks as a geometric sequence."""
    rate, shrink = rng.uniform(0.05, 0.3), rng.uniform(0.97, 0.99)
    x, m, v, out = rng.uniform(1, 4), 0.0, 0.0, []
    for k in range(1, int(rng.integers(400, 900))):
        out.append(x)
        m, v = 0.9 * m + 0.1 * x, 0.99 * v + 0.01 * x * x
        x -= rate * shrink**k * (m / (1 - 0.9**k)) / (math.sqrt(v / (1 - 0.99**k)) + 1e-8)
    return case(scale(rng) * np.array(out), C, hard=True, quarter=False)


@family(HISTORY, new=2)
def savings_with_deposits(rng: Rng) -> Case:
    """x' = (1 + r) x + d: grows by the factor 1 + r in the end."""
    r, d = rng.uniform(0.01, 0.2), rng.uniform(0, 2)
    n = int(rng.uniform(6, 20) / math.log1p(r)) + 20
    return case(orbit(lambda x: (1 + r) * x + d, rng.uniform(1, 100), n), D, rate=1 + r)


@family(HISTORY, new=2)
def randomised_kaczmarz_error(rng: Rng) -> Case:
    """The error of Kaczmarz's method with rows drawn by chance: falls in a random, never rising way."""
    a = rng.normal(size=(30, int(rng.integers(3, 8))))
    a /= np.linalg.norm(a, axis=1)[:, None]
    e, out = rng.normal(size=a.shape[1]), []
    for _ in range(size(rng, 80, 300)):
        out.append(np.linalg.norm(e))
        row = a[rng.integers(30)]
        e = e - row * (row @ e)
    return case(scale(rng) * np.array(out), C, quarter=False, limit=0.0)


@family(HISTORY, new=2)
def load_of_a_server(rng: Rng) -> Case:
    """Counts about one level, drawn anew each time: binomial."""
    return case(rng.binomial(int(rng.integers(20, 200)), rng.uniform(0.2, 0.8), size(rng, 200, 2000)), S)


@family(HISTORY, new=2)
def cubic_map_chaos(rng: Rng) -> Case:
    """x' = a x - x^3 where it has no stable cycle: Lyapunov's exponent is checked."""
    while True:
        a = rng.uniform(2.35, 2.99)
        x = orbit(lambda x: a * x - x**3, rng.uniform(0.1, 0.9), size(rng, 200, 2000))  # noqa: B023
        if np.log(np.abs(a - 3 * x * x) + 1e-12).mean() > 0.1:
            return placed(rng, x, X)
