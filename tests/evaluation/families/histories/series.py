"""Series and sequences of analysis: p-series, alternating, slow, divergent, asymptotic; quadrature; products."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import zeta

from tests.evaluation.families.base import HISTORY, C, D, O, Rng, case, family, placed, scale, sign, size
from tests.evaluation.scoring.cases import Case


def _k(rng: Rng, low: int = 60, high: int = 10_000) -> np.ndarray:
    return np.arange(1.0, size(rng, low, high) + 1)


@family(HISTORY)
def p_series_convergent(rng: Rng) -> Case:
    s, k = rng.uniform(1.25, 3), _k(rng, 200)
    return placed(rng, np.cumsum(k**-s), C, hard=s < 1.4, quarter=len(k) > 800, limit=float(zeta(s)), exponent=s - 1)


@family(HISTORY)
def p_series_divergent(rng: Rng) -> Case:
    s = float(rng.choice([1.0, rng.uniform(0.2, 0.95)]))
    return placed(rng, np.cumsum(_k(rng) ** -s), D, hard=s > 0.8)


@family(HISTORY)
def harmonic_progression(rng: Rng) -> Case:
    """1 / (a k + b)."""
    k = _k(rng)
    return placed(rng, np.cumsum(1 / (rng.uniform(0.5, 5) * k + rng.uniform(0, 8))), D, hard=True, quarter=False)


@family(HISTORY)
def logarithm_over_k_series(rng: Rng) -> Case:
    """log k / k: like the squared logarithm, faster than the harmonic sum."""
    k = _k(rng, 300) + 1
    return case(np.cumsum(np.log(k) / k) * scale(rng), D, hard=True, quarter=False)


@family(HISTORY)
def logarithm(rng: Rng) -> Case:
    return placed(rng, np.log(_k(rng) + rng.uniform(0, 5)), D, hard=True, quarter=False)


@family(HISTORY)
def power_growth(rng: Rng) -> Case:
    return placed(rng, _k(rng, 20) ** rng.uniform(0.3, 3), D)


@family(HISTORY)
def alternating_p_series(rng: Rng) -> Case:
    """Dirichlet's eta: (1 - 2^(1 - s)) zeta(s)."""
    s, k = float(rng.choice([1.0, rng.uniform(0.4, 0.9), rng.uniform(1.2, 2.5)])), _k(rng)
    v = np.cumsum((-1) ** (k - 1) * k**-s)
    limit = math.log(2) if s == 1 else (1 - 2 ** (1 - s)) * _zeta(s)
    return placed(rng, v, C, hard=s < 1, limit=limit)


def _zeta(s: float) -> float:
    """Zeta for s > 0, s not 1: by Euler and Maclaurin with 50 terms."""
    n = 50.0
    k = np.arange(1, n)
    return float(np.sum(k**-s) + n ** (1 - s) / (s - 1) + n**-s / 2 + s * n ** (-s - 1) / 12)


@family(HISTORY)
def leibniz(rng: Rng) -> Case:
    k = _k(rng)
    return placed(rng, np.cumsum((-1) ** (k - 1) / (2 * k - 1)), C, limit=math.pi / 4)


@family(HISTORY)
def geometric_series(rng: Rng) -> Case:
    q = rng.uniform(0.1, 0.95) * sign(rng)
    n = int(rng.uniform(6, 30) / -math.log(abs(q))) + 12
    return placed(rng, np.cumsum(q ** np.arange(n)), C, quarter=n >= 64, rate=abs(q), limit=1 / (1 - q))


@family(HISTORY)
def exponential_series(rng: Rng) -> Case:
    x = rng.uniform(0.5, 6)
    n = int(14 + 3 * x)
    terms = np.cumprod(np.r_[1.0, x / np.arange(1, n)])
    return case(np.cumsum(terms), C, quarter=False, limit=math.exp(x))


