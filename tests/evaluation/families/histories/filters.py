"""Filters: Kalman gains and variances, smoothing, running moments, the answer of a recursion to one shock."""

from __future__ import annotations

import math

import numpy as np
from scipy import linalg
from scipy.signal import lfilter

from tests.evaluation.families.base import HISTORY, C, D, Rng, case, family, log_uniform, placed, scale, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY)
def kalman_gain_scalar(rng: Rng) -> Case:
    """Riccati's recursion of a scalar filter: the rate is the square of the filter's own."""
    a, q, r = rng.uniform(0.6, 1.1), log_uniform(rng, 0.003, 0.3), 1.0
    p_end = float(linalg.solve_discrete_are([[a]], [[1.0]], [[q]], [[r]])[0, 0])
    rate = (a * r / (p_end + r)) ** 2
    p, out = p_end * rng.uniform(3, 30), []
    for _ in range(int(rng.uniform(8, 22) / -math.log(rate)) + 8):
        out.append(p / (p + r))
        p = a * a * p * r / (p + r) + q
    return case(out, C, quarter=False, rate=rate, limit=p_end / (p_end + r))


@family(HISTORY)
def kalman_constant_state(rng: Rng) -> Case:
    """Variance of the estimate of a constant: 1 / (1 / P + k / R), exponent 1."""
    k, p = np.arange(size(rng, 300, 6000)), log_uniform(rng, 1, 1e4)
    return case(1 / (1 / p + k / log_uniform(rng, 0.1, 10)), C, limit=0.0, exponent=1.0)


@family(HISTORY)
def kalman_position_variance(rng: Rng) -> Case:
    """Position and velocity: the variance falls to the Riccati equation's solution, turning a little."""
    f, h = np.array([[1, 1], [0, 1.0]]), np.array([[1.0, 0]])
    q = log_uniform(rng, 1e-3, 0.1) * np.array([[1 / 3, 1 / 2], [1 / 2, 1.0]])
    end = linalg.solve_discrete_are(f.T, h.T, q, np.eye(1))
    p, out = 50 * np.eye(2), []
    for _ in range(int(rng.integers(60, 200))):
        out.append(p[0, 0])
        gain = p @ h.T / (p[0, 0] + 1)
        p = f @ (p - gain @ h @ p) @ f.T + q
    return case(out, C, quarter=False, limit=float(end[0, 0]))


@family(HISTORY)
def exponential_smoothing(rng: Rng) -> Case:
    """Of a constant, from a wrong start: rate 1 - alpha."""
    alpha = log_uniform(rng, 0.003, 0.6)
    k = np.arange(max(16, min(int(rng.uniform(4, 25) / alpha), 8000)))
    return placed(rng, 2 + 5 * (1 - alpha) ** k, C, rate=1 - alpha, limit=2.0)


@family(HISTORY)
def running_mean(rng: Rng) -> Case:
    """Law of large numbers."""
    n = size(rng, 1000, 10_000)
    v = np.cumsum(rng.normal() + rng.normal(size=n)) / np.arange(1, n + 1)
    return case(v * scale(rng), C, hard=True, quarter=False)


@family(HISTORY)
def welford_squares(rng: Rng) -> Case:
    """Sum of squared deviations so far: grows by the variance each step."""
    e = rng.laplace(size=size(rng, 300, 6000))
    k = np.arange(1, len(e) + 1)
    return case((np.cumsum(e * e) - np.cumsum(e) ** 2 / k)[1:], D, quarter=False)


@family(HISTORY)
def impulse_response(rng: Rng) -> Case:
    """AR(2) with complex roots after one shock: damped waves of their modulus."""
    rate, t = rng.uniform(0.7, 0.99), rng.uniform(0.2, 2.8)
    n = int(rng.uniform(6, 30) / -math.log(rate)) + 20
    v = lfilter([1.0], [1, -2 * rate * math.cos(t), rate**2], np.r_[1.0, np.zeros(n - 1)])
    return case(v * scale(rng), C, rate=rate, limit=0.0, quarter=False)
