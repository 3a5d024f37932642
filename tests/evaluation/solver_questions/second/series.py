"""Sums, products and fractions, their tails and their limits."""

from __future__ import annotations

import numpy as np

from tests.evaluation.solver_questions.loops import REST, Loop, f32, f64

C, D, O = "CONVERGING", "DIVERGING", "OSCILLATING"  # noqa: E741


def _compensated(s, c):
    y = f32(0.1) - c
    t = s + y
    return {"s": t, "c": (t - s) - y}


def _lentz(f, c, d, k, move):
    """tan(1) = 1 / (1 - 1 / (3 - 1 / (5 - ...))), from its second level on."""
    b = 2.0 * k + 1.0
    u = b - 1.0 / c
    v = 1.0 / (b - d)
    return {"f": f * (u * v), "c": u, "d": v, "k": k + 1.0, "move": abs(u * v - 1.0)}


def _vectors(x, y, z, p):
    """CORDIC without its table: half-angle tangents, z is what is left of the angle."""
    up = np.where(z > 0.0, 1.0, -1.0)
    return {"x": x - up * p * y, "y": y + up * p * x, "z": z - up * np.arctan(p), "p": 0.5 * p}


SERIES = [
    Loop(
        "terms_of_zeta_three",
        {"k": f64(1), "s": f64(0)},
        lambda k, s: 1.0 / (k * k * k) > 1e-9,
        lambda k, s: {"s": s + 1.0 / (k * k * k), "k": k + 1.0},
        "k",
        D,
    ),
    Loop(
        "zeta_two_against_its_bound",
        {"k": f64(1), "s": f64(0)},
        lambda k, s: s < 1.7,
        lambda k, s: {"s": s + 1.0 / (k * k), "k": k + 1.0},
        "s",
        C,
        REST,
        endless=True,
        proved=False,
    ),
    Loop(
        "nilakantha",
        {"k": f64(2), "s": f64(3), "g": f64(1)},
        lambda k, s, g: abs(s - 3.141592653589793) > 1e-7,
        lambda k, s, g: {"s": s + g * 4.0 / (k * (k + 1.0) * (k + 2.0)), "g": -g, "k": k + 2.0},
        "s",
        C,
    ),
    Loop(
        "viete",
        {"a": f64(0), "p": f64(2)},
        lambda a, p: abs(p - 3.141592653589793) > 1e-9,
        lambda a, p: {"a": np.sqrt(2.0 + a), "p": p * 2.0 / np.sqrt(2.0 + a)},
        "p",
        C,
    ),
    Loop(
        "means_of_gauss",
        {"a": f64(1), "b": f64(2) ** -0.5},
        lambda a, b: abs(a - b) > 1e-14,
        lambda a, b: {"a": 0.5 * (a + b), "b": np.sqrt(a * b)},
        "a b",
        C,
    ),
    Loop(
        "fraction_of_lentz",
        {"f": f64(1), "c": f64(1), "d": f64(1e-30), "k": f64(1), "move": f64(1)},
        lambda f, c, d, k, move: move > 1e-12,
        _lentz,
        "move",
        C,
    ),
    Loop("compensated_tenths", {"s": f32(0), "c": f32(0)}, lambda s, c: s < f32(300), _compensated, "s", D),
    Loop(
        "tenths_lost_in_float32",
        {"s": f32(2**21 - 50)},
        lambda s: s < f32(2**21 + 500),
        lambda s: {"s": s + f32(0.1)},
        "s",
        "",
        REST,
    ),
    Loop(
        "small_against_the_sum",
        {"s": f64(0), "t": f64(1)},
        lambda s, t: t > 1e-10 * s,
        lambda s, t: {"s": s + t, "t": 0.8 * t},
        "t s",
        C,
    ),
    Loop(
        "asymptotic_series",
        {"t": f64(1), "k": f64(1)},
        lambda t, k: t > 1e-8,
        lambda t, k: {"t": t * k / 5.0, "k": k + 1.0},
        "t",
        D,
        "diverg|inf|grow|away|never|least|above|overflow|bound|chang|rest",
        endless=True,
    ),
    Loop(
        "ratios_of_fibonacci",
        {"a": f64(1), "b": f64(1), "q": f64(0)},
        lambda a, b, q: abs(b / a - q) > 1e-13,
        lambda a, b, q: {"a": b, "b": a + b, "q": b / a},
        "q a b",
        C,
    ),
    Loop(
        "cordic",
        {"x": f64(1), "y": f64(0), "z": f64(0.9), "p": f64(1)},
        lambda x, y, z, p: abs(z) > 1e-7,
        _vectors,
        "z",
        C,
    ),
    Loop(
        "counter_in_float32", {"i": f32(16777000)}, lambda i: i < f32(2e7), lambda i: {"i": i + f32(1)}, "i", "", REST
    ),
]
