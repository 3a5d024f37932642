"""Solvers: Newton, secant, fixed points, power iteration, relaxation, gradient descent."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tests.evaluation.corpus.orbit import iterate
from tests.evaluation.scoring.cases import C, Case, D


def newton() -> Iterator[Case]:
    for a in (2.0, 3.0, 10.0, 0.5, 1e10, 1e-10):
        for n in (8, 12, 60):
            x0 = 1.5 * math.sqrt(a)
            values = iterate(lambda x, a=a: 0.5 * (x + a / x), x0, n)
            yield Case("newton", values, C, facts={"limit": math.sqrt(a)} | ({"order": 2.0} if n == 8 else {}))
    for scale in (1e-300, 1e-100, 1e100, 1e300):
        values = iterate(lambda x: 0.5 * (x + 2 / x), 2.5, 10) * scale
        yield Case("newton_scaled", values, C, facts={"limit": math.sqrt(2.0) * scale})
    for dtype in (np.float32, np.float16):
        yield Case("newton_low", iterate(lambda x: 0.5 * (x + 2 / x), 3.0, 20).astype(dtype), C)
    for n in (20, 40):  # a double root: linear, rate 1/2
        yield Case("newton_double", iterate(lambda x: x - (x - 1) / 2, 4.0, n), C, facts={"rate": 0.5})


def secant() -> Iterator[Case]:
    for f, x0, x1, root in (
        (lambda x: x * x - 2, 1.0, 2.0, math.sqrt(2)),
        (lambda x: x**3 - x - 2, 1.0, 2.0, 1.5213797068045675),
        (lambda x: math.cos(x) - x, 0.0, 1.0, 0.7390851332151607),
    ):
        xs = [x0, x1]
        for _ in range(10):
            a, b = xs[-2:]
            fa, fb = f(a), f(b)
            xs.append(b if fa == fb else b - fb * (b - a) / (fb - fa))
        yield Case("secant", np.array(xs), C, facts={"limit": root})
        yield Case("secant", np.array(xs[:8]), C, facts={"limit": root})


def fixed_points() -> Iterator[Case]:
    maps = (
        (math.cos, 1.0, 0.7390851332151607, math.sin(0.7390851332151607)),
        (lambda x: math.exp(-x), 0.5, 0.5671432904097838, 0.5671432904097838),
        (lambda x: 0.9 * x + 1, 0.0, 10.0, 0.9),
        (lambda x: 0.99 * x + 1, 0.0, 100.0, 0.99),
        (lambda x: -0.95 * x + 1, 3.0, 1 / 1.95, 0.95),
        (lambda x: math.sqrt(1 + x), 0.0, (1 + math.sqrt(5)) / 2, 1 / (1 + math.sqrt(5))),
        (lambda x: 0.999 * x + 5, 1.0, 5000.0, 0.999),
        (lambda x: 2.8 * x * (1 - x), 0.2, 1 - 1 / 2.8, 0.8),
        (lambda x: 1.5 * x * (1 - x), 0.2, 1 - 1 / 1.5, 0.5),
    )
    for f, x0, limit, rate in maps:
        for n in (12, 30, 100, 1000):
            values = iterate(f, x0, n)
            easy = n >= 30
            yield Case(
                "fixed_point", values, C, not easy, {"limit": limit} | ({"rate": rate} if 30 <= n <= 100 else {})
            )
    for scale in (1e-300, 1e-150, 1e150, 1e300):
        yield Case("fixed_scaled", iterate(math.cos, 1.0, 50) * scale, C, facts={"limit": 0.7390851332151607 * scale})
    for dtype in (np.float16, np.float32):
        for rate in (0.5, 0.8, 0.9):
            values = (1 + rate ** np.arange(80)).astype(dtype)
            yield Case("fixed_low", values, C)
            yield Case("fixed_low", values[:16], C, True)


def power_iteration() -> Iterator[Case]:
    for seed, ratio in ((0, 0.5), (1, 0.9), (2, 0.97), (3, 0.3)):
        rng = np.random.default_rng(seed)
        q, _ = np.linalg.qr(rng.normal(size=(6, 6)))
        a = q @ np.diag([2.0, 2.0 * ratio, 0.4, 0.3, 0.2, 0.1]) @ q.T
        v = rng.normal(size=6)
        out = []
        for _ in range(120):
            v = a @ v
            v /= np.linalg.norm(v)
            out.append(v @ a @ v)
        for n in (20, 120):
            facts = {"limit": 2.0, "rate": ratio**2} if ratio < 0.95 and n > 20 else {}
            yield Case("power_iteration", np.array(out[:n]), C, n == 20, facts)


def linear_solvers() -> Iterator[Case]:
    n = 12
    a = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    b = np.ones(n)
    for omega, label in ((1.0, C), (1.4, C), (1.7, C), (1.9, C), (2.1, D)):
        x, residuals = np.zeros(n), []
        for _ in range(150):
            for i in range(n):
                x[i] += omega * (b[i] - a[i] @ x) / a[i, i]
            residuals.append(np.linalg.norm(b - a @ x))
        yield Case("sor", np.array(residuals), label, omega >= 1.7)
        yield Case("sor", np.array(residuals[:60]), label, True)
    for step in (0.1, 0.4, 0.49):
        x, values = np.linspace(0, 1, n), []
        for _ in range(400):
            x = x - step * (a @ x - b)
            values.append(0.5 * x @ a @ x - b @ x)
        yield Case("gradient_descent", np.array(values), C)
    for step in (0.6, 1.0):
        x, values = np.linspace(0, 1, n), []
        for _ in range(100):
            x = x - step * (a @ x - b)
            values.append(x[0])
        yield Case("gradient_too_long", np.array(values), D)


GENERATORS = (newton, secant, fixed_points, power_iteration, linear_solvers)
