"""Random histories of dynamical systems, algorithms with an end, and curves without a simple law."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tests.evaluation.random_histories.base import C, D, Drawn, O, Rng, S, length

Field = Callable[[np.ndarray], np.ndarray]


def flow(f: Field, state: np.ndarray, h: float, n: int) -> np.ndarray:
    """First components of n states by the classical Runge-Kutta method."""
    out = []
    for _ in range(n):
        out.append(float(state[0]))
        k1 = f(state)
        k2 = f(state + h / 2 * k1)
        k3 = f(state + h / 2 * k2)
        k4 = f(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.array(out)


def van_der_pol(rng: Rng) -> Drawn:
    mu = rng.uniform(0.5, 3)
    values = flow(
        lambda s: np.array([s[1], mu * (1 - s[0] ** 2) * s[1] - s[0]]),
        np.array([rng.uniform(0.5, 3), 0.0]),
        0.1,
        length(rng, 500, 1500),
    )
    return Drawn("van_der_pol", values, O, quarter=False)


def lotka_volterra(rng: Rng) -> Drawn:
    values = flow(
        lambda s: np.array([s[0] * (1 - s[1]), s[1] * (s[0] - 1)]), rng.uniform(0.4, 2, 2), 0.05, length(rng, 800, 1500)
    )
    return Drawn("lotka_volterra", values, O, quarter=False)


def pendulum(rng: Rng) -> Drawn:
    damping = float(rng.choice([0.0, rng.uniform(0.1, 0.3)]))
    values = flow(
        lambda s: np.array([s[1], -math.sin(s[0]) - damping * s[1]]),
        np.array([rng.uniform(0.5, 2.0), 0.0]),
        0.1,
        length(rng, 400, 1500),
    )
    if damping:
        return Drawn("pendulum_damped", values, C, {"limit": 0.0}, quarter=False)
    return Drawn("pendulum", values, O, quarter=False)


def conjugate_gradients(rng: Rng) -> Drawn:
    n = int(rng.integers(8, 40))
    q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    a = q @ np.diag(np.exp(rng.uniform(0, math.log(50), n))) @ q.T
    r = rng.normal(size=n)
    p, out = r.copy(), [float(np.linalg.norm(r))]
    for _ in range(length(rng, 16, 80)):
        rr, ap = float(r @ r), a @ p
        if rr < 1e-280:
            break
        r = r - rr / float(p @ ap) * ap
        p = r + float(r @ r) / rr * p
        out.append(float(np.linalg.norm(r)))
    return Drawn("conjugate_gradients", np.array(out), C, {"limit": 0.0}, quarter=False)


def algorithm(rng: Rng) -> Drawn:
    kind = rng.integers(0, 3)
    after = int(rng.integers(12, 40))
    if kind == 0:
        x, out = int(rng.integers(10, 1000)), []
        while x != 1:
            out.append(x)
            x = x // 2 if x % 2 == 0 else 3 * x + 1
        return Drawn("collatz", np.array(out + [1, 4, 2] * after), O, {"period": 3.0}, quarter=False)
    if kind == 1:
        a, b, out = int(rng.integers(10**8, 10**9)), int(rng.integers(10**8, 10**9)), []
        while b:
            out.append(b)
            a, b = b, a % b
        return Drawn("gcd", np.array(out + [0] * (len(out) + after)), C, {"limit": 0.0}, quarter=False)
    points = rng.normal(size=(200, 2))
    centers, out = points[:5].copy(), []
    for _ in range(40 + after):
        distance = ((points[:, None] - centers) ** 2).sum(axis=2)
        nearest = distance.argmin(axis=1)
        out.append(float(distance.min(axis=1).sum()))
        centers = np.array([points[nearest == j].mean(axis=0) for j in range(5)])
    return Drawn("k_means", np.array(out), C, quarter=False)


def sigmoid(rng: Rng) -> Drawn:
    n = length(rng, 20, 200)
    z = np.arange(n) / n * rng.uniform(3, 8)
    values = np.tanh(z) if rng.random() < 0.5 else 1 - np.exp(-z * z)
    return Drawn("sigmoid", values, C, quarter=False)


def trend(rng: Rng) -> Drawn:
    k = np.arange(length(rng, 100, 2000))
    return Drawn("sine_and_trend", np.sin(rng.uniform(0.2, 2) * k) + rng.uniform(0.05, 1) * k, D)


def correlated_noise(rng: Rng) -> Drawn:
    n, a, x, out = length(rng, 100, 2000), rng.uniform(0.2, 0.8), 0.0, []
    for e in rng.normal(size=n):
        x = a * x + e
        out.append(x)
    return Drawn("correlated_noise", np.array(out), S)


def wrapping_counter(rng: Rng) -> Drawn:
    values = (np.arange(length(rng, 1000, 3000)) * int(rng.integers(1, 5))).astype(np.uint8)
    return Drawn("wrapping_counter", values, O, quarter=False)


FAMILIES = (
    van_der_pol,
    lotka_volterra,
    pendulum,
    conjugate_gradients,
    algorithm,
    sigmoid,
    trend,
    correlated_noise,
    wrapping_counter,
)
