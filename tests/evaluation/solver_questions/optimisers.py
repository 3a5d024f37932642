"""Minimisers and their schedules."""

from __future__ import annotations

import numpy as np

from tests.evaluation.solver_questions.loops import REST, TURNS, Loop, f64

C, D, O, X = "CONVERGING", "DIVERGING", "OSCILLATING", "CHAOTIC"  # noqa: E741


def _nesterov(x, old, y):
    new = y - 0.05 * 4.0 * (y - 1.0)
    return {"x": new, "old": x, "y": new + 0.7 * (new - x)}


def _adagrad(x, s):
    g = 2.0 * (x - 2.0)
    t = s + g * g
    return {"x": x - 0.5 * g / np.sqrt(t), "s": t}


OPTIMISERS = [
    Loop(
        "descent",
        {"x": f64(0)},
        lambda x: abs(2.0 * (x - 3.0)) > 1e-6,
        lambda x: {"x": x - 0.1 * 2.0 * (x - 3.0)},
        "x",
        C,
    ),
    Loop(
        "descent_overflows",
        {"x": f64(0)},
        lambda x: abs(x - 3.0) > 1e-6,
        lambda x: {"x": x - 1.1 * 2.0 * (x - 3.0)},
        "x",
        D,
    ),
    Loop(
        "descent_on_the_edge",
        {"x": f64(0)},
        lambda x: abs(x - 3.0) > 1e-6,
        lambda x: {"x": x - 2.0 * (x - 3.0)},
        "x",
        O,
        TURNS,
    ),
    Loop(
        "heavy_ball",
        {"x": f64(4), "v": f64(0)},
        lambda x, v: abs(x) + abs(v) > 1e-6,
        lambda x, v: {"v": 0.9 * v - 0.1 * x, "x": x + 0.9 * v - 0.1 * x},
        "x v",
        C,
    ),
    Loop(
        "nesterov", {"x": f64(9), "old": f64(9), "y": f64(9)}, lambda x, old, y: abs(x - 1.0) > 1e-8, _nesterov, "x", C
    ),
    Loop("adagrad", {"x": f64(0), "s": f64(0)}, lambda x, s: abs(x - 2.0) > 1e-5, _adagrad, "x", C),
    Loop(
        "sign_descent",
        {"x": f64(1)},
        lambda x: abs(x) > 0.01,
        lambda x: {"x": x - 0.375 * np.where(x > 0.0, 1.0, -1.0)},
        "x",
        "",
        TURNS,
    ),
    Loop(
        "coordinate_descent",
        {"x": f64(5), "y": f64(-3)},
        lambda x, y: abs(x) + abs(y) > 1e-9,
        lambda x, y: {"x": -0.6 * y, "y": 0.6 * 0.6 * y},
        "x y",
        C,
    ),
    Loop(
        "backtracking",
        {"t": f64(64)},
        lambda t: (1.0 - 2.0 * t) * (1.0 - 2.0 * t) > 1.0 - 2.0 * t,
        lambda t: {"t": 0.5 * t},
        "t",
        "",
    ),
    Loop("annealed", {"t": f64(10)}, lambda t: t > 1e-3, lambda t: {"t": 0.95 * t}, "t", C),
    Loop(
        "newton_on_a_quartic",
        {"x": f64(3)},
        lambda x: 4.0 * x * x * x > 1e-9,
        lambda x: {"x": x - 4.0 * x * x * x / (12.0 * x * x)},
        "x",
        C,
    ),
    Loop("bracket_grows", {"t": f64(1)}, lambda t: t * t < 1e9, lambda t: {"t": 2.0 * t}, "t", D),
    Loop(
        "descent_on_absolute_value",
        {"x": f64(1), "k": f64(1)},
        lambda x, k: abs(x) > 1e-3,
        lambda x, k: {"x": x - np.where(x > 0.0, 1.0, -1.0) / k, "k": k + 1.0},
        "x",
        "",
    ),
    Loop("relaxed_proximal", {"x": f64(8)}, lambda x: x > 1e-7, lambda x: {"x": x / (1.0 + 0.3)}, "x", C),
    Loop(
        "floor_of_the_loss",
        {"x": f64(3)},
        lambda x: 0.5 + x * x > 0.4,
        lambda x: {"x": 0.7 * x},
        "x",
        C,
        REST + "|never|least|bound",
    ),
]
