"""Numbers, hashes, rounding, flags and short records: integer sequences with known ends, periods and growth."""

from __future__ import annotations

import hashlib
import math

import numpy as np

from tests.evaluation.families.base import HISTORY, C, D, O, Rng, S, case, family, orbit, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=10)
def remainders_of_squares(rng: Rng) -> Case:
    """k^2 modulo m: the same again after m, or after half of it."""
    m = int(rng.integers(5, 60))
    k = np.arange(m * int(rng.integers(8, 30)))
    v = k * k % m
    period = next(p for p in range(1, m + 1) if np.array_equal(v[p:], v[:-p]))
    return case(v, O, hard=True, quarter=len(v) > 17 * m, period=float(period))


@family(HISTORY, new=10)
def filter_of_bits_fills(rng: Rng) -> Case:
    """The share of ones in a Bloom filter, key after key, to long after it is full."""
    m, hashes = int(rng.integers(64, 700)), int(rng.integers(2, 5))
    bits, out = np.zeros(m, bool), []
    for _ in range(int(rng.uniform(12, 25) * m / hashes)):
        out.append(float(bits.mean()))
        bits[rng.integers(0, m, hashes)] = True
    return case(out, C, hard=True, quarter=False, limit=1.0)


@family(HISTORY, new=10)
def mean_number_of_divisors(rng: Rng) -> Case:
    """(d(1) + ... + d(n)) / n: like log n + 0.15, by Dirichlet."""
    n = size(rng, 200, 1000)
    d = np.zeros(n + 1)
    for i in range(1, n + 1):
        d[i::i] += 1
    return case(np.cumsum(d[1:]) / np.arange(1, n + 1), D, hard=True, quarter=False)


@family(HISTORY, new=10)
def inversions_while_bubbles_rise(rng: Rng) -> Case:
    """Pairs in the wrong order after each pass of bubble sort, and passes that find nothing to do."""
    v, out = rng.permutation(int(rng.integers(20, 60))), []
    while not out or out[-1]:
        out.append(int(np.triu(v[:, None] > v[None, :]).sum()))
        for i in range(len(v) - 1):
            if v[i] > v[i + 1]:
                v[i], v[i + 1] = v[i + 1], v[i]
    return case(out + [0] * (2 * len(out)), C, hard=True, quarter=False, limit=0.0)


@family(HISTORY, new=10)
def juggler_comes_to_one(rng: Rng) -> Case:
    """Roots of even numbers and n^(3/2) of odd ones, rounded down: up and down, then one, and one for ever."""
    while True:
        out = [int(rng.integers(5, 400))]
        while out[-1] != 1 and len(out) < 60 and out[-1] < 10**17:
            out.append(math.isqrt(out[-1] ** 3 if out[-1] % 2 else out[-1]))
        if out[-1] == 1 and len(out) >= 5:
            return case(out + [1] * (5 * len(out) + 20), C, hard=True, quarter=False, limit=1.0)


@family(HISTORY, new=10)
def happy_number(rng: Rng) -> Case:
    """Sums of squared digits of a happy number: one at last, and one for ever."""
    while True:
        out = [int(rng.integers(7, 10**9))]
        while out[-1] != 1 and len(out) < 30:
            out.append(sum(int(d) ** 2 for d in str(out[-1])))
        if out[-1] == 1 and len(out) >= 4:
            return case(out + [1] * (6 * len(out) + 12), C, hard=True, quarter=False, limit=1.0)


@family(HISTORY, new=10)
def doubling_map_runs_out_of_bits(rng: Rng) -> Case:
    """2 x modulo 1 in floats: each step shifts one bit out, and after some fifty there is zero, and stays."""
    out = orbit(lambda x: 2 * x % 1.0, float(rng.random()), int(rng.integers(300, 900)))
    return case(out, C, hard=True, quarter=False, limit=0.0)


@family(HISTORY, new=10)
def mean_with_forgetting_in_half_precision(rng: Rng) -> Case:
    """v + a (goal - v) in float16: it stops short of its goal, where what is added rounds to nothing."""
    goal, a = np.float16(rng.uniform(1, 900)), np.float16(rng.uniform(0.05, 0.4))
    v = orbit(lambda v: np.float16(v + a * (goal - v)), np.float16(0), int(12 / float(a)) + int(rng.integers(40, 200)))
    return case(v, C, hard=True, quarter=False, limit=float(v[-1]))


@family(HISTORY, new=10)
def mean_by_gossip_vector(rng: Rng) -> Case:
    """Two of some numbers, drawn by lot, become their mean: at last all of them are the mean."""
    m = int(rng.integers(4, 9))
    x, out = rng.normal(size=m) * 10, []
    for _ in range(int(m * rng.uniform(18, 40))):
        out.append(x.copy())
        i, j = rng.choice(m, 2, replace=False)
        x[[i, j]] = (x[i] + x[j]) / 2
    return case(np.array(out), C, hard=True, quarter=False)


@family(HISTORY, new=10)
def two_blinkers_differ(rng: Rng) -> Case:
    """True where one of two lamps of other periods is lit, and not both: the common period, or a part of it."""
    while True:
        p, q = (int(i) for i in rng.integers(2, 10, 2))
        both = math.lcm(p, q)
        k = np.arange(both * int(rng.integers(8, 24)))
        v = (k % p < max(p // 2, 1)) ^ (k % q < max(q // 3, 1))
        period = next(d for d in range(1, both + 1) if np.array_equal(v[d:], v[:-d]))
        if p != q and period > 2:
            return case(v, O, hard=True, quarter=len(k) > 17 * both, period=float(period))


@family(HISTORY, new=10)
def bytes_of_a_digest(rng: Rng) -> Case:
    """One byte of the SHA-256 digest of each number: as good as independent draws."""
    first, n = int(rng.integers(10**9)), size(rng, 200, 2000)
    v = [hashlib.sha256(str(first + k).encode()).digest()[0] for k in range(n)]
    return case(np.array(v, np.uint8), S)


@family(HISTORY, new=10)
def colours_of_kacs_ring(rng: Rng) -> Case:
    """White less black balls that move on along a ring and change at its marks: the same after one turn or two."""
    m = int(rng.integers(12, 50))
    marks = rng.random(m) < rng.uniform(0.1, 0.4)
    colour, out = np.ones(m, int), []
    for _ in range(2 * m * int(rng.integers(6, 12))):
        out.append(int(colour.sum()))
        colour = np.roll(np.where(marks, -colour, colour), 1)
    v = np.array(out)
    period = next((p for p in range(1, 2 * m + 1) if np.array_equal(v[p:], v[:-p])), 0)
    if period < 3:
        return colours_of_kacs_ring(rng)
    return case(v, O, hard=True, quarter=False, period=float(period))


@family(HISTORY, new=10)
def short_sums_to_a_limit(rng: Rng) -> Case:
    """Five partial sums of a geometric series: 2, 3, 3.5, 3.75, 3.875."""
    rate, first = float(rng.choice([0.5, 0.25, 0.1])), float(rng.integers(1, 9))
    v = first * (1 - rate ** np.arange(1, 6)) / (1 - rate)
    return case(v, C, hard=True, quarter=False, rate=rate, limit=first / (1 - rate))
