"""Loops that never end, and in 50 evaluations show it by no law: swings, chaos, noise about a floor, uneven growth;
and loops that look so and end."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng, log_uniform
from tests.evaluation.families.loop_cases import DrawAgain, loop_family, observed, watched
from tests.evaluation.scoring.cases import Watched


@loop_family(WATCHED, new=5)
def momentum_about_a_corner(rng: Rng) -> Watched:
    """Momentum with a step that stays on |x - c| + b (x - c)^2: it swings about c, farther than asked."""
    rate, c, beta, bend = float(rng.uniform(0.02, 0.3)), float(rng.uniform(0.1, 2)), float(rng.uniform(0.5, 0.9)), 0.1
    x, v, out = 0.0, 0.0, []
    for _ in range(600):
        out.append(abs(x - c))
        v = beta * v + rate * (float(np.sign(x - c)) + bend * (x - c))
        x -= v
    return watched([("|x - c|", np.array(out), ">", 0.1 * min(out))], ends=False)


@loop_family(WATCHED, new=5)
def rms_steps_about_a_minimum(rng: Rng) -> Watched:
    """RMSprop in two dimensions with a step that stays: the distance goes to and fro about a size."""
    rate, scale = float(rng.uniform(0.01, 0.1)), rng.uniform(0.3, 3, 2)
    x, v, out = rng.uniform(0.5, 1.5, 2), np.zeros(2), []
    for _ in range(600):
        out.append(float(np.abs(x).max()))
        g = scale * x
        v = 0.5 * v + 0.5 * g * g  # a longer memory settles at the minimum
        x = x - rate * g / (np.sqrt(v) + 1e-8)
    low = min(out)
    if low < 1e-6:
        raise DrawAgain
    return watched([("distance", np.array(out), ">", 0.05 * low)], ends=False)


@loop_family(WATCHED, new=5)
def prey_of_a_saturated_hunter(rng: Rng) -> Watched:
    """Rosenzweig and MacArthur's cycle, sampled: the prey's least number is above the bound."""
    h, x, y, out = float(rng.uniform(0.4, 1.0)), 0.6, 0.3, []
    for _ in range(150):
        out.append(x)
        for _ in range(40):
            eaten = x * y / (0.3 + x)
            x, y = x + h / 40 * (2.0 * x * (1 - x) - 1.8 * eaten), y + h / 40 * (1.2 * eaten - 0.5 * y)
    return watched([("prey", np.array(out), ">", float(rng.uniform(0.05, 0.5)) * min(out))], ends=False)


@loop_family(WATCHED, new=5)
def change_of_a_chaotic_map(rng: Rng) -> Watched:
    """|x' - x| of a cubic or a quadratic map in its chaos against a tolerance that it will not meet by chance."""
    cubic, r = rng.random() < 0.5, float(rng.uniform(2.7, 2.95) if rng.random() < 0.5 else rng.uniform(3.75, 3.99))
    f = (lambda x: r * x * (1 - x * x)) if cubic and r < 3 else (lambda x: (r if r > 3 else r + 1) * x * (1 - x))
    x, out = float(rng.uniform(0.2, 0.8)), []
    for _ in range(4000):
        out.append(abs(f(x) - x))
        x = f(x)
    tol = log_uniform(rng, 1e-14, 1e-10)
    if min(out) < 1e3 * tol or len(set(out[-100:])) < 90:
        raise DrawAgain
    return watched([("change", np.array(out[:90]), ">", tol)], ends=False)


@loop_family(WATCHED, new=5)
def relaxation_that_grows(rng: Rng) -> Watched:
    """The residual of a stationary iteration whose matrix has a complex pair outside the unit circle."""
    n = int(rng.integers(3, 8))
    m = rng.normal(size=(n, n))
    m *= float(rng.uniform(1.04, 1.5)) / float(abs(np.linalg.eigvals(m)).max())
    r, out = rng.normal(size=n), []
    for _ in range(90):
        out.append(float(np.linalg.norm(r)))
        r = m @ r
    return watched([("|r|", np.array(out), ">", 0.05 * min(out))], ends=False)


@loop_family(WATCHED, new=5)
def mean_square_filter_floor(rng: Rng) -> Watched:
    """The distance of an adaptive filter's weights to the true ones: falls, then a floor of correlated noise."""
    n, mu = int(rng.integers(2, 6)), float(rng.uniform(0.05, 0.2))
    goal, w, out = 3 * rng.normal(size=n), np.zeros(n), []
    for _ in range(90):
        out.append(float(np.linalg.norm(w - goal)))
        a = rng.normal(size=n)
        w = w + mu * (a @ (goal - w) + 0.5 * rng.normal()) * a
    return watched([("distance", np.array(out), ">", log_uniform(rng, 1e-8, 1e-4))], ends=False)


