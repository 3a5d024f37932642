"""Endless loops for the black box: rounding, signs, resets, ratios, residues, flags, orbits and balances."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng, log_uniform, orbit
from tests.evaluation.families.loop_cases import DrawAgain, loop_family, watched
from tests.evaluation.scoring.cases import Watched


@loop_family(WATCHED, new=9)
def improper_integral_by_cutoffs(rng: Rng) -> Watched:
    """The gain of the integral of x^-p, p > 1, when the cutoff at its pole is halved: more each time."""
    p, k = float(rng.uniform(1.05, 1.9)), np.arange(400.0)
    gain = 2 ** (k * (p - 1)) * (2 ** (p - 1) - 1) / (p - 1)
    return watched([("gain", gain, ">", float(gain[0]) * log_uniform(rng, 1e-9, 0.5))], ends=False)


@loop_family(WATCHED, new=9)
def square_never_a_non_residue(rng: Rng) -> Watched:
    """k^2 modulo a prime until it is a number that no square leaves."""
    p = int(rng.choice([5, 7, 11, 13, 17, 19, 23]))
    k = np.arange(3000)
    none = sorted(set(range(1, p)) - set((k * k % p).tolist()))
    return watched([("remainder", k * k % p, "!=", int(rng.choice(none)))], ends=False)


@loop_family(WATCHED, new=9)
def two_flags_take_turns(rng: Rng) -> Watched:
    """One of two flags is always set: the first for some turns, then the second for some."""
    a, b = (int(i) for i in rng.integers(1, 6, 2))
    first = np.arange(3000) % (a + b) < a
    return watched([("first", first, "==", np.True_), ("second", ~first, "==", np.True_)], "or", ends=False)


@loop_family(WATCHED, new=9)
def unsigned_never_negative(rng: Rng) -> Watched:
    """A byte that is counted down while it is at least zero, which every byte is."""
    start, step = int(rng.integers(0, 256)), int(rng.integers(1, 9))
    v = ((start - step * np.arange(3000)) % 256).astype(np.uint8)
    return watched([("i", v, ">=", np.uint8(0))], ends=False)


@loop_family(WATCHED, new=9)
def stock_is_ordered_in_time(rng: Rng) -> Watched:
    """Pieces on the shelf; what is sold in a day is never more than what is left when new ones are ordered."""
    most = int(rng.integers(3, 9))
    up, down, stock, out = int(rng.integers(20, 40)), most + int(rng.integers(2, 9)), 30, []
    for sold in rng.integers(0, most + 1, 3000):
        out.append(stock)
        stock = up if stock - sold < down else stock - int(sold)
    return watched([("stock", np.array(out), ">", 0)], ends=False)


@loop_family(WATCHED, new=9)
def satellite_above_the_air(rng: Rng) -> Watched:
    """The distance of a satellite on an ellipse whose lowest place is above the bound."""
    e, p = float(rng.uniform(0.05, 0.6)), float(rng.uniform(9, 22))
    mean = 2 * math.pi * np.arange(3000) / p + float(rng.uniform(0, 6))
    x = mean.copy()
    for _ in range(60):
        x -= (x - e * np.sin(x) - mean) / (1 - e * np.cos(x))
    return watched([("distance", 1 - e * np.cos(x), ">", (1 - e) * float(rng.uniform(0.3, 0.95)))], ends=False)


@loop_family(WATCHED, new=9)
def mean_above_its_bound(rng: Rng) -> Watched:
    """A running mean of noise about a level, against a bound many errors of the mean below it."""
    level, spread = float(rng.uniform(1, 10)), float(rng.uniform(0.05, 0.3))
    v = np.cumsum(level * (1 + spread * rng.uniform(-1.7, 1.7, 4000))) / np.arange(1, 4001)
    return watched([("mean", v, ">", level * float(rng.uniform(0.1, 0.45)))], ends=False)


@loop_family(WATCHED, new=9)
def mean_in_half_precision_stops_short(rng: Rng) -> Watched:
    """v + a (goal - v) in float16 until the goal is reached: it stops where what is added rounds to nothing."""
    goal, a = np.float16(rng.uniform(1, 900)), np.float16(rng.uniform(0.15, 0.4))
    v = orbit(lambda v: np.float16(v + a * (goal - v)), np.float16(0), 500)
    if v[-1] >= goal or v[45] != v[-1]:
        raise DrawAgain
    return watched([("mean", v, "<", goal)], ends=False)


@loop_family(WATCHED, new=9)
def common_divisor_never_one(rng: Rng) -> Watched:
    """gcd(p k, p m) until it is one: p divides all of them."""
    p, m = int(rng.choice([2, 3, 5, 7])), int(rng.integers(4, 16))
    v = np.gcd(p * np.arange(1, 3001), p * m)
    return watched([("divisor", v, ">" if rng.random() < 0.5 else "!=", 1)], ends=False)
