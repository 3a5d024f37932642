"""Linear systems and eigenvalues, in arrays and by components."""

from __future__ import annotations

import numpy as np

from tests.evaluation.solver_questions.loops import REST, TURNS, Loop, f64

C, D, O = "CONVERGING", "DIVERGING", "OSCILLATING"  # noqa: E741

#: a chain of five springs with unequal ground springs
SPRINGS = np.diag([4.0, 9.0, 3.0, 30.0, 5.0]) - np.diag([1.0] * 4, 1) - np.diag([1.0] * 4, -1)
LOAD = np.array([1.0, -2.0, 0.5, 3.0, 1.0])
#: positive real but not symmetric
SKEWED = np.array([[3.0, 1.0, 0.0], [-1.0, 2.0, 0.5], [0.0, -0.5, 1.0]])
LINE = np.diag([1.0, 2.0, 4.0, 7.0]) + 0.3 * np.diag([1.0] * 3, 1) + 0.3 * np.diag([1.0] * 3, -1)


def _preconditioned(x, r, p, rz):
    """Conjugate gradients with the inverse diagonal as preconditioner."""
    q = SPRINGS @ p
    alpha = rz / np.sum(p * q)
    left = r - alpha * q
    z = left / np.diag(SPRINGS)
    new = np.sum(left * z)
    return {"x": x + alpha * p, "r": left, "p": z + (new / rz) * p, "rz": new}


def _steepest(x, y, g):
    """Exact line search on 0.5 (x^2 + 20 y^2)."""
    a, b = x, 20.0 * y
    t = (a * a + b * b) / (a * a + 20.0 * b * b)
    u, v = x - t * a, y - t * b
    return {"x": u, "y": v, "g": np.sqrt(u * u + 400.0 * v * v)}


def _minimal_residual(x, r, size):
    q = SKEWED @ r
    alpha = np.sum(r * q) / np.sum(q * q)
    left = r - alpha * q
    return {"x": x + alpha * r, "r": left, "size": np.sqrt(np.sum(left * left))}


def _turned(u, v, size):
    """The minimal residual step with a matrix that turns by a right angle."""
    a, b = v, -u
    alpha = (u * a + v * b) / (a * a + b * b)
    return {"u": u - alpha * a, "v": v - alpha * b, "size": np.sqrt(u * u + v * v)}


def _over_relaxed(x, y, z, move):
    a = x + 1.4 * ((1.0 + y) / 2.0 - x)
    b = y + 1.4 * ((a + z) / 2.0 - y)
    c = z + 1.4 * (b / 2.0 - z)
    return {"x": a, "y": b, "z": c, "move": abs(a - x) + abs(b - y) + abs(c - z)}


def _jacobi_too_weak(x, y, move):
    u, v = 1.0 - 2.0 * y, 1.0 - 3.0 * x
    return {"x": u, "y": v, "move": abs(u - x) + abs(v - y)}


def _inverse_iteration(x, y, mu, move):
    """[[2, 1], [1, 3]] shifted by 1."""
    u, v = 2.0 * x - y, y - x
    size = np.sqrt(u * u + v * v)
    u, v = u / size, v / size
    new = 2.0 * u * u + 2.0 * u * v + 3.0 * v * v
    return {"x": u, "y": v, "mu": new, "move": abs(new - mu)}


def _negative_dominant(x, y, move):
    u, v = x - 3.0 * y, y - 3.0 * x
    u, v = u + 0.0, v - 5.0 * y
    size = np.sqrt(u * u + v * v)
    u, v = u / size, v / size
    return {"x": u, "y": v, "move": abs(u - x) + abs(v - y)}


def _lanczos(v, old, beta):
    w = LINE @ v - beta * old
    w = w - np.sum(w * v) * v
    size = np.sqrt(np.sum(w * w))
    return {"v": w / size, "old": v, "beta": size}


LINEAR = [
    Loop(
        "preconditioned_conjugate_gradients",
        {"x": np.zeros(5), "r": LOAD, "p": LOAD / np.diag(SPRINGS), "rz": f64(LOAD @ (LOAD / np.diag(SPRINGS)))},
        lambda x, r, p, rz: rz > 1e-20,
        _preconditioned,
        "rz r",
        C,
    ),
    Loop("steepest_descent", {"x": f64(20), "y": f64(1), "g": f64(9)}, lambda x, y, g: g > 1e-8, _steepest, "g", C),
    Loop(
        "minimal_residual",
        {"x": np.zeros(3), "r": np.array([1.0, 2.0, -1.0]), "size": f64(2)},
        lambda x, r, size: size > 1e-9,
        _minimal_residual,
        "size r",
        C,
    ),
    Loop(
        "minimal_residual_stagnates",
        {"u": f64(1), "v": f64(2), "size": f64(3)},
        lambda u, v, size: size > 1e-9,
        _turned,
        "size u v",
        "",
        REST,
    ),
    Loop(
        "successive_over_relaxation",
        {"x": f64(0), "y": f64(0), "z": f64(0), "move": f64(1)},
        lambda x, y, z, move: move > 1e-11,
        _over_relaxed,
        "move",
        C,
    ),
    Loop(
        "jacobi_without_dominance",
        {"x": f64(0), "y": f64(0), "move": f64(1)},
        lambda x, y, move: move > 1e-8,
        _jacobi_too_weak,
        "move",
        D,
        "inf|overflow|grow|away|diverg|recur|return",
    ),
    Loop(
        "inverse_iteration",
        {"x": f64(1), "y": f64(1), "mu": f64(0), "move": f64(1)},
        lambda x, y, mu, move: move > 1e-12,
        _inverse_iteration,
        "move mu",
        C,
    ),
    Loop(
        "power_method_flips_its_sign",
        {"x": f64(1), "y": f64(0), "move": f64(1)},
        lambda x, y, move: move > 1e-8,
        _negative_dominant,
        "move x y",
        "",
        TURNS + "|sign|fixed|chang|rest",
    ),
    Loop(
        "lanczos_until_breakdown",
        {"v": np.array([0.5, 0.5, 0.5, 0.5]), "old": np.zeros(4), "beta": f64(1)},
        lambda v, old, beta: beta > 1e-8,
        _lanczos,
        "beta",
        "",
    ),
    Loop(
        "inverse_by_newton_schulz",
        {"X": np.array([[0.2, 0.0], [0.0, 0.2]])},
        lambda X: np.max(abs(np.eye(2) - np.array([[3.0, 1.0], [1.0, 2.0]]) @ X)) > 1e-12,
        lambda X: {"X": X @ (2.0 * np.eye(2) - np.array([[3.0, 1.0], [1.0, 2.0]]) @ X)},
        "X",
        "",
    ),
]
