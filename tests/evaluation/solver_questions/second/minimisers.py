"""Minimisers: adaptive steps, penalties, proximal steps, trust regions, patience."""

from __future__ import annotations

import numpy as np

from tests.evaluation.solver_questions.loops import REST, TURNS, Loop, f32, f64, i64

C, D, O = "CONVERGING", "DIVERGING", "OSCILLATING"  # noqa: E741


def _rmsprop(x, s):
    g = 2.0 * x
    t = 0.9 * s + 0.1 * g * g
    return {"x": x - 0.1 * g / np.sqrt(t + 1e-8), "s": t}


def _soft(x, by):
    return np.where(x > by, x - by, np.where(x < -by, x + by, 0.0))


def _ista(x, move):
    new = _soft(x - 0.2 * (x - 3.0), 0.1)
    return {"x": new, "move": abs(new - x)}


def _trust_region(x, radius):
    """x^4 / 4 - x, its model by the second derivative."""
    g, h = x * x * x - 1.0, 3.0 * x * x + 1e-3
    step = np.minimum(np.maximum(-g / h, -radius), radius)
    y = x + step
    gain = (x * x * x * x / 4.0 - x) - (y * y * y * y / 4.0 - y)
    model = -g * step - 0.5 * h * step * step
    good = gain > 0.25 * model
    return {"x": np.where(good, y, x), "radius": np.where(good, 1.5 * radius, 0.25 * radius)}


def _patience(x, best, wait):
    loss = 1.0 + x * x
    better = loss < best - 1e-5
    return {"x": 0.8 * x, "best": np.where(better, loss, best), "wait": np.where(better, 0, wait + 1)}


def _forgetful(x, old, wait):
    """Compared with the loss before, not with the best."""
    loss = np.where(x > 0.0, 1.0, 0.5)
    return {"x": -x, "old": loss, "wait": np.where(loss < old, 0, wait + 1)}


def _nelder_mead(a, b):
    """A simplex of two points on (x - 2)^2; a is the better one."""
    r = 2.0 * a - b
    e = 3.0 * a - 2.0 * b
    fa, fr, fe = (a - 2.0) * (a - 2.0), (r - 2.0) * (r - 2.0), (e - 2.0) * (e - 2.0)
    new = np.where(fr < fa, np.where(fe < fr, e, r), 0.5 * (a + b))
    swap = (new - 2.0) * (new - 2.0) < fa
    return {"a": np.where(swap, new, a), "b": np.where(swap, a, new)}


def _momentum(x, v, k):
    w = 0.8 * v - 0.4 / k * 2.0 * (x - 1.0)
    return {"v": w, "x": x + w, "k": k + 1.0}


MINIMISERS = [
    Loop("rmsprop_of_constant_rate", {"x": f64(3), "s": f64(0)}, lambda x, s: abs(x) > 1e-6, _rmsprop, "x"),
    Loop("ista", {"x": f64(0), "move": f64(1)}, lambda x, move: move > 1e-10, _ista, "move", C),
    Loop(
        "ista_is_biased",
        {"x": f64(0)},
        lambda x: abs(x - 3.0) > 1e-3,
        lambda x: {"x": _soft(x - 0.2 * (x - 3.0), 0.1)},
        "x",
        C,
        REST,
    ),
    Loop(
        "penalty_method",
        {"mu": f64(1), "gap": f64(1)},
        lambda mu, gap: gap > 1e-7,
        lambda mu, gap: {"mu": 4.0 * mu, "gap": abs(mu / (1.0 + mu) - 1.0)},
        "gap",
        C,
    ),
    Loop(
        "augmented_lagrangian",
        {"lam": f64(0), "x": f64(0)},
        lambda lam, x: abs(x - 1.0) > 1e-9,
        lambda lam, x: {"x": (lam + 3.0) / 5.0, "lam": lam - 3.0 * ((lam + 3.0) / 5.0 - 1.0)},
        "x lam",
        C,
    ),
    Loop(
        "trust_region",
        {"x": f64(6), "radius": f64(0.1)},
        lambda x, radius: abs(x * x * x - 1.0) > 1e-9,
        _trust_region,
        "x",
        C,
    ),
    Loop(
        "patience_runs_out",
        {"x": f64(2), "best": f64(99), "wait": i64(0)},
        lambda x, best, wait: wait < 5,
        _patience,
        "wait",
        "",
    ),
    Loop(
        "patience_is_reset",
        {"x": f64(1), "old": f64(9), "wait": i64(0)},
        lambda x, old, wait: wait < 3,
        _forgetful,
        "wait",
        "",
        TURNS,
    ),
    Loop("nelder_mead_on_a_line", {"a": f64(9), "b": f64(10)}, lambda a, b: abs(a - b) > 1e-8, _nelder_mead, "a b", C),
    Loop(
        "cosine_schedule",
        {"k": i64(0)},
        lambda k: 0.5 * (1.0 + np.cos(0.031415926535897934 * k)) > 1e-3,
        lambda k: {"k": k + 1},
        "k",
        D,
    ),
    Loop(
        "descent_stalls_in_float32",
        {"x": f32(0)},
        lambda x: abs(x - f32(3)) > f32(1e-7),
        lambda x: {"x": x - f32(0.01) * (x - f32(3))},
        "x",
        C,
        REST,
    ),
    Loop(
        "momentum_of_falling_rate",
        {"x": f64(8), "v": f64(0), "k": f64(1)},
        lambda x, v, k: abs(x - 1.0) + abs(v) > 1e-3,
        _momentum,
        "x v",
        C,
    ),
    Loop(
        "multiplicative_weights",
        {"w": f64(0.01)},
        lambda w: w < 0.9999,
        lambda w: {"w": 1.2 * w / (1.2 * w + 1.0 - w)},
        "w",
        C,
    ),
]
