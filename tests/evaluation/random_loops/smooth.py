"""Random loops with asymptotic laws: linear, sublinear, superlinear, damped, of several modes, and noisy ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.evaluation.random_loops.families import RandomLoop, State, family, log_uniform, single


def vector(x: np.ndarray, step: Any, residual: Any, tol: float, *, name: str = "x", **more: Any) -> RandomLoop:
    """A tensor in the state, its residual in the condition and in the state."""

    def update(s: State, k: int) -> State:
        new = {key: value for key, value in step(s).items()}
        new["residual"] = residual(new)
        return new

    first = dict(x) if isinstance(x, dict) else {name: x}
    first["residual"] = residual(first)
    return RandomLoop(first, update, lambda s: [(s["residual"], ">", tol)], "residual", **more)


def _system(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A symmetric positive definite matrix of condition 5 to 200, and a right side."""
    n = int(rng.integers(2, 9))
    q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    return q @ np.diag(np.geomspace(1, 1 / log_uniform(rng, 5, 200), n)) @ q.T, rng.normal(size=n)


def _tol(rng: np.random.Generator, low: float = -9, high: float = -3) -> float:
    return 10.0 ** float(rng.uniform(low, high))


@family("smooth")
def fixed_point(rng: np.random.Generator) -> RandomLoop:
    a, b, tol = float(rng.uniform(0.7, 0.99)), float(rng.uniform(-2, 2)), _tol(rng, -11)
    f = (lambda x: a * np.cos(x) + b, lambda x: a * np.tanh(x) + b / 4, lambda x: a * np.exp(-x * x / 2) + b)[
        int(rng.integers(0, 3))
    ]

    def step(s: State, k: int) -> State:
        x = float(f(s["x"]))
        return {"x": x, "change": abs(x - s["x"])}

    return RandomLoop({"x": 1.0, "change": 1.0}, step, lambda s: [(s["change"], ">", tol)], "change")


@family("smooth")
def gradient_descent(rng: np.random.Generator) -> RandomLoop:
    a, b = _system(rng)
    lr = float(rng.uniform(0.3, 1.7))
    return vector(
        np.zeros(len(b)),
        lambda s: {"x": s["x"] - lr * (a @ s["x"] - b)},
        lambda s: float(np.linalg.norm(a @ s["x"] - b)),
        _tol(rng),
    )


@family("smooth")
def momentum(rng: np.random.Generator) -> RandomLoop:
    a, b = _system(rng)
    lr, beta = float(rng.uniform(0.3, 1.2)), float(rng.uniform(0.6, 0.97))

    def step(s: State) -> State:
        v = beta * s["v"] - lr * (a @ s["x"] - b)
        return {"x": s["x"] + v, "v": v}

    start: Any = {"x": np.zeros(len(b)), "v": np.zeros(len(b))}
    return vector(start, step, lambda s: float(np.linalg.norm(a @ s["x"] - b)), _tol(rng))


@family("smooth")
def sor(rng: np.random.Generator) -> RandomLoop:
    n, omega = int(rng.integers(4, 16)), float(rng.uniform(0.8, 1.8))
    b = rng.normal(size=n)

    def step(s: State) -> State:
        x = s["x"].copy()
        for i in range(n):
            other = (x[i - 1] if i else 0.0) + (x[i + 1] if i + 1 < n else 0.0)
            x[i] += omega * ((b[i] + other) / 2.0 - x[i])
        return {"x": x}

    def residual(s: State) -> float:
        x = s["x"]
        return float(np.linalg.norm(b - 2 * x + np.r_[x[1:], 0] + np.r_[0, x[:-1]]))

    return vector(np.zeros(n), step, residual, _tol(rng))


@family("smooth")
def power_iteration(rng: np.random.Generator) -> RandomLoop:
    a, v = _system(rng)

    def step(s: State) -> State:
        w = a @ s["x"]
        return {"x": w / np.linalg.norm(w)}

    def residual(s: State) -> float:
        w = a @ s["x"]
        return float(np.linalg.norm(w - (s["x"] @ w) * s["x"]))

    return vector(v / np.linalg.norm(v), step, residual, _tol(rng))


@family("smooth")
def newton(rng: np.random.Generator) -> RandomLoop:
    a, tol = log_uniform(rng, 0.01, 1e6), _tol(rng, -12, -8)
    m = int(rng.integers(1, 4))

    def step(s: State, k: int) -> State:
        x = s["x"] - (s["x"] ** (m + 1) - a) / ((m + 1) * s["x"] ** m)
        return {"x": x, "residual": abs(x ** (m + 1) - a) / a}

    x = log_uniform(rng, 1, 1e6)
    return RandomLoop(
        {"x": x, "residual": abs(x ** (m + 1) - a) / a},
        step,
        lambda s: [(s["residual"], ">", tol)],
        "residual",
        least=8,
    )


@family("smooth")
def multiple_root(rng: np.random.Generator) -> RandomLoop:
    m, tol, c = int(rng.integers(2, 12)), _tol(rng, -10, -5), float(rng.uniform(-2, 2))

    def step(s: State, k: int) -> State:
        e = s["x"] - c
        x = s["x"] - e * (1 + e) / (m * (1 + e) + e)
        return {"x": x, "change": abs(x - s["x"])}

    return RandomLoop({"x": c + 1.0, "change": 1.0}, step, lambda s: [(s["change"], ">", tol)], "change")


