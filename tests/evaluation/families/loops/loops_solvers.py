"""Loops for the black box around solvers and optimisers: conjugate gradients, power iteration, SGD, Adam, k-means."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng, log_uniform
from tests.evaluation.families.loop_cases import loop_family, observed
from tests.evaluation.scoring.cases import Watched


@loop_family(WATCHED)
def conjugate_gradients(rng: Rng) -> Watched:
    """The residual norm on a symmetric positive definite matrix of a given spread."""
    size = int(rng.integers(40, 120))
    q, _ = np.linalg.qr(rng.normal(size=(size, size)))
    a = (q * np.geomspace(1, log_uniform(rng, 30, 1e4), size)) @ q.T
    right = rng.normal(size=size)

    def step(k: int, x: Any, r: Any, p: Any) -> dict[str, Any]:
        ap = a @ p
        alpha = (r @ r) / (p @ ap)
        new = r - alpha * ap
        return {"x": x + alpha * p, "r": new, "p": new + (new @ new) / (r @ r) * p}

    tol = log_uniform(rng, 1e-8, 1e-3)
    start = {"x": np.zeros(size), "r": right, "p": right}
    return observed(start, step, lambda x, r, p: [("|r|", np.linalg.norm(r), ">", tol)], exact=False)


@loop_family(WATCHED)
def close_eigenvalues(rng: Rng) -> Watched:
    """Power iteration: the change of the vector shrinks by the ratio of the two largest eigenvalues."""
    second = float(rng.uniform(0.9, 0.99))
    values = np.r_[1.0, second, rng.uniform(0, 0.8, 6)]
    q, _ = np.linalg.qr(rng.normal(size=(8, 8)))
    a = (q * values) @ q.T

    def step(k: int, v: Any, d: Any) -> dict[str, Any]:
        w = a @ v
        w = w / np.linalg.norm(w)
        return {"v": w, "d": np.linalg.norm(w - v)}

    start = {"v": rng.normal(size=8), "d": 9.0}
    tol = log_uniform(rng, 1e-9, 1e-4)
    return observed(start, step, lambda v, d: [("d", d, ">", tol)], exact=False)


@loop_family(WATCHED)
def adam_gradient(rng: Rng) -> Watched:
    """Adam on a quadratic in float64: |g| swings, and waits for the second moment."""
    h, rate, tol = log_uniform(rng, 0.1, 10), log_uniform(rng, 0.01, 0.2), log_uniform(rng, 1e-6, 1e-2)

    def step(k: int, x: Any, m: Any, v: Any) -> dict[str, Any]:
        g = h * x
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        ahead = rate * (m / (1 - 0.9 ** (k + 1))) / (np.sqrt(v / (1 - 0.999 ** (k + 1))) + 1e-8)
        return {"x": x - ahead, "m": m, "v": v}

    start = {"x": float(rng.uniform(1, 5)), "m": 0.0, "v": 0.0}
    watch = lambda x, m, v: [("|x|+|m|", abs(x) + abs(m), ">", tol)]  # noqa: E731
    return observed(start, step, watch, exact=False)


@loop_family(WATCHED)
def noisy_descent(rng: Rng) -> Watched:
    """SGD with noise of a fixed size: the smoothed loss against a bound above its floor."""
    rate, noise = float(rng.uniform(0.01, 0.1)), float(rng.uniform(0.01, 0.2))

    def step(k: int, x: Any, s: Any) -> dict[str, Any]:
        x = x - rate * (x + noise * rng.normal())
        return {"x": x, "s": 0.95 * s + 0.05 * x * x}

    bound = log_uniform(rng, 4 * rate * noise**2 + 1e-3, 1.0)
    return observed({"x": 5.0, "s": 25.0}, step, lambda x, s: [("loss", s, ">", bound)], exact=False)


@loop_family(WATCHED)
def noise_ball_above(rng: Rng) -> Watched:
    """SGD at a constant rate, its loss bounded away from the tolerance by a term that no step removes."""
    floor, rate = float(rng.uniform(0.5, 2)), float(rng.uniform(0.05, 0.4))
    tol = float(rng.uniform(0.1, 0.8)) * floor

    def step(k: int, x: Any) -> dict[str, Any]:
        return {"x": x - rate * (x + 0.05 * rng.normal())}

    return observed({"x": 3.0}, step, lambda x: [("loss", floor + x * x, ">", tol)], ends=False)


@loop_family(WATCHED)
def clusters_settle(rng: Rng) -> Watched:
    """Lloyd's iteration in one dimension: the centres' largest move, which becomes exactly zero."""
    points = np.sort(rng.normal(size=int(rng.integers(300, 2000))))
    start = np.sort(rng.choice(points, int(rng.integers(6, 16)), replace=False))

    def step(k: int, c: Any, d: Any) -> dict[str, Any]:
        owner = np.searchsorted((c[1:] + c[:-1]) / 2, points)
        new = np.bincount(owner, points, len(c)) / np.maximum(np.bincount(owner, minlength=len(c)), 1)
        return {"c": new, "d": np.abs(new - c).max()}

    return observed({"c": start, "d": 1.0}, step, lambda c, d: [("move", d, ">", 0.0)], exact=False)


@loop_family(WATCHED)
def overrelaxed(rng: Rng) -> Watched:
    """SOR on a chain near its best factor: complex rates, so the residual swings as it falls."""
    size, omega = int(rng.integers(8, 24)), float(rng.uniform(1.2, 1.9))
    right = rng.normal(size=size)

    def step(k: int, x: Any, d: Any) -> dict[str, Any]:
        new = x.copy()
        for i in range(size):
            left, after = new[i - 1] if i else 0.0, new[i + 1] if i + 1 < size else 0.0
            new[i] += omega * ((right[i] + left + after) / 2 - new[i])
        return {"x": new, "d": np.abs(new - x).max()}

    start = {"x": np.zeros(size), "d": 9.0}
    tol = log_uniform(rng, 1e-9, 1e-4)
    return observed(start, step, lambda x, d: [("max|dx|", d, ">", tol)], exact=False)


@loop_family(WATCHED)
def adaptive_step_to_a_pole(rng: Rng) -> Watched:
    """y' = y^2 with steps h = c / y: t comes to rest before the pole, short of the goal."""
    c, goal = float(rng.uniform(0.05, 0.3)), float(rng.uniform(1.3, 3))

    def step(k: int, t: Any, y: Any) -> dict[str, Any]:
        h = c / y
        return {"t": t + h, "y": y / (1 - h * y)}

    # the steps sum to c + c (1 - c) + c (1 - c)^2 + ... = 1
    return observed({"t": 0.0, "y": 1.0}, step, lambda t, y: [("t", t, "<", goal)], ends=False)
