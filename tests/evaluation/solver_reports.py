"""Six solvers and the reports about them: ``python -m tests.evaluation.solver_reports [names]`` prints the reports."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import workbench as wb


@wb.graph
def conjugate_gradients(A, b, x, tol: float):
    r = b - A @ x
    p = r
    rs = np.sum(r * r)
    while np.sqrt(rs) > tol:
        Ap = A @ p
        alpha = rs / np.sum(p * Ap)
        x = x + alpha * p
        r = r - alpha * Ap
        new = np.sum(r * r)
        p = r + (new / rs) * p
        rs = new
    return x


@wb.graph
def power_iteration(A, v, tol: float):
    change = 1.0
    while change > tol:
        w = A @ v
        w = w / np.sqrt(np.sum(w * w))
        change = np.sqrt(np.sum((w - v) * (w - v)))
        v = w
    return v


@wb.graph
def adam(w: float, lr: float, tol: float):
    m = 0.0
    v = 0.0
    t = 0
    g = 2.0 * (w - 3.0)
    while abs(g) > tol:
        t = t + 1
        g = 2.0 * (w - 3.0)
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        mh = m / (1.0 - 0.9**t)
        vh = v / (1.0 - 0.999**t)
        w = w - lr * mh / (np.sqrt(vh) + 1e-8)
    return w


@wb.graph
def secant(x0: float, x1: float, tol: float):
    f0 = x0 * x0 * x0 - 2.0
    f1 = x1 * x1 * x1 - 2.0
    while abs(x1 - x0) > tol:
        x2 = x1 - f1 * (x1 - x0) / (f1 - f0)
        x0 = x1
        f0 = f1
        x1 = x2
        f1 = x1 * x1 * x1 - 2.0
    return x1


@wb.graph
def heron(a, x, tol):
    while abs(x * x - a) > tol:
        x = np.float32(0.5) * (x + a / x)
    return x


@wb.graph
def k_means(data, c0: float, c1: float):
    moved = 1.0
    while moved > 0.0:
        near = np.abs(data - c0) < np.abs(data - c1)
        n0 = np.sum(np.where(near, 1.0, 0.0))
        n1 = np.sum(np.where(near, 0.0, 1.0))
        a = np.sum(np.where(near, data, 0.0)) / n0
        b = np.sum(np.where(near, 0.0, data)) / n1
        moved = abs(a - c0) + abs(b - c1)
        c0 = a
        c1 = b
    return c0


def cases() -> dict[str, tuple[Callable[..., Any], dict[str, Any], int]]:
    """Name -> (function, inputs, iterations that are run before the report)."""
    rng = np.random.default_rng(0)
    n = 40
    m = rng.normal(size=(n, n))
    q = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    close = q @ np.diag([1.0, 0.97, 0.5, 0.2, 0.1]) @ q.T
    points = np.concatenate([rng.normal(0, 1, 300), rng.normal(3, 1, 300)])
    f32 = np.float32
    return {
        "conjugate gradients": (
            conjugate_gradients,
            {"A": m @ m.T + 0.2 * n * np.eye(n), "b": rng.normal(size=n), "x": np.zeros(n), "tol": 1e-10},
            7,
        ),
        "power iteration": (power_iteration, {"A": close, "v": np.ones(5) / np.sqrt(5), "tol": 1e-8}, 40),
        "Adam": (adam, {"w": 0.0, "lr": 0.01, "tol": 1e-3}, 200),
        "secant": (secant, {"x0": 1.0, "x1": 2.0, "tol": 1e-12}, 4),
        "float32": (heron, {"a": f32(2.0), "x": f32(1.0), "tol": f32(1e-8)}, 10),
        "k-means": (k_means, {"data": points, "c0": -1.0, "c1": 0.5}, 3),
    }


def analysis_of(name: str) -> wb.Analysis:
    """The analysis of a solver that was stopped part way."""
    function, inputs, iterations = cases()[name]
    with wb.Session(function.graph_for(**inputs), inputs) as session:
        session.next_iteration(iterations + 1)
        return wb.analyze(session)


if __name__ == "__main__":
    for name in sys.argv[1:] or cases():
        print(f"--- {name}\n{analysis_of(name)}")
