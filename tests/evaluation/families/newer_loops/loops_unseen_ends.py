"""Unseen loops for the black box that end: searches that keep the best, schedules, solvers of systems, physics."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng, log_uniform
from tests.evaluation.families.loop_cases import loop_family, observed, watched
from tests.evaluation.scoring.cases import Watched

K = np.arange(6002.0)


@loop_family(WATCHED, new=2)
def pattern_search_mesh(rng: Rng) -> Watched:
    """Compass search on a quadratic: the mesh halves when no neighbour is better; the best value is watched."""
    scales, x, mesh, best = rng.uniform(1, 20, 2), rng.uniform(-5, 5, 2), 1.0, []
    f = lambda x: float(scales @ (x - 0.317) ** 2)  # noqa: E731
    for _ in range(600):
        best.append(f(x))
        around = [x + mesh * np.array(step) for step in ([1, 0], [-1, 0], [0, 1], [0, -1])]
        nearest = min(around, key=f)
        x, mesh = (nearest, mesh) if f(nearest) < f(x) else (x, mesh / 2)
    return watched([("best", np.array(best), ">", log_uniform(rng, 1e-10, 1e-3))], exact=False)


@loop_family(WATCHED, new=2)
def annealing_by_levels(rng: Rng) -> Watched:
    """A temperature that is multiplied by a factor after the same number of moves at each level."""
    every, factor = int(rng.integers(3, 15)), float(rng.uniform(0.7, 0.97))
    start = log_uniform(rng, 1, 1000)
    return watched([("T", start * factor ** (K // every), ">", start * log_uniform(rng, 1e-5, 1e-1))])


@loop_family(WATCHED, new=2)
def gauss_seidel_on_a_grid(rng: Rng) -> Watched:
    """The largest change in a sweep of Gauss and Seidel's method on Poisson's equation in one dimension."""
    size, tol = int(rng.integers(6, 16)), log_uniform(rng, 1e-9, 1e-4)
    f = rng.normal(size=size)

    def step(k: int, x: Any, d: Any) -> dict[str, Any]:
        new = np.r_[0.0, x, 0.0]
        for i in range(1, size + 1):
            new[i] = 0.5 * (new[i - 1] + new[i + 1] + f[i - 1])
        return {"x": new[1:-1], "d": np.abs(new[1:-1] - x).max()}

    return observed({"x": np.zeros(size), "d": 9.0}, step, lambda x, d: [("d", d, ">", tol)], exact=False)


@loop_family(WATCHED, new=2)
def perceptron_mistakes(rng: Rng) -> Watched:
    """Mistakes in a pass of the perceptron over separable points."""
    size = int(rng.integers(3, 12))
    w, x = rng.normal(size=size), rng.normal(size=(int(rng.integers(100, 300)), size))
    side, guess, mistakes = np.sign(x @ w), np.zeros(size), []
    for _ in range(2000):
        wrong = 0
        for point, s in zip(x, side, strict=True):
            if s * (point @ guess) <= 0:
                guess, wrong = guess + s * point, wrong + 1
        mistakes.append(wrong)
        if not wrong:
            break
    return watched([("mistakes", np.array(mistakes), ">", 0)], exact=False)


@loop_family(WATCHED, new=2)
def stone_thrown_upwards(rng: Rng) -> Watched:
    """The height of a stone at even times: a parabola, by sums of its velocity."""
    h, v = float(rng.uniform(0.002, 0.05)), float(rng.uniform(5, 30))

    def step(k: int, y: Any, v: Any) -> dict[str, Any]:
        return {"y": y + h * v, "v": v - h * 9.81}

    return observed({"y": 1.0, "v": v}, step, lambda y, v: [("y", y, ">", 0.0)])


@loop_family(WATCHED, new=2)
def coupons_still_missing(rng: Rng) -> Watched:
    """Coupons that have not been drawn yet: rests become longer towards the end."""
    size = int(rng.integers(15, 120))
    missing, out = set(range(size)), []
    for _ in range(5900):
        out.append(len(missing))
        missing.discard(int(rng.integers(size)))
    return watched([("missing", np.array(out), ">", int(rng.integers(0, 3)))], exact=False)


@loop_family(WATCHED, new=2)
def battery_by_day_and_night(rng: Rng) -> Watched:
    """A battery that is charged by day and drained by night, with clouds."""
    day = int(rng.integers(8, 24))
    flow = np.sin(2 * np.pi * K / day) * float(rng.uniform(0.3, 1.5)) - float(rng.uniform(0.05, 0.3))
    level = log_uniform(rng, 10, 150) + np.cumsum(flow + 0.1 * rng.normal(size=len(K)))
    return watched([("charge", level, ">", 0.0)], exact=False)


@loop_family(WATCHED, new=2)
def validation_loss_in_noise(rng: Rng) -> Watched:
    """A smoothed loss that falls as a power, until it is below a goal."""
    power, goal = float(rng.uniform(0.2, 0.7)), float(rng.uniform(0.12, 0.35))
    raw = (1 + K / float(rng.uniform(3, 30))) ** -power + float(rng.uniform(0.01, 0.05)) * rng.normal(size=len(K))
    smooth, keep = [raw[0]], float(rng.uniform(0.5, 0.95))
    for value in raw[1:]:
        smooth.append(keep * smooth[-1] + (1 - keep) * value)
    return watched([("loss", np.array(smooth), ">", goal)], exact=False)
