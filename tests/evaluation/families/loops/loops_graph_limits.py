"""Loops for the white box that come to rest or tend to a limit: absorption, sums, poles, spirals, remainders."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.evaluation.families.base import GRAPH, Rng, log_uniform
from tests.evaluation.families.loop_cases import in_graph, loop_family
from tests.evaluation.scoring.cases import GraphLoop

f16, f32, f64, i64 = np.float16, np.float32, np.float64, np.int64
LIMIT = "limit|floor|fixed|change|recur|tends|converg|rest|cycle|period"
ABSORBS = "absorb|precision|ulp|change|recur|rest"


@loop_family(GRAPH)
def graph_limit_on_the_wrong_side(rng: Rng) -> GraphLoop:
    """x = a x + b rests at b / (1 - a), short of the threshold."""
    a, level = float(rng.uniform(0.1, 0.98)), float(rng.uniform(1, 9))
    dtype: Any = (f32, f64)[rng.integers(2)]
    bound = level * float(rng.uniform(1.05, 1.5))
    return in_graph(
        rng, {"x": dtype(0)}, lambda x: x < bound, lambda x: {"x": a * x + level * (1 - a)}, "x", LIMIT, n=None
    )


@loop_family(GRAPH)
def graph_absorbed(rng: Rng) -> GraphLoop:
    """+ 1 is lost before the goal is met."""
    dtype, top = ((f32, 2**24), (f16, 2**11))[rng.integers(2)]
    start, goal = top - int(rng.integers(0, 300)), 1.5 * top
    return in_graph(rng, {"x": dtype(start)}, lambda x: x < goal, lambda x: {"x": x + 1.0}, "x", ABSORBS, n=None)


@loop_family(GRAPH)
def graph_clock_of_low_precision(rng: Rng) -> GraphLoop:
    """t += h in float16 or float32: exact by running; it ends or comes to rest."""
    dtype: Any = (f16, f32)[rng.integers(2)]
    h, n = float(dtype(rng.choice([0.1, 0.25, 0.01, 1 / 3]))), int(log_uniform(rng, 50, 6000))
    return in_graph(rng, {"t": dtype(0)}, lambda t: t < dtype(h * n), lambda t: {"t": t + dtype(h)}, "t", ABSORBS)


@loop_family(GRAPH)
def graph_harmonic_rests(rng: Rng) -> GraphLoop:
    """The harmonic sum in float32 rests at 15.40 after 2^21 terms, and never reaches 16 or more."""
    bound = float(rng.uniform(16, 40))
    body = lambda k, s: {"k": k + 1, "s": s + 1.0 / k}  # noqa: E731
    return in_graph(rng, {"k": f32(1), "s": f32(0)}, lambda k, s: s < bound, body, "s k", ABSORBS + "|" + LIMIT, n=None)


@loop_family(GRAPH)
def graph_zeta_below(rng: Rng) -> GraphLoop:
    """Sums of 1 / k^2 stay below pi^2 / 6; bounds below it are met."""
    if rng.random() < 0.5:
        bound = float(rng.uniform(1.66, 2.0))
        total: int | None | str = None
    else:
        bound, total = math.pi**2 / 6 - log_uniform(rng, 1e-3, 0.1), "run"
    body = lambda k, s: {"k": k + 1.0, "s": s + 1.0 / (k * k)}  # noqa: E731
    return in_graph(rng, {"k": f64(1), "s": f64(0)}, lambda k, s: s < bound, body, "s k", LIMIT + "|absorb", n=total)


@loop_family(GRAPH)
def graph_steps_to_a_pole(rng: Rng) -> GraphLoop:
    """y' = y^2 with steps c / y: t stays below 1, whatever the number of steps."""
    c, goal = float(rng.uniform(0.05, 0.3)), float(rng.uniform(1.2, 3))
    body = lambda t, y: {"t": t + c / y, "y": y / (1.0 - c)}  # noqa: E731
    return in_graph(
        rng, {"t": f64(0), "y": f64(1)}, lambda t, y: t < goal, body, "t y", LIMIT + "|absorb|overflow|inf", n=None
    )


@loop_family(GRAPH)
def graph_spiral(rng: Rng) -> GraphLoop:
    """Rotation by a right angle, exact in floats, scaled by 1 or by less."""
    rate, tol = float(rng.choice([1.0, 0.5, 0.9, 0.99])), log_uniform(rng, 1e-6, 0.5)
    body = lambda x, y: {"x": -rate * y, "y": rate * x}  # noqa: E731
    cond = lambda x, y: np.maximum(abs(x), abs(y)) > tol  # noqa: E731
    return in_graph(rng, {"x": f64(1), "y": f64(0.25)}, cond, body, "x y", LIMIT)


@loop_family(GRAPH)
def graph_remainder_small(rng: Rng) -> GraphLoop:
    """The variable is the divisor of a remainder, which is small only by accident."""
    a, rate, tol = float(rng.uniform(3, 99)), float(rng.uniform(0.5, 0.95)), log_uniform(rng, 1e-4, 1e-1)
    start = {"x": f64(rng.uniform(2, 9))}
    return in_graph(rng, start, lambda x: a % x > tol, lambda x: {"x": x * rate}, "x", LIMIT)
