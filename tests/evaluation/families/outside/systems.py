"""Populations, flows, relays, whole numbers, bits, cycles in few states, and floats of few digits."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import (
    HISTORY,
    C,
    D,
    O,
    Rng,
    X,
    case,
    family,
    log_uniform,
    orbit,
    placed,
    runge_kutta,
    size,
)
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=7)
def maynard_smith_slatkin_chaos(rng: Rng) -> Case:
    """x' = l x / (1 + x^b) beyond its doublings, where neighbours part by a tenth and more a step."""
    while True:
        b, grow = rng.uniform(5, 9), rng.uniform(2.2, 5)
        step = lambda x, grow=grow, b=b: grow * x / (1 + x**b)  # noqa: E731
        x = orbit(step, rng.uniform(0.5, 1), size(rng, 300, 3000) + 100)[100:]
        slope = grow * (1 + x**b * (1 - b)) / (1 + x**b) ** 2
        if np.mean(np.log(np.abs(slope) + 1e-300)) > 0.15 and len(np.unique(np.round(x, 9))) > 0.99 * len(x):
            return placed(rng, x, X, hard=True, quarter=len(x) >= 600)


@family(HISTORY, new=7)
def de_jong_attractor(rng: Rng) -> Case:
    """One coordinate of x' = sin(a y) - cos(b x), y' = sin(c x) - cos(d y), where tangents grow."""
    while True:
        a, b, c, d = np.array([1.4, -2.3, 2.4, -2.1]) + rng.uniform(-0.2, 0.2, 4)
        x, y, tangent, grown, out = 0.1, 0.1, np.array([1.0, 0.3]), 0.0, []
        n = size(rng, 400, 3000)
        for _ in range(n + 100):
            out.append(x)
            turn = np.array([[b * math.sin(b * x), a * math.cos(a * y)], [c * math.cos(c * x), d * math.sin(d * y)]])
            tangent = turn @ tangent
            grown += math.log(np.linalg.norm(tangent))
            tangent /= np.linalg.norm(tangent)
            x, y = math.sin(a * y) - math.cos(b * x), math.sin(c * x) - math.cos(d * y)
        if grown / len(out) > 0.2:
            return placed(rng, np.array(out[100:]), X, hard=True, quarter=False)


@family(HISTORY, new=7)
def thomas_attractor_vector(rng: Rng) -> Case:
    """Thomas's flow x' = sin(y) - b x and so on in turn, at a friction where it is known to be chaotic."""
    b, h, grown, out = rng.uniform(0.08, 0.18), rng.uniform(0.8, 1.4), 0.0, []
    f = lambda s: (math.sin(s[1]) - b * s[0], math.sin(s[2]) - b * s[1], math.sin(s[0]) - b * s[2])  # noqa: E731
    s = tuple(rng.uniform(-1, 1, 3).tolist())
    near = (s[0] + 1e-7, s[1], s[2])  # a neighbour, which is kept near
    for k in range(int(rng.integers(500, 900)) + 150):
        out.append(s)
        for _ in range(4):
            s, near = runge_kutta(f, s, h / 4), runge_kutta(f, near, h / 4)
        apart = math.dist(s, near)
        near = tuple(x + 1e-7 / apart * (y - x) for x, y in zip(s, near, strict=True))
        grown += math.log(apart / 1e-7) if k >= 150 else 0.0
    if grown < 0.06 * (len(out) - 150):  # a periodic window: neighbours do not part
        return thomas_attractor_vector(rng)
    return case(np.array(out[150:]), X, hard=True, quarter=False)


@family(HISTORY, new=7)
def gompertz_tumour(rng: Rng) -> Case:
    """A size whose logarithm comes nearer to its limit by a fixed share each day."""
    rate, limit = rng.uniform(0.8, 0.98), log_uniform(rng, 1e-3, 1e6)
    n = int(rng.uniform(8, 22) / -math.log(rate)) + 20
    v = limit * np.exp(-rng.uniform(2, 9) * rate ** np.arange(n))
    return case(v, C, quarter=False, rate=rate, limit=limit)


