"""Runs with known ends: each is run to its end, and its log is cut at a point where a user might have read it.

A run is a generator of rows; the truth comes from the rows after the cut, never from a forecast.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Rows = Iterator[dict[str, float]]
MOST = 20_000


@dataclass(frozen=True)
class KnownRun:
    """Rows of a run, its target, the number of rows in the log, and its end.

    ``end`` is "reached" (in the log), "later" (after the cut), "never", "NaN" or "infinite" (in the log).
    """

    rows: Callable[[], Rows]
    until: dict[str, tuple[str, float]]
    cut: int
    end: str
    format: str = "csv"


def _quadratic(size: int = 20, condition: float = 50.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    q, _ = np.linalg.qr(rng.normal(size=(size, size)))
    return q @ np.diag(np.geomspace(1.0, condition, size)) @ q.T, rng.normal(size=size)


def gradient_descent(step: float, noise: float = 0.0, fall: float = 1.0) -> Rows:
    """Loss of a quadratic above its minimum; ``noise`` is that of the gradient, ``fall`` the factor of the step."""
    a, b = _quadratic()
    rng = np.random.default_rng(1)
    best, x = np.linalg.solve(a, b), np.zeros(len(b))
    while True:
        e = x - best
        yield {"loss": float(0.5 * e @ a @ e), "lr": step}
        with np.errstate(all="ignore"):
            x = x - step * (a @ e + noise * rng.normal(size=len(b)))
        step *= fall


def jacobi(weight: float) -> Rows:
    a = np.diag([4.0] * 30) - np.eye(30, k=1) * weight - np.eye(30, k=-1) * weight
    b, x = np.ones(30), np.zeros(30)
    while True:
        r = b - a @ x
        yield {"residual": float(np.linalg.norm(r))}
        x = x + r / 4.0


def power_iteration() -> Rows:
    a, v = np.diag([5.0, 4.6, 3.0, 1.0]) + 0.1, np.ones(4) / 2.0
    while True:
        w = a @ v
        value = v @ w
        yield {"eigenvalue": float(value), "residual": float(np.linalg.norm(w - value * v))}
        v = w / np.linalg.norm(w)


def conjugate_gradients() -> Rows:
    a, b = _quadratic(200, 1e4)
    x, r = np.zeros(len(b)), b.copy()
    p = r.copy()
    while True:
        yield {"residual": float(np.linalg.norm(r))}
        ap = a @ p
        alpha = (r @ r) / (p @ ap)
        x, new = x + alpha * p, r - alpha * ap
        p, r = new + (new @ new) / (r @ r) * p, new


def nesterov() -> Rows:
    a, b = _quadratic(50, 2e3)
    best, x = np.linalg.solve(a, b), np.zeros(len(b))
    y, t = x, 1.0
    while True:
        e = x - best
        yield {"loss": float(0.5 * e @ a @ e)}
        new, later = y - (a @ y - b) / 2e3, (1 + (1 + 4 * t * t) ** 0.5) / 2
        x, y, t = new, new + (t - 1) / later * (new - x), later


def overfitting() -> Rows:
    """A polynomial of degree 15 through 20 noisy points: the validation loss turns."""
    rng = np.random.default_rng(3)
    x, z = rng.uniform(-1, 1, 20), np.linspace(-1, 1, 200)
    y = np.sin(3 * x) + 0.4 * rng.normal(size=20)
    basis, check = np.polynomial.chebyshev.chebvander(x, 15), np.polynomial.chebyshev.chebvander(z, 15)
    w = np.zeros(16)
    for k in itertools.count():
        row = {"step": float(k), "train_loss": float(np.mean((basis @ w - y) ** 2))}
        yield row | ({"val_loss": float(np.mean((check @ w - np.sin(3 * z)) ** 2))} if k % 10 == 0 else {})
        w = w - 0.05 * basis.T @ (basis @ w - y)


def log_of_zero() -> Rows:
    """Cross entropy of a weight that a step makes negative."""
    p = np.float64(0.9)
    while True:
        with np.errstate(all="ignore"):
            yield {"p": float(p), "loss": float(-np.log(p))}
        p = p - 0.07


def adam_on_rosenbrock() -> Rows:
    x, m, v = np.array([-1.2, 1.0]), np.zeros(2), np.zeros(2)
    for k in itertools.count(1):
        g = np.array([-400 * x[0] * (x[1] - x[0] ** 2) - 2 * (1 - x[0]), 200 * (x[1] - x[0] ** 2)])
        yield {"f": float(100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2), "norm": float(np.linalg.norm(g))}
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        x = x - 0.02 * (m / (1 - 0.9**k)) / (np.sqrt(v / (1 - 0.999**k)) + 1e-8)


def newton(a: float = 2.0) -> Rows:
    x = a
    while True:
        yield {"x": x, "gap": abs(x * x - a)}
        x = 0.5 * (x + a / x)


def scaled_in_float16() -> Rows:
    """A sum of squares in float16: 65,504 is the largest number."""
    g = np.float16(1.0)
    while True:
        with np.errstate(all="ignore"):
            yield {"norm": float(g * g), "g": float(g)}
            g = np.float16(g * np.float16(1.25))


def bisection() -> Rows:
    low, high = 0.0, 2.0
    while True:
        middle = (low + high) / 2
        yield {"middle": middle, "width": high - low}
        low, high = (middle, high) if middle * middle < 2.0 else (low, middle)


def logistic_map(r: float) -> Rows:
    x = 0.3
    while True:
        new = r * x * (1 - x)
        yield {"x": x, "change": abs(new - x)}
        x = new


def k_means() -> Rows:
    rng = np.random.default_rng(0)
    data = np.concatenate([rng.normal(c, 0.6, (80, 2)) for c in (0.0, 2.0, 4.0)])
    centres = data[:3].copy()
    while True:
        square = ((data[:, None] - centres[None]) ** 2).sum(axis=2)
        nearest = square.argmin(axis=1)
        yield {"inertia": float(square.min(axis=1).sum())}
        centres = np.array([data[nearest == j].mean(axis=0) for j in range(3)])


def mixture() -> Rows:
    """Expectation maximisation of two normals: the mean negative log-likelihood falls to a limit."""
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.normal(-1.0, 1.0, 300), rng.normal(2.0, 0.7, 200)])
    mean, spread, share = np.array([-0.5, 0.5]), np.ones(2), np.full(2, 0.5)
    while True:
        density = share * np.exp(-((x[:, None] - mean) ** 2) / (2 * spread**2)) / (spread * np.sqrt(2 * np.pi))
        total = density.sum(axis=1)
        yield {"nll": float(-np.log(total).mean())}
        weight = density / total[:, None]
        n = weight.sum(axis=0)
        mean = (weight * x[:, None]).sum(axis=0) / n
        spread, share = np.sqrt((weight * (x[:, None] - mean) ** 2).sum(axis=0) / n), n / len(x)


def gauss_seidel() -> Rows:
    """Laplace's equation on 20 points."""
    u = np.zeros(22)
    u[-1] = 1.0
    while True:
        old = u.copy()
        for i in range(1, 21):
            u[i] = 0.5 * (u[i - 1] + u[i + 1])
        yield {"delta": float(np.abs(u - old).max())}


