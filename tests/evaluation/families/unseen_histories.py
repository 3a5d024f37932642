"""Unseen histories: searches, filters, epidemics, algebra and chaotic maps that no other family has."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import HISTORY, C, D, O, Rng, S, X, case, family, orbit, placed, scale, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=2)
def strategy_step_best(rng: Rng) -> Case:
    """The best value of a (1+1) evolution strategy on the sphere: rests, and falls by factors, to zero."""
    dim, width, out = int(rng.integers(2, 6)), 0.5, []
    x = rng.normal(size=dim)
    for _ in range(size(rng, 200, 1500)):
        out.append(x @ x)
        trial = x + width * rng.normal(size=dim)
        better = trial @ trial < x @ x
        x, width = (trial, width * 1.5) if better else (x, width * 1.5**-0.25)
    return case(scale(rng) * np.array(out), C, hard=True, quarter=False, limit=0.0)


@family(HISTORY, new=2)
def epidemic_dies_out(rng: Rng) -> Case:
    """Infected of an SIR model: up, then down to nothing by the rate that is left."""
    beta, gamma = rng.uniform(0.3, 0.8), rng.uniform(0.1, 0.2)
    s, i, out = 0.999, 0.001, []
    for _ in range(int(rng.integers(200, 500))):
        out.append(i)
        s, i = s - beta * s * i, i + beta * s * i - gamma * i
    return case(out, C, quarter=False, rate=1 + beta * s - gamma, limit=0.0)


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
def subspace_iteration_angle(rng: Rng) -> Case:
    """The tangent of the angle to the first eigenvector falls by the ratio of the eigenvalues."""
    rate = rng.uniform(0.2, 0.95)
    n = int(min(rng.uniform(8, 28) / -math.log(rate), 1500)) + 12
    tangent = np.sqrt((rng.uniform(0.5, 3) * rate ** np.arange(n)) ** 2 + (0.3 * (0.5 * rate) ** np.arange(n)) ** 2)
    return case(tangent, C, rate=rate, limit=0.0)


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
def saw_in_noise(rng: Rng) -> Case:
    """A saw tooth of a whole period with a tenth of noise."""
    p = int(rng.integers(5, 40))
    k = np.arange(size(rng, 16 * p, 40 * p))
    return placed(rng, (k % p) / p + 0.03 * rng.normal(size=len(k)), O, period=p)


@family(HISTORY, new=2)
def two_body_orbit(rng: Rng) -> Case:
    """The distance of a planet on an ellipse, at even times: by Kepler's equation, so that its period is known."""
    e, per, turns = rng.uniform(0.05, 0.5), rng.uniform(12, 60), rng.uniform(12, 25)
    mean = 2 * np.pi * np.arange(int(per * turns)) / per
    anomaly = mean.copy()
    for _ in range(60):
        anomaly = anomaly - (anomaly - e * np.sin(anomaly) - mean) / (1 - e * np.cos(anomaly))
    return placed(rng, 1 - e * np.cos(anomaly), O, period=per)


@family(HISTORY, new=2)
def load_of_a_server(rng: Rng) -> Case:
    """Counts about one level, drawn anew each time: binomial."""
    return case(rng.binomial(int(rng.integers(20, 200)), rng.uniform(0.2, 0.8), size(rng, 200, 2000)), S)


@family(HISTORY, new=2)
def gingerbread_chaos(rng: Rng) -> Case:
    """x' = 1 - y + |x|, y' = x, from within its chaotic zone."""
    start = np.array([-0.1, rng.uniform(-0.05, 0.05)])
    points = orbit(lambda p: np.array([1 - p[1] + abs(p[0]), p[0]]), start, size(rng, 500, 3000))
    return placed(rng, points[:, 0], X, hard=True, quarter=False)


@family(HISTORY, new=2)
def cubic_map_chaos(rng: Rng) -> Case:
    """x' = a x - x^3 where it has no stable cycle: Lyapunov's exponent is checked."""
    while True:
        a = rng.uniform(2.35, 2.99)
        x = orbit(lambda x: a * x - x**3, rng.uniform(0.1, 0.9), size(rng, 200, 2000))  # noqa: B023
        if np.log(np.abs(a - 3 * x * x) + 1e-12).mean() > 0.1:
            return placed(rng, x, X)