@family(HISTORY, new=7)
def sigma_delta_bits(rng: Rng) -> Case:
    """Bits of a first-order modulator at rest input p / q: ones as even as can be, of period q exactly."""
    q = int(rng.integers(7, 60))
    p = int(rng.choice([p for p in range(2, q - 1) if math.gcd(p, q) == 1 and p * 2 != q]))
    k = np.arange(q * int(rng.integers(8, 30)))
    return case((k + 1) * p // q > k * p // q, O, hard=True, quarter=len(k) > 17 * q, period=float(q))


@family(HISTORY, new=7)
def quotients_of_a_quadratic_surd(rng: Rng) -> Case:
    """The continued fraction of a whole number's root: periodic, by Lagrange."""
    while True:
        d = int(rng.integers(20, 2000))
        root = math.isqrt(d)
        m, q, a, out = 0, 1, root, []
        if root * root == d:
            continue
        while a != 2 * root:
            m = q * a - m
            q = (d - m * m) // q
            a = (root + m) // q
            out.append(a)
        if len(out) >= 2:
            turns = int(rng.integers(8, 30))
            return case(np.resize(out, len(out) * turns + 2), O, quarter=turns > 17, period=len(out))


@family(HISTORY, new=7)
def pollard_rho_values(rng: Rng) -> Case:
    """x^2 + c modulo a small prime: a tail, and a cycle that is seen eight times and more."""
    while True:
        p, c = int(rng.choice([101, 151, 211, 307, 401, 503, 701, 1009, 2003])), int(rng.integers(1, 90))
        seen, x = {}, int(rng.integers(2, 100))
        while x not in seen:
            seen[x] = len(seen)
            x = (x * x + c) % p
        period = len(seen) - seen[x]
        if period >= 2:
            v = np.r_[list(seen), np.resize(list(seen)[seen[x] :], period * int(rng.integers(8, 20)) + 2 * len(seen))]
            return case(v, O, quarter=False, period=float(period))


@family(HISTORY, new=7)
def josephus_survivor(rng: Rng) -> Case:
    """The last one of a circle of n when every second goes: 1, 3, 5 ... to 2 n, and 1 again at powers of two."""
    n = np.arange(1, size(rng, 300, 9000))
    return case(2 * (n - 2 ** np.floor(np.log2(n)).astype(int)) + 1, D, hard=True, quarter=False)


@family(HISTORY, new=7)
def chaos_in_half_precision(rng: Rng) -> Case:
    """The logistic map in float16: few states are left, and its cycle fills the last two thirds of the record."""
    while True:
        r, x = np.float16(rng.uniform(3.6, 4)), np.float16(rng.uniform(0.1, 0.9))
        seen: dict[float, int] = {}
        while float(x) not in seen:
            seen[float(x)] = len(seen)
            x = np.float16(r * x * (np.float16(1) - x))
        period = len(seen) - seen[float(x)]
        if period >= 3:
            tail = np.resize(list(seen)[seen[float(x)] :], period * int(rng.integers(5, 12)) + 2 * len(seen))
            return case(np.r_[list(seen), tail].astype(np.float16), O, hard=True, quarter=False, period=float(period))


@family(HISTORY, new=7)
def delay_line_sum_in_bytes(rng: Rng) -> Case:
    """A byte of checksum over the same packet again and again: sums modulo 256 of one pattern, of exact period."""
    while True:
        m, packet = int(rng.integers(2, 9)), rng.integers(0, 256, 8)
        total = int(packet[:m].sum()) % 256
        period = m * (256 // math.gcd(total, 256))
        if total and period <= 600:
            break
    v = np.cumsum(np.resize(packet[:m], int(period * rng.uniform(4.2, 12)))) % 256
    full = next(p for p in range(1, period + 1) if period % p == 0 and np.array_equal(v[p:], v[:-p]))
    if full < 2:
        return delay_line_sum_in_bytes(rng)
    return case(v.astype(np.uint8), O, hard=True, quarter=False, period=float(full))
