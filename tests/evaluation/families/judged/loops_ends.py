"""Loops that end, for the black box: rates, debts, schedules, growth, epidemics, batches, clauses."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng, log_uniform
from tests.evaluation.families.loop_cases import LONGEST, loop_family, observed, watched
from tests.evaluation.scoring.cases import Watched


@loop_family(WATCHED, new=8)
def change_by_censored_lifetimes(rng: Rng) -> Watched:
    """The change of EM's mean life where a share of the lamps still burns: that share is its rate, exactly."""
    share, first, tol = float(rng.uniform(0.3, 0.97)), float(rng.uniform(1, 30)), log_uniform(rng, 1e-10, 1e-3)
    return observed({"c": first}, lambda k, c: {"c": share * c}, lambda c: [("change", c, ">", tol)])


@loop_family(WATCHED, new=8)
def loan_with_payments_that_rise(rng: Rng) -> Watched:
    """A debt with interest, and payments that rise by a share each year."""
    interest, rise = float(rng.uniform(0.002, 0.01)), float(rng.uniform(0.001, 0.01))
    start = {"debt": 1e5, "pay": 1e5 * interest * float(rng.uniform(1.02, 2))}
    step = lambda k, debt, pay: {"debt": debt * (1 + interest) - pay, "pay": pay * (1 + rise)}  # noqa: E731
    return observed(start, step, lambda debt, pay: [("debt", debt, ">", 0.0)], exact=False)


@loop_family(WATCHED, new=8)
def delay_grows_to_its_bound(rng: Rng) -> Watched:
    """A delay before the next try that grows by a factor."""
    grow = float(rng.uniform(1.02, 1.4))
    bound = log_uniform(rng, 1e3, 1e7)
    return observed({"d": 1.0}, lambda k, d: {"d": d * grow}, lambda d: [("delay", d, "<", bound)])


@loop_family(WATCHED, new=8)
def parts_taken_in_batches(rng: Rng) -> Watched:
    """Some parts come each tick, and a batch is taken every few ticks: fewer are left each time."""
    come, every = int(rng.integers(1, 9)), int(rng.integers(2, 7))
    batch = come * every + int(rng.integers(1, 4 * every))
    start = batch * int(rng.integers(5, 60))
    step = lambda k, n: {"n": n + come - (batch if k % every == every - 1 else 0)}  # noqa: E731
    return observed({"n": start}, step, lambda n: [("n", n, ">", 0)])


@loop_family(WATCHED, new=8)
def factorials_below_a_bound(rng: Rng) -> Watched:
    """k! in floats, up to a bound of many digits."""
    bound = 10.0 ** float(rng.uniform(20, 300))
    return observed({"f": 1.0}, lambda k, f: {"f": f * (k + 1.0)}, lambda f: [("f", f, "<", bound)])


@loop_family(WATCHED, new=8)
def false_position_from_one_side(rng: Rng) -> Watched:
    """|f| of false position on x^p - a, where one end never moves."""
    power, a, tol = int(rng.integers(3, 8)), float(rng.uniform(1.2, 5)), log_uniform(rng, 1e-12, 1e-4)
    low, high, out = 0.5, 3.0, []
    for _ in range(LONGEST + 1):
        x = low - (low**power - a) * (high - low) / (high**power - low**power)
        out.append(abs(x**power - a))
        low = x
    return watched([("|f|", np.array(out), ">", tol)], exact=False)


@loop_family(WATCHED, new=8)
def standard_error_small_enough(rng: Rng) -> Watched:
    """The standard error of a mean of k draws, from the draws' own spread."""
    v = rng.exponential(1, LONGEST + 20) if rng.random() < 0.5 else rng.normal(size=LONGEST + 20)
    k = np.arange(1, len(v) + 1)
    mean = np.cumsum(v) / k
    spread = np.sqrt(np.maximum(np.cumsum(v * v) / k - mean**2, 0))
    return watched([("error", (spread / np.sqrt(k))[9:], ">", float(rng.uniform(0.02, 0.1)))], exact=False)


@loop_family(WATCHED, new=8)
def rating_climbs_to_a_title(rng: Rng) -> Watched:
    """A rating by expected results against players of its own true strength, until a title some points below that."""
    k_factor, true = float(rng.uniform(8, 40)), float(rng.uniform(200, 500))
    goal = true - float(rng.uniform(3, 60))
    step = lambda k, r: {"r": r + k_factor * (0.5 - 1 / (1 + 10 ** ((true - r) / 400)))}  # noqa: E731
    return observed({"r": 0.0}, step, lambda r: [("rating", r, "<", goal)], exact=False)


@loop_family(WATCHED, new=8)
def both_tolerances_met(rng: Rng) -> Watched:
    """Residual or step too large: two geometric clauses, of which the slower one decides."""
    one, two = rng.uniform(0.5, 0.97, 2).tolist()
    first, second = log_uniform(rng, 1e-10, 1e-3), log_uniform(rng, 1e-10, 1e-3)
    step = lambda k, r, s: {"r": one * r, "s": two * s}  # noqa: E731
    clauses = lambda r, s: [("residual", r, ">", first), ("step", s, ">", second)]  # noqa: E731
    return observed({"r": 10.0, "s": 1.0}, step, clauses, "or")


@loop_family(WATCHED, new=8)
def warm_up_and_linear_decay(rng: Rng) -> Watched:
    """A rate that rises over a few steps, no more than a twentieth, and falls in a line to zero."""
    n = int(log_uniform(rng, 200, 4000))
    rise, k = max(int(n * rng.uniform(0.01, 0.05)), 2), np.arange(n + 5.0)
    v = np.where(k < rise, (k + 1) / rise, (n - k) / (n - rise))
    return watched([("rate", log_uniform(rng, 1e-4, 1) * v, ">", 0.0)])


@loop_family(WATCHED, new=8)
def half_a_cosine(rng: Rng) -> Watched:
    """A rate by half a cosine, until it is a small part of its start."""
    n, part = log_uniform(rng, 40, 4000), float(rng.uniform(0.01, 0.2))
    k = np.arange(int(n) + 1.0)
    return watched([("rate", 0.5 * (1 + np.cos(math.pi * k / n)), ">", part)])


@loop_family(WATCHED, new=8)
def stock_declines_with_a_season(rng: Rng) -> Watched:
    """A stock that loses a share each month, with a wave of the year upon it."""
    rate, wave, bound = float(rng.uniform(0.96, 0.99)), float(rng.uniform(0.05, 0.3)), float(rng.uniform(0.02, 0.2))
    k = np.arange(1500)
    v = rate**k * (1 + wave * np.sin(2 * math.pi * k / 12))
    return watched([("stock", v, ">", bound)], exact=False)
