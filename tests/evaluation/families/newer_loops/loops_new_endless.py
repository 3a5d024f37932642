"""New loops for the black box that never end: errors that stay, limits short of the goal, cycles, floors of noise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng, log_uniform
from tests.evaluation.families.loop_cases import DrawAgain, loop_family, observed, watched
from tests.evaluation.scoring.cases import Watched

K = np.arange(90.0)


@loop_family(WATCHED, new=1)
def bounces_before_a_time(rng: Rng) -> Watched:
    """Infinitely many bounces of a ball end at a time that lies before the one waited for."""
    e = float(rng.uniform(0.5, 0.9))
    return watched([("t", np.cumsum(e**K), "<", float(rng.uniform(1.1, 1.6)) / (1 - e))], ends=False)


@loop_family(WATCHED, new=1)
def newton_between_two_points(rng: Rng) -> Watched:
    """x^3 - 2 x + 2 from near 0: Newton's method falls into the cycle of 0 and 1."""
    step = lambda k, x: {"x": x - (x**3 - 2 * x + 2) / (3 * x * x - 2)}  # noqa: E731
    tol = log_uniform(rng, 1e-9, 1e-3)
    start = {"x": float(rng.uniform(-0.08, 0.08))}
    return observed(start, step, lambda x: [("|f|", abs(x**3 - 2 * x + 2), ">", tol)], ends=False)


@loop_family(WATCHED, new=1)
def training_loss_floor(rng: Rng) -> Watched:
    """A loss that falls geometrically to the noise of its labels, with noise in proportion."""
    floor, rate = float(rng.uniform(0.2, 1)), float(rng.uniform(0.6, 0.88))
    loss = (floor + 3 * rate**K) * np.exp(float(rng.uniform(0.005, 0.05)) * rng.normal(size=len(K)))
    return watched([("loss", loss, ">", float(rng.uniform(0.1, 0.6)) * floor)], ends=False)


@loop_family(WATCHED, new=1)
def population_below_its_goal(rng: Rng) -> Watched:
    """Logistic growth to a capacity below the number waited for."""
    r, cap = float(rng.uniform(0.25, 0.9)), float(rng.uniform(100, 5000))
    step = lambda k, x: {"x": x + r * x * (1 - x / cap)}  # noqa: E731
    goal = cap * float(rng.uniform(1.05, 2))
    return observed({"x": cap * float(rng.uniform(0.01, 0.1))}, step, lambda x: [("x", x, "<", goal)], ends=False)


@loop_family(WATCHED, new=1)
def damped_swing_to_an_offset(rng: Rng) -> Watched:
    """A damped oscillation about a value above the tolerance."""
    level, rate, turn = float(rng.uniform(1, 5)), float(rng.uniform(0.75, 0.93)), float(rng.uniform(0.3, 2.8))
    x = level * (1 + 0.8 * rate**K * np.cos(turn * K))
    return watched([("x", x, ">", float(rng.uniform(0.02, 0.15)) * level)], ends=False)


@loop_family(WATCHED, new=1)
def steady_state_error(rng: Rng) -> Watched:
    """Proportional control only: the error that stays is above the tolerance."""
    a = float(rng.uniform(0.6, 0.9))
    gain = float(rng.uniform(0.5, a / (1 - a)))
    step = lambda k, x: {"x": a * x + (1 - a) * gain * (1 - x)}  # noqa: E731
    tol = float(rng.uniform(0.1, 0.7)) / (1 + gain)
    return observed({"x": 0.0}, step, lambda x: [("e", abs(1 - x), ">", tol)], ends=False)


@loop_family(WATCHED, new=1)
def thermostat_above(rng: Rng) -> Watched:
    """A relay keeps a temperature in a band above the one waited for."""
    low, high, cool = 19.0, 22.0, float(rng.uniform(0.05, 0.15))

    def step(k: int, x: Any, on: Any) -> dict[str, Any]:
        on = True if x < low else False if x > high else bool(on)
        return {"x": x + cool * ((35.0 if on else 5.0) - x), "on": on}

    return observed({"x": 30.0, "on": False}, step, lambda x, on: [("x", x, ">", 12.0)], ends=False)


