"""Textbook iterations: linear systems, roots, fitted models, quadrature, steppers of differential equations."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import HISTORY, C, D, Rng, case, family, orbit
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=9)
def chord_method_iterates(rng: Rng) -> Case:
    """Newton's method with the slope of its first place for ever, on an exponential."""
    a, start = rng.uniform(0.5, 20), rng.uniform(0.5, 1)
    root = math.log(a)
    slope = math.exp(root + start)
    rate = 1 - a / slope
    n = int(rng.uniform(8, 24) / -math.log(rate)) + 10
    return case(orbit(lambda x: x - (math.exp(x) - a) / slope, root + start, n), C, rate=rate, limit=root)


@family(HISTORY, new=9)
def secant_at_a_double_root(rng: Rng) -> Case:
    """The secant's errors at a double root: each is one by the golden section of the one before."""
    a, b = rng.uniform(0.5, 2), rng.uniform(1.2, 1.9)
    out = [a * b, a]
    f = lambda x: x * x * math.exp(x)  # noqa: E731
    while len(out) < int(rng.integers(30, 60)):
        x, y = out[-2:]
        out.append(y - f(y) * (y - x) / (f(y) - f(x)))
    return case(out, C, quarter=False, rate=(math.sqrt(5) - 1) / 2, limit=0.0)


@family(HISTORY, new=9)
def levenberg_damping(rng: Rng) -> Case:
    """Damping that a good step divides by more than what a bad one multiplies it by; every few steps are bad."""
    good, bad, every = rng.uniform(3, 10), rng.uniform(1.5, 2.5), int(rng.integers(3, 6))
    k = np.arange(1, int(rng.integers(30, 120)))
    v = 0.1 * np.cumprod(np.where(k % every == 0, bad, 1 / good))
    return case(np.r_[0.1, v], C, hard=True, limit=0.0)


@family(HISTORY, new=9)
def gauss_points_on_runges_function(rng: Rng) -> Case:
    """Gauss and Legendre's rule with more and more points: geometric, by the pole that lies nearest."""
    pole = rng.uniform(0.15, 0.5)
    out = []
    for m in range(1, int(8 / math.asinh(pole)) + 4):
        x, w = np.polynomial.legendre.leggauss(m)
        out.append(float(w @ (1 / (x * x + pole * pole))))
    return case(out, C, hard=True, quarter=False, limit=2 * math.atan(1 / pole) / pole)


@family(HISTORY, new=9)
def steps_beyond_adams_stability(rng: Rng) -> Case:
    """Adams and Bashforth's method of two steps on a decay, with steps that are too long: growing, of turning sign."""
    z = rng.uniform(1.05, 1.6)
    rate = max(abs(np.roots([1, 1.5 * z - 1, -z / 2])))
    out = [1.0, math.exp(-z)]
    while len(out) < min(int(40 / math.log(rate)), 900):
        out.append(out[-1] * (1 - 1.5 * z) + z / 2 * out[-2])
    return case(out, D, rate=rate)


@family(HISTORY, new=9)
def crank_and_nicolson_rings(rng: Rng) -> Case:
    """A stiff decay by the trapezoidal rule: the error changes its sign at each step and dies slowly."""
    rate = rng.uniform(0.6, 0.97)
    z, rest = 2 * (1 + rate) / (1 - rate), rng.uniform(-2, 2)
    n = int(rng.uniform(8, 24) / -math.log(rate)) + 10
    return case(orbit(lambda y: rest + (1 - z / 2) / (1 + z / 2) * (y - rest), rest + 1.0, n), C, rate=rate, limit=rest)


@family(HISTORY, new=9)
def lazy_walk_on_a_ring_vector(rng: Rng) -> Case:
    """Probabilities of a walker on a ring that rests half of the time, from one place."""
    m = int(rng.integers(4, 10))
    rate = (1 + math.cos(2 * math.pi / m)) / 2
    p = np.eye(m)[int(rng.integers(m))]
    n = int(rng.uniform(10, 24) / -math.log(rate)) + 10
    return case(orbit(lambda p: p / 2 + (np.roll(p, 1) + np.roll(p, -1)) / 4, p, n), C, hard=True, rate=rate)
