"""Estimates and decisions: mixtures, clusters, scaling, chains, values and policies."""

from __future__ import annotations

import numpy as np

from tests.evaluation.solver_questions.loops import TURNS, Loop, f64, i64

C, D, O = "CONVERGING", "DIVERGING", "OSCILLATING"  # noqa: E741

POINTS = np.array([-1.2, -0.7, -1.0, 0.4, 2.1, 1.7, 2.6, 1.9])
ROUND = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
#: costs of the edges i -> j, a large number where there is none
FAR = 1e6
EDGES = np.array(
    [
        [0.0, 4.0, 1.0, FAR, FAR],
        [FAR, 0.0, FAR, 1.0, FAR],
        [FAR, 2.0, 0.0, 5.0, FAR],
        [FAR, FAR, FAR, 0.0, 3.0],
        [FAR, FAR, FAR, FAR, 0.0],
    ]
)


def _mixture(a, b, move):
    """EM for two normals of variance one and weights one half."""
    p = 1.0 / (1.0 + np.exp(0.5 * (POINTS - a) * (POINTS - a) - 0.5 * (POINTS - b) * (POINTS - b)))
    u, v = np.sum(p * POINTS) / np.sum(p), np.sum((1.0 - p) * POINTS) / np.sum(1.0 - p)
    return {"a": u, "b": v, "move": abs(u - a) + abs(v - b)}


def _clusters(a, b, moved):
    near = np.where(abs(POINTS - a) < abs(POINTS - b), 1.0, 0.0)
    u, v = np.sum(near * POINTS) / np.sum(near), np.sum((1.0 - near) * POINTS) / np.sum(1.0 - near)
    return {"a": u, "b": v, "moved": abs(u - a) + abs(v - b)}


def _scaling(u, error):
    K = np.array([[1.0, 0.3, 0.1], [0.3, 1.0, 0.3], [0.1, 0.3, 1.0]])
    rows, columns = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])
    v = columns / (u @ K)
    return {"u": rows / (K @ v), "error": np.sum(abs(u * (K @ v) - rows))}


def _values(a, b, change):
    u = np.maximum(1.0 + 0.9 * a, 0.9 * b)
    v = np.maximum(0.9 * a, 2.0 + 0.9 * (0.5 * a + 0.5 * b))
    return {"a": u, "b": v, "change": np.maximum(abs(u - a), abs(v - b))}


def _policy(stay, value, changed):
    """Stay for 1 a step or leave once for 12, discount 0.9."""
    new = np.where(stay == 1, 1.0 / (1.0 - 0.9), 12.0)
    better = np.where(1.0 + 0.9 * new > 12.0, 1, 0)
    return {"stay": better, "value": new, "changed": better != stay}


def _bellman_ford(dist, moved):
    new = np.min(EDGES + dist[:, None], axis=0)
    return {"dist": new, "moved": np.sum(abs(new - dist))}


def _trellis(rain, sun, i):
    return {"rain": np.maximum(rain - 0.4, sun - 1.2) - 0.5, "sun": np.maximum(rain - 1.1, sun - 0.3) - 0.9, "i": i + 1}


MODELS = [
    Loop(
        "mixture_of_two_normals",
        {"a": f64(-0.5), "b": f64(0.5), "move": f64(1)},
        lambda a, b, move: move > 1e-10,
        _mixture,
        "move",
        C,
    ),
    Loop(
        "clusters_on_a_line",
        {"a": f64(-1.2), "b": f64(-0.7), "moved": f64(1)},
        lambda a, b, moved: moved > 0.0,
        _clusters,
        "moved",
        "",
    ),
    Loop("sinkhorn_three", {"u": np.ones(3), "error": f64(1)}, lambda u, error: error > 1e-10, _scaling, "error", C),
    Loop(
        "surfer_without_damping",
        {"p": np.array([0.5, 0.25, 0.25]), "move": f64(1)},
        lambda p, move: move > 1e-6,
        lambda p, move: {"p": ROUND @ p, "move": np.sum(abs(ROUND @ p - p))},
        "move p",
        "",
        TURNS + "|chang|fixed|rest",
    ),
    Loop(
        "value_iteration",
        {"a": f64(0), "b": f64(0), "change": f64(1)},
        lambda a, b, change: change > 1e-6,
        _values,
        "change",
        C,
    ),
    Loop(
        "policy_iteration",
        {"stay": i64(1), "value": f64(0), "changed": np.bool_(True)},
        lambda stay, value, changed: changed,
        _policy,
        "changed stay",
        "",
    ),
    Loop(
        "bellman_ford",
        {"dist": np.array([0.0, FAR, FAR, FAR, FAR]), "moved": f64(1)},
        lambda dist, moved: moved > 0.0,
        _bellman_ford,
        "moved dist",
        "",
    ),
    Loop("trellis", {"rain": f64(0), "sun": f64(0), "i": i64(0)}, lambda rain, sun, i: i < 200, _trellis, "i", D),
]
