"""Conditions: tolerances, clauses, flags, NaN, counters that wait, stages."""

from __future__ import annotations

import numpy as np

from tests.evaluation.solver_questions.loops import REST, TURNS, Loop, f64, i64

C, D, O = "CONVERGING", "DIVERGING", "OSCILLATING"  # noqa: E741


def _stages(stage, x):
    """Grows to 10, shrinks to 1, is done."""
    return {
        "x": np.where(stage == 0, 1.3 * x, 0.8 * x),
        "stage": np.where((stage == 0) & (x > 10.0), 1, np.where((stage == 1) & (x < 1.0), 2, stage)),
    }


CONDITIONS = [
    Loop(
        "relative_tolerance_at_zero",
        {"x": f64(3), "d": f64(1)},
        lambda x, d: d > 1e-8 * abs(x),
        lambda x, d: {"x": 0.5 * x, "d": 0.5 * abs(x)},
        "d x",
        C,
    ),
    Loop(
        "mixed_tolerance",
        {"x": f64(90), "d": f64(1)},
        lambda x, d: d > 1e-6 + 1e-6 * abs(x),
        lambda x, d: {"x": 0.9 * x + 1.0, "d": abs(1.0 - 0.1 * x)},
        "d",
        C,
    ),
    Loop(
        "neither_small_nor_many",
        {"e": f64(1), "k": i64(1)},
        lambda e, k: ~((e < 1e-6) | (k >= 200)),
        lambda e, k: {"e": e / (1.0 + e), "k": k + 1},
        "k",
        D,
    ),
    Loop(
        "at_least_thirty",
        {"k": i64(0), "e": f64(1)},
        lambda k, e: (e > 1e-3) | (k < 30),
        lambda k, e: {"e": 0.5 * e, "k": k + 1},
        "k",
        D,
    ),
    Loop(
        "root_of_a_negative_number",
        {"x": f64(5)},
        lambda x: ~(x < -1.0),
        lambda x: {"x": np.sqrt(x - 1.0)},
        "x",
        "",
        "nan|not a number|number",
    ),
    Loop(
        "back_off",
        {"delay": i64(1), "waited": i64(0), "tries": i64(0)},
        lambda delay, waited, tries: (waited < 1000) & (tries < 40),
        lambda delay, waited, tries: {"waited": waited + delay, "delay": np.minimum(2 * delay, 64), "tries": tries + 1},
        "waited",
        "",
    ),
    Loop(
        "flags_in_turns",
        {"a": np.bool_(True), "b": np.bool_(False)},
        lambda a, b: ~(a & b),
        lambda a, b: {"a": ~a, "b": ~b},
        "a b",
        "",
        TURNS + "|never|invariant|chang",
    ),
    Loop("stages", {"stage": i64(0), "x": f64(0.5)}, lambda stage, x: stage < 2, _stages, "stage", ""),
    Loop(
        "hits_stop_coming",
        {"x": f64(3), "hits": i64(0)},
        lambda x, hits: hits < 10,
        lambda x, hits: {"hits": hits + np.where(x > 0.5, 1, 0), "x": 0.4 + 0.5 * (x - 0.4)},
        "hits x",
        "",
        REST,
    ),
    Loop(
        "and_where_or_was_meant",
        {"x": f64(1), "k": i64(0)},
        lambda x, k: (abs(x - 2.0) > 1e-9) | (k < 10),
        lambda x, k: {"x": 0.7 * x + 0.9, "k": k + 1},
        "x",
        C,
        REST,
        endless=True,
    ),
    Loop(
        "not_met_exactly",
        {"x": f64(1)},
        lambda x: x != 0.25,
        lambda x: {"x": 0.9 * x + 0.1 * 0.25},
        "x",
        C,
        REST + "|equal|exact",
    ),
]
