"""Later loops for the black box: endless ones that swing, scatter or grow, and slow ends that look like floors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng, log_uniform
from tests.evaluation.families.loop_cases import DrawAgain, loop_family, observed, watched
from tests.evaluation.scoring.cases import Watched


@loop_family(WATCHED, new=6)
def nesterov_about_a_hinge(rng: Rng) -> Watched:
    """Accelerated steps of one size on the mean of two hinges: the error goes to and fro above the tolerance."""
    rate, left, right = float(rng.uniform(0.02, 0.2)), -float(rng.uniform(0.2, 1)), float(rng.uniform(0.2, 1))
    x = before = float(rng.uniform(2, 4))
    out = []
    for _ in range(600):
        out.append(abs(x))
        y = x + 0.8 * (x - before)
        slope = 1.0 * (y > 0) - 1.0 * (y < 0) + 0.2 * (y > right) - 0.2 * (y < left)
        before, x = x, y - rate * slope
    if min(out) < 1e-5:
        raise DrawAgain
    return watched([("|x|", np.array(out), ">", 0.2 * min(out))], ends=False)


@loop_family(WATCHED, new=6)
def lynx_and_hares(rng: Rng) -> Watched:
    """The hunters of Lotka and Volterra's cycle, by a fourth-order method, above the bound."""
    h, s, out = float(rng.uniform(0.25, 0.7)), np.array([rng.uniform(0.3, 0.7), 0.8]), []
    f = lambda s: np.array([s[0] * (1 - s[1]), s[1] * (s[0] - 1)])  # noqa: E731
    for _ in range(120):
        out.append(float(s[1]))
        for _ in range(4):
            a = f(s)
            b = f(s + h / 8 * a)
            c = f(s + h / 8 * b)
            s = s + h / 24 * (a + 2 * b + 2 * c + f(s + h / 4 * c))
    return watched([("hunters", np.array(out), ">", float(rng.uniform(0.1, 0.5)) * min(out))], ends=False)


@loop_family(WATCHED, new=6)
def chaos_asked_for_a_fixed_point(rng: Rng) -> Watched:
    """|g(x) - x| of a Gaussian or an exponential map in its chaos, against a tolerance near rounding."""
    if rng.random() < 0.5:
        r = float(rng.uniform(2.75, 3.2))
        g = lambda x: x * math.exp(r * (1 - x))  # noqa: E731
    else:
        b = float(rng.uniform(-0.62, -0.5))
        g = lambda x: math.exp(-6.2 * x * x) + b  # noqa: E731
    x, out = float(rng.uniform(0.1, 0.6)), []
    for _ in range(3000):
        out.append(abs(g(x) - x))
        x = g(x)
    if min(out) < 1e-8 or len(set(out[-200:])) < 190:
        raise DrawAgain
    return watched([("|g - x|", np.array(out[-90:]), ">", 1e-13)], ends=False)


@loop_family(WATCHED, new=6)
def explicit_steps_too_long(rng: Rng) -> Watched:
    """The change in a step of Euler's method for a stiff system, beyond its stable length: it grows."""
    n, out = int(rng.integers(2, 6)), []
    rates, mix = rng.uniform(0.1, 1, n), rng.normal(size=(n, n))
    rates[0] = 1.0
    a = mix @ np.diag(rates) @ np.linalg.inv(mix)
    h, y = float(rng.uniform(2.05, 2.6)), rng.normal(size=n)
    for _ in range(90):
        change = -h * a @ y
        out.append(float(np.linalg.norm(change)))
        y = y + change
    return watched([("change", np.array(out), ">", 0.05 * min(out))], ends=False)


@loop_family(WATCHED, new=6)
def policy_by_samples(rng: Rng) -> Watched:
    """The largest error of values learnt from samples with a constant step: it falls to a floor of noise."""
    n, step = int(rng.integers(3, 8)), float(rng.uniform(0.1, 0.4))
    goal, v, out = rng.uniform(2, 6, n), np.zeros(n), []
    for _ in range(90):
        out.append(float(np.abs(v - goal).max()))
        v = v + step * (goal + 0.5 * rng.normal(size=n) - v)
    return watched([("error", np.array(out), ">", log_uniform(rng, 1e-7, 1e-4))], ends=False)


@loop_family(WATCHED, new=6)
def friction_brings_it_to_rest(rng: Rng) -> Watched:
    """The energy of a spring with friction that is linear and cubic, seen at even times until it is small."""
    damp, cubic, h = float(rng.uniform(0.01, 0.08)), float(rng.uniform(0, 0.05)), float(rng.uniform(0.2, 0.5))

    def step(k: int, x: Any, v: Any) -> dict[str, Any]:
        w = v - h * (x + damp * v + cubic * v**3)
        return {"x": x + h * w, "v": w}

    start, tol = {"x": float(rng.uniform(1, 3)), "v": 0.0}, log_uniform(rng, 1e-4, 0.05)
    return observed(start, step, lambda x, v: [("|x|+|v|", abs(x) + abs(v), ">", tol)], exact=False)


@loop_family(WATCHED, new=6)
def stochastic_loss_comes_down(rng: Rng) -> Watched:
    """The gradient's norm of descent by samples without noise in its answers: it falls by chance and ends."""
    n, rate = int(rng.integers(3, 8)), float(rng.uniform(0.01, 0.06))
    a, x, out = rng.normal(size=(150, n)), 4 * rng.normal(size=n), []
    for _ in range(6002):
        out.append(float(np.linalg.norm(a.T @ (a @ x)) / 150))
        i = rng.integers(0, 150, 4)
        x = x - rate * a[i].T @ (a[i] @ x)
    return watched([("|g|", np.array(out), ">", log_uniform(rng, 1e-7, 1e-2))], exact=False)


@loop_family(WATCHED, new=6)
def annealed_noise_dies_away(rng: Rng) -> Watched:
    """The error of a search whose steps shrink with the root of time, with noise of that size: it ends after long."""
    k = np.arange(1, 6003.0)
    values = k ** -float(rng.uniform(0.5, 1.2)) * np.exp(float(rng.uniform(0.1, 0.6)) * rng.normal(size=6002))
    return watched([("error", values, ">", log_uniform(rng, 2e-3, 0.05))], exact=False)
