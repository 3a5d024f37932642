"""Steppers of differential equations, clocks, growth and decay."""

from __future__ import annotations

from tests.evaluation.solver_questions.loops import REST, TURNS, Loop, f32, f64

C, D, O, X = "CONVERGING", "DIVERGING", "OSCILLATING", "CHAOTIC"  # noqa: E741


def _sir(s, i):
    new = 0.3 * s * i
    return {"s": s - new, "i": i + new - 0.1 * i}


def _van_der_pol(x, v):
    return {"x": x + 0.05 * v, "v": v + 0.05 * ((1.0 - x * x) * v - x)}


STEPPERS = [
    Loop("euler_decay", {"y": f64(1)}, lambda y: y > 1e-3, lambda y: {"y": y - 0.1 * y}, "y", C),
    Loop(
        "euler_unstable",
        {"y": f64(1)},
        lambda y: abs(y) > 1e-6,
        lambda y: {"y": y - 2.1 * y},
        "y",
        D,
        TURNS + "|inf|overflow|grow|away|chang",
    ),
    Loop(
        "symplectic_circle",
        {"x": f64(1), "v": f64(0)},
        lambda x, v: x * x + v * v > 0.1,
        lambda x, v: {"v": v - 0.1 * x, "x": x + 0.1 * (v - 0.1 * x)},
        "x v",
        O,
        "period|never|cycle|bound|repeat|range|recur|quasi|comes as near|near",
        endless=True,
        proved=False,
    ),
    Loop(
        "explicit_circle_grows",
        {"x": f64(1), "v": f64(0)},
        lambda x, v: x * x + v * v < 100.0,
        lambda x, v: {"v": v - 0.1 * x, "x": x + 0.1 * v},
        "x v",
        D,
    ),
    Loop("logistic_growth", {"y": f64(0.01)}, lambda y: y < 0.999, lambda y: {"y": y + 0.1 * y * (1.0 - y)}, "y", C),
    Loop(
        "logistic_short_of_goal",
        {"y": f64(0.01)},
        lambda y: y < 1.01,
        lambda y: {"y": y + 0.1 * y * (1.0 - y)},
        "y",
        C,
        REST,
    ),
    Loop(
        "projectile",
        {"y": f64(0), "v": f64(20)},
        lambda y, v: y >= 0.0,
        lambda y, v: {"y": y + 0.01 * v, "v": v - 0.01 * 9.81},
        "y v",
        "",
    ),
    Loop("clock_below_one", {"t": f64(0)}, lambda t: t < 1.0, lambda t: {"t": t + 0.1}, "t", D),
    Loop(
        "clock_float32_absorbed",
        {"t": f32(65536)},
        lambda t: t < f32(1e5),
        lambda t: {"t": t + f32(1e-3)},
        "t",
        "STABLE",
        REST,
    ),
    Loop("step_rejected", {"h": f64(1)}, lambda h: h * h * h > 1e-6, lambda h: {"h": 0.5 * h}, "h", C),
    Loop(
        "van_der_pol",
        {"x": f64(0.1), "v": f64(0)},
        lambda x, v: abs(x) + abs(v) > 0.05,
        _van_der_pol,
        "x v",
        O,
        "period|never|cycle|bound|repeat|range|recur|near",
        endless=True,
        proved=False,
    ),
    Loop("epidemic", {"s": f64(0.99), "i": f64(0.01)}, lambda s, i: i > 1e-3, _sir, "i", ""),
    Loop("cooling", {"t": f64(90)}, lambda t: t > 21.0, lambda t: {"t": t + 0.05 * (20.0 - t)}, "t", C),
    Loop(
        "cooling_below_the_room",
        {"t": f64(90)},
        lambda t: t > 19.0,
        lambda t: {"t": t + 0.05 * (20.0 - t)},
        "t",
        C,
        REST,
    ),
    Loop("interest_doubles", {"b": f64(100)}, lambda b: b < 200.0, lambda b: {"b": b * 1.035}, "b", D),
    Loop(
        "loan_never_paid",
        {"b": f64(1000)},
        lambda b: b > 0.0,
        lambda b: {"b": b * 1.02 - 15.0},
        "b",
        D,
        "away|grow|overflow|recur|inf|chang|never",
    ),
    Loop("loan_paid", {"b": f64(1000)}, lambda b: b > 0.0, lambda b: {"b": b * 1.01 - 25.0}, "b", ""),
]
