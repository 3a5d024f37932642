"""Searches, counters and flags."""

from __future__ import annotations

import numpy as np

from tests.evaluation.solver_questions.loops import Loop, f64, i64

C, D, O = "CONVERGING", "DIVERGING", "OSCILLATING"  # noqa: E741


def _search(low, high):
    middle = (low + high) // 2
    right = middle * middle <= 123456
    return {"low": np.where(right, middle, low), "high": np.where(right, high, middle)}


SEARCHES = [
    Loop("shell_gaps", {"g": i64(5000)}, lambda g: g > 0, lambda g: {"g": g // 3}, "g", C),
    Loop(
        "binary_search", {"low": i64(0), "high": i64(2**20)}, lambda low, high: high - low > 1, _search, "low high", ""
    ),
    Loop(
        "binary_search_stuck",
        {"low": i64(0), "high": i64(10)},
        lambda low, high: low < high,
        lambda low, high: {
            "low": np.where((low + high) // 2 < 7, (low + high) // 2, low),
            "high": np.where((low + high) // 2 < 7, high, (low + high) // 2),
        },
        "low high",
        "",
        "chang|fixed|rest|recur",
    ),
    Loop(
        "two_pointers_meet",
        {"i": i64(0), "j": i64(500)},
        lambda i, j: i < j,
        lambda i, j: {"i": i + 2, "j": j - 1},
        "i j",
        D,
    ),
    Loop(
        "two_pointers_pass",
        {"i": i64(0), "j": i64(9)},
        lambda i, j: (i != j) & (i < 60),
        lambda i, j: {"i": i + 1, "j": j - 1},
        "i",
        D,
    ),
    Loop(
        "flag_never_set",
        {"done": np.bool_(False), "i": i64(0)},
        lambda done, i: ~done,
        lambda done, i: {"done": done & (i > 3), "i": (i + 1) % 10},
        "done",
        "",
        "chang|recur|invariant|flag|never",
    ),
    Loop(
        "retry_doubles",
        {"w": i64(1), "t": i64(0)},
        lambda w, t: t < 5000,
        lambda w, t: {"t": t + w, "w": np.where(w < 64, 2 * w, w)},
        "t",
        D,
    ),
    Loop(
        "either_counter",
        {"i": i64(0), "j": i64(0)},
        lambda i, j: (i < 30) | (j < 90),
        lambda i, j: {"i": i + 1, "j": j + 2},
        "j i",
        D,
    ),
    Loop(
        "forgotten_counter",
        {"i": i64(0), "x": f64(1)},
        lambda i, x: (i < 10) & (x > 0.0),
        lambda i, x: {"i": i, "x": 0.5 * x},
        "x",
        C,
    ),
]
