"""Populations, flows, relays, whole numbers, bits, cycles in few states, and floats of few digits."""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize

from tests.evaluation.families.base import HISTORY, C, D, O, Rng, X, case, family, orbit, placed, runge_kutta, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=8)
def reed_frost_susceptibles(rng: Rng) -> Case:
    """Those never ill of Reed and Frost's epidemic: s = s0 exp(-b (s0 + i0 - s)) at its end."""
    b, start = rng.uniform(1.3, 3.5), 1e-3
    left = float(optimize.brentq(lambda s: s - (1 - start) * math.exp(-b * (1 - s)), 1e-9, 1 / b))
    s, i, out = 1 - start, start, []
    for _ in range(int(rng.uniform(12, 24) / -math.log(b * left)) + int(9 / math.log(b)) + 15):
        out.append(s)
        s, i = s * math.exp(-b * i), s * (1 - math.exp(-b * i))
    return case(out, C, quarter=False, rate=b * left, limit=left)


@family(HISTORY, new=8)
def sine_map_chaos(rng: Rng) -> Case:
    """x' = r sin(pi x) for r above 0.93, where neighbours part by a sixth and more a step."""
    while True:
        r = rng.uniform(0.9, 1)
        x = orbit(lambda x, r=r: r * math.sin(math.pi * x), rng.uniform(0.1, 0.9), size(rng, 300, 3000) + 100)[100:]
        if np.mean(np.log(np.abs(r * math.pi * np.cos(math.pi * x)))) > 0.2 and len(np.unique(np.round(x, 8))) > 95:
            return placed(rng, x, X, quarter=len(x) >= 600)


@family(HISTORY, new=8)
def double_pendulum_speed(rng: Rng) -> Case:
    """The speed of the upper arm of two equal pendulums that start nearly upright: neighbours part."""

    def f(s: tuple[float, ...]) -> tuple[float, ...]:
        a, b, u, v = s
        c, w = math.cos(a - b), math.sin(a - b)
        under = 2 - c * c
        du = (-w * (v * v + c * u * u) - 2 * 9.81 * math.sin(a) + c * 9.81 * math.sin(b)) / under
        dv = (w * (2 * u * u + c * v * v) + 2 * c * 9.81 * math.sin(a) - 2 * 9.81 * math.sin(b)) / under
        return u, v, du, dv

    every, n, speeds, far = int(rng.integers(12, 20)), int(rng.integers(500, 900)), [], 0.0
    s: tuple[float, ...] = (float(rng.uniform(2, 3)), float(rng.uniform(2, 3)), 0.0, 0.0)
    near = (s[0] + 1e-7, *s[1:])
    for k in range(n * every):
        if k % every == 0:
            speeds.append(s[2])
        s = runge_kutta(f, s, 0.01)
        if k < 5000:
            near = runge_kutta(f, near, 0.01)
            far = max(far, abs(near[2] - s[2]))
    if far < 0.5:
        return double_pendulum_speed(rng)
    return placed(rng, np.array(speeds), X, hard=True, quarter=False)


@family(HISTORY, new=8)
def allee_extinction(rng: Rng) -> Case:
    """Too few to find each other: x' = x + r x (x / a - 1)(1 - x) from below a dies out at the rate 1 - r."""
    r, a = rng.uniform(0.05, 0.5), rng.uniform(0.2, 0.5)
    n = int((rng.uniform(10, 25) + 5) / -math.log(1 - r)) + 20
    v = orbit(lambda x: x + r * x * (x / a - 1) * (1 - x), a * rng.uniform(0.8, 0.98), n)
    return case(v, C, quarter=False, rate=1 - r, limit=0.0)


@family(HISTORY, new=8)
def predators_by_explicit_steps(rng: Rng) -> Case:
    """Lotka and Volterra's cycle by Euler's method, which adds to its size each turn: many times as high at the end."""
    h, x, y, out = rng.uniform(0.04, 0.1), 1.05, 1.0, []
    while len(out) < 6000 and (not out or max(out[-50:]) < 1.9):
        out.append(x)
        x, y = x + h * x * (1 - y), y + h * y * (x - 1)
    return case(out, D, hard=True, quarter=False)


@family(HISTORY, new=8)
def delayed_relay_on_a_ramp(rng: Rng) -> Case:
    """A whole number goes up or down by one as its sign of some steps ago says: a triangle of exact period."""
    d, x, sign, past, seen, out = int(rng.integers(2, 15)), 0, 1, [], {}, []
    past = [0] * d
    while (x, sign, tuple(past)) not in seen:
        seen[x, sign, tuple(past)] = len(out)
        out.append(x)
        sign = -1 if past[0] > 0 else 1 if past[0] < 0 else sign
        past = [*past[1:], x]
        x += sign
    start = seen[x, sign, tuple(past)]
    period = len(out) - start
    v = np.r_[out[:start], np.resize(out[start:], period * int(rng.integers(8, 30)))]
    return case(v, O, quarter=len(v) > 17 * period + 12 * start, period=float(period))