@family(HISTORY)
def power_series_outside(rng: Rng) -> Case:
    """Terms x^k / k outside of the circle of convergence."""
    x = rng.uniform(1.1, 2) * sign(rng)
    k = np.arange(1.0, int(rng.uniform(15, 60) / math.log(abs(x))))
    return case(np.cumsum(x**k / k), D, quarter=False)


@family(HISTORY)
def grandi(rng: Rng) -> Case:
    """1 - 1 + 1 ...: the partial sums jump for ever."""
    k = np.arange(size(rng, 16, 3000))
    return placed(rng, np.cumsum((-1.0) ** k), O, quarter=len(k) >= 64, period=2.0)


@family(HISTORY)
def grandi_means(rng: Rng) -> Case:
    """Their running means tend to 1/2."""
    k = _k(rng, 100, 4000)
    return placed(rng, np.cumsum(np.cumsum((-1.0) ** (k - 1))) / k, C, hard=True, limit=0.5)


@family(HISTORY)
def alternating_growing(rng: Rng) -> Case:
    """1 - 2 + 3 - 4 ..."""
    k = _k(rng, 20, 4000)
    return placed(rng, np.cumsum((-1) ** k * k ** rng.uniform(0.5, 2)), D)


@family(HISTORY)
def cosine_sums(rng: Rng) -> Case:
    """Dirichlet's kernel: bounded, with the period of its angle."""
    t = rng.uniform(0.2, 2.8)
    n = size(rng, max(60, int(60 / t)), 5000)
    return placed(rng, np.cumsum(np.cos(t * np.arange(n))), O, quarter=n * t > 250, period=2 * math.pi / t)


@family(HISTORY)
def fourier_series_of_the_saw(rng: Rng) -> Case:
    """sin(k t) / k: to (pi - t) / 2, in waves that shrink like 1/k."""
    t = rng.uniform(0.4, 2.6)
    k = _k(rng, 500, 5000)
    return case(np.cumsum(np.sin(t * k) / k) * scale(rng), C, hard=True, quarter=False)


@family(HISTORY)
def asymptotic_series(rng: Rng) -> Case:
    """Stieltjes' sum of (-1)^k k! x^k: settles at first, then the terms grow for ever."""
    x = rng.uniform(0.08, 0.2)
    k = np.arange(1.0, int(rng.uniform(3.5, 6) / x))
    return case(np.cumsum(np.r_[1.0, np.cumprod(-k * x)]), D, hard=True, quarter=False)


@family(HISTORY)
def wallis_product(rng: Rng) -> Case:
    k = _k(rng, 200)
    return placed(rng, np.cumprod(4 * k * k / (4 * k * k - 1)), C, limit=math.pi / 2, exponent=1.0)


@family(HISTORY)
def compound_interest(rng: Rng) -> Case:
    """(1 + x / k)^k to e^x."""
    x, k = rng.uniform(0.5, 2), _k(rng, 300)
    return case((1 + x / k) ** k, C, limit=math.exp(x), exponent=1.0)


@family(HISTORY)
def euler_constant(rng: Rng) -> Case:
    """Harmonic sum less log k."""
    k = _k(rng, 200)
    return placed(rng, np.cumsum(1 / k) - np.log(k), C, limit=0.5772156649015329, exponent=1.0)


@family(HISTORY)
def inverse_power(rng: Rng) -> Case:
    p, k = rng.uniform(0.3, 2.5), _k(rng, 200)
    return placed(rng, k**-p, C, hard=p < 0.6, limit=0.0, exponent=p)


@family(HISTORY)
def monte_carlo_pi(rng: Rng) -> Case:
    """Share of random points in the quarter circle so far."""
    x = rng.uniform(size=(2, size(rng, 2000, 10_000)))
    return case(4 * np.cumsum((x**2).sum(0) < 1) / np.arange(1, x.shape[1] + 1), C, hard=True, quarter=False)
