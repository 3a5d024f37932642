"""Means, continued fractions, quadrature by halving, and the accelerations of Aitken, Wynn and Anderson."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import HISTORY, C, Rng, case, family, log_uniform, orbit, placed
from tests.evaluation.scoring.cases import Case


@family(HISTORY)
def agm_difference(rng: Rng) -> Case:
    """a - b of the arithmetic-geometric mean: order 2."""
    a, b, out = 1.0, rng.uniform(1e-6, 0.01), []
    while a - b > 1e-13:
        out.append(a - b)
        a, b = (a + b) / 2, math.sqrt(a * b)
    return case(out, C, hard=True, quarter=False, limit=0.0)


@family(HISTORY)
def continued_fraction_convergents(rng: Rng) -> Case:
    """1 / (a + 1 / (a + ...)): alternates around x with the rate x^2."""
    a = rng.uniform(0.3, 2)
    x = (-a + math.sqrt(a * a + 4)) / 2
    v = orbit(lambda y: 1 / (a + y), rng.uniform(0.5, 3), max(16, int(rng.uniform(10, 30) / -math.log(x * x))))
    return placed(rng, v, C, quarter=False, rate=x * x, limit=x)


@family(HISTORY)
def aitken_transformed(rng: Rng) -> Case:
    """Aitken's transform of a sum of two geometric sequences: geometric again, with the second rate or the square."""
    p, q, k = rng.uniform(0.75, 0.95), rng.uniform(0.2, 0.5), np.arange(40)
    s = 1 + p**k + 0.4 * q**k
    d = np.diff(s)
    keep = np.abs(np.diff(d)) > 1e-7
    v = (s[2:] - d[1:] ** 2 / np.diff(d))[keep]
    return case(v, C, hard=True, quarter=False)


@family(HISTORY)
def anderson_fixed_point(rng: Rng) -> Case:
    """Anderson's mixing of depth 1 on a linear map: converges faster than the map."""
    n = 4
    b = np.diag(rng.uniform(0.2, 0.9, n))
    x = rng.uniform(0.5, 2, n)
    f, g, out = b @ x - x, b @ x, []
    for _ in range(60):
        out.append(float(np.linalg.norm(f)))
        if out[-1] < 1e-12:
            break
        new_f = b @ g - g
        theta = float(new_f @ (new_f - f) / ((new_f - f) @ (new_f - f)))
        step = b @ g - theta * (b @ g - (f + x))
        x, f, g = g, new_f, step
    return case(out, C, hard=True, quarter=False, limit=0.0)


@family(HISTORY)
def trapezoidal_halving(rng: Rng) -> Case:
    """Trapezoidal rule, the step halved each time: rate 1/4."""
    a = rng.uniform(0.5, 2)
    values = []
    for j in range(int(rng.integers(8, 15))):
        x = np.linspace(0, 1, 2**j + 1)
        y = np.exp(a * x)
        values.append(float((y.sum() - (y[0] + y[-1]) / 2) / 2**j))
    return case(values, C, quarter=False, rate=0.25, limit=math.expm1(a) / a)


@family(HISTORY)
def archimedes_polygons(rng: Rng) -> Case:
    """Perimeters of polygons with 6 2^k corners, by the stable form: rate 1/4, to pi."""
    n = 6 * 2.0 ** np.arange(int(rng.integers(8, 22)))
    factor = log_uniform(rng, 0.01, 100)
    return case(factor * n * np.sin(math.pi / n), C, quarter=False, rate=0.25, limit=factor * math.pi)


@family(HISTORY)
def wynn_epsilon_diagonal(rng: Rng) -> Case:
    """Wynn's table on the alternating harmonic sum: each entry gains a digit or more."""
    s = np.cumsum((-1.0) ** np.arange(20) / np.arange(1, 21))
    out = []
    for n in range(1, 17, 2):
        older, newer = np.zeros(n + 1), s[:n]
        for _ in range(n - 1):
            older, newer = newer, older[1:-1] + 1 / np.diff(newer)
        out.append(float(newer[0]))
    shift = float(rng.normal())
    return case(np.array(out) + shift, C, hard=True, quarter=False, limit=math.log(2) + shift)
