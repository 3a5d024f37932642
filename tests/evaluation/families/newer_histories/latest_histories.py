"""Latest histories: annealing, games, populations, locked loops and quotients of whole numbers."""

from __future__ import annotations

import math

import numpy as np
from scipy import integrate

from tests.evaluation.families.base import HISTORY, C, D, O, Rng, S, case, family, log_uniform, orbit, placed, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=4)
def three_waves_in_noise(rng: Rng) -> Case:
    """Three waves whose periods have no common multiple, with noise of a hundredth."""
    t, first = np.arange(size(rng, 300, 2000)), rng.uniform(8, 20)
    periods = first * np.array([1, math.sqrt(2), (1 + math.sqrt(5)) / 2 + 1])
    waves = sum(rng.uniform(0.4, 1) * np.sin(2 * np.pi * t / p + rng.uniform(0, 6)) for p in periods)
    return placed(rng, waves + 0.01 * rng.normal(size=len(t)), O, hard=True, quarter=False)


@family(HISTORY, new=4)
def seasonal_infection(rng: Rng) -> Case:
    """Infected of an SIS model whose contacts follow the season: they come to the season's own period."""
    period, beta, gamma = rng.uniform(12, 52), rng.uniform(0.4, 0.8), rng.uniform(0.05, 0.15)
    skip = 400
    n, i, out = int(period * rng.uniform(12, 30)), 0.3, []
    for k in range(n + skip):
        out.append(i)
        i += beta * (1 + 0.4 * math.sin(2 * math.pi * k / period)) * i * (1 - i) - gamma * i
    return case(out[skip:], O, quarter=False, period=period)


@family(HISTORY, new=4)
def rock_paper_scissors_orbit(rng: Rng) -> Case:
    """A share in the replicator's equation of the zero-sum game, which keeps the product of the shares: an orbit."""
    rhs = lambda t, p: p * np.array([p[2] - p[1], p[0] - p[2], p[1] - p[0]])  # noqa: E731
    times = np.arange(int(rng.integers(200, 900))) * rng.uniform(0.4, 1.2)
    start = rng.dirichlet([4, 4, 4])
    if np.ptp(start) < 0.1:
        start = np.array([0.5, 0.3, 0.2])
    x = integrate.solve_ivp(rhs, (0, times[-1]), start, t_eval=times, rtol=1e-10, atol=1e-12).y[0]
    return case(x, O, quarter=False)


@family(HISTORY, new=4)
def fibonacci_residues(rng: Rng) -> Case:
    """Fibonacci's numbers modulo m repeat with Pisano's period."""
    m = int(rng.integers(2, 30))
    pairs, pair = [], (0, 1)
    while not pairs or pair != (0, 1):
        pairs.append(pair[0])
        pair = (pair[1], sum(pair) % m)
    return case(np.resize(pairs, len(pairs) * int(rng.integers(5, 20)) + 3), O, quarter=False, period=len(pairs))


