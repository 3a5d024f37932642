"""New histories: searches, epidemics, orbits and maps that no other family has."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import HISTORY, C, O, Rng, X, case, family, orbit, placed, scale, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=1)
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


@family(HISTORY, new=1)
def epidemic_dies_out(rng: Rng) -> Case:
    """Infected of an SIR model: up, then down to nothing by the rate that is left."""
    beta, gamma = rng.uniform(0.3, 0.8), rng.uniform(0.1, 0.2)
    s, i, out = 0.999, 0.001, []
    for _ in range(int(rng.integers(200, 500))):
        out.append(i)
        s, i = s - beta * s * i, i + beta * s * i - gamma * i
    return case(out, C, quarter=False, rate=1 + beta * s - gamma, limit=0.0)


@family(HISTORY, new=1)
def subspace_iteration_angle(rng: Rng) -> Case:
    """The tangent of the angle to the first eigenvector falls by the ratio of the eigenvalues."""
    rate = rng.uniform(0.2, 0.95)
    n = int(min(rng.uniform(8, 28) / -math.log(rate), 1500)) + 12
    tangent = np.sqrt((rng.uniform(0.5, 3) * rate ** np.arange(n)) ** 2 + (0.3 * (0.5 * rate) ** np.arange(n)) ** 2)
    return case(tangent, C, rate=rate, limit=0.0)


@family(HISTORY, new=1)
def saw_in_noise(rng: Rng) -> Case:
    """A saw tooth of a whole period with a tenth of noise."""
    p = int(rng.integers(5, 40))
    k = np.arange(size(rng, 16 * p, 40 * p))
    return placed(rng, (k % p) / p + 0.03 * rng.normal(size=len(k)), O, period=p)


@family(HISTORY, new=1)
def two_body_orbit(rng: Rng) -> Case:
    """The distance of a planet on an ellipse, at even times: by Kepler's equation, so that its period is known."""
    e, per, turns = rng.uniform(0.05, 0.5), rng.uniform(12, 60), rng.uniform(12, 25)
    mean = 2 * np.pi * np.arange(int(per * turns)) / per
    anomaly = mean.copy()
    for _ in range(60):
        anomaly = anomaly - (anomaly - e * np.sin(anomaly) - mean) / (1 - e * np.cos(anomaly))
    return placed(rng, 1 - e * np.cos(anomaly), O, period=per)


@family(HISTORY, new=1)
def gingerbread_chaos(rng: Rng) -> Case:
    """x' = 1 - y + |x|, y' = x, from within its chaotic zone."""
    start = np.array([-0.1, rng.uniform(-0.05, 0.05)])
    points = orbit(lambda p: np.array([1 - p[1] + abs(p[0]), p[0]]), start, size(rng, 500, 3000))
    return placed(rng, points[:, 0], X, hard=True, quarter=False)
