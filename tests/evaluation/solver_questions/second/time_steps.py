"""Differential equations and maps, step by step."""

from __future__ import annotations

import numpy as np

from tests.evaluation.solver_questions.loops import REST, TURNS, Loop, f64

C, D, O, X = "CONVERGING", "DIVERGING", "OSCILLATING", "CHAOTIC"  # noqa: E741
#: a bound that the state keeps for good
BOUND = "period|cycle|bound|repeat|range|recur|within|near|never"


def _runge_kutta(y, t):
    a = -y
    b = -(y + 0.1 * a)
    c = -(y + 0.1 * b)
    d = -(y + 0.2 * c)
    return {"y": y + 0.2 / 6.0 * (a + 2.0 * b + 2.0 * c + d), "t": t + 0.2}


def _controlled(t, y, h):
    """Euler against Heun for y' = -4 y, the step halved and grown by their difference."""
    a = -4.0 * y
    b = -4.0 * (y + h * a)
    error = 0.5 * h * abs(b - a)
    good = error < 1e-3
    return {
        "t": np.where(good, t + h, t),
        "y": np.where(good, y + 0.5 * h * (a + b), y),
        "h": np.where(good, np.minimum(1.3 * h, 0.25), 0.5 * h),
    }


def _eaten(x, y):
    return {"x": x + 0.02 * x * (1.0 - y), "y": y + 0.02 * y * (x - 1.0)}


def _eaten_in_turns(x, y):
    u = x + 0.02 * x * (1.0 - y)
    return {"x": u, "y": y + 0.02 * y * (u - 1.0)}


def _pendulum(th, w):
    v = w - 0.05 * (np.sin(th) + 0.3 * w)
    return {"th": th + 0.05 * v, "w": v}


def _heat(u):
    return {"u": u + 0.25 * (np.roll(u, 1) + np.roll(u, -1) - 2.0 * u)}


def _heat_too_fast(u):
    return {"u": u + 0.6 * (np.roll(u, 1) + np.roll(u, -1) - 2.0 * u)}


def _thermostat(temp, on):
    heat = np.where(temp < 19.0, 1.0, np.where(temp > 21.0, 0.0, on))
    return {"temp": temp + 0.1 * (10.0 - temp) + 2.0 * heat, "on": heat}


ROD = np.array([9.0, 1.0, 4.0, 0.0, 2.0, 7.0, 3.0, 6.0])

TIME_STEPS = [
    Loop("runge_kutta_decay", {"y": f64(1), "t": f64(0)}, lambda y, t: y > 1e-4, _runge_kutta, "y", C),
    Loop("implicit_euler_stiff", {"y": f64(1)}, lambda y: y > 1e-12, lambda y: {"y": y / (1.0 + 50.0 * 0.01)}, "y", C),
    Loop("step_control", {"t": f64(0), "y": f64(1), "h": f64(0.5)}, lambda t, y, h: t < 20.0, _controlled, "t", ""),
    Loop(
        "steps_to_a_pole",
        {"t": f64(0), "y": f64(1)},
        lambda t, y: t < 1.5,
        lambda t, y: {"t": t + 0.1 / y, "y": y + 0.1 * y},
        "t",
        C,
        REST,
    ),
    Loop("predators_by_euler", {"x": f64(1.5), "y": f64(1)}, lambda x, y: x > 0.05, _eaten, "x", ""),
    Loop(
        "predators_in_turns",
        {"x": f64(1.5), "y": f64(1)},
        lambda x, y: x > 0.05,
        _eaten_in_turns,
        "x y",
        O,
        BOUND,
        endless=True,
        proved=False,
    ),
    Loop(
        "logistic_of_period_four",
        {"x": f64(0.4)},
        lambda x: abs(x - 0.5) > 1e-4,
        lambda x: {"x": 3.5 * x * (1.0 - x)},
        "x",
        O,
        TURNS,
    ),
    Loop("logistic_comes_near_one", {"x": f64(0.3)}, lambda x: x < 0.9999, lambda x: {"x": 4.0 * x * (1.0 - x)}, "x"),
    Loop(
        "damped_pendulum",
        {"th": f64(2), "w": f64(0)},
        lambda th, w: 0.5 * w * w + 1.0 - np.cos(th) > 1e-6,
        _pendulum,
        "th w",
        C,
    ),
    Loop("rod_evens_out", {"u": ROD}, lambda u: np.max(u) - np.min(u) > 1e-8, _heat, "u"),
    Loop("rod_blows_up", {"u": ROD}, lambda u: np.max(abs(u)) < 1e6, _heat_too_fast, "u"),
    Loop(
        "thermostat",
        {"temp": f64(15), "on": f64(0)},
        lambda temp, on: temp < 25.0,
        _thermostat,
        "temp on",
        O,
        BOUND,
        endless=True,
        proved=False,
    ),
    Loop(
        "gompertz_short_of_goal",
        {"y": f64(0.1)},
        lambda y: y < 2.0,
        lambda y: {"y": y - 0.2 * y * np.log(y)},
        "y",
        C,
        REST,
    ),
]
