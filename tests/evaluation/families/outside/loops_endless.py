"""Endless loops for the black box: offsets, cycles, noise of bounded range, floors and wrong ways."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng, log_uniform, orbit
from tests.evaluation.families.loop_cases import DrawAgain, loop_family, watched
from tests.evaluation.scoring.cases import Watched


@loop_family(WATCHED, new=7)
def cache_thrashed_by_a_scan(rng: Rng) -> Watched:
    """Hits of a cache of the last used pages, one page smaller than what is read round and round: none, ever."""
    room = int(rng.integers(3, 12))
    held: list[int] = []
    hits, out = 0, []
    for k in range(2000):
        out.append(hits)
        page = k % (room + 1)
        hits += page in held
        held = [*(p for p in held if p != page), page][-room:]
    return watched([("hits", np.array(out), "<", int(rng.integers(1, 100)))], ends=False)


@loop_family(WATCHED, new=7)
def five_x_plus_one_returns(rng: Rng) -> Watched:
    """Collatz's rule with 5 x + 1 from a number on one of its two known cycles without 1."""
    start = int(rng.choice([13, 33, 83, 416, 104, 26, 17, 43, 27, 136, 34]))
    v = orbit(lambda x: x // 2 if x % 2 == 0 else 5 * x + 1, start, 3000)
    return watched([("x", v, "!=", 1)], ends=False)


@loop_family(WATCHED, new=7)
def cases_kept_up_by_travellers(rng: Rng) -> Watched:
    """i' = r i + a with r below 1: it falls to a / (1 - r), above the number asked for."""
    r, a = float(rng.uniform(0.4, 0.9)), float(rng.uniform(0.5, 20))
    level = a / (1 - r)
    tol = level * float(rng.uniform(0.1, 0.8))
    cases = orbit(lambda i: r * i + a, level * float(rng.uniform(5, 100)), 3000)
    return watched([("cases", cases, ">", tol)], ends=False)


@loop_family(WATCHED, new=7)
def temperature_raised_again(rng: Rng) -> Watched:
    """A temperature that falls by a factor each step and is set back every so often, above the last one asked for."""
    p, fall, top = int(rng.integers(4, 14)), float(rng.uniform(0.7, 0.95)), log_uniform(rng, 0.1, 1000)
    v = top * fall ** (np.arange(3000) % p)
    return watched([("temperature", v, ">", v.min() * float(rng.uniform(0.1, 0.8)))], ends=False)


@loop_family(WATCHED, new=7)
def line_with_a_short_buffer(rng: Rng) -> Watched:
    """Parts come by a fixed pattern and leave one a tick; as many come as go, and the buffer is never full."""
    m = int(rng.integers(3, 14))
    come = rng.multinomial(m, np.ones(m) / m)
    level, out = 0, []
    for k in range(3000):
        level = max(level + int(come[k % m]) - 1, 0)
        out.append(level)
    return watched([("parts", np.array(out), "<", max(out) + int(rng.integers(1, 30)))], ends=False)


@loop_family(WATCHED, new=7)
def hosts_and_parasites_settle(rng: Rng) -> Watched:
    """Beddington's hosts and parasitoids turn inwards to where both live, above the number asked for."""
    r, a, q = float(rng.uniform(0.5, 1.3)), 0.2, float(rng.uniform(0.35, 0.5))
    hosts, wasps, room, out = 12.0, 3.0, 14.5, []
    for _ in range(4000):
        out.append(hosts)
        nxt = hosts * math.exp(r * (1 - hosts / room) - a * wasps * q)
        wasps = hosts * (1 - math.exp(-a * wasps * q)) if wasps > 1e-12 else 0.0
        hosts = nxt
    if min(out) < 1:
        raise DrawAgain
    return watched([("hosts", np.array(out), ">", min(out) * float(rng.uniform(0.1, 0.7)))], ends=False)


@loop_family(WATCHED, new=7)
def generator_keeps_its_parity(rng: Rng) -> Watched:
    """A congruential generator of short period that stays even; an odd number is waited for."""
    a, c = 8 * int(rng.integers(1, 32)) + 5, 2 * int(rng.integers(0, 128))
    v = orbit(lambda x: (a * x + c) % 256, 2 * int(rng.integers(0, 128)), 2000)
    period = next((p for p in range(1, 40) if np.array_equal(v[p:], v[:-p])), 0)
    if not 2 <= period <= 24:
        raise DrawAgain
    return watched([("x", v.astype(np.uint8), "!=", 2 * int(rng.integers(0, 128)) + 1)], ends=False)


@loop_family(WATCHED, new=7)
def dominant_pair_keeps_turning(rng: Rng) -> Watched:
    """The change of a power iteration's unit vector where the two largest eigenvalues are a complex pair."""
    angle, squeeze = float(rng.uniform(0.3, 2.8)), float(rng.uniform(1, 2))
    turn = np.array([[math.cos(angle), -squeeze * math.sin(angle)], [math.sin(angle) / squeeze, math.cos(angle)]])
    a = np.zeros((4, 4))
    a[:2, :2], a[2, 2], a[3, 3] = turn, float(rng.uniform(-0.8, 0.8)), float(rng.uniform(-0.8, 0.8))
    mix, v, out = np.eye(4) + 0.2 * rng.normal(size=(4, 4)), np.array([1.0, 0.2, 1.0, -1.0]), []
    a = mix @ a @ np.linalg.inv(mix)
    for _ in range(3000):
        w = a @ v
        w /= np.linalg.norm(w)
        out.append(float(np.linalg.norm(w - v)))
        v = w
    if min(out) < 0.1:
        raise DrawAgain
    return watched([("change", np.array(out), ">", log_uniform(rng, 1e-9, 0.03))], ends=False)


@loop_family(WATCHED, new=7)
def players_spiral_apart(rng: Rng) -> Watched:
    """Both sides of x y follow their slopes at once: the larger of |x| and |y| grows, in turns."""
    rate, start = float(rng.uniform(0.1, 0.7)), complex(*rng.uniform(0.5, 2, 2))
    z = orbit(lambda z: z * complex(1, rate), start, 1000)
    return watched([("distance", np.maximum(abs(z.real), abs(z.imag)), ">", 1e-3)], ends=False)


@loop_family(WATCHED, new=7)
def counter_done_residual_not(rng: Rng) -> Watched:
    """At least so many iterations, or until the residual is small; the residual stays at its floor."""
    floor, rate, least = log_uniform(rng, 1e-6, 1e-2), float(rng.uniform(0.3, 0.7)), int(rng.integers(10, 35))
    k = np.arange(3000)
    residual = np.hypot(floor, 10 * floor**0.5 * rate**k)
    return watched([("k", k, "<", least), ("residual", residual, ">", floor * 0.1)], "or", ends=False)
