"""Chance: estimates, volatilities, samplers, annealing, servers, caches, urns, walks, auctions."""

from __future__ import annotations

import math

import numpy as np
from scipy import signal

from tests.evaluation.families.base import HISTORY, C, D, Rng, S, case, family, placed, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=7)
def smoothed_noise_by_a_forecaster(rng: Rng) -> Case:
    """The level of simple exponential smoothing on a series without trend, after its start is forgotten."""
    alpha, n = rng.uniform(0.1, 0.6), size(rng, 800, 5000)
    lead = int(20 / alpha)
    v = signal.lfilter([alpha], [1, alpha - 1], rng.normal(size=n + lead))[lead:]
    return placed(rng, v, S, hard=True)


@family(HISTORY, new=7)
def recursive_least_squares_coefficient(rng: Rng) -> Case:
    """A slope that is estimated from one noisy pair after the other, from 0: its error falls like 1 / sqrt(k)."""
    n, true = size(rng, 800, 5000), rng.choice([-1, 1]) * rng.uniform(2, 9)
    x, weight, w, out = rng.normal(size=n), 40.0, 0.0, []
    y = true * x + rng.uniform(0.1, 0.5) * rng.normal(size=n)
    for a, b in zip(x, y, strict=True):
        out.append(w)
        weight += a * a
        w += a * (b - w * a) / weight
    return case(out, C, hard=True, quarter=False)


@family(HISTORY, new=7)
def garch_spread_path(rng: Rng) -> Case:
    """The spread of GARCH(1, 1) itself: it forgets its shocks within twenty steps."""
    a, b, s, out = rng.uniform(0.05, 0.15), rng.uniform(0.6, 0.78), 1.0, []
    for z in rng.normal(size=size(rng, 2000, 6000) + 300):
        out.append(math.sqrt(s))
        s = (1 - a - b) + (a * z * z + b) * s
    return placed(rng, np.array(out[300:]), S, hard=True)


@family(HISTORY, new=7)
def threshold_autoregression(rng: Rng) -> Case:
    """AR(1) with one coefficient above zero and another below, both of them well inside of 1."""
    up, down, x, out = rng.uniform(0.2, 0.7), rng.uniform(-0.6, 0.4), 0.0, []
    for e in rng.normal(size=size(rng, 600, 5000) + 100):
        x = (up if x > 0 else down) * x + e
        out.append(x)
    return placed(rng, np.array(out[100:]), S, hard=True)


@family(HISTORY, new=7)
def servers_that_fill_up(rng: Rng) -> Case:
    """Busy servers of an unlimited number, from none: Poisson arrivals, each leaves with a fixed chance."""
    mean, leave = rng.uniform(1000, 5000), rng.uniform(0.01, 0.1)
    busy, out = 0, []
    for _ in range(int(rng.uniform(8, 16) / leave)):
        out.append(busy)
        busy += int(rng.poisson(mean * leave)) - int(rng.binomial(busy, leave))
    return case(out, C, hard=True, quarter=False)


@family(HISTORY, new=7)
def cold_cache_fills(rng: Rng) -> Case:
    """Pages in a cache, from none: hits add none, misses add one, and it is full long before the end."""
    room = int(rng.integers(20, 300))
    pages, held, out = rng.zipf(1.3, 60 * room) % (8 * room), set(), []
    for page in pages:
        out.append(len(held))
        if len(held) < room:
            held.add(int(page))
    n = max(4 * out.index(room), 100) if room in out else 0
    if not 0 < n <= len(out):
        return cold_cache_fills(rng)
    return case(out[:n], C, hard=True, quarter=False, limit=float(room))


@family(HISTORY, new=7)
def pid_step_with_sensor_noise(rng: Rng) -> Case:
    """A first-order plant under PI control steps to its goal; the sensor's noise stays."""
    a, k, out, x, total = rng.uniform(0.9, 0.97), rng.uniform(0.05, 0.15), [], 0.0, 0.0
    for _ in range(size(rng, 600, 3000)):
        out.append(x)
        total += 0.1 * (1 - x)
        x = a * x + (1 - a) * (total + 10 * k * (1 - x))
    noise = rng.uniform(0.005, 0.02) * rng.normal(size=len(out))
    return placed(rng, np.array(out) + noise, C, hard=True, quarter=False)


@family(HISTORY, new=7)
def regret_of_constant_exploration(rng: Rng) -> Case:
    """The sum of what was lost by trying arms at random in a fixed share of the rounds."""
    n, loss = size(rng, 500, 5000), rng.uniform(0.1, 1)
    return case(np.cumsum(loss * (rng.random(n) < rng.uniform(0.05, 0.3))), D)


@family(HISTORY, new=7)
def walk_between_walls(rng: Rng) -> Case:
    """A walk that cannot leave 0 to m, over a hundred times the square of that and more."""
    m = int(rng.integers(4, 9))
    x, out = m // 2, []
    for step in rng.choice([-1, 1], int(rng.uniform(100, 150) * m * m)):
        out.append(x)
        x = min(max(x + int(step), 0), m)
    return case(out, S, hard=True)


@family(HISTORY, new=7)
def spreading_cloud_of_walkers(rng: Rng) -> Case:
    """The mean square distance of many walkers: it grows by one each step, but for their chance."""
    x, out = np.zeros(int(rng.integers(1000, 5000))), []
    for _ in range(size(rng, 150, 1000)):
        out.append(float(np.mean(x * x)))
        x = x + rng.choice([-1.0, 1.0], len(x))
    return case(out, D)


@family(HISTORY, new=7)
def ehrenfest_urn_in_balance(rng: Rng) -> Case:
    """Balls that change sides, a tenth of them each time, from the half."""
    m = int(rng.integers(200, 2000))
    x, out = m // 2, []
    for _ in range(size(rng, 600, 4000)):
        out.append(x)
        x += int(rng.binomial(m - x, 0.1)) - int(rng.binomial(x, 0.1))
    return case(out, S, hard=True)


@family(HISTORY, new=7)
def polya_urn_share(rng: Rng) -> Case:
    """The share of red balls where each drawn ball is put back with another of its colour: to a limit by chance."""
    red, total, out = int(rng.integers(1, 4)), int(rng.integers(4, 7)), []
    for u in rng.random(size(rng, 3000, 9000)):
        out.append(red / total)
        red, total = red + (u < red / total), total + 1
    return case(out, C, hard=True, quarter=False)


@family(HISTORY, new=7)
def revenue_of_repeated_auctions(rng: Rng) -> Case:
    """The second highest of some independent bids, auction after auction."""
    bids = np.sort(rng.exponential(1, (size(rng, 100, 3000), int(rng.integers(3, 12)))), axis=1)
    return placed(rng, bids[:, -2], S)