@family(HISTORY, new=4)
def digits_of_a_fraction(rng: Rng) -> Case:
    """The digits of 1/p to some base: periodic, with the order of the base modulo p."""
    p, base = int(rng.choice([7, 11, 13, 17, 19, 23, 29, 31, 37])), int(rng.choice([2, 6, 10]))
    digits, rest = [], 1
    while not digits or rest != 1:
        digits.append(base * rest // p)
        rest = base * rest % p
    n = len(digits) * int(rng.integers(8, 30))
    return case(np.resize(digits, n), O, quarter=False, period=len(digits))


@family(HISTORY, new=4)
def lundy_mees_temperature(rng: Rng) -> Case:
    """T' = T / (1 + b T): a temperature that falls like 1/k."""
    b = log_uniform(rng, 1e-3, 1)
    return case(orbit(lambda t: t / (1 + b * t), log_uniform(rng, 1, 100) / b, size(rng, 60, 2000)), C,
                exponent=1.0, limit=0.0)  # fmt: skip


@family(HISTORY, new=4)
def annealed_chain_energy(rng: Rng) -> Case:
    """The energy of a chain of spins that is cooled from a random state until it is frozen."""
    m, temperature, out = int(rng.integers(12, 30)), 3.0, []
    spins = rng.choice([-1, 1], m)
    for _ in range(size(rng, 200, 600)):
        out.append(-int(np.sum(spins * np.roll(spins, 1))))
        for i in rng.integers(0, m, m):
            cost = 2 * spins[i] * (spins[i - 1] + spins[(i + 1) % m])
            if cost <= 0 and temperature > 0.02 or rng.random() < math.exp(-cost / temperature):
                spins[i] = -spins[i]
        temperature = max(temperature * 0.96, 0.01)
    return case(np.array(out, float) + 0.0, C, hard=True, quarter=False)


@family(HISTORY, new=4)
def phase_locked_loop(rng: Rng) -> Case:
    """e' = e + w - K sin(e): the phase error comes to arcsin(w / K)."""
    gain = rng.uniform(0.05, 1.4)
    drift = gain * rng.uniform(0.1, 0.9)
    limit = math.asin(drift / gain)
    rate = abs(1 - gain * math.cos(limit))
    n = int(min(rng.uniform(10, 26) / -math.log(max(rate, 1e-3)), 2000)) + 16
    return case(orbit(lambda e: e + drift - gain * math.sin(e), rng.uniform(-1, 1), n), C, quarter=False, rate=rate,
                limit=limit)  # fmt: skip


@family(HISTORY, new=4)
def chebyshev_iteration_residual(rng: Rng) -> Case:
    """The residual of Chebyshev's semi-iteration with the exact bounds of the spectrum."""
    low, m = log_uniform(rng, 0.005, 0.2), int(rng.integers(20, 80))
    spectrum = np.r_[low, 1.0, rng.uniform(low, 1, m)]
    d, c = (1 + low) / 2, (1 - low) / 2
    r, p, alpha, out = rng.normal(size=len(spectrum)), np.zeros(len(spectrum)), 0.0, []
    rate = (1 - math.sqrt(low)) / (1 + math.sqrt(low))
    for k in range(int(rng.uniform(10, 25) / -math.log(rate)) + 10):
        out.append(np.linalg.norm(r))
        beta = 0.0 if k == 0 else 0.5 * (c * alpha) ** 2 if k == 1 else (c * alpha / 2) ** 2
        alpha = 1 / d if k == 0 else 1 / (d - beta / alpha)
        p = r + beta * p
        r = r - alpha * spectrum * p
    return case(out, C, quarter=False, limit=0.0)


@family(HISTORY, new=4)
def simplex_zigzag_gap(rng: Rng) -> Case:
    """The gap of Frank and Wolfe's method with steps 2 / (k + 2) on a simplex: falls like 1/k, by zigzags."""
    m = int(rng.integers(4, 20))
    goal, x, out = rng.dirichlet(np.ones(m)), np.eye(m)[0], []
    for k in range(size(rng, 200, 2000)):
        slope = x - goal
        vertex = np.eye(m)[int(slope.argmin())]
        out.append(float(slope @ (x - vertex)))
        x = x + 2 / (k + 2) * (vertex - x)
    return case(out, C, hard=True, quarter=False, limit=0.0)


@family(HISTORY, new=4)
def totient_mean(rng: Rng) -> Case:
    """The sum of Euler's function up to n over n^2 tends to 3 / pi^2."""
    n = size(rng, 200, 2000)
    phi = np.arange(n + 1)
    for p in range(2, n + 1):
        if phi[p] == p:
            phi[p::p] -= phi[p::p] // p
    k = np.arange(1, n + 1)
    return case(np.cumsum(phi[1:]) / k**2, C, hard=True, quarter=False, limit=3 / math.pi**2)


@family(HISTORY, new=4)
def hassell_settles(rng: Rng) -> Case:
    """x' = r x / (1 + a x)^b, at rates where its level is stable."""
    while True:
        r, b, a = rng.uniform(1.5, 12), rng.uniform(0.5, 4), log_uniform(rng, 1e-3, 1)
        slope = 1 - b * (1 - r ** (-1 / b))
        if 0.05 < abs(slope) < 0.95:
            break
    n = int(rng.uniform(10, 26) / -math.log(abs(slope))) + 16
    limit = (r ** (1 / b) - 1) / a
    return case(orbit(lambda x: r * x / (1 + a * x) ** b, limit * rng.uniform(0.1, 0.7), n), C, quarter=False,
                rate=abs(slope), limit=limit)  # fmt: skip


@family(HISTORY, new=4)
def blocking_by_lines(rng: Rng) -> Case:
    """Erlang's share of lost calls by the number of lines: falls to zero, faster and faster."""
    load, blocked, out = rng.uniform(2, 60), 1.0, []
    for k in range(1, int(2.5 * load) + 25):
        out.append(blocked)
        blocked = load * blocked / (k + load * blocked)
    return case(out, C, quarter=False, limit=0.0)


@family(HISTORY, new=4)
def population_about_capacity(rng: Rng) -> Case:
    """Births and deaths by chance about the capacity at which it began: correlated counts on one level."""
    capacity, out = int(rng.integers(50, 400)), []
    count, back = capacity, rng.uniform(0.1, 0.4)
    for _ in range(size(rng, 300, 2000)):
        out.append(count)
        count = int(rng.poisson(max(count + back * (capacity - count), 0.0)))
    return case(out, S, hard=True)


@family(HISTORY, new=4)
def moving_sum_of_dice(rng: Rng) -> Case:
    """The sum of the last w throws of a die."""
    w = int(rng.integers(3, 20))
    throws = rng.integers(1, 7, size(rng, 40 * w, 2500) + w)
    return case(np.convolve(throws, np.ones(w, int), "valid"), S, hard=True, quarter=False)


@family(HISTORY, new=4)
def branching_grows(rng: Rng) -> Case:
    """A population of which each has 1.1 to 1.5 children in the mean, by chance, from many on."""
    mean, count, out = rng.uniform(1.1, 1.5), int(rng.integers(20, 100)), []
    for _ in range(int(min(18 / math.log(mean), 120))):
        out.append(count)
        count = int(rng.poisson(mean * count))
    return case(out, D, quarter=False, rate=mean)


@family(HISTORY, new=4)
def heavy_tailed_walk(rng: Rng) -> Case:
    """Sums of independent steps with Student's three degrees of freedom."""
    return placed(rng, np.cumsum(rng.standard_t(3, size(rng, 400, 3000))), D, hard=True, quarter=False)
