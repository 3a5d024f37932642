"""Narrow dtypes, and the ends of their ranges."""

from __future__ import annotations

import numpy as np

from tests.evaluation.solver_questions.loops import REST, TURNS, Loop, f16, f32, f64, i8, u8

C, D, O = "CONVERGING", "DIVERGING", "OSCILLATING"  # noqa: E741


NARROW = [
    Loop(
        "increment_lost_float32",
        {"x": f32(1)},
        lambda x: x < f32(1.1),
        lambda x: {"x": x + f32(1e-8)},
        "x",
        "STABLE",
        REST,
    ),
    Loop("sum_stalls_float16", {"s": f16(0)}, lambda s: s < f16(50), lambda s: {"s": s + f16(0.01)}, "s", "", REST),
    Loop("machine_epsilon", {"e": f64(1)}, lambda e: 1.0 + e > 1.0, lambda e: {"e": 0.5 * e}, "e", C),
    Loop(
        "machine_epsilon_float32", {"e": f32(1)}, lambda e: f32(1) + e > f32(1), lambda e: {"e": f32(0.5) * e}, "e", C
    ),
    Loop("halved_to_zero", {"x": f64(1)}, lambda x: x > 0.0, lambda x: {"x": x / 2.0}, "x", C),
    Loop("halved_to_zero_float32", {"x": f32(3)}, lambda x: x > f32(0), lambda x: {"x": x / f32(2)}, "x", C),
    Loop("grown_to_infinity", {"x": f64(1)}, lambda x: x < np.inf, lambda x: {"x": 1.5 * x}, "x", D),
    Loop("leak_float16", {"x": f16(100)}, lambda x: x > f16(1), lambda x: {"x": x - x / f16(1024)}, "x", "", REST),
    Loop("roots_of_two", {"x": f64(2)}, lambda x: x > 1.0, lambda x: {"x": np.sqrt(x)}, "x", C),
    Loop("squared_to_zero", {"x": f64(0.9)}, lambda x: x > 0.0, lambda x: {"x": x * x}, "x", C),
    Loop(
        "signed_byte",
        {"i": i8(0)},
        lambda i: i <= i8(127),
        lambda i: {"i": i + i8(1)},
        "i",
        "",
        "every|range|recur|wrap|always|never|int8",
    ),
    Loop(
        "odd_byte",
        {"i": u8(1)},
        lambda i: i != u8(0),
        lambda i: {"i": i + u8(2)},
        "i",
        "",
        "wrap|recur|steps|never|odd|divis|equal",
    ),
    Loop("byte_wraps_to_the_end", {"i": i8(100)}, lambda i: i > i8(0), lambda i: {"i": i + i8(9)}, "i", ""),
    Loop(
        "third_is_not_met",
        {"t": f64(0)},
        lambda t: t != 1.0,
        lambda t: {"t": np.where(t > 50.0, 0.0, t + 1.0 / 7.0)},
        "t",
        "",
        TURNS + "|equal|steps|never",
    ),
    Loop(
        "harmonic_float16",
        {"s": f16(0), "k": f16(1)},
        lambda s, k: s < f16(9),
        lambda s, k: {"s": s + f16(1) / k, "k": k + f16(1)},
        "s k",
        "",
        REST,
    ),
    Loop("reset_by_nan", {"x": f64(4)}, lambda x: x > -5.0, lambda x: {"x": np.sqrt(x) - 1.5 + 0.0 * x}, "x", ""),
]