@loop_family(WATCHED, new=1)
def limit_cycle_size(rng: Rng) -> Watched:
    """|x| + |v| on van der Pol's cycle, in steps of Heun's method."""
    mu, h = float(rng.uniform(0.3, 1.5)), float(rng.uniform(0.15, 0.25))

    def step(k: int, y: Any) -> dict[str, Any]:
        f = lambda y: np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])  # noqa: E731
        first = f(y)
        return {"y": y + h / 2 * (first + f(y + h * first))}

    start = {"y": rng.uniform(1.2, 2.0, 2)}
    return observed(start, step, lambda y: [("size", np.abs(y).sum(), ">", 0.05)], ends=False)


@loop_family(WATCHED, new=1)
def jacobi_in_float32(rng: Rng) -> Watched:
    """A relative residual in float32 that stops at rounding, above a tolerance meant for float64."""
    size = int(rng.integers(12, 40))
    a = rng.normal(size=(size, size)).astype(np.float32)
    np.fill_diagonal(a, np.abs(a).sum(1) * np.float32(rng.uniform(1.6, 4)))
    b, d = rng.normal(size=size).astype(np.float32), np.diag(a)
    x, residuals = np.zeros(size, np.float32), []
    for _ in range(90):
        residuals.append(np.linalg.norm(b - a @ x) / np.linalg.norm(b))
        x = x + (b - a @ x) / d
    if min(residuals) == 0:  # rounding may let it meet the solution
        raise DrawAgain
    return watched([("r", np.array(residuals), ">", np.float32(1e-10))], ends=False)


@loop_family(WATCHED, new=1)
def two_groups_never_agree(rng: Rng) -> Watched:
    """Averages over neighbours in two groups without a link: the largest difference tends to that of their means."""
    values = np.r_[rng.uniform(0, 1, 5), rng.uniform(2, 3, 5)]

    def step(k: int, x: Any) -> dict[str, Any]:
        halves = [0.5 * part + 0.25 * (np.roll(part, 1) + np.roll(part, -1)) for part in (x[:5], x[5:])]
        return {"x": np.concatenate(halves)}

    return observed({"x": values}, step, lambda x: [("spread", np.ptp(x), ">", 0.05)], ends=False)


@loop_family(WATCHED, new=1)
def backoff_at_its_cap(rng: Rng) -> Watched:
    """A waiting time that doubles up to a cap which the condition allows."""
    cap = int(rng.integers(20, 2000))
    return watched([("delay", np.minimum(2 ** np.minimum(np.arange(90), 40), cap), "<=", cap)], ends=False)


@loop_family(WATCHED, new=1)
def rate_decays_too_fast(rng: Rng) -> Watched:
    """Gradient descent whose learning rate shrinks geometrically: the way that is left to it is too short."""
    rate, decay = float(rng.uniform(0.1, 0.4)), float(rng.uniform(0.6, 0.88))
    rest = math.prod(1 - rate * decay**k for k in range(2000))
    x = 5.0 * np.cumprod(np.r_[1.0, 1 - rate * decay**K])
    return watched([("x", x, ">", 5.0 * rest * float(rng.uniform(0.1, 0.7)))], ends=False)


@loop_family(WATCHED, new=1)
def overloaded_server(rng: Rng) -> Watched:
    """More arrives than is served: the queue never empties."""
    served = int(rng.integers(4, 15))
    queue = 5 * served + np.cumsum(rng.poisson(served * float(rng.uniform(1.4, 2.5)), 90) - served)
    if queue.min() <= 0:
        raise DrawAgain
    return watched([("queue", queue, ">", 0)], ends=False)


@loop_family(WATCHED, new=1)
def slot_of_a_ring(rng: Rng) -> Watched:
    """A place in a ring buffer against one beyond its size."""
    size, stride = int(rng.integers(3, 20)), int(rng.integers(1, 9))
    return watched([("slot", stride * np.arange(90) % size, "!=", size + int(rng.integers(0, 5)))], ends=False)


@loop_family(WATCHED, new=1)
def noise_of_a_sensor(rng: Rng) -> Watched:
    """A settled sensor with digits of noise, above the value waited for."""
    level, unit = float(rng.uniform(10, 90)), float(rng.choice([0.01, 0.1, 0.5]))
    x = np.round((level + 2 * unit * rng.normal(size=90)) / unit) * unit
    return watched([("x", x, ">", level - float(rng.uniform(60, 400)) * unit)], ends=False)