@family(HISTORY, new=8)
def beats_of_an_unlocked_clock(rng: Rng) -> Case:
    """sin of Adler's phase, p' = d - k sin(p) with d above k: its period is 2 pi / sqrt(d^2 - k^2)."""
    k, h = rng.uniform(0.2, 1), rng.uniform(0.1, 0.3)
    d = k * rng.uniform(1.1, 2)
    t = h * np.arange(size(rng, 600, 2500)) + rng.uniform(0, 5)
    w = math.sqrt(d * d - k * k)
    half = np.arctan2(k * np.cos(w * t / 2) + w * np.sin(w * t / 2), d * np.cos(w * t / 2))
    if w * h * len(t) < 60:
        return beats_of_an_unlocked_clock(rng)
    return placed(rng, np.sin(2 * half), O, quarter=False, period=2 * math.pi / w / h)


@family(HISTORY, new=8)
def primes_so_far(rng: Rng) -> Case:
    """The number of primes below k: a staircase without a bound."""
    n = size(rng, 400, 9000)
    prime = np.ones(n, bool)
    prime[:2] = False
    for p in range(2, math.isqrt(n) + 1):
        prime[p * p :: p] = False
    return case(np.cumsum(prime), D, hard=True)


@family(HISTORY, new=8)
def partial_quotients_of_e(rng: Rng) -> Case:
    """1, 2, 1, 1, 4, 1, 1, 6 ...: two ones, and an even number that grows by two for ever."""
    k = np.arange(size(rng, 60, 3000))
    return case(np.where(k % 3 == 1, 2 * (k + 2) // 3, 1), D, hard=True, quarter=False)


@family(HISTORY, new=8)
def ducci_tuples(rng: Rng) -> Case:
    """Differences of neighbours on a ring: four numbers end in zeros, three or five in a cycle of zeros and m."""
    m = int(rng.choice([3, 4, 4, 5]))
    v, out = rng.integers(0, 10_000, m), []
    seen: dict[bytes, int] = {}
    while v.tobytes() not in seen:
        seen[v.tobytes()] = len(out)
        out.append(v)
        v = np.abs(v - np.roll(v, -1))
    start = seen[v.tobytes()]
    period = len(out) - start
    if m == 4:
        return case(np.array(out + [v] * len(out)), C, hard=True, quarter=False)
    tail = [out[start + k % period] for k in range(3 * len(out) + 12 * period)]
    return case(np.array(out + tail), O, hard=True, quarter=False)


@family(HISTORY, new=8)
def lattice_points_per_area(rng: Rng) -> Case:
    """Whole points in a circle of radius r, divided by r^2: pi, with an error that is as good as chance."""
    k = np.arange(1, size(rng, 200, 800))
    side = np.arange(0, k[-1] + 1)
    points = [4 * int(np.sum(np.sqrt(r * r - side[1 : r + 1] ** 2.0) // 1 + 1)) + 1 for r in k.tolist()]
    return case(points / k.astype(float) ** 2, C, hard=True, quarter=False, limit=math.pi)


@family(HISTORY, new=8)
def sociable_chain(rng: Rng) -> Case:
    """Sums of proper divisors of amicable and sociable numbers: chains of 2, 4, 5 and 28 that close."""
    start = int(rng.choice([220, 1184, 12496, 14316, 1264460]))
    x, chain = start, []
    while not chain or x != start:
        chain.append(x)
        small = [d for d in range(1, math.isqrt(x) + 1) if x % d == 0]
        x = sum({*small, *(x // d for d in small)} - {x})
    turns = int(rng.integers(8, 30))
    return case(np.resize(chain, len(chain) * turns), O, quarter=turns > 17, period=float(len(chain)))


@family(HISTORY, new=8)
def auction_until_one_is_left(rng: Rng) -> Case:
    """The price goes up by a share while two still bid; then it stays, twice as long as it rose."""
    value, raised, out = rng.uniform(100, 5000), rng.uniform(1.02, 1.2), [1.0]
    while out[-1] < value:
        out.append(round(out[-1] * raised + 0.01, 2))
    return case(out + [out[-1]] * (2 * len(out) + 10), C, hard=True, quarter=False, limit=out[-1])


@family(HISTORY, new=8)
def decay_into_subnormals(rng: Rng) -> Case:
    """x * a in float32 until rounding keeps the same few smallest steps for ever."""
    a, x, out = np.float32(rng.uniform(0.6, 0.95)), np.float32(1e-30), []
    while len(out) < 3000 and (len(out) < 3 or out[-1] != out[-2]):
        out.append(x)
        x = np.float32(a * x)
    return case(np.array(out + [out[-1]] * int(rng.integers(5, 60)), np.float32), C, hard=True, quarter=False)
