"""Quadrature, series, products and continued fractions."""

from __future__ import annotations

from tests.evaluation.solver_questions.loops import REST, Loop, f64, i64

C, D, O, X = "CONVERGING", "DIVERGING", "OSCILLATING", "CHAOTIC"  # noqa: E741


SUMS = [
    Loop(
        "trapezoid_refined",
        {"n": f64(1), "t": f64(9), "e": f64(1)},
        lambda n, t, e: e > 1e-10,
        lambda n, t, e: {
            "n": 2.0 * n,
            "t": (2.0 * n * n + 1.0) / (6.0 * n * n),
            "e": abs((2.0 * n * n + 1.0) / (6.0 * n * n) - t),
        },
        "e",
        C,
    ),
    Loop(
        "midpoint_rule",
        {"i": i64(0), "s": f64(0)},
        lambda i, s: i < 1000,
        lambda i, s: {"i": i + 1, "s": s + 4.0 / (1.0 + ((i + 0.5) / 1000.0) * ((i + 0.5) / 1000.0))},
        "i",
        D,
    ),
    Loop(
        "leibniz_terms",
        {"k": f64(0), "s": f64(0), "g": f64(1)},
        lambda k, s, g: 1.0 / (2.0 * k + 1.0) > 1e-3,
        lambda k, s, g: {"s": s + g / (2.0 * k + 1.0), "k": k + 1.0, "g": -g},
        "k",
        D,
    ),
    Loop(
        "basel_reaches",
        {"k": f64(1), "s": f64(0)},
        lambda k, s: s < 1.6,
        lambda k, s: {"s": s + 1.0 / (k * k), "k": k + 1.0},
        "s",
        C,
    ),
    Loop(
        "geometric_short_of_goal",
        {"s": f64(0), "t": f64(1)},
        lambda s, t: s < 2.5,
        lambda s, t: {"s": s + t, "t": 0.5 * t},
        "s",
        C,
        REST,
    ),
    Loop(
        "exponential_series",
        {"k": f64(1), "t": f64(1), "s": f64(0)},
        lambda k, t, s: t > 1e-16,
        lambda k, t, s: {"s": s + t, "t": t * 3.0 / k, "k": k + 1.0},
        "t",
        C,
    ),
    Loop(
        "cubes_below",
        {"k": i64(1), "s": i64(0)},
        lambda k, s: s < 1000000,
        lambda k, s: {"s": s + k * k * k, "k": k + 1},
        "s",
        D,
    ),
    Loop(
        "alternating_short_of_goal",
        {"k": f64(1), "s": f64(0), "g": f64(1)},
        lambda k, s, g: s < 1.05,
        lambda k, s, g: {"s": s + g / k, "g": -g, "k": k + 1.0},
        "s",
        C,
        REST + "|never|bound",
        endless=True,
        proved=False,
    ),
    Loop(
        "harmonic_reaches",
        {"k": f64(1), "s": f64(0)},
        lambda k, s: s < 6.0,
        lambda k, s: {"s": s + 1.0 / k, "k": k + 1.0},
        "s",
        D,
    ),
    Loop(
        "continued_fraction",
        {"x": f64(1), "d": f64(1)},
        lambda x, d: d > 1e-14,
        lambda x, d: {"x": 1.0 + 1.0 / x, "d": abs(1.0 + 1.0 / x - x)},
        "d",
        C,
    ),
    Loop(
        "wallis",
        {"k": f64(1), "p": f64(1)},
        lambda k, p: p < 1.57,
        lambda k, p: {"p": p * 4.0 * k * k / (4.0 * k * k - 1.0), "k": k + 1.0},
        "p",
        C,
    ),
]
