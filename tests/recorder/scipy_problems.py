"""Published problems: test functions, systems, matrices and differential equations with random sizes and starts.

Functions and systems are from J. J. More, B. S. Garbow and K. E. Hillstrom, *Testing unconstrained optimization
software* (ACM Trans. Math. Softw. 7, 1981), and from the benchmark sets of global optimisers; matrices and equations
are those of SciPy's tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize
import scipy.sparse

Rng = np.random.Generator
Function = Callable[[np.ndarray], float]
System = Callable[[np.ndarray], np.ndarray]


class Minimum(NamedTuple):
    """A function, a start, and its minimum if known."""

    name: str
    f: Function
    start: np.ndarray
    least: float | None = 0.0


def _squares(residuals: System) -> Function:
    return lambda x: float(np.sum(residuals(x) ** 2))


def _wood(x: np.ndarray) -> np.ndarray:
    return np.array(
        [
            10 * (x[1] - x[0] ** 2),
            1 - x[0],
            np.sqrt(90) * (x[3] - x[2] ** 2),
            1 - x[2],
            np.sqrt(10) * (x[1] + x[3] - 2),
            (x[1] - x[3]) / np.sqrt(10),
        ]
    )


def _helix(x: np.ndarray) -> np.ndarray:
    turn = np.arctan2(x[1], x[0]) / (2 * np.pi)
    return np.array([10 * (x[2] - 10 * turn), 10 * (np.hypot(x[0], x[1]) - 1), x[2]])


def _singular(x: np.ndarray) -> np.ndarray:
    return np.array(
        [x[0] + 10 * x[1], np.sqrt(5) * (x[2] - x[3]), (x[1] - 2 * x[2]) ** 2, np.sqrt(10) * (x[0] - x[3]) ** 2]
    )


def _beale(x: np.ndarray) -> np.ndarray:
    return np.array([1.5, 2.25, 2.625]) - x[0] * (1 - x[1] ** np.arange(1, 4))


def _freudenstein(x: np.ndarray) -> np.ndarray:
    return np.array([x[0] - 13 + ((5 - x[1]) * x[1] - 2) * x[1], x[0] - 29 + ((x[1] + 1) * x[1] - 14) * x[1]])


def _himmelblau(x: np.ndarray) -> np.ndarray:
    return np.array([x[0] ** 2 + x[1] - 11, x[0] + x[1] ** 2 - 7])


def _box(x: np.ndarray) -> np.ndarray:
    t = 0.1 * np.arange(1, 11)
    return np.exp(-t * x[0]) - np.exp(-t * x[1]) - x[2] * (np.exp(-t) - np.exp(-10 * t))


def _dimensioned(x: np.ndarray) -> np.ndarray:
    s = float(np.arange(1, len(x) + 1) @ (x - 1))
    return np.r_[x - 1, s, s * s]


def _tridiagonal(x: np.ndarray) -> np.ndarray:
    return (3 - 2 * x) * x - np.r_[0, x[:-1]] - 2 * np.r_[x[1:], 0] + 1


def _boundary(x: np.ndarray) -> np.ndarray:
    h = 1 / (len(x) + 1)
    t = h * np.arange(1, len(x) + 1)
    return 2 * x - np.r_[0, x[:-1]] - np.r_[x[1:], 0] + h * h * (x + t + 1) ** 3 / 2


def _trigonometric(x: np.ndarray) -> np.ndarray:
    n = len(x)
    return n - np.cos(x).sum() + np.arange(1, n + 1) * (1 - np.cos(x)) - np.sin(x)


def _chandrasekhar(x: np.ndarray) -> np.ndarray:
    n = len(x)
    mu = (np.arange(n) + 0.5) / n
    return x - 1 / (1 - 0.45 / n * (mu[:, None] / (mu[:, None] + mu)) @ x)


#: name -> (residuals, usual start or the length of a start)
SQUARES: dict[str, tuple[System, Any]] = {
    "wood": (_wood, (-3.0, -1.0, -3.0, -1.0)),
    "helix": (_helix, (-1.0, 0.0, 0.1)),
    "powell-singular": (_singular, (3.0, -1.0, 0.1, 1.0)),
    "beale": (_beale, (1.0, 0.8)),
    "freudenstein": (_freudenstein, (6.0, 3.0)),
    "himmelblau": (_himmelblau, (0.5, -0.5)),
    "box": (_box, (0.1, 10.0, 20.0)),
    "dimensioned": (_dimensioned, (0.5, 0.3, 0.2, 0.1)),
    "trigonometric": (_trigonometric, (0.2, 0.2, 0.2)),
}
SYSTEMS: dict[str, System] = {"tridiagonal": _tridiagonal, "boundary": _boundary, "chandrasekhar": _chandrasekhar}


def minimum(rng: Rng) -> Minimum:
    """A function to be minimised."""
    name = str(rng.choice([*SQUARES, "rosenbrock", "quadratic", "zakharov", "dixon-price", "quartic"]))
    if name in SQUARES:
        residuals, start = SQUARES[name]
        x = np.array(start) * rng.uniform(0.7, 1.3, len(start))
        return Minimum(name, _squares(residuals), x, None if name in ("freudenstein", "box", "trigonometric") else 0.0)
    n = int(rng.integers(2, 8))
    x = rng.uniform(-2, 2, n)
    if name == "rosenbrock":
        return Minimum(name, scipy.optimize.rosen, x, None)
    if name == "quadratic":
        scale = np.geomspace(1.0, 10.0 ** rng.uniform(1, 4), n)
        return Minimum(name, lambda x: float(scale @ (x - 1.0) ** 2), x)
    k = np.arange(1, n + 1)
    if name == "zakharov":
        return Minimum(name, lambda x: float(x @ x + (0.5 * k @ x) ** 2 + (0.5 * k @ x) ** 4), x)
    if name == "dixon-price":
        return Minimum(name, lambda x: float((x[0] - 1) ** 2 + k[1:] @ (2 * x[1:] ** 2 - x[:-1]) ** 2), x, None)
    return Minimum(name, lambda x: float(k @ x**4), x)


def system(rng: Rng) -> tuple[str, System, np.ndarray]:
    """A system of equations and a start."""
    n = int(rng.integers(3, 40))
    name = str(rng.choice([*SYSTEMS, "cubic", "saturating"]))
    if name in SYSTEMS:
        t = np.arange(1, n + 1) / (n + 1)
        start = {"tridiagonal": -np.ones(n), "boundary": t * (t - 1), "chandrasekhar": np.ones(n)}[name]
        return name, SYSTEMS[name], start * rng.uniform(0.5, 1.5)
    a = np.diag(rng.uniform(1.0, 4.0, n)) + 0.3 / n * rng.normal(size=(n, n))
    if name == "cubic":
        return name, lambda x: a @ x + 0.5 * x * (x @ x) / n - 1.0, np.ones(n)
    return name, lambda x: a @ np.tanh(x) + 0.2 * x - 0.5, rng.normal(size=n)


def matrix(rng: Rng, definite: bool) -> tuple[str, Any]:
    """A matrix; with ``definite`` a symmetric one without eigenvalues below zero."""
    n = int(rng.integers(60, 500))
    name = str(rng.choice(["line", "grid", "dense", "clusters"] + ([] if definite else ["wind", "sparse"])))
    if name in ("line", "wind"):
        shift, wind = 10.0 ** rng.uniform(-4, -0.5), float(rng.uniform(0.05, 0.9)) if name == "wind" else 0.0
        bands = [-1.0 - wind, 2.0 + shift, -1.0 + wind]
        return name, scipy.sparse.diags_array(bands, offsets=[-1, 0, 1], shape=(n, n)).tocsr()
    if name == "grid":
        side = int(np.sqrt(n))
        one = scipy.sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(side, side))
        eye = scipy.sparse.eye_array(side)
        return name, (scipy.sparse.kron(one, eye) + scipy.sparse.kron(eye, one)).tocsr()
    if name == "sparse":
        a = scipy.sparse.random_array((n, n), density=4 / n, rng=rng).tocsr()
        return name, (a + scipy.sparse.diags_array(np.asarray(abs(a).sum(axis=1)) + rng.uniform(0.01, 0.5))).tocsr()
    values = np.geomspace(1.0, 10.0 ** rng.uniform(1, 4), n)
    if name == "clusters":
        values = np.resize(np.geomspace(1.0, 10.0 ** rng.uniform(2, 5), 6), n) * (1 + 0.1 * rng.random(n))
    q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    a = (q * values) @ q.T
    return name, a if definite else a + 0.1 * np.triu(rng.normal(size=(n, n)), 1)


def equation(rng: Rng) -> tuple[str, Callable[[float, Any], Any], list[float], float]:
    """A differential equation: name, right-hand side, start, end."""
    mu, end = float(rng.uniform(0.5, 20.0)), float(rng.uniform(10.0, 60.0))
    name = str(rng.choice(["oscillator", "decay", "predator", "brusselator", "robertson", "pendulum", "orbit"]))
    if name == "oscillator":
        return name, lambda t, y: [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]], [2.0, 0.5], end
    if name == "decay":
        return name, lambda t, y: [-mu * y[0], -y[1]], [2.0, 0.5], end
    if name == "predator":
        return name, lambda t, y: [1.5 * y[0] - y[0] * y[1], y[0] * y[1] - 3 * y[1]], [10.0, 5.0], end / 2
    if name == "brusselator":
        return name, lambda t, y: [1 + y[0] ** 2 * y[1] - 4 * y[0], 3 * y[0] - y[0] ** 2 * y[1]], [1.5, 3.0], end
    if name == "robertson":
        slow = lambda y: 0.04 * y[0] - 1e4 * y[1] * y[2]  # noqa: E731
        fast = lambda y: 3e7 * y[1] ** 2  # noqa: E731
        return name, lambda t, y: [-slow(y), slow(y) - fast(y), fast(y)], [1.0, 0.0, 0.0], 10 * end
    if name == "pendulum":
        return name, lambda t, y: [y[1], -0.1 * y[1] - np.sin(y[0])], [3.0, 0.0], end
    start = [1.0 - 0.6, 0.0, 0.0, float(np.sqrt(1.6 / 0.4))]  # Kepler's orbit of excentricity 0.6
    return name, lambda t, y: [y[2], y[3], *(-np.array(y[:2]) / np.hypot(y[0], y[1]) ** 3)], start, end
