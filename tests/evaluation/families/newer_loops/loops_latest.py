"""Latest loops for the black box: endless ones of games, filters and rounding, and ends that look like floors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng, log_uniform
from tests.evaluation.families.loop_cases import DrawAgain, loop_family, observed, watched
from tests.evaluation.scoring.cases import Watched

K = np.arange(6002.0)


@loop_family(WATCHED, new=4)
def phase_slips_go_on(rng: Rng) -> Watched:
    """A loop that cannot lock: its frequency error swings between w - K and w + K."""
    gain = float(rng.uniform(0.1, 0.8))
    drift = gain * float(rng.uniform(1.3, 2))
    tol = (drift - gain) * float(rng.uniform(0.1, 0.6))
    step = lambda k, e, f: {"e": e + f, "f": drift - gain * math.sin(e + f)}  # noqa: E731
    return observed({"e": 0.3, "f": drift}, step, lambda e, f: [("f", f, ">", tol)], ends=False)


@loop_family(WATCHED, new=4)
def beetles_stay_alive(rng: Rng) -> Watched:
    """Larvae and adults in chaos, never as few as the bound."""
    larvae, pupae, adults, total = 50.0, 40.0, float(rng.uniform(20, 60)), []
    for _ in range(4000):
        total.append(larvae + pupae + adults)
        born = 6.598 * adults * math.exp(-0.01209 * larvae - 0.01155 * adults)
        larvae, pupae, adults = born, larvae * 0.7945, pupae * math.exp(-0.35 * adults) + adults * 0.04
    bound = min(total) * float(rng.uniform(0.05, 0.4))
    start = int(rng.integers(100, 3000))
    return watched([("beetles", np.array(total[start : start + 90]), ">", bound)], ends=False)


@loop_family(WATCHED, new=4)
def digit_that_never_comes(rng: Rng) -> Watched:
    """The digits of a fraction, until a digit that its period does not hold."""
    p, base = int(rng.choice([7, 11, 13, 37, 41, 101])), 10
    digits, rest = [], 1
    for _ in range(90):
        digits.append(base * rest // p)
        rest = base * rest % p
    absent = sorted(set(range(10)) - set(digits))
    if not absent:
        raise DrawAgain
    return watched([("digit", np.array(digits), "!=", int(rng.choice(absent)))], ends=False)


@loop_family(WATCHED, new=4)
def hot_spins_never_freeze(rng: Rng) -> Watched:
    """The energy above the ground state, a spin, of a large chain at a fixed temperature; counted after its start."""
    m, temperature = 400, float(rng.uniform(0.8, 2))
    spins, out = rng.choice([-1, 1], m), []
    for _ in range(130):
        out.append(1 - float(np.mean(spins * np.roll(spins, 1))))
        for i in rng.integers(0, m, m):
            cost = 2 * spins[i] * (spins[i - 1] + spins[(i + 1) % m])
            if rng.random() < math.exp(-cost / temperature):
                spins[i] = -spins[i]
    return watched([("energy", np.array(out[40:]), ">", float(rng.uniform(0.001, 0.02)))], ends=False)


@loop_family(WATCHED, new=4)
def coarse_valve_hunts(rng: Rng) -> Watched:
    """A level whose valve opens in whole steps: in the end it goes to and fro, farther from the goal than asked."""
    lag, goal = float(rng.uniform(0.3, 0.7)), float(rng.uniform(3.2, 7.8))
    if abs(goal - round(goal)) < 0.2:
        raise DrawAgain
    out, level, valve = [], 0.0, 0
    for _ in range(3000):
        out.append(abs(level - goal))
        valve += int(np.sign(goal - level))
        level += lag * (valve - level)
    tol = min(out[100:])
    if tol < 1e-3 or min(out) < tol:
        raise DrawAgain
    return watched([("error", np.array(out[:90]), ">", float(rng.uniform(0.1, 0.6)) * tol)], ends=False)


@loop_family(WATCHED, new=4)
def heavy_ball_above_the_goal(rng: Rng) -> Watched:
    """The loss of a heavy ball comes, in damped waves, to a least value above the one asked for."""
    momentum, rate, least = float(rng.uniform(0.5, 0.85)), float(rng.uniform(0.1, 0.5)), float(rng.uniform(0.05, 2))
    step = lambda k, x, v: {"x": x + momentum * v - rate * x, "v": momentum * v - rate * x}  # noqa: E731
    goal = least * float(rng.uniform(0.1, 0.8))
    start = {"x": float(rng.uniform(1, 5)), "v": 0.0}
    return observed(start, step, lambda x, v: [("loss", x * x + least, ">", goal)], ends=False)


@loop_family(WATCHED, new=4)
def float32_root_flutters(rng: Rng) -> Watched:
    """The residual of Newton's method in float32: it stays in the last bits, above the tolerance."""
    a = np.float32(rng.uniform(2, 900))

    def step(k: int, x: Any) -> dict[str, Any]:
        return {"x": np.float32(0.5) * (x + a / x)}

    loop = lambda x: [("residual", abs(x * x - a), ">", np.float32(1e-9))]  # noqa: E731
    try:
        return observed({"x": a}, step, loop, ends=False)
    except AssertionError:
        raise DrawAgain from None


