"""New loops for the black box that never end: rounding, floors of noise, limits above the goal, chaos."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng
from tests.evaluation.families.loop_cases import loop_family, observed, watched
from tests.evaluation.scoring.cases import Watched

K = np.arange(90.0)


@loop_family(WATCHED, new=1)
def rounded_to_cents(rng: Rng) -> Watched:
    """A balance that loses a small share, rounded to cents at each step: it rests where the share rounds to nothing."""
    share, start = float(rng.uniform(0.15, 0.45)), float(rng.uniform(10, 500))
    step = lambda k, x: {"x": x - math.floor(100 * share * float(x)) / 100}  # noqa: E731
    return observed({"x": round(start, 2)}, step, lambda x: [("x", x, ">", 0.0)], ends=False)


@loop_family(WATCHED, new=1)
def residual_of_a_chaotic_iteration(rng: Rng) -> Watched:
    """|g(x) - x| of x = a sin(x) where that is chaotic: it comes near zero by chance, far from the tolerance."""
    a, tol = float(rng.uniform(2.6, 3.0)), 1e-12
    start = {"x": float(rng.uniform(0.5, 2.5))}
    step = lambda k, x: {"x": a * np.sin(x)}  # noqa: E731
    return observed(start, step, lambda x: [("|g - x|", abs(a * np.sin(x) - x), ">", tol)], ends=False)


@loop_family(WATCHED, new=1)
def least_squares_by_samples(rng: Rng) -> Watched:
    """The gradient's norm of stochastic descent with a constant step: a floor of correlated noise."""
    size, rate = int(rng.integers(2, 6)), float(rng.uniform(0.05, 0.12))
    a, x, out = rng.normal(size=(200, size)), 5.0 * rng.normal(size=size), []
    y = a @ rng.normal(size=size) + rng.normal(size=200)
    for _ in range(90):
        out.append(np.linalg.norm(a.T @ (a @ x - y)) / 200)
        i = rng.integers(0, 200, 8)
        x = x - rate * a[i].T @ (a[i] @ x - y[i]) / 2
    return watched([("|g|", np.array(out), ">", 1e-6)], ends=False)


@loop_family(WATCHED, new=1)
def best_value_above_the_goal(rng: Rng) -> Watched:
    """The best value of a search whose minimum lies above the goal; the search converges geometrically."""
    floor, rate, rest = float(rng.uniform(0.5, 5)), float(rng.uniform(0.5, 0.75)), int(rng.integers(1, 4))
    best = floor + 4 * rate ** (K // rest)
    return watched([("best", best, ">", float(rng.uniform(0.05, 0.8)) * floor)], ends=False)


@loop_family(WATCHED, new=1)
def exponential_series_below_three(rng: Rng) -> Watched:
    """Partial sums of 1 / k! or of k / 2^k against a bound beyond their limit."""
    terms, limit = ((np.cumprod(np.r_[1.0, 1 / K[1:]]), math.e), (K / 2**K, 2.0))[int(rng.integers(2))]
    return watched([("s", np.cumsum(terms), "<", limit * float(rng.uniform(1.01, 1.3)))], ends=False)
