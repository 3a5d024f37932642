"""Endless loops for the black box: offsets, cycles, noise of bounded range, floors and wrong ways."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng, log_uniform, orbit
from tests.evaluation.families.loop_cases import DrawAgain, loop_family, watched
from tests.evaluation.scoring.cases import Watched


@loop_family(WATCHED, new=8)
def dead_band_leaves_an_offset(rng: Rng) -> Watched:
    """A controller that corrects only outside of its dead band: the error stays where it comes into the band."""
    band, share = float(rng.uniform(0.2, 1)), float(rng.uniform(0.1, 0.5))
    e = orbit(lambda e: e - share * e if e > band else e, float(rng.uniform(3, 20)), 3000)
    return watched([("|e|", e, ">", 0.1 * band)], ends=False)


@loop_family(WATCHED, new=8)
def bucket_never_full(rng: Rng) -> Watched:
    """Tokens come one by one, and every few ticks as many are spent: the bucket's goal is beyond what ever comes."""
    m = int(rng.integers(3, 16))
    v = np.resize(np.arange(m), 3000).astype(rng.choice([np.int64, np.int32]))
    return watched([("tokens", v, "<", m + int(rng.integers(1, 20)))], ends=False)


@loop_family(WATCHED, new=8)
def unhappy_until_one(rng: Rng) -> Watched:
    """Sums of squared digits of an unhappy number, until one, which none of them is."""
    while True:
        v = orbit(lambda x: sum(int(d) ** 2 for d in str(x)), int(rng.integers(2, 10**6)), 400)
        if 4 in v:
            return watched([("x", v, ">" if rng.random() < 0.5 else "!=", 1)], ends=False)


@loop_family(WATCHED, new=8)
def bids_below_the_reserve(rng: Rng) -> Watched:
    """The best of some bids from a bounded range, auction after auction, against a reserve beyond the range."""
    top, least = float(rng.uniform(10, 500)), float(rng.uniform(0.2, 0.7))
    bids = top * rng.uniform(least, 1, (4000, int(rng.integers(2, 6)))).max(axis=1)
    return watched([("bid", bids, "<", top * float(rng.uniform(1.5, 3)))], ends=False)


@loop_family(WATCHED, new=8)
def rate_kept_above_its_goal(rng: Rng) -> Watched:
    """max(least, a decay^k) against a bound below the least one, which is met within thirty iterations."""
    least, met = log_uniform(rng, 1e-6, 1e-2), int(rng.integers(10, 30))
    decay = float(rng.uniform(0.5, 0.9))
    v = np.maximum(least, least * decay ** (np.arange(3000.0) - met))
    return watched([("rate", v, ">", least * float(rng.uniform(0.1, 0.9)))], ends=False)


@loop_family(WATCHED, new=8)
def dither_never_below(rng: Rng) -> Watched:
    """An error of bounded noise about an offset; the tolerance lies below all that it can be."""
    low, width = float(rng.uniform(1, 5)), float(rng.uniform(0.2, 3))
    v = low + width * rng.random(5000)
    return watched([("error", v, ">", low * float(rng.uniform(0.05, 0.3)))], ends=False)


@loop_family(WATCHED, new=8)
def sweeps_on_a_system_without_a_solution(rng: Rng) -> Watched:
    """Gauss and Seidel's residual on a ring whose sources do not cancel: it falls to what no solution can remove."""
    m, out = int(rng.integers(4, 9)), []
    b = rng.normal(size=m)
    b += float(rng.uniform(0.3, 2)) - b.mean()
    x = np.zeros(m)
    for _ in range(1500):
        out.append(float(np.abs(b - 2 * x + np.roll(x, 1) + np.roll(x, -1)).max()))
        for i in range(m):
            x[i] = (b[i] + x[i - 1] + x[(i + 1) % m]) / 2
    return watched([("residual", np.array(out), ">", min(out) * log_uniform(rng, 1e-5, 0.3))], ends=False)


@loop_family(WATCHED, new=8)
def neither_of_two_clauses_fails(rng: Rng) -> Watched:
    """A level below its bound and a wave above its own: both hold for ever."""
    k, rate, p = np.arange(3000), float(rng.uniform(0.5, 0.9)), float(rng.uniform(4, 15))
    level, wave = 5 * (1 - rate**k), 3 + np.sin(2 * math.pi * k / p)
    return watched([("level", level, "<", 7.0), ("wave", wave, ">", float(rng.uniform(0.2, 1)))], "and", ends=False)


