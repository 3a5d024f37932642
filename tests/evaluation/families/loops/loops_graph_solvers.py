"""Loops for the white box around numerical methods: root finding, linear solvers, optimisers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.evaluation.families.base import GRAPH, Rng, log_uniform
from tests.evaluation.families.loop_cases import in_graph, loop_family
from tests.evaluation.scoring.cases import GraphLoop

f16, f32, f64, i64 = np.float16, np.float32, np.float64, np.int64
LIMIT = "limit|floor|fixed|change|recur|tends|converg|rest|cycle|period"


@loop_family(GRAPH)
def graph_geometric(rng: Rng) -> GraphLoop:
    rate, tol = float(rng.uniform(0.2, 0.99)), log_uniform(rng, 1e-12, 1e-2)
    dtype: Any = (f32, f64)[rng.integers(2)]
    return in_graph(rng, {"r": dtype(3)}, lambda r: r > tol, lambda r: {"r": r * rate})


@loop_family(GRAPH)
def graph_newton_root(rng: Rng) -> GraphLoop:
    """Heron's method: in float32, or with a tolerance below one ulp, it may rest above the tolerance."""
    a, dtype = float(rng.uniform(1.5, 99)), (f32, f64)[rng.integers(2)]
    tol = log_uniform(rng, 1e-17, 1e-3)
    return in_graph(
        rng, {"x": dtype(a)}, lambda x: abs(x * x - a) > tol, lambda x: {"x": (x + a / x) * 0.5}, "x", LIMIT
    )


@loop_family(GRAPH)
def graph_secant(rng: Rng) -> GraphLoop:
    """Secant method; at the root both points agree, 0 / 0 is NaN, and a comparison with NaN is false."""
    a, tol = float(rng.uniform(2, 50)), log_uniform(rng, 1e-15, 1e-4)

    def step(x: Any, y: Any) -> dict[str, Any]:
        fx, fy = x * x * x - a, y * y * y - a
        return {"x": y, "y": y - fy * (y - x) / (fy - fx)}

    start = {"x": f64(1), "y": f64(a)}
    return in_graph(rng, start, lambda x, y: abs(y * y * y - a) > tol, step, "y x", LIMIT + "|nan")


@loop_family(GRAPH)
def graph_halley(rng: Rng) -> GraphLoop:
    a, tol = float(rng.uniform(2, 500)), log_uniform(rng, 1e-14, 1e-6)

    def step(x: Any, d: Any) -> dict[str, Any]:
        new = x * (x * x * x + 2 * a) / (2 * x * x * x + a)
        return {"x": new, "d": abs(new - x)}

    return in_graph(rng, {"x": f64(a), "d": f64(1)}, lambda x, d: d > tol, step, "d x", LIMIT)


@loop_family(GRAPH)
def graph_bisection(rng: Rng) -> GraphLoop:
    """The width floors at one ulp of the ends: a smaller tolerance is never met."""
    a, tol = float(rng.uniform(2, 500)), log_uniform(rng, 1e-18, 1e-3)

    def step(low: Any, high: Any) -> dict[str, Any]:
        middle = (low + high) * 0.5
        left = middle * middle > a
        return {"low": np.where(left, low, middle), "high": np.where(left, middle, high)}

    start = {"low": f64(0), "high": f64(a)}
    return in_graph(rng, start, lambda low, high: high - low > tol, step, "low high", LIMIT)


@loop_family(GRAPH)
def graph_golden_section(rng: Rng) -> GraphLoop:
    centre, tol, g = float(rng.uniform(1, 8)), log_uniform(rng, 1e-7, 1e-2), (math.sqrt(5) - 1) / 2

    def step(a: Any, b: Any) -> dict[str, Any]:
        c, d = b - g * (b - a), a + g * (b - a)
        left = (c - centre) * (c - centre) < (d - centre) * (d - centre)
        return {"a": np.where(left, a, c), "b": np.where(left, d, b)}

    return in_graph(rng, {"a": f64(0), "b": f64(9)}, lambda a, b: b - a > tol, step)


@loop_family(GRAPH)
def graph_continued_fraction(rng: Rng) -> GraphLoop:
    """Convergents of [m; m, m ...]: they differ less and less, in the end not at all."""
    m, tol = int(rng.integers(1, 5)), float(rng.choice([1e-6, 1e-12, 0.0]))

    def step(x: Any, d: Any) -> dict[str, Any]:
        return {"x": m + 1 / x, "d": abs(m + 1 / x - x)}

    return in_graph(rng, {"x": f64(m), "d": f64(1)}, lambda x, d: d > tol, step, "d x", LIMIT)


@loop_family(GRAPH)
def graph_conjugate_gradients(rng: Rng) -> GraphLoop:
    """On a chain in whole numbers' matrices; products of rows are sums, the same in both worlds."""
    size, tol = int(rng.integers(3, 12)), log_uniform(rng, 1e-9, 1e-3)
    right = rng.integers(-3, 4, size) + 0.5
    a = 2.0 * np.eye(size) - np.eye(size, k=1) - np.eye(size, k=-1)

    def step(x: Any, r: Any, p: Any) -> dict[str, Any]:
        ap = np.sum(a * p, axis=1)
        alpha = np.sum(r * r) / np.sum(p * ap)
        new = r - alpha * ap
        return {"x": x + alpha * p, "r": new, "p": new + np.sum(new * new) / np.sum(r * r) * p}

    start = {"x": np.zeros(size), "r": right, "p": right}
    return in_graph(rng, start, lambda x, r, p: np.sum(r * r) > tol, step)


