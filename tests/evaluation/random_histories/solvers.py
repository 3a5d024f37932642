"""Random histories of solvers: roots, fixed points, linear systems, descent, series."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tests.evaluation.random_histories.base import C, D, Drawn, Rng, length, low, shift


def newton(rng: Rng) -> Drawn:
    a, p = 10.0 ** rng.uniform(-3, 3), int(rng.integers(2, 5))
    root = a ** (1.0 / p)
    x, out = root * rng.uniform(1.05, 4.0), []
    for _ in range(length(rng, 8, 60)):
        out.append(x)
        x -= (x**p - a) / (p * x ** (p - 1))
    error = np.abs(np.array(out) - root)
    moving = int(np.sum(error > 1e-12 * root))
    facts = {"order": 2.0} if moving >= 5 and np.any((error < 0.03 * root) & (error > 1e-7 * root)) else {}
    values, limit = shift(rng, np.array(out), limit=root)
    return Drawn("newton", values, C, facts | limit)


def secant(rng: Rng) -> Drawn:
    a = rng.uniform(0.5, 20)
    f, root = (lambda x: x * x - a), math.sqrt(a)
    xs = [root * rng.uniform(1.1, 1.8), root * rng.uniform(1.9, 3.0)]
    for _ in range(length(rng, 8, 30)):
        u, v = xs[-2:]
        xs.append(v if f(u) == f(v) else v - f(v) * (v - u) / (f(v) - f(u)))
    values, limit = shift(rng, np.array(xs), limit=root)
    return Drawn("secant", values, C, limit)


def fixed_point(rng: Rng) -> Drawn:
    kind = rng.integers(0, 5)
    if kind == 0:
        c = rng.uniform(0.3, 1.2)
        f: Callable[[float], float] = lambda x: math.cos(c * x)  # noqa: E731
        slope: Callable[[float], float] = lambda x: -c * math.sin(c * x)  # noqa: E731
    elif kind == 1:
        c = rng.uniform(0.2, 2.0)
        f, slope = (lambda x: math.exp(-c * x)), (lambda x: -c * math.exp(-c * x))
    elif kind == 2:
        c = rng.uniform(0.5, 20)
        f, slope = (lambda x: math.sqrt(c + x)), (lambda x: 0.5 / math.sqrt(c + x))
    elif kind == 3:
        c = rng.uniform(1.2, 2.9)
        f, slope = (lambda x: c * x * (1 - x)), (lambda x: c * (1 - 2 * x))
    else:
        c, b = rng.choice([-1, 1]) * (1 - 10.0 ** rng.uniform(-2.5, -0.1)), rng.uniform(-5, 5)
        f, slope = (lambda x: c * x + b), (lambda x: c)
    x = rng.uniform(0.1, 0.8)
    out = [x]
    n = length(rng, 12, 1000)
    for _ in range(n - 1):
        out.append(f(out[-1]))
    for _ in range(20000):
        x = f(x)
    rate = abs(slope(x))
    values, facts = shift(rng, np.array(out), limit=x)
    gone = rate**n
    if 1e-12 < gone < 0.02 and rate > 0.05:
        facts["rate"] = rate
    if rng.random() < 0.2:
        return Drawn("fixed_point_low", low(rng, np.array(out)), C)
    return Drawn("fixed_point", values, C, facts)


def power_iteration(rng: Rng) -> Drawn:
    d, ratio = int(rng.integers(3, 12)), rng.uniform(0.2, 0.95)
    q, _ = np.linalg.qr(rng.normal(size=(d, d)))
    top = rng.uniform(0.5, 9.0)
    spectrum = np.sort(rng.uniform(0.02, 0.9 * ratio, d))[::-1] * top
    spectrum[0], spectrum[1] = top, top * ratio
    a, v, out = q @ np.diag(spectrum) @ q.T, rng.normal(size=d), []
    for _ in range(length(rng, 16, 400)):
        v = a @ v
        v /= np.linalg.norm(v)
        out.append(float(v @ a @ v))
    gone = ratio ** (2 * len(out))
    facts = {"rate": ratio**2} if 1e-11 < gone < 1e-3 else {}
    values, limit = shift(rng, np.array(out), limit=top)
    return Drawn("power_iteration", values, C, facts | limit)


def relaxation(rng: Rng) -> Drawn:
    n = int(rng.integers(5, 20))
    a = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    b, x = rng.normal(size=n), rng.normal(size=n)
    solution = np.linalg.solve(a, b)
    omega, what, out = rng.choice([1.0, rng.uniform(0.5, 1.9), rng.uniform(2.05, 2.3)]), rng.integers(0, 2), []
    for _ in range(length(rng, 24, 400)):
        for i in range(n):
            x[i] += omega * (b[i] - a[i] @ x) / a[i, i]
        out.append(float(np.linalg.norm(b - a @ x)) if what else float(x[n // 2]))
        if not abs(out[-1]) < 1e200:
            break
    if omega > 2:
        return Drawn("sor_too_long", np.array(out), D, quarter=len(out) > 120)
    values, facts = shift(rng, np.array(out), limit=0.0 if what else float(solution[n // 2]))
    return Drawn("sor", values, C, facts, quarter=len(out) > 120)


def descent(rng: Rng) -> Drawn:
    n = int(rng.integers(2, 9))
    curves = np.exp(rng.uniform(math.log(0.05), 0, n))
    curves[0] = 1.0
    x = rng.choice([-1, 1], n) * rng.uniform(0.5, 2.0, n)
    kind, steps = rng.integers(0, 4), length(rng, 30, 800)
    beta, lr = (0.0, rng.uniform(0.2, 1.8)) if kind < 2 else (rng.uniform(0.3, 0.97), rng.uniform(0.1, 1.5))
    if kind == 3:
        lr = (2 * (1 + beta)) * rng.uniform(1.03, 1.3)
    what, v, out, target = rng.integers(0, 2), np.zeros(n), [], rng.uniform(-2, 2)
    for _ in range(steps):
        v = beta * v - lr * curves * x
        x = x + v
        out.append(float(0.5 * curves @ (x * x)) + (target if what else 0.0) if what else float(x.sum()) + target)
        if not abs(out[-1]) < 1e100:
            break
    modes = np.array([np.abs(np.roots([1, -(1 + beta - lr * c), beta])).max() for c in curves])
    rate = float(modes.max()) ** (2 if what else 1)
    if rate > 1:
        return Drawn("descent_too_long", np.array(out), D)
    values, facts = shift(rng, np.array(out), limit=target)
    if n <= 4 and 1e-11 < rate ** len(out) < 1e-4 and np.sort(modes)[-2] < 0.9 * modes.max() and not what:
        facts["rate"] = rate
    return Drawn("descent", values, C, facts)


def bisection(rng: Rng) -> Drawn:
    low, high, root, out = 0.0, rng.uniform(1, 3), rng.uniform(0.1, 0.9), []
    what = rng.integers(0, 2)
    for _ in range(length(rng, 16, 80)):
        middle = (low + high) / 2
        out.append(middle if what else high - low)
        low, high = (middle, high) if middle < root else (low, middle)
    return Drawn("bisection" if what else "interval", np.array(out), C, {"limit": root} if what else {})


def residual_floor(rng: Rng) -> Drawn:
    n = length(rng, 40, 500)
    k = np.arange(n)
    rate = math.exp(-rng.uniform(40, 90) / n)
    floor = 10.0 ** rng.uniform(-16, -13)
    return Drawn("residual_floor", rate**k + floor * np.abs(rng.normal(size=n)), C, quarter=False)


def series(rng: Rng) -> Drawn:
    n, kind, x = length(rng, 9, 40), rng.integers(0, 4), rng.uniform(0.3, 2.5)
    if kind == 0:
        return Drawn("exp_series", np.cumsum([x**i / math.factorial(i) for i in range(n)]), C, {"limit": math.exp(x)})
    if kind == 1:
        y = x / 2.6
        out = np.cumsum([y ** (i + 1) / (i + 1) for i in range(4 * n)])
        return Drawn("log_series", out, C, {"limit": -math.log(1 - y)})
    if kind == 2:
        a, b, out = 1.0, 1.0 / (1 + x), []
        for _ in range(8):
            out.append(a)
            a, b = (a + b) / 2, math.sqrt(a * b)
        return Drawn("agm", np.array(out), C, {"limit": a})
    c, out = x, []
    for _ in range(n):
        out.append(c)
        c = 1 + x / (1 + c)
    return Drawn("continued_fraction", np.array(out), C, {"limit": math.sqrt(1 + x)})


def stepped(rng: Rng) -> Drawn:
    """A learning rate that is divided at intervals, and a loss that falls to a level with it."""
    each, n = int(rng.integers(5, 40)), int(rng.integers(6, 15))
    return Drawn("stepped_decay", 0.1 * 0.5 ** (np.arange(each * n) // each), C, quarter=False)
