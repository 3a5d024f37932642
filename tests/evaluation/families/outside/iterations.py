"""Iterations, envelopes and schedules: roots, eigenvalues, sweeps, EM, strings, notes, losses, ratings."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from tests.evaluation.families.base import HISTORY, C, D, O, Rng, case, family, log_uniform, orbit, placed, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=7)
def steffensen_errors(rng: Rng) -> Case:
    """Errors of Steffensen's method on exp(x) - a: a handful of values, whose digits double."""
    a = rng.uniform(1.5, 2.5)
    x, out = math.log(a) + rng.uniform(0.05, 0.2), []
    while not out or out[-1] > 1e-6:
        out.append(abs(x - math.log(a)))
        f = math.exp(x) - a
        x -= f * f / (math.exp(x + f) - a - f)
    out.append(abs(x - math.log(a)))
    return case(out, C, hard=True, quarter=False, limit=0.0)


@family(HISTORY, new=7)
def machin_sums(rng: Rng) -> Case:
    """Partial sums of 16 arctan(1/5) - 4 arctan(1/239) or of 8 arctan(1/3) + 4 arctan(1/7): pi."""
    terms = [(16, 5), (-4, 239)] if rng.random() < 0.5 else [(8, 3), (4, 7)]
    k = np.arange(int(rng.integers(8, 14)))
    v = sum(f * np.cumsum((-1.0) ** k / (2 * k + 1) * float(q) ** -(2 * k + 1)) for f, q in terms)
    return case(v, C, quarter=False, limit=math.pi)


@family(HISTORY, new=7)
def red_black_sweeps_residual(rng: Rng) -> Case:
    """The residual of Gauss and Seidel's sweeps, red before black, on a string of m points: cos(pi / (m + 1))^2."""
    m = int(rng.integers(5, 30))
    rate = math.cos(math.pi / (m + 1)) ** 2
    x, b, out = np.zeros(m + 2), np.r_[0.0, rng.uniform(0.5, 1.5, m), 0.0], []
    for _ in range(int(rng.uniform(9, 25) / -math.log(rate)) + 15):
        out.append(float(np.linalg.norm(b[1:-1] + x[:-2] + x[2:] - 2 * x[1:-1])))
        for first in (1, 2):
            x[first:-1:2] = (b[first:-1:2] + x[first - 1 : -2 : 2] + x[first + 1 :: 2]) / 2
    return case(out, C, rate=rate, limit=0.0)


@family(HISTORY, new=7)
def em_of_censored_lifetimes(rng: Rng) -> Case:
    """The mean life by EM where some lamps still burn: the censored share is the rate, exactly."""
    n = int(rng.integers(20, 200))
    censored = int(n * rng.uniform(0.15, 0.9))
    lives, rate = rng.exponential(10, n), censored / n
    limit = float(lives.sum() / (n - censored))
    steps = int(rng.uniform(8, 24) / -math.log(rate)) + 8
    v = orbit(lambda t: (lives.sum() + censored * t) / n, limit * rng.uniform(1.5, 4), steps)
    return case(v, C, rate=rate, limit=limit)


@family(HISTORY, new=7)
def muller_recurrence_takes_the_wrong_limit(rng: Rng) -> Case:
    """x'' = a - b / x' + c / (x' x) starts for its second root; rounding leads it to the largest one."""
    small, middle, large = np.sort(rng.integers(2, 40, 3)) + np.array([0, 3, 60])
    a, b, c = small + middle + large, small * middle + small * large + middle * large, small * middle * large
    power = lambda k: float(small**k + middle**k)  # noqa: E731
    x, y, out = power(1) / power(0), power(2) / power(1), []
    for _ in range(int(rng.integers(120, 300))):
        out.append(x)
        x, y = y, float(a - b / y + c / (x * y))
    if abs(out[-40] - large) > 1e-9:  # an orbit without rounding errors to the end: draw another
        return muller_recurrence_takes_the_wrong_limit(rng)
    return case(out, C, hard=True, quarter=False, limit=float(large))


@family(HISTORY, new=7)
def bessel_numbers_upwards(rng: Rng) -> Case:
    """J(n + 1) = 2 n / x J(n) - J(n - 1), upwards: rounding brings in Y(n), which grows like a factorial."""
    x = rng.uniform(0.5, 8)
    out = [float(special.jv(0, x)), float(special.jv(1, x))]
    while len(out) < int(rng.integers(60, 90)):
        out.append(2 * (len(out) - 1) / x * out[-1] - out[-2])
    return case(out, D, hard=True, quarter=False)


@family(HISTORY, new=7)
def plucked_string(rng: Rng) -> Case:
    """A noise that is passed round a delay line and made smoother and weaker each time."""
    m, loss = int(rng.integers(8, 30)), rng.uniform(0.85, 0.95)
    x = list(rng.uniform(-1, 1, m))
    while len(x) < int(m * rng.uniform(5, 9) / -math.log(loss)):
        x.append(loss * 0.5 * (x[-m] + x[-m + 1]))
    return case(np.array(x), C, hard=True, quarter=False, limit=0.0)


@family(HISTORY, new=7)
def reverberation_tail(rng: Rng) -> Case:
    """White noise under an envelope that falls by 50 decibels and more."""
    n = size(rng, 200, 3000)
    return placed(rng, np.exp(-rng.uniform(6, 12) * np.arange(n) / n) * rng.normal(size=n), C, hard=True, quarter=False,
                  limit=0.0)  # fmt: skip


@family(HISTORY, new=7)
def howl_until_clipped(rng: Rng) -> Case:
    """A resonance that feeds itself until its amplifier saturates: small at first, then a wave of fixed height."""
    w, gain = rng.uniform(0.15, 1.2), rng.uniform(1.05, 1.3)
    z, out = 1e-3 + 0j, []
    for _ in range(size(rng, 600, 3000)):
        out.append(z.real)
        r = gain * abs(z)
        z = z / abs(z) * math.tanh(r) * complex(math.cos(w), math.sin(w))
    return placed(rng, np.array(out), O, hard=True, quarter=False, period=2 * math.pi / w)


@family(HISTORY, new=7)
def loss_with_a_pattern_of_batches(rng: Rng) -> Case:
    """A loss that falls by a factor per epoch; some batches of the fixed order are harder than others."""
    m = int(rng.integers(5, 40))
    hard, k = rng.uniform(0.6, 1.6, m), np.arange(m * int(rng.integers(15, 40)))
    rate = math.exp(-rng.uniform(6, 20) / len(k))
    return case(log_uniform(rng, 0.1, 10) * rate**k * hard[k % m], C, hard=True, quarter=False, rate=rate, limit=0.0)