@loop_family(GRAPH)
def graph_close_eigenvalues(rng: Rng) -> GraphLoop:
    second, tol = float(rng.uniform(0.9, 0.99)), log_uniform(rng, 1e-8, 1e-4)
    values = np.r_[1.0, second, rng.uniform(0, 0.7, 2)]

    def step(v: Any, d: Any) -> dict[str, Any]:
        w = values * v
        w = w / np.max(np.abs(w))
        return {"v": w, "d": np.max(np.abs(w - v))}

    start = {"v": rng.uniform(0.5, 1, 4), "d": f64(1)}
    return in_graph(rng, start, lambda v, d: d > tol, step)


@loop_family(GRAPH)
def graph_adam(rng: Rng) -> GraphLoop:
    """Adam with a table of noise that repeats; the smoothed gradient ends it, or it goes on in a noise ball."""
    rate, tol = log_uniform(rng, 0.01, 0.1), log_uniform(rng, 0.02, 0.2)
    noise = 0.01 * rng.normal(size=16)

    def step(k: Any, x: Any, m: Any, v: Any, t: Any) -> dict[str, Any]:
        g = x + t[k % 16]
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        return {"k": k + 1, "x": x - rate * m / (np.sqrt(v) + 1e-8), "m": m, "v": v, "t": t}

    start = {"k": i64(0), "x": f64(2), "m": f64(1), "v": f64(1), "t": noise}
    cond = lambda k, x, m, v, t: (abs(x) > tol) & (k < 3000)  # noqa: E731
    return in_graph(rng, start, cond, step)


@loop_family(GRAPH)
def graph_momentum(rng: Rng) -> GraphLoop:
    beta, rate, tol = float(rng.uniform(0.7, 0.97)), float(rng.uniform(0.01, 0.3)), log_uniform(rng, 1e-9, 1e-3)

    def step(x: Any, v: Any) -> dict[str, Any]:
        v = beta * v - rate * x
        return {"x": x + v, "v": v}

    return in_graph(rng, {"x": f64(1), "v": f64(0)}, lambda x, v: np.maximum(abs(x), abs(v)) > tol, step)


@loop_family(GRAPH)
def graph_step_of_two(rng: Rng) -> GraphLoop:
    """Gradient descent with the step 2 / L swings between x and -x."""
    x, tol = float(rng.uniform(1, 9)), log_uniform(rng, 1e-9, 0.5)
    return in_graph(rng, {"x": f64(x)}, lambda x: abs(x) > tol, lambda x: {"x": x - 0.5 * (4.0 * x)}, "x", LIMIT)


@loop_family(GRAPH)
def graph_noisy_descent(rng: Rng) -> GraphLoop:
    noise, rate = rng.normal(size=32), float(rng.uniform(0.05, 0.3))

    def step(k: Any, x: Any, s: Any, t: Any) -> dict[str, Any]:
        x = x - rate * (x + 0.1 * t[k % 32])
        return {"k": (k + 1) % 32, "x": x, "s": 0.9 * s + 0.1 * x * x, "t": t}

    tol = log_uniform(rng, 0.05, 1)
    start = {"k": i64(0), "x": f64(4), "s": f64(16), "t": noise}
    return in_graph(rng, start, lambda k, x, s, t: s > tol, step)


@loop_family(GRAPH)
def graph_clusters(rng: Rng) -> GraphLoop:
    """Two centres of Lloyd's iteration on a line, until neither moves."""
    points = np.sort(rng.normal(size=40)) + np.r_[np.zeros(20), np.ones(20)]

    def step(a: Any, b: Any, moved: Any) -> dict[str, Any]:
        near = np.where(np.abs(points - a) < np.abs(points - b), 1.0, 0.0)
        new = np.sum(near * points) / np.maximum(np.sum(near), 1.0)
        other = np.sum((1.0 - near) * points) / np.maximum(np.sum(1.0 - near), 1.0)
        return {"a": new, "b": other, "moved": np.maximum(abs(new - a), abs(other - b))}

    start = {"a": f64(points[0]), "b": f64(points[1]), "moved": f64(1)}
    return in_graph(rng, start, lambda a, b, moved: moved > 0.0, step)


@loop_family(GRAPH)
def graph_jacobi_change(rng: Rng) -> GraphLoop:
    """max |dx| over an array; or as any(|dx| > tol), or as the number of active places."""
    size, tol, kind = int(rng.integers(3, 10)), log_uniform(rng, 1e-9, 1e-3), int(rng.integers(4))
    right = rng.normal(size=size)
    near = np.eye(size, k=1) + np.eye(size, k=-1)

    def step(x: Any, d: Any) -> dict[str, Any]:
        new = (right + np.sum(near * x, axis=1)) / 2.0
        return {"x": new, "d": np.abs(new - x)}

    conds = (
        lambda x, d: np.max(d) > tol,
        lambda x, d: np.any(d > tol),
        lambda x, d: np.sum(np.where(d > tol, 1, 0)) > 0,
        lambda x, d: np.sqrt(np.sum(d * d)) > tol,
    )
    return in_graph(rng, {"x": np.zeros(size), "d": np.ones(size)}, conds[kind], step)