@loop_family(WATCHED, new=4)
def reciprocal_squares_stay_below(rng: Rng) -> Watched:
    """Partial sums of 1/k^s against a bound above their limit."""
    s = float(rng.uniform(1.8, 3))
    terms = np.arange(1.0, 200000.0) ** -s
    limit = float(terms.sum()) + 200000.0 ** (1 - s) / (s - 1)
    bound = terms[0] + (limit - terms[0]) * float(rng.uniform(1.3, 2.5))
    return watched([("sum", np.cumsum(terms[:90]), "<", bound)], ends=False)


@loop_family(WATCHED, new=4)
def immune_for_a_while(rng: Rng) -> Watched:
    """Infected of an SIRS model: damped waves to an endemic level above the bound, no wave is below it."""
    beta, gamma, loss = float(rng.uniform(0.6, 1)), float(rng.uniform(0.1, 0.3)), float(rng.uniform(0.05, 0.2))
    s, i, out = 0.9, 0.1, []
    for _ in range(4000):
        out.append(i)
        s, i = s - beta * s * i + loss * (1 - s - i), i + beta * s * i - gamma * i
    return watched([("infected", np.array(out[:90]), ">", min(out) * float(rng.uniform(0.1, 0.6)))], ends=False)


@loop_family(WATCHED, new=4)
def shares_go_round(rng: Rng) -> Watched:
    """The distance to the mixed equilibrium in the replicator's equation of a zero-sum game goes round for ever."""
    h, p, out = float(rng.uniform(0.5, 1.2)), np.array([0.6, 0.25, 0.15]), []
    game = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    for _ in range(90):
        out.append(float(np.abs(p - 1 / 3).max()))
        for _ in range(20):
            mid = p + h / 40 * p * (game @ p)
            p = p + h / 20 * mid * (game @ mid)
    return watched([("distance", np.array(out), ">", min(out) * float(rng.uniform(0.1, 0.6)))], ends=False)


@loop_family(WATCHED, new=4)
def colony_outgrows_its_end(rng: Rng) -> Watched:
    """A population with more births than deaths, by chance, until it dies out."""
    mean, count, out = float(rng.uniform(1.1, 1.4)), int(rng.integers(50, 200)), []
    for _ in range(90):
        out.append(float(count))
        count = float(rng.poisson(mean * count)) if count < 1e9 else mean * count
    return watched([("colony", np.array(out), ">", 0.0)], ends=False)


@loop_family(WATCHED, new=4)
def queue_empties_at_last(rng: Rng) -> Watched:
    """A queue of which a little more is served than comes, by chance."""
    start, lean = int(rng.integers(100, 600)), float(rng.uniform(0.2, 1))
    out = np.r_[start, start + np.cumsum(rng.poisson(5, 6000) - rng.poisson(5 + lean, 6000))]
    return watched([("queue", out, ">", 0)], exact=False)


@loop_family(WATCHED, new=4)
def chaos_until_a_corner(rng: Rng) -> Watched:
    """The logistic map until it is for once near zero."""
    x, out, bound = float(rng.uniform(0.2, 0.8)), [], log_uniform(rng, 1e-5, 1e-2)
    for _ in range(6002):
        out.append(x)
        x = 3.9999 * x * (1 - x)
    return watched([("x", np.array(out), ">", bound)], exact=False)


@loop_family(WATCHED, new=4)
def cooling_by_lundy_and_mees(rng: Rng) -> Watched:
    """T' = T / (1 + b T) until it is cold."""
    b = log_uniform(rng, 1e-3, 1)
    step = lambda k, t: {"t": t / (1 + b * t)}  # noqa: E731
    tol = log_uniform(rng, 1e-3, 0.2) / b
    return observed({"t": log_uniform(rng, 1, 50) / b}, step, lambda t: [("T", t, ">", tol)], exact=False)


@loop_family(WATCHED, new=4)
def escape_from_a_saddle(rng: Rng) -> Watched:
    """Gradient descent from near a saddle: the loss rests for long before it falls."""
    rate, tol = float(rng.uniform(0.01, 0.05)), log_uniform(rng, 1e-8, 1e-3)
    step = lambda k, x: {"x": x - rate * 4 * x * (x * x - 1)}  # noqa: E731
    start = {"x": log_uniform(rng, 1e-8, 1e-3)}
    return observed(start, step, lambda x: [("loss", (x * x - 1) ** 2, ">", tol)], exact=False)


@loop_family(WATCHED, new=4)
def ripples_on_a_slow_decay(rng: Rng) -> Watched:
    """A residual that falls slowly with ripples of a tenth, as of a restarted method."""
    rate, period = float(rng.uniform(0.97, 0.995)), int(rng.integers(4, 12))
    values = rate**K * (1 + 0.1 * np.sin(2 * np.pi * K / period + float(rng.uniform(0, 6))))
    return watched([("residual", values, ">", log_uniform(rng, 1e-8, 1e-2))], exact=False)
