"""Zeros of functions: brackets, derivatives, acceleration."""

from __future__ import annotations

import numpy as np

from tests.evaluation.solver_questions.loops import REST, Loop, f32, f64

C, D, O = "CONVERGING", "DIVERGING", "OSCILLATING"  # noqa: E741


def _halley(x):
    f, d, e = x * x * x - 10.0, 3.0 * x * x, 6.0 * x
    return {"x": x - 2.0 * f * d / (2.0 * d * d - f * e)}


def _bisect(a, b):
    m = f32(0.5) * (a + b)
    left = m * m > f32(2)
    return {"a": np.where(left, a, m), "b": np.where(left, m, b)}


def _false_position(a, b):
    p, q = a * a * a - 2.0, b * b * b - 2.0
    c = (a * q - b * p) / (q - p)
    low = c * c * c < 2.0
    return {"a": np.where(low, c, a), "b": np.where(low, b, c)}


def _golden(a, b):
    """The least of (x - 1)^2."""
    s = 0.6180339887498949
    c, d = b - s * (b - a), a + s * (b - a)
    left = (c - 1.0) * (c - 1.0) < (d - 1.0) * (d - 1.0)
    return {"a": np.where(left, a, c), "b": np.where(left, d, b)}


def _aitken(x, d):
    y = np.cos(x)
    z = np.cos(y)
    new = x - (y - x) * (y - x) / (z - 2.0 * y + x)
    return {"x": new, "d": abs(new - x)}


def _dekker(a, b):
    """A secant step where it falls between the middle and the better end, the middle otherwise; x^3 = x + 2."""
    p, q = a * a * a - a - 2.0, b * b * b - b - 2.0
    s, m = b - q * (b - a) / (q - p), 0.5 * (a + b)
    c = np.where((s - m) * (s - b) < 0.0, s, m)
    r = c * c * c - c - 2.0
    return {"a": np.where(r * q < 0.0, b, a), "b": c}


def _anderson(x, y, f):
    """Anderson's mixing of two residuals, of x = exp(-x)."""
    now = np.exp(-x) - x
    part = now / (now - f)
    return {"x": (1.0 - part) * (x + now) + part * (y + f), "y": x, "f": now}


ZEROS = [
    Loop("halley", {"x": f64(20)}, lambda x: abs(x * x * x - 10.0) > 1e-10, _halley, "x", C),
    Loop(
        "bisection_below_float32", {"a": f32(1), "b": f32(2)}, lambda a, b: b - a > f32(1e-9), _bisect, "a b", C, REST
    ),
    Loop("width_of_false_position", {"a": f64(0), "b": f64(2)}, lambda a, b: b - a > 1e-6, _false_position, "a b", C),
    Loop("golden_section", {"a": f64(-2), "b": f64(5)}, lambda a, b: b - a > 1e-7, _golden, "a b", C),
    Loop("aitken", {"x": f64(1), "d": f64(1)}, lambda x, d: d > 1e-8, _aitken, "d", C),
    Loop(
        "aitken_until_nothing_moves",
        {"x": f64(1), "d": f64(1)},
        lambda x, d: d != 0.0,
        _aitken,
        "d x",
        "",
        "nan|not a number|number",
    ),
    Loop("dekker", {"a": f64(0), "b": f64(3)}, lambda a, b: abs(b * b * b - b - 2.0) > 1e-12, _dekker, "b", C),
    Loop("anderson", {"x": f64(1), "y": f64(0), "f": f64(1)}, lambda x, y, f: abs(f) > 1e-11, _anderson, "f x", C),
    Loop(
        "newton_leaves_the_arctangent",
        {"x": f64(1.5)},
        lambda x: abs(np.arctan(x)) > 1e-8,
        lambda x: {"x": x - np.arctan(x) * (1.0 + x * x)},
        "x",
        D,
    ),
    Loop(
        "newton_of_an_exponential",
        {"x": f64(0)},
        lambda x: np.exp(x) > 1e-4,
        lambda x: {"x": x - np.exp(x) / np.exp(x)},
        "x",
        D,
    ),
]
