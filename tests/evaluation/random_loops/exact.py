"""Random loops whose update law shows in the operands: counters, products, maps of integers, compound predicates."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.evaluation.random_loops.families import RandomLoop, State, family, log_uniform, single

FLOATS = (np.float32, np.float64)


def _int(rng: np.random.Generator) -> Any:
    return (int, np.int32, np.int64)[int(rng.integers(0, 3))]


@family("exact")
def int_up(rng: np.random.Generator) -> RandomLoop:
    t, n = _int(rng), int(log_uniform(rng, 25, 3500))
    c, x = int(rng.integers(1, 12)), int(rng.integers(-50, 50))
    limit = x + c * n + int(rng.integers(0, c))
    return single(rng, "i", t(x), lambda v, k: t(v + t(c)), ("<", "<=")[int(rng.integers(0, 2))], t(limit))


@family("exact")
def int_down(rng: np.random.Generator) -> RandomLoop:
    t, n = _int(rng), int(log_uniform(rng, 25, 3500))
    c, low = int(rng.integers(1, 12)), int(rng.integers(-50, 50))
    op = (">", ">=", "!=")[int(rng.integers(0, 3))]
    return single(rng, "i", t(low + c * n), lambda v, k: t(v - t(c)), op, t(low))


@family("exact")
def narrow_wrap(rng: np.random.Generator) -> RandomLoop:
    t = (np.int8, np.int16, np.uint8, np.uint16)[int(rng.integers(0, 4))]
    c = int(rng.integers(1, 4)) * (1 if np.iinfo(t).bits == 8 else int(rng.integers(30, 90)))
    start = int(rng.integers(1, 60))
    return single(rng, "i", t(start), lambda v, k: t(v + t(c)), ">=", t(max(start // 2, 1)))


@family("exact")
def two_sides(rng: np.random.Generator) -> RandomLoop:
    n = int(log_uniform(rng, 25, 3000))
    a, b = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    state = {"low": 0, "high": (a + b) * n + int(rng.integers(0, 5))}
    return RandomLoop(
        state,
        lambda s, k: {"low": s["low"] + a, "high": s["high"] - b},
        lambda s: [(s["low"], "<", s["high"])],
        "low|high",
    )


@family("exact")
def int_polynomial(rng: np.random.Generator) -> RandomLoop:
    n, a, b = int(log_uniform(rng, 25, 2000)), int(rng.integers(1, 5)), int(rng.integers(0, 9))
    cube = bool(rng.integers(0, 2))
    grow = (lambda i: a * i * i + b) if cube else (lambda i: a * i + b)
    limit = sum(grow(i) for i in range(n))
    return RandomLoop(
        {"i": 0, "total": 0},
        lambda s, k: {"i": s["i"] + 1, "total": s["total"] + grow(s["i"])},
        lambda s: [(s["total"], "<", limit)],
        "total",
    )


@family("exact")
def int_recurrence(rng: np.random.Generator) -> RandomLoop:
    a, b = int(rng.integers(1, 3)), int(rng.integers(1, 3))
    limit = 10 ** int(rng.integers(8, 40))
    return RandomLoop(
        {"a": 0, "b": 1},
        lambda s, k: {"a": s["b"], "b": a * s["b"] + b * s["a"]},
        lambda s: [(s["a"], "<", limit)],
        "a",
    )


@family("exact")
def int_product(rng: np.random.Generator) -> RandomLoop:
    limit, c = 10 ** int(rng.integers(12, 60)), int(rng.integers(2, 4))
    factorial = bool(rng.integers(0, 2))
    return RandomLoop(
        {"i": 1, "product": 1},
        lambda s, k: {"i": s["i"] + 1, "product": s["product"] * (s["i"] if factorial else c)},
        lambda s: [(s["product"], "<=", limit)],
        "product",
    )


@family("exact")
def collatz(rng: np.random.Generator) -> RandomLoop:
    odd, plus = (3, 1) if rng.integers(0, 2) else (1, int(rng.choice([1, 3, 5])))
    start = int(log_uniform(rng, 30, 1e9))
    return (
        single(rng, "n", start, lambda v, k: v // 2 if v % 2 == 0 else odd * v + plus, ">", max(1, plus), least=20)
        if odd == 3
        else single(rng, "n", start**4, lambda v, k: v // 2 if v % 2 == 0 else v + plus, ">", 2 * plus)
    )


@family("exact")
def float_counter(rng: np.random.Generator) -> RandomLoop:
    t, n = FLOATS[int(rng.integers(0, 2))], int(log_uniform(rng, 25, 3500))
    c = t(rng.choice([0.1, 0.01, 0.3, 0.25, 1e-3, 0.7, float(rng.uniform(0.01, 2))]))
    x = t(rng.choice([0.0, 1.0, float(rng.uniform(-5, 5))]))
    down = bool(rng.integers(0, 2))
    if down:
        return single(rng, "t", t(x + c * n), lambda v, k: t(v - c), ">", t(x))
    return single(rng, "t", x, lambda v, k: t(v + c), ("<", "<=")[int(rng.integers(0, 2))], t(x + c * n))


@family("exact")
def float_near_absorption(rng: np.random.Generator) -> RandomLoop:
    n, c = int(log_uniform(rng, 25, 3000)), np.float32(rng.choice([1.0, 0.3, 0.75, 1.5]))
    base = np.float32(2.0 ** int(rng.integers(18, 24)) - float(rng.integers(1, n)))
    return single(rng, "t", base, lambda v, k: np.float32(v + c), "<", np.float32(base + c * n))


@family("exact")
def float_product(rng: np.random.Generator) -> RandomLoop:
    t, scale = FLOATS[int(rng.integers(0, 2))], 10.0 ** float(rng.uniform(-4, 4))
    c = t(1 - log_uniform(rng, 2e-3, 0.3)) if rng.integers(0, 2) else t(1 + log_uniform(rng, 5e-3, 0.3))
    ratio = 10.0 ** float(rng.uniform(1, 12 if t is np.float64 else 6))
    if c < 1:
        return single(rng, "x", t(scale), lambda v, k: t(v * c), ">", t(scale / ratio))
    return single(rng, "x", t(scale), lambda v, k: t(v * c), "<", t(scale * ratio))


@family("exact")
def underflow(rng: np.random.Generator) -> RandomLoop:
    t, c = FLOATS[int(rng.integers(0, 2))], float(rng.choice([0.5, 0.25, 0.1, 0.3]))
    return single(rng, "x", t(rng.uniform(0.5, 50)), lambda v, k: t(v * t(c)), ">", t(0.0))


@family("exact")
def float_affine(rng: np.random.Generator) -> RandomLoop:
    t, c = FLOATS[int(rng.integers(0, 2))], float(1 - log_uniform(rng, 3e-3, 0.3))
    d, x = float(rng.normal()) * 10, float(rng.normal()) * 10
    limit, near = d / (1 - c), 10.0 ** float(rng.uniform(-4 if t is np.float64 else -2, -1))
    mark = limit + (x - limit) * near
    return single(rng, "x", t(x), lambda v, k: t(t(v * t(c)) + t(d)), ">" if x > limit else "<", t(mark))


@family("exact")
def bisection(rng: np.random.Generator) -> RandomLoop:
    a, b = float(rng.uniform(-9, 0)), float(rng.uniform(1, 9))
    root, tol = float(rng.uniform(a, b)), 10.0 ** float(rng.uniform(-13, -6))

    def step(s: State, k: int) -> State:
        mid = 0.5 * (s["low"] + s["high"])
        return {"low": mid, "high": s["high"]} if mid < root else {"low": s["low"], "high": mid}

    return RandomLoop({"low": a, "high": b}, step, lambda s: [(s["high"] - s["low"], ">", tol)], "low|high")


def _residual(rng: np.random.Generator) -> tuple[float, float]:
    return float(1 - log_uniform(rng, 2e-3, 0.3)), 10.0 ** float(rng.uniform(-10, -2))


@family("exact")
def and_most_trips(rng: np.random.Generator) -> RandomLoop:
    rate, tol = _residual(rng)
    n = int(np.log(tol) / np.log(rate))
    most = max(21, int(n * float(rng.uniform(0.3, 2.0))))
    return RandomLoop(
        {"residual": 1.0, "i": 0},
        lambda s, k: {"residual": s["residual"] * rate, "i": s["i"] + 1},
        lambda s: [(s["residual"], ">", tol), (s["i"], "<", most)],
        "i" if most < n else "residual",
        "and",
        1 if most < n else 0,
    )


@family("exact")
def or_two(rng: np.random.Generator) -> RandomLoop:
    rate, tol = _residual(rng)
    n = int(np.log(tol) / np.log(rate))
    least = max(21, int(n * float(rng.uniform(0.3, 2.0))))
    return RandomLoop(
        {"residual": 1.0, "i": 0},
        lambda s, k: {"residual": s["residual"] * rate, "i": s["i"] + 1},
        lambda s: [(s["residual"], ">", tol), (s["i"], "<", least)],
        "i" if least > n else "residual",
        "or",
        1 if least > n else 0,
    )


@family("exact")
def not_reached(rng: np.random.Generator) -> RandomLoop:
    n, c = int(log_uniform(rng, 25, 3000)), int(rng.integers(1, 5))
    return single(rng, "i", 0, lambda v, k: v + c, ">=", c * n - int(rng.integers(0, c)), logic="not")


@family("exact")
def and_stuck(rng: np.random.Generator) -> RandomLoop:
    """A residual that floors above its tolerance, ended by the trips."""
    floor, rate, most = 10.0 ** float(rng.uniform(-7, -3)), float(rng.uniform(0.3, 0.8)), int(rng.integers(60, 600))
    return RandomLoop(
        {"residual": 1.0 + floor, "i": 0},
        lambda s, k: {"residual": floor + (s["residual"] - floor) * rate, "i": s["i"] + 1},
        lambda s: [(s["residual"], ">", floor / 10), (s["i"], "<", most)],
        "i",
        "and",
        1,
    )
