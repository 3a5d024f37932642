"""Eigenvalues, chains, linear systems and recursions of covariance."""

from __future__ import annotations

import numpy as np

from tests.evaluation.solver_questions.loops import TURNS, Loop, f64

C, D, O, X = "CONVERGING", "DIVERGING", "OSCILLATING", "CHAOTIC"  # noqa: E741


def _power_method(x, y, m, old):
    u, v = 2.0 * x + 1.0 * y, 1.0 * x + 3.0 * y
    size = np.sqrt(u * u + v * v)
    return {"x": u / size, "y": v / size, "m": size, "old": m}


def _rayleigh(x, y, mu, off):
    """Inverse iteration on [[2, 1], [1, 3]] with the quotient as its shift."""
    a, b = 2.0 - mu, 3.0 - mu
    u, v = b * x - y, a * y - x
    size = np.sqrt(u * u + v * v)
    u, v = u / size, v / size
    new = 2.0 * u * u + 2.0 * u * v + 3.0 * v * v
    return {"x": u, "y": v, "mu": new, "off": abs(new - mu)}


def _qr(a, b, d):
    """One unshifted QR step of [[a, b], [b, d]]."""
    r = np.sqrt(a * a + b * b)
    c, s = a / r, b / r
    u, v = c * b + s * d, c * d - s * b
    return {"a": r * c + u * s, "b": v * s, "d": v * c}


def _page_rank(p, q, r, move):
    u, v, w = 0.05 + 0.85 * r, 0.05 + 0.425 * p, 0.05 + 0.425 * p + 0.85 * q
    return {"p": u, "q": v, "r": w, "move": abs(u - p) + abs(v - q) + abs(w - r)}


def _sinkhorn(a, b, gap):
    u = 1.0 / (2.0 * b + 1.0)
    v = 1.0 / (1.0 * u + 3.0 * (1.0 - u))
    return {"a": u, "b": v, "gap": abs(u - a)}


def _jacobi(x, y, d):
    u, v = (3.0 - y) / 4.0, (5.0 - x) / 3.0
    return {"x": u, "y": v, "d": abs(u - x) + abs(v - y)}


def _gauss_seidel(x, y, d):
    u = (3.0 - y) / 4.0
    v = (5.0 - u) / 3.0
    return {"x": u, "y": v, "d": abs(u - x) + abs(v - y)}


def _agm(a, b):
    return {"a": 0.5 * (a + b), "b": np.sqrt(a * b)}


def _kalman(p, move):
    new = p * 2.0 / (p + 2.0) + 0.1
    return {"p": new, "move": abs(new - p)}


def _richardson(x, y, r):
    u, v = 3.0 - 4.0 * x - y, 5.0 - x - 3.0 * y
    return {"x": x + 0.3 * u, "y": y + 0.3 * v, "r": abs(u) + abs(v)}


EIGEN = [
    Loop(
        "power_method",
        {"x": f64(1), "y": f64(0), "m": f64(0), "old": f64(9)},
        lambda x, y, m, old: abs(m - old) > 1e-12,
        _power_method,
        "m old x y",
        C,
    ),
    Loop(
        "power_method_of_a_swap",
        {"x": f64(1), "y": f64(0.5), "d": f64(1)},
        lambda x, y, d: d > 1e-9,
        lambda x, y, d: {"x": y, "y": x, "d": abs(x - y)},
        "d x y",
        "",
        TURNS + "|chang",
    ),
    Loop(
        "rayleigh_quotient",
        {"x": f64(1), "y": f64(0.1), "mu": f64(2.2), "off": f64(1)},
        lambda x, y, mu, off: off > 1e-10,
        _rayleigh,
        "off mu",
        "",
    ),
    Loop("qr_algorithm", {"a": f64(2), "b": f64(1), "d": f64(3)}, lambda a, b, d: abs(b) > 1e-10, _qr, "b", C),
    Loop("arithmetic_geometric_mean", {"a": f64(1), "b": f64(0.2)}, lambda a, b: abs(a - b) > 1e-12, _agm, "a b", C),
    Loop(
        "page_rank",
        {"p": f64(1), "q": f64(0), "r": f64(0), "move": f64(1)},
        lambda p, q, r, move: move > 1e-10,
        _page_rank,
        "move",
        C,
    ),
    Loop("sinkhorn_two", {"a": f64(1), "b": f64(1), "gap": f64(1)}, lambda a, b, gap: gap > 1e-13, _sinkhorn, "gap", C),
    Loop(
        "two_state_chain",
        {"p": f64(1), "d": f64(1)},
        lambda p, d: d > 1e-12,
        lambda p, d: {"p": 0.9 * p + 0.2 * (1.0 - p), "d": abs(0.9 * p + 0.2 * (1.0 - p) - p)},
        "d",
        C,
    ),
    Loop(
        "periodic_chain",
        {"p": f64(0.25), "d": f64(1)},
        lambda p, d: d > 1e-3,
        lambda p, d: {"p": 1.0 - p, "d": abs(1.0 - 2.0 * p)},
        "d p",
        "",
        TURNS + "|chang",
    ),
    Loop("kalman_covariance", {"p": f64(9), "move": f64(1)}, lambda p, move: move > 1e-12, _kalman, "move", C),
    Loop("jacobi", {"x": f64(0), "y": f64(0), "d": f64(1)}, lambda x, y, d: d > 1e-10, _jacobi, "d", C),
    Loop("gauss_seidel", {"x": f64(0), "y": f64(0), "d": f64(1)}, lambda x, y, d: d > 1e-10, _gauss_seidel, "d", C),
    Loop(
        "richardson_too_bold",
        {"x": f64(0), "y": f64(0), "r": f64(1)},
        lambda x, y, r: (r > 1e-8) & (r < 1e12),
        _richardson,
        "r",
        "",
    ),
]
