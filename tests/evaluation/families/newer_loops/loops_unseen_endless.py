"""Unseen loops for the black box that never end: rounding, relays, floors of noise, limits above the goal, chaos."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng
from tests.evaluation.families.loop_cases import DrawAgain, loop_family, observed, watched
from tests.evaluation.scoring.cases import Watched

K = np.arange(90.0)


@loop_family(WATCHED, new=2)
def sign_steps_about_a_minimum(rng: Rng) -> Watched:
    """Steps of one length against the sign of the gradient: in the end to and fro about the minimum."""
    rate, start = float(rng.uniform(0.05, 0.4)), float(rng.uniform(0.5, 5))
    if rate * 40 < start or min(start % rate, rate - start % rate) < 0.02 * rate:
        raise DrawAgain
    tol = 0.3 * min(start % rate, rate - start % rate)
    step = lambda k, x: {"x": x - rate * np.sign(x)}  # noqa: E731
    return observed({"x": start}, step, lambda x: [("|x|", abs(x), ">", tol)], ends=False)


@loop_family(WATCHED, new=2)
def tenths_miss_one(rng: Rng) -> Watched:
    """A clock in steps of a decimal fraction that rounding leads past the time that it is compared with."""
    h, count = float(rng.choice([0.1, 0.3, 0.7, 0.2])), int(rng.integers(6, 40))
    times = np.cumsum(np.full(90, h))
    goal = round(h * count, 10)
    if goal in times:
        raise DrawAgain
    return watched([("t", np.r_[0.0, times], "!=", goal)], ends=False)


@loop_family(WATCHED, new=2)
def infected_stay_endemic(rng: Rng) -> Watched:
    """The share of infected of an SIS model tends to its endemic level, above the one waited for."""
    beta, gamma = float(rng.uniform(0.5, 0.9)), float(rng.uniform(0.1, 0.3))
    level = 1 - gamma / beta
    step = lambda k, i: {"i": i + beta * i * (1 - i) - gamma * i}  # noqa: E731
    start = {"i": float(rng.choice([0.02, 0.95]))}
    goal = float(rng.uniform(0.1, 0.7)) * min(level, start["i"])
    return observed(start, step, lambda i: [("i", i, ">", goal)], ends=False)


@loop_family(WATCHED, new=2)
def driven_pendulum_swings(rng: Rng) -> Watched:
    """The amplitude of a linear oscillator that is driven: it tends to a value above the one waited for."""
    h, damp, drive = 0.3, float(rng.uniform(0.2, 0.5)), float(rng.uniform(0.5, 1.5))
    x, v, out = 4.0, 0.0, []
    for k in range(90):
        out.append(math.hypot(x, v))
        v = v + h * (-x - damp * v + drive * math.cos(h * k))
        x = x + h * v
    low = min(out)
    return watched([("amplitude", np.array(out), ">", float(rng.uniform(0.05, 0.5)) * low)], ends=False)


@loop_family(WATCHED, new=2)
def tokens_in_a_ring(rng: Rng) -> Watched:
    """Tokens that are passed on round a ring; their number at one place never reaches what is waited for."""
    size = int(rng.integers(3, 17))
    tokens = rng.integers(0, 9, size)
    if np.ptp(tokens) == 0:
        raise DrawAgain
    here = np.resize(tokens, 90)
    return watched([("tokens", here, "<=", int(here.max()) + int(rng.integers(0, 4)))], ends=False)


@loop_family(WATCHED, new=2)
def half_precision_descent(rng: Rng) -> Watched:
    """Gradient descent in float16: the step is lost in the rounding before the gradient is small enough."""
    rate, goal = float(rng.uniform(0.05, 0.3)), np.float16(rng.uniform(1, 50))

    def step(k: int, x: Any) -> dict[str, Any]:
        return {"x": np.float16(x - np.float16(rate) * np.float16(x - goal))}

    start = {"x": np.float16(goal + np.float16(rng.uniform(5, 30)))}
    loop = observed(start, step, lambda x: [("e", abs(np.float64(x) - np.float64(goal)), ">", 1e-6)], ends=False)
    return loop
