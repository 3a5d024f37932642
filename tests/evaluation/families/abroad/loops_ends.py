"""Loops that end, for the black box: solvers, schedules, waits, adoptions, pots, orbits, digits, registers."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng, log_uniform, orbit
from tests.evaluation.families.loop_cases import LONGEST, loop_family, observed, watched
from tests.evaluation.scoring.cases import Watched


@loop_family(WATCHED, new=9)
def rate_by_a_power_of_what_is_left(rng: Rng) -> Watched:
    """A learning rate a (1 - k / T)^p, until it is small."""
    total, p = int(log_uniform(rng, 40, 4000)), float(rng.choice([0.9, 2.0, 3.0]))
    v = log_uniform(rng, 1e-3, 1) * np.maximum(1 - np.arange(total + 1.0) / total, 0) ** p
    return watched([("rate", v, ">", float(v[0]) * log_uniform(rng, 1e-6, 0.1))])


@loop_family(WATCHED, new=9)
def rate_by_inverse_time(rng: Rng) -> Watched:
    """A learning rate a / (1 + d k), until it is small."""
    a, d, n = log_uniform(rng, 1e-3, 1), log_uniform(rng, 1e-3, 1), log_uniform(rng, 30, 4000)
    return watched([("rate", a / (1 + d * np.arange(LONGEST + 1.0)), ">", a / (1 + d * n))])


@loop_family(WATCHED, new=9)
def records_farther_and_farther_apart(rng: Rng) -> Watched:
    """Evaluations since the last record, where each record comes twice as late as the one before."""
    first, patience, out = int(rng.integers(2, 9)), int(log_uniform(rng, 20, 800)), [0]
    while len(out) < 5000:
        out += range(first)
        first *= 2
    return watched([("wait", np.array(out[1:]), "<", patience)], exact=False)


@loop_family(WATCHED, new=9)
def value_of_a_place_settles(rng: Rng) -> Watched:
    """How much the value of a place that pays for ever still changes: a fixed share less each time."""
    alpha, gamma, tol = float(rng.uniform(0.2, 1)), float(rng.uniform(0.6, 0.97)), log_uniform(rng, 1e-10, 1e-3)
    pay = float(rng.uniform(1, 20))
    change = lambda q: alpha * (pay + gamma * q - q)  # noqa: E731
    return observed({"q": 0.0}, lambda k, q: {"q": q + change(q)}, lambda q: [("change", abs(change(q)), ">", tol)])


@loop_family(WATCHED, new=9)
def extragradient_comes_home(rng: Rng) -> Watched:
    """The distance of both players of x y who look one step ahead: geometric, as the map turns and shrinks."""
    h, tol = float(rng.uniform(0.1, 0.6)), log_uniform(rng, 1e-10, 1e-3)
    step = lambda k, x, y: {"x": (1 - h * h) * x - h * y, "y": (1 - h * h) * y + h * x}  # noqa: E731
    start = {"x": float(rng.normal()) + 1, "y": float(rng.normal())}
    return observed(start, step, lambda x, y: [("distance", math.hypot(x, y), ">", tol)])


@loop_family(WATCHED, new=9)
def time_by_steps_of_limited_growth(rng: Rng) -> Watched:
    """Time, by steps that grow by a factor up to a greatest one."""
    h, grow, most = log_uniform(rng, 1e-4, 1e-2), float(rng.uniform(1.1, 2)), log_uniform(rng, 0.05, 0.5)
    end = most * float(rng.uniform(60, 2000))
    step = lambda k, t, h: {"t": t + h, "h": min(most, h * grow)}  # noqa: E731
    return observed({"t": 0.0, "h": h}, step, lambda t, h: [("t", t, "<", end)])


@loop_family(WATCHED, new=9)
def two_coins_stop_changing(rng: Rng) -> Watched:
    """How much EM still changes the bias of two coins, of throws of which nobody knows the coin."""
    bias, m = rng.uniform(0.1, 0.9, 2), 10
    heads = rng.binomial(m, bias[rng.integers(0, 2, int(rng.integers(6, 60)))])
    theta, out = np.array([0.6, 0.5]), []
    for _ in range(3000):
        like = theta[:, None] ** heads * (1 - theta[:, None]) ** (m - heads)
        w = like / like.sum(axis=0)
        new = (w @ heads) / (m * w.sum(axis=1))
        out.append(float(np.abs(new - theta).max()))
        theta = new
    return watched([("change", np.array(out), ">", log_uniform(rng, 1e-10, 1e-5))], exact=False)


@loop_family(WATCHED, new=9)
def ringing_dies_away(rng: Rng) -> Watched:
    """|y| of a stiff decay by the trapezoidal rule, whose sign turns at each step."""
    z, tol = float(rng.uniform(8, 80)), log_uniform(rng, 1e-10, 1e-3)
    step = lambda k, y: {"y": (1 - z / 2) / (1 + z / 2) * y}  # noqa: E731
    return observed({"y": 1.0}, step, lambda y: [("|y|", abs(y), ">", tol)])


@loop_family(WATCHED, new=9)
def pension_pot_runs_dry(rng: Rng) -> Watched:
    """A pot with interest, of which more is taken each month, as prices rise."""
    interest, prices = float(rng.uniform(0, 0.005)), float(rng.uniform(0.001, 0.006))
    taken = float(rng.uniform(0.003, 0.02)) + interest
    step = lambda k, pot, part: {"pot": pot * (1 + interest) - part, "part": part * (1 + prices)}  # noqa: E731
    return observed({"pot": 1000.0, "part": 1000 * taken}, step, lambda pot, part: [("pot", pot, ">", 0.0)])


@loop_family(WATCHED, new=9)
def two_isotopes_decay(rng: Rng) -> Watched:
    """The activity of two isotopes, one of which outlives the other."""
    fast, slow = float(rng.uniform(0.6, 0.9)), float(rng.uniform(0.95, 0.998))
    k = np.arange(LONGEST + 1.0)
    v = float(rng.uniform(1, 20)) * fast**k + slow**k
    return watched([("activity", v, ">", log_uniform(rng, 1e-5, 0.1))], exact=False)


@loop_family(WATCHED, new=9)
def register_comes_back_to_its_seed(rng: Rng) -> Watched:
    """A shift register with taps of full period, counted from the state after its seed until it is there again."""
    taps = {5: (5, 3), 6: (6, 5), 7: (7, 6), 9: (9, 5), 10: (10, 7), 11: (11, 9)}
    m = int(rng.choice(list(taps)))
    seed = int(rng.integers(1, 2**m))
    step = lambda s: s >> 1 | (sum(s >> (m - t) for t in taps[m]) & 1) << (m - 1)  # noqa: E731
    return watched([("state", orbit(step, step(seed), 2**m), "!=", seed)], exact=False)


@loop_family(WATCHED, new=9)
def colony_with_immigrants(rng: Rng) -> Watched:
    """A colony that grows by a share and by some who come each year, up to a size."""
    grow, come = float(rng.uniform(1.01, 1.2)), float(rng.uniform(1, 50))
    bound = log_uniform(rng, 1e3, 1e7)
    start = {"x": float(rng.uniform(2, 100))}
    return observed(start, lambda k, x: {"x": grow * x + come}, lambda x: [("x", x, "<", bound)])


@loop_family(WATCHED, new=9)
def snow_melts_in_spring(rng: Rng) -> Watched:
    """The depth of snow while each day is warmer than the last by the same amount, and melts so much more."""
    n, melt = log_uniform(rng, 30, 400), float(rng.uniform(0.5, 5))
    k = np.arange(LONGEST + 1.0)
    v = melt * (n * (n + 1) - k * (k + 1)) / n
    return watched([("snow", v, ">", 0.0)])


@loop_family(WATCHED, new=9)
def race_to_a_score(rng: Rng) -> Watched:
    """Points of a player who wins each rally with the same probability, up to a score."""
    won = rng.random(LONGEST) < float(rng.uniform(0.3, 0.8))
    return watched([("points", np.r_[0, np.cumsum(won)], "<", int(log_uniform(rng, 20, 1500)))], exact=False)


@loop_family(WATCHED, new=9)
def bracket_cut_at_random(rng: Rng) -> Watched:
    """The width of a bracket that is cut at a random place, of which the larger part is kept."""
    v = np.cumprod(np.r_[1.0, rng.uniform(0.5, 1, LONGEST)])
    return watched([("width", v, ">", log_uniform(rng, 1e-30, 1e-5))], exact=False)