@loop_family(WATCHED, new=5)
def cyclic_projections_apart(rng: Rng) -> Watched:
    """Projections upon lines that have no point in common, in turn or by chance: the residual does not vanish."""
    rows, turn = int(rng.integers(4, 12)), rng.random() < 0.5
    angle = rng.uniform(0, 2 * math.pi, rows)
    a = np.stack([np.cos(angle), np.sin(angle)], 1)
    b = a @ rng.normal(size=2) * 10 + rng.uniform(0.3, 1, rows) * rng.choice([-1, 1], rows)
    least = float(np.linalg.norm(b - a @ np.linalg.lstsq(a, b)[0]))
    x, out = np.zeros(2), []
    for k in range(90):
        out.append(float(np.linalg.norm(a @ x - b)))
        i = k % rows if turn else int(rng.integers(rows))
        x = x + (b[i] - a[i] @ x) * a[i]
    return watched([("|r|", np.array(out), ">", least * float(rng.uniform(0.001, 0.3)))], ends=False)


@loop_family(WATCHED, new=5)
def swing_of_a_relay(rng: Rng) -> Watched:
    """|x| + |v| of an oscillator that is fed at each turn: it comes to its cycle and stays there."""
    damp, feed, h = float(rng.uniform(0.05, 0.4)), float(rng.uniform(0.2, 1)), float(rng.uniform(0.1, 0.3))

    def step(k: int, x: Any, v: Any) -> dict[str, Any]:
        w = v + h * (-x - damp * v + feed * np.sign(v))
        return {"x": x + h * w, "v": w}

    start = {"x": float(rng.uniform(0.5, 4)), "v": 0.3}
    try:
        return observed(start, step, lambda x, v: [("size", abs(x) + abs(v), ">", 0.02)], ends=False)
    except AssertionError:
        raise DrawAgain from None


@loop_family(WATCHED, new=5)
def samples_of_a_falling_loss(rng: Rng) -> Watched:
    """A loss with noise of a relative size that falls slowly, and ends."""
    k = np.arange(6002.0)
    rate = float(rng.uniform(0.99, 0.998))
    noise = np.exp(float(rng.uniform(0.05, 0.5)) * rng.normal(size=6002))
    return watched([("loss", rate**k * noise, ">", log_uniform(rng, 1e-4, 5e-2))], exact=False)


@loop_family(WATCHED, new=5)
def correlated_descent(rng: Rng) -> Watched:
    """The logarithm of a residual falls on a line with correlated noise, and ends."""
    k, phi, e = np.arange(6002.0), float(rng.uniform(0.5, 0.95)), rng.normal(size=6002)
    noise = np.zeros(6002)
    for i in range(1, 6002):
        noise[i] = phi * noise[i - 1] + e[i]
    fall = float(rng.uniform(0.01, 0.06))
    values = np.exp(-fall * k + float(rng.uniform(0.05, 0.3)) * noise)
    return watched([("residual", values, ">", log_uniform(rng, 1e-7, 1e-2))], exact=False)


@loop_family(WATCHED, new=5)
def damped_pendulum_stops(rng: Rng) -> Watched:
    """|angle| + |speed| of a pendulum with little friction, until it rests."""
    damp, h = float(rng.uniform(0.02, 0.15)), float(rng.uniform(0.1, 0.3))

    def step(k: int, x: Any, v: Any) -> dict[str, Any]:
        w = v - h * (math.sin(x) + damp * v)
        return {"x": x + h * w, "v": w}

    start, tol = {"x": float(rng.uniform(1, 2.5)), "v": 0.0}, log_uniform(rng, 1e-3, 0.2)
    return observed(start, step, lambda x, v: [("size", abs(x) + abs(v), ">", tol)], exact=False)


@loop_family(WATCHED, new=5)
def random_directions_of_descent(rng: Rng) -> Watched:
    """The residual of Kaczmarz's method with rows by chance where a solution exists, from few rows of many."""
    n = int(rng.integers(4, 16))
    a = rng.normal(size=(40, n))
    a /= np.linalg.norm(a, axis=1)[:, None]
    goal, x, out = rng.normal(size=n), np.zeros(n), []
    for _ in range(6002):
        out.append(float(np.linalg.norm(a @ (x - goal))))
        i = int(rng.integers(40))
        x = x + (a[i] @ (goal - x)) * a[i]
    return watched([("|r|", np.array(out), ">", log_uniform(rng, 1e-9, 1e-2))], exact=False)


@loop_family(WATCHED, new=5)
def grows_before_it_falls(rng: Rng) -> Watched:
    """A residual of a matrix far from normal: it grows for a while, and then falls."""
    n = int(rng.integers(4, 12))
    m = float(rng.uniform(0.85, 0.97)) * np.eye(n) + float(rng.uniform(0.1, 0.4)) * np.eye(n, k=1)
    r, out = np.r_[np.zeros(n - 1), 1.0], []
    for _ in range(6002):
        out.append(float(np.linalg.norm(r)))
        r = m @ r
    return watched([("|r|", np.array(out), ">", log_uniform(rng, 1e-9, 1e-2))], exact=False)