@loop_family(WATCHED, new=8)
def point_inside_of_mandelbrots_set(rng: Rng) -> Watched:
    """|z|^2 below 4 for z^2 + c with c inside of the cardioid or of the disc of period two."""
    if rng.random() < 0.5:
        mu = 0.85 * math.sqrt(rng.random()) * np.exp(2j * math.pi * rng.random())
        c = complex(mu / 2 - mu * mu / 4)
    else:
        c = complex(-1 + 0.25 * 0.85 * math.sqrt(rng.random()) * np.exp(2j * math.pi * rng.random()))
    z, out = 0j, []
    for _ in range(3000):
        out.append(abs(z) ** 2)
        z = z * z + c
    return watched([("|z|^2", np.array(out), "<", 4.0)], ends=False)


@loop_family(WATCHED, new=8)
def change_on_a_stable_cycle(rng: Rng) -> Watched:
    """|x' - x| of the logistic map on its cycle of two, four or three: it goes round above the tolerance."""
    r = float(rng.choice([rng.uniform(3.1, 3.4), rng.uniform(3.47, 3.53), rng.uniform(3.83, 3.84)]))
    x = orbit(lambda x: r * x * (1 - x), float(rng.uniform(0.2, 0.8)), 3000)
    v = np.abs(np.diff(x))
    if v.min() < 1e-3 or v[20:].min() < 0.03:
        raise DrawAgain
    return watched([("change", v, ">", log_uniform(rng, 1e-10, 0.3 * float(v.min())))], ends=False)


@loop_family(WATCHED, new=8)
def energy_error_stays_small(rng: Rng) -> Watched:
    """The error in energy of the leapfrog method on a pendulum swings below a bound: the method keeps one like it."""
    h, q, p, out = float(rng.uniform(0.1, 0.5)), float(rng.uniform(0.5, 2)), 0.0, []
    first = -math.cos(q)
    for _ in range(5000):
        out.append(abs(p * p / 2 - math.cos(q) - first))
        p -= h / 2 * math.sin(q)
        q += h * p
        p -= h / 2 * math.sin(q)
    return watched([("error", np.array(out), "<", max(out) * float(rng.uniform(2, 20)))], ends=False)


@loop_family(WATCHED, new=8)
def controller_of_steps_settles(rng: Rng) -> Watched:
    """h' = h (goal / error)^a: the step comes to the size that makes the error right, above the least one allowed."""
    power, order, rest = float(rng.uniform(0.1, 0.45)), int(rng.integers(2, 6)), log_uniform(rng, 1e-4, 1)
    share = min(order * power, 1.5)
    h = orbit(lambda h: h * (rest / h) ** share, rest * float(rng.uniform(1.2, 20)), 3000)
    return watched([("h", h, ">", 0.5 * float(h.min()))], ends=False)


@loop_family(WATCHED, new=8)
def secant_on_a_positive_function(rng: Rng) -> Watched:
    """|f| of the secant method on x^2 + a, which has no root: it leaps about, never below a."""
    a, x, y, out = float(rng.uniform(0.5, 3)), 0.3, float(rng.uniform(0.8, 2)), []
    for _ in range(3000):
        out.append(y * y + a)
        x, y = y, (x * y - a) / (x + y) if x + y else 1.0
    return watched([("|f|", np.array(out), ">", a * log_uniform(rng, 1e-8, 0.5))], ends=False)


@loop_family(WATCHED, new=8)
def radius_halved_and_doubled(rng: Rng) -> Watched:
    """A trust region's radius: some good steps double it, as many bad ones halve it, over and over."""
    m, r = int(rng.integers(1, 6)), log_uniform(rng, 1e-3, 10)
    good = np.resize(np.r_[np.ones(m), -np.ones(m)], 3000)
    v = r * 2.0 ** np.r_[0, np.cumsum(good)][:3000]
    return watched([("radius", v, ">", r * log_uniform(rng, 1e-8, 0.4))], ends=False)
