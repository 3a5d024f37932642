"""Random loops that never end, by construction: what 50 evaluations should be enough to see."""

from __future__ import annotations

import numpy as np

from tests.evaluation.random_loops.families import RandomLoop, State, family, log_uniform, single


@family("endless")
def stuck(rng: np.random.Generator) -> RandomLoop:
    x = float(rng.normal()) if rng.integers(0, 2) else int(rng.integers(0, 9))
    moves = bool(rng.integers(0, 2))
    return RandomLoop(
        {"j": x, "other": 0},
        lambda s, k: {"j": s["j"], "other": s["other"] + moves},
        lambda s: [(s["j"], "<", 50)],
        "j",
    )


@family("endless")
def away(rng: np.random.Generator) -> RandomLoop:
    c, x = float(rng.choice([1, 2, 0.1, 0.37])), float(rng.uniform(-3, 3))
    return single(rng, "x", x, lambda v, k: v - c, "<", 10.0)


@family("endless")
def grows_away(rng: np.random.Generator) -> RandomLoop:
    c = 1 + log_uniform(rng, 0.02, 1)
    return single(rng, "residual", float(rng.uniform(0.5, 2)), lambda v, k: v * c, ">", 1e-6)


@family("endless")
def steps_over(rng: np.random.Generator) -> RandomLoop:
    c, n = int(rng.integers(2, 9)), int(rng.integers(200, 900))
    return single(rng, "i", 0, lambda v, k: v + c, "!=", c * n + int(rng.integers(1, c)))


@family("endless")
def inexact_equal(rng: np.random.Generator) -> RandomLoop:
    c, n = float(rng.choice([0.1, 0.3, 0.7])), int(rng.integers(20, 40))
    return single(rng, "t", 0.0, lambda v, k: v + c, "!=", 1.0 if c == 0.1 else round(c * 10 * n) / 10.0)


@family("endless")
def absorbed(rng: np.random.Generator) -> RandomLoop:
    start = np.float32(2.0**24 - float(rng.integers(0, 200)))
    return single(rng, "t", start, lambda v, k: np.float32(v + np.float32(1)), "<", np.float32(2.0**25))


@family("endless")
def limit_beyond(rng: np.random.Generator) -> RandomLoop:
    limit, rate = float(rng.uniform(0.5, 2)), 1 - log_uniform(rng, 0.03, 0.6)
    return single(rng, "x", 10.0, lambda v, k: limit + (v - limit) * rate, ">", limit * float(rng.uniform(0.2, 0.9)))


@family("endless")
def power_limit_beyond(rng: np.random.Generator) -> RandomLoop:
    p, limit = float(rng.uniform(0.6, 2)), float(rng.uniform(0.5, 2))
    return single(
        rng, "x", limit + 1.0, lambda v, k: limit + (k + 2.0) ** -p, ">", limit * float(rng.uniform(0.1, 0.6))
    )


@family("endless")
def floor(rng: np.random.Generator) -> RandomLoop:
    low, rate = 10.0 ** float(rng.uniform(-7, -4)), float(rng.uniform(0.2, 0.75))
    return single(rng, "residual", 1.0, lambda v, k: low + (v - low) * rate, ">", low * 0.1)


@family("endless")
def rounding_floor(rng: np.random.Generator) -> RandomLoop:
    """Newton in float32 with a tolerance below what float32 resolves."""
    a = np.float32(log_uniform(rng, 2, 1000))

    def step(s: State, k: int) -> State:
        x = np.float32(np.float32(0.5) * (s["x"] + a / s["x"]))
        return {"x": x, "residual": abs(np.float32(x * x - a))}

    x = np.float32(rng.uniform(1, 50))
    tol = float(a) * 1e-10
    return RandomLoop({"x": x, "residual": abs(x * x - a)}, step, lambda s: [(s["residual"], ">", tol)], "residual")


