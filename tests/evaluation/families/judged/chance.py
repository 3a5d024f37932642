"""Chance: estimates, volatilities, samplers, annealing, servers, caches, urns, walks, auctions."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from tests.evaluation.families.base import HISTORY, C, O, Rng, S, case, family, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=8)
def acceptance_in_windows(rng: Rng) -> Case:
    """Share of accepted proposals in each window of independent ones: multiples of a hundredth."""
    m = int(rng.choice([50, 100, 200]))
    return case(rng.binomial(m, rng.uniform(0.2, 0.6), size(rng, 100, 2000)) / m, S)


@family(HISTORY, new=8)
def adapted_proposal_scale(rng: Rng) -> Case:
    """The logarithm of a proposal's width: + k^-a (accepted - 0.234), until that share of a normal law is accepted."""
    power, x, s, out = rng.uniform(0.6, 0.9), 0.0, rng.choice([-4.0, 6.0]), []
    for k in range(size(rng, 3000, 8000)):
        out.append(s)
        y = x + math.exp(s) * rng.normal()
        accepted = math.log(rng.random()) < (x * x - y * y) / 2
        x = y if accepted else x
        s += (k + 1) ** -power * 4 * (accepted - 0.234)
    return case(out, C, hard=True, quarter=False)


@family(HISTORY, new=8)
def reheated_two_level_energy(rng: Rng) -> Case:
    """Excited ones of many two-level systems in balance, while the temperature falls and is raised again each time."""
    p, m = int(rng.integers(8, 40)), int(rng.integers(500, 5000))
    t = 2.0 * 0.1 ** (np.arange(p * int(rng.integers(16, 40))) % p / p)
    return case(rng.binomial(m, special.expit(-1 / t)), O, hard=True, quarter=len(t) > 24 * p, period=float(p))


@family(HISTORY, new=8)
def two_level_energy_while_cooling(rng: Rng) -> Case:
    """Excited ones of many two-level systems in balance while they are cooled until none is left."""
    n = size(rng, 200, 2000)
    t = 3.0 * np.exp(-rng.uniform(6, 9) * np.arange(n) / n)
    return case(rng.binomial(int(rng.integers(200, 3000)), special.expit(-1 / t)), C, hard=True, quarter=False,
                limit=0.0)  # fmt: skip


@family(HISTORY, new=8)
def endemic_by_chance(rng: Rng) -> Case:
    """Infected of 2000 and more, by chance, about the endemic level, from that level."""
    m, beta, gamma = int(rng.integers(2000, 9000)), rng.uniform(0.3, 0.6), rng.uniform(0.1, 0.2)
    i, out = int(m * (1 - gamma / beta)), []
    for _ in range(size(rng, 1500, 5000) + 200):
        out.append(i)
        i += int(rng.binomial(m - i, 1 - math.exp(-beta * i / m))) - int(rng.binomial(i, gamma))
    return case(out[200:], S, hard=True)


@family(HISTORY, new=8)
def moran_process_fixes(rng: Rng) -> Case:
    """Carriers of a gene that is of use, until all have it; the population is followed three times as long."""
    m = int(rng.integers(20, 80))
    count, out = m // 2, []
    while 0 < count < m:
        out.append(count)
        up, down = 1.3 * count * (m - count), count * (m - count)
        count += int(rng.choice([1, -1], p=[up / (up + down), down / (up + down)]))
    return case(out + [count] * (3 * len(out) + 30), C, hard=True, quarter=False, limit=float(count))


@family(HISTORY, new=8)
def ehrenfest_urn_from_one_side(rng: Rng) -> Case:
    """Balls that change sides one by one, all on one side at first: the half, in twenty spreads and more."""
    m = int(rng.integers(1000, 1400))
    x, out = m, []
    for u in rng.random(int(m * rng.uniform(4, 6))):
        out.append(x)
        x += -1 if u < x / m else 1
    return case(out, C, hard=True, quarter=False)
