"""Root finders and fixed points."""

from __future__ import annotations

import numpy as np

from tests.evaluation.solver_questions.loops import REST, TURNS, Loop, f32, f64

C, D, O, X = "CONVERGING", "DIVERGING", "OSCILLATING", "CHAOTIC"  # noqa: E741


def _cubic(x):
    return x * x * x - 7.0


def _steffensen(x):
    f = x * x - 3.0
    g = (x + f) * (x + f) - 3.0
    return {"x": x - f * f / (g - f)}


def _chebyshev(x):
    f, d = x * x - 5.0, 2.0 * x
    return {"x": x - f / d * (1.0 + f / (d * d))}


def _illinois(a, b, p, q):
    """Regula falsi on x^3 = 2, the kept end's value halved."""
    c = b - q * (b - a) / (q - p)
    r = c * c * c - 2.0
    crossed = r * q < 0.0
    return {"a": np.where(crossed, b, a), "p": np.where(crossed, q, 0.5 * p), "b": c, "q": r}


ROOTS = [
    Loop(
        "newton_cube",
        {"x": f64(5)},
        lambda x: abs(_cubic(x)) > 1e-9,
        lambda x: {"x": x - _cubic(x) / (3.0 * x * x)},
        "x",
        C,
    ),
    Loop(
        "newton_two_cycle",
        {"x": f64(0)},
        lambda x: abs(x * x * x - 2.0 * x + 2.0) > 1e-6,
        lambda x: {"x": x - (x * x * x - 2.0 * x + 2.0) / (3.0 * x * x - 2.0)},
        "x",
        O,
        TURNS,
    ),
    Loop(
        "newton_without_a_root",
        {"x": f64(0.7)},
        lambda x: x * x + 1.0 > 0.5,
        lambda x: {"x": x - (x * x + 1.0) / (2.0 * x)},
        "x",
        X,
        "never|always|least|range|bound|near",
        endless=True,
        proved=False,  # an iterate that is zero would divide by it
    ),
    Loop("steffensen", {"x": f64(2)}, lambda x: abs(x * x - 3.0) > 1e-10, _steffensen, "x", C),
    Loop("chebyshev_root", {"x": f64(9)}, lambda x: abs(x * x - 5.0) > 1e-10, _chebyshev, "x", C),
    Loop(
        "illinois",
        {"a": f64(0), "b": f64(3), "p": f64(-2), "q": f64(25)},
        lambda a, b, p, q: abs(q) > 1e-12,
        _illinois,
        "q b",
        C,
    ),
    Loop("cosine_fixed_point", {"x": f64(1)}, lambda x: abs(np.cos(x) - x) > 1e-12, lambda x: {"x": np.cos(x)}, "x", C),
    Loop(
        "exponential_fixed_point",
        {"x": f64(0)},
        lambda x: abs(np.exp(-x) - x) > 1e-10,
        lambda x: {"x": np.exp(-x)},
        "x",
        C,
    ),
    Loop(
        "reciprocal",
        {"x": f64(0.1)},
        lambda x: abs(1.0 - 7.0 * x) > 1e-14,
        lambda x: {"x": x * (2.0 - 7.0 * x)},
        "x",
        C,
    ),
    Loop(
        "inverse_root_float32",
        {"y": f32(0.5)},
        lambda y: abs(f32(1) - f32(3) * y * y) > f32(1e-9),
        lambda y: {"y": y * (f32(1.5) - f32(1.5) * y * y)},
        "y",
        C,
        REST,
    ),
    Loop(
        "double_root",
        {"x": f64(4)},
        lambda x: (x - 1.0) * (x - 1.0) > 1e-20,
        lambda x: {"x": x - (x - 1.0) * 0.5},
        "x",
        C,
    ),
    Loop(
        "damped_newton",
        {"x": f64(5)},
        lambda x: abs(_cubic(x)) > 1e-6,
        lambda x: {"x": x - 0.5 * _cubic(x) / (3.0 * x * x)},
        "x",
        C,
    ),
    Loop(
        "babylonian_change",
        {"x": f64(50), "d": f64(1)},
        lambda x, d: d > 1e-12,
        lambda x, d: {"x": 0.5 * (x + 50.0 / x), "d": abs(0.5 * (x + 50.0 / x) - x)},
        "d",
        C,
    ),
    Loop(
        "repelling_fixed_point",
        {"x": f64(0.4)},
        lambda x: abs(3.2 * x * (1.0 - x) - x) > 1e-9,
        lambda x: {"x": 3.2 * x * (1.0 - x)},
        "x",
        O,
        TURNS,
    ),
    Loop(
        "chaotic_fixed_point",
        {"x": f64(0.4)},
        lambda x: x < 1.5,
        lambda x: {"x": 3.9 * x * (1.0 - x)},
        "x",
        X,
        "bound|range|within|chaotic|recur|never",
        endless=True,
    ),
]