@family("endless")
def noise_floor(rng: np.random.Generator) -> RandomLoop:
    level, rate = 10.0 ** float(rng.uniform(-4, -1)), float(rng.uniform(0.3, 0.8))
    e = np.exp(rng.normal(size=400) * float(rng.uniform(0.05, 0.3)))
    return single(
        rng,
        "loss",
        1.0,
        lambda v, k: float((level + rate ** (k + 1)) * e[k]),
        ">",
        level * float(rng.uniform(1e-6, 1e-2)),
    )


@family("endless")
def cycle(rng: np.random.Generator) -> RandomLoop:
    values = rng.normal(size=int(rng.integers(2, 12))).tolist()
    return RandomLoop(
        {"x": values[0], "i": 0},
        lambda s, k: {"x": values[(k + 1) % len(values)], "i": k + 1},
        lambda s: [(s["x"], "<", 5.0)],
        "x",
    )


@family("endless")
def towards_cycle(rng: np.random.Generator) -> RandomLoop:
    r = float(rng.uniform(3.1, 3.53))

    def step(s: State, k: int) -> State:
        x = r * s["x"] * (1 - s["x"])
        return {"x": x, "change": abs(x - s["x"])}

    return RandomLoop({"x": 0.3, "change": 1.0}, step, lambda s: [(s["change"], ">", 1e-6)], "change")


@family("endless")
def sine(rng: np.random.Generator) -> RandomLoop:
    w, top = float(rng.uniform(0.25, 2.5)), float(rng.uniform(1.1, 2))
    return RandomLoop(
        {"x": 0.0, "k": 0},
        lambda s, k: {"x": float(np.sin(w * (k + 1))), "k": k + 1},
        lambda s: [(s["x"], "<", top)],
        "x",
    )


@family("endless")
def damped_to_level(rng: np.random.Generator) -> RandomLoop:
    r, w, level = 1 - log_uniform(rng, 0.04, 0.3), float(rng.uniform(0.2, 2.5)), float(rng.uniform(1.5, 3))
    return single(rng, "x", level + 1, lambda v, k: level + float(r ** (k + 1) * np.cos(w * (k + 1))), ">", level - 1.3)


@family("endless")
def chaotic(rng: np.random.Generator) -> RandomLoop:
    x, top = float(rng.uniform(0.1, 0.9)), float(rng.uniform(1.05, 2))
    return single(rng, "x", x, lambda v, k: 3.9 * v * (1 - v), "<", top)


@family("endless")
def nan(rng: np.random.Generator) -> RandomLoop:
    at = int(rng.integers(3, 40))
    return single(rng, "x", 1.0, lambda v, k: float("nan") if k >= at else v * 0.97, "!=", 0.0)


@family("endless")
def overshoots(rng: np.random.Generator) -> RandomLoop:
    """A step that is too large: the residual grows while its sign alternates."""
    c = -1 - log_uniform(rng, 0.01, 0.5)
    return RandomLoop({"x": 1.0}, lambda s, k: {"x": s["x"] * c}, lambda s: [(abs(s["x"]), ">", 1e-6)], "x")


@family("endless")
def integer_cycle(rng: np.random.Generator) -> RandomLoop:
    m = int(rng.integers(5, 24))
    a, x = int(rng.integers(1, m)), int(rng.integers(0, m))
    return single(rng, "x", x, lambda v, k: (v * a + 1) % m, "!=", m + 1)


@family("endless")
def or_stuck(rng: np.random.Generator) -> RandomLoop:
    n = int(rng.integers(60, 900))
    return RandomLoop(
        {"i": 0, "j": 3},
        lambda s, k: {"i": s["i"] + 1, "j": s["j"]},
        lambda s: [(s["i"], "<", n), (s["j"], "<", 10)],
        "j",
        "or",
        1,
    )


@family("endless")
def and_neither(rng: np.random.Generator) -> RandomLoop:
    c = float(rng.uniform(0.3, 0.9))
    return RandomLoop(
        {"x": 1.0, "i": 0},
        lambda s, k: {"x": 1.0 + (s["x"] - 1.0) * c + 0.1, "i": s["i"] - 1},
        lambda s: [(s["x"], ">", 0.5), (s["i"], "<", 100)],
        "x",
        "and",
    )