@family("smooth")
def power_decay(rng: np.random.Generator) -> RandomLoop:
    p, k0, a = (
        float(rng.uniform(0.4, 2.5)),
        float(rng.choice([1, 1, 2, 10, rng.uniform(0.5, 30)])),
        log_uniform(rng, 0.01, 100),
    )
    n = int(log_uniform(rng, 40, 3800))
    tol = a * (n + k0 + float(rng.uniform(-0.4, 0.4))) ** -p
    return RandomLoop(
        {"i": 0, "step": a * k0**-p},
        lambda s, k: {"i": s["i"] + 1, "step": a * (s["i"] + 1 + k0) ** -p},
        lambda s: [(s["step"], ">", tol)],
        "step",
    )


@family("smooth")
def sum_reaches(rng: np.random.Generator) -> RandomLoop:
    p, n = float(rng.choice([1.0, 0.5, rng.uniform(0.2, 2.0)])), int(log_uniform(rng, 40, 3800))
    mark = float(np.sum(np.arange(1, n + 1.0) ** -p)) - float(rng.uniform(0.1, 0.9)) * n**-p
    return RandomLoop(
        {"k": 1, "total": 0.0},
        lambda s, k: {"k": s["k"] + 1, "total": s["total"] + s["k"] ** -p},
        lambda s: [(s["total"], "<", mark)],
        "total",
    )


@family("smooth")
def sublinear_map(rng: np.random.Generator) -> RandomLoop:
    """x - c x**q: an error that falls like k**-1/(q-1)."""
    q, c, n = (
        float(rng.choice([2.0, 3.0, rng.uniform(1.5, 3.5)])),
        float(rng.uniform(0.1, 0.9)),
        int(log_uniform(rng, 40, 3800)),
    )
    tol = (c * (q - 1) * n) ** (-1 / (q - 1)) * float(rng.uniform(0.9, 1.1))
    return single(rng, "x", 1.0, lambda v, k: v - c * v**q, ">", tol)


@family("smooth")
def logistic_growth(rng: np.random.Generator) -> RandomLoop:
    r, x = log_uniform(rng, 0.01, 0.3), log_uniform(rng, 1e-4, 0.1)
    return single(rng, "x", x, lambda v, k: v + r * v * (1 - v), "<", 1 - 10.0 ** float(rng.uniform(-4, -0.3)))


@family("smooth")
def damped(rng: np.random.Generator) -> RandomLoop:
    r, w, tol = 1 - log_uniform(rng, 5e-3, 0.15), float(rng.uniform(0.1, 2.5)), _tol(rng, -8)
    a, b = 2 * r * np.cos(w), -r * r

    def step(s: State, k: int) -> State:
        x = a * s["x"] + b * s["before"]
        return {"x": x, "before": s["x"], "size": np.hypot(x, s["x"])}

    first = {"x": 1.0, "before": 0.3, "size": np.hypot(1.0, 0.3)}
    return RandomLoop(first, step, lambda s: [(s["size"], ">", tol)], "size")


@family("smooth")
def damped_change(rng: np.random.Generator) -> RandomLoop:
    """The size of one component: it dips to zero each half period, and the first dip below the tolerance ends it."""
    r, w, tol = 1 - log_uniform(rng, 5e-3, 0.15), float(rng.uniform(0.1, 2.5)), _tol(rng, -8)
    a, b = 2 * r * np.cos(w), -r * r

    def step(s: State, k: int) -> State:
        return {"x": a * s["x"] + b * s["before"], "before": s["x"]}

    return RandomLoop({"x": 1.0, "before": 0.3}, step, lambda s: [(abs(s["x"]), ">", tol)], "x")


def _noise(rng: np.random.Generator, spread: float) -> np.ndarray:
    return rng.normal(size=LENGTH) * spread


LENGTH = 4200


@family("noisy")
def sgd_residual(rng: np.random.Generator) -> RandomLoop:
    e, rate = np.exp(_noise(rng, float(rng.uniform(0.02, 0.5)))), 1 - log_uniform(rng, 3e-3, 0.1)
    tol = _tol(rng, -6, -2)
    return RandomLoop(
        {"loss": float(e[0]), "i": 0},
        lambda s, k: {"loss": float(rate ** (k + 1) * e[k + 1]), "i": k + 1},
        lambda s: [(s["loss"], ">", tol)],
        "loss",
    )


@family("noisy")
def sgd_sublinear(rng: np.random.Generator) -> RandomLoop:
    e, p = np.exp(_noise(rng, float(rng.uniform(0.01, 0.3)))), float(rng.uniform(0.5, 2))
    tol = float(log_uniform(rng, 50, 3000)) ** -p
    return single(rng, "loss", float(e[0]), lambda v, k: float((k + 2.0) ** -p * e[k + 1]), ">", tol)


@family("noisy")
def noisy_drift(rng: np.random.Generator) -> RandomLoop:
    e, n = _noise(rng, float(rng.uniform(0.1, 2.0))), int(log_uniform(rng, 40, 3000))
    return single(rng, "x", 0.0, lambda v, k: v + 1.0 + float(e[k]), "<", float(n))


@family("noisy")
def noisy_rate(rng: np.random.Generator) -> RandomLoop:
    """Random contraction factors."""
    g, s = log_uniform(rng, 3e-3, 0.1), float(rng.uniform(0.2, 1.5))
    e = _noise(rng, s * g)
    return single(rng, "x", 1.0, lambda v, k: v * float(np.exp(-g + e[k])), ">", _tol(rng, -6, -2))