def secant_between_two() -> Rows:
    """Newton's method on x^3 - 2x + 2 from 0: it alternates between 0 and 1."""
    x = 0.0
    while True:
        f = x**3 - 2 * x + 2
        yield {"x": x, "f": abs(f)}
        x = x - f / (3 * x * x - 2)


RUNS: dict[str, KnownRun] = {
    "gradient descent": KnownRun(lambda: gradient_descent(0.035), {"loss": ("<", 1e-8)}, 400, "reached"),
    "gradient descent, cut": KnownRun(lambda: gradient_descent(0.035), {"loss": ("<", 1e-8)}, 120, "later"),
    "step too large": KnownRun(lambda: gradient_descent(0.05), {"loss": ("<", 1e-8)}, 60, "never"),
    "step much too large": KnownRun(lambda: gradient_descent(3.0), {"loss": ("<", 1e-8)}, 100, "infinite"),
    "step of the edge": KnownRun(lambda: gradient_descent(2 / 50.0), {"loss": ("<", 1e-6)}, 600, "never"),
    "noisy gradients": KnownRun(lambda: gradient_descent(0.02, 0.3), {"loss": ("<", 1e-6)}, 600, "never", "jsonl"),
    "step that falls": KnownRun(lambda: gradient_descent(0.02, 0, 0.97), {"loss": ("<", 1e-6)}, 500, "never"),
    "Jacobi": KnownRun(lambda: jacobi(1.8), {"residual": ("<", 1e-9)}, 70, "later", "text"),
    "Jacobi that diverges": KnownRun(lambda: jacobi(2.4), {"residual": ("<", 1e-9)}, 120, "never", "text"),
    "power iteration": KnownRun(power_iteration, {"residual": ("<", 1e-10)}, 80, "later", "jsonl"),
    "conjugate gradients": KnownRun(conjugate_gradients, {"residual": ("<", 1e-6)}, 2000, "reached"),
    "Nesterov": KnownRun(nesterov, {"loss": ("<", 1e-8)}, 150, "later", "jsonl"),
    "overfitting": KnownRun(overfitting, {"val_loss": ("<", 1e-4)}, 3000, "never"),
    "log of zero": KnownRun(log_of_zero, {"loss": ("<", 1e-4)}, 40, "NaN", "text"),
    "Adam on Rosenbrock": KnownRun(adam_on_rosenbrock, {"f": ("<", 1e-10)}, 700, "later", "jsonl"),
    "Newton": KnownRun(newton, {"gap": ("<", 1e-12)}, 9, "reached", "text"),
    "float16": KnownRun(scaled_in_float16, {"norm": ("<", 0.5)}, 40, "infinite"),
    "bisection": KnownRun(bisection, {"width": ("<", 1e-12)}, 12, "later", "jsonl"),
    "Newton to and fro": KnownRun(secant_between_two, {"f": ("<", 1e-6)}, 60, "never", "text"),
    "k-means": KnownRun(k_means, {"inertia": ("<", 50.0)}, 40, "never"),
}
#: further runs, written after the results of the first ones were known
HELD: dict[str, KnownRun] = {
    "expectation maximisation": KnownRun(mixture, {"nll": ("<", 1.5)}, 80, "never"),
    "Gauss-Seidel": KnownRun(gauss_seidel, {"delta": ("<", 1e-10)}, 200, "later", "text"),
    "a stable map": KnownRun(lambda: logistic_map(2.8), {"change": ("<", 1e-9)}, 30, "later"),
    "a map of period 2": KnownRun(lambda: logistic_map(3.2), {"change": ("<", 1e-3)}, 80, "never", "jsonl"),
}


def truth(run: KnownRun) -> tuple[str, int | None]:
    """The end from running on: its kind, and the row, from 0, of the first NaN or infinity, or where the target was
    reached.
    """
    ((name, (_, bound)),) = run.until.items()
    for k, row in enumerate(itertools.islice(run.rows(), MOST)):
        value = row.get(name)
        if value is None:
            continue
        if not np.isfinite(value) and k < run.cut:
            return ("NaN" if np.isnan(value) else "infinite"), k
        if value < bound:
            return ("reached" if k < run.cut else "later"), k
    return "never", None


def written(rows: list[dict[str, Any]], kind: str) -> str:
    """The log of the rows as a CSV logger, a writer of JSON lines, or prints would have written it."""
    if kind == "csv":
        names = list(dict.fromkeys(name for row in rows for name in row))
        lines = [",".join(names), *(",".join(str(row.get(name, "")) for name in names) for row in rows)]
    elif kind == "jsonl":
        import json

        lines = [json.dumps({"step": k, **row}) for k, row in enumerate(rows)]
    else:
        lines = [f"step {k}: " + ", ".join(f"{n} = {v!r}" for n, v in row.items()) for k, row in enumerate(rows)]
    return "\n".join(lines) + "\n"
