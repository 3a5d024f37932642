"""Economics, ecology, physics and signals: adjustments, competitors, fads, oscillators, channels, chaotic flows."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import (
    HISTORY,
    C,
    D,
    O,
    Rng,
    S,
    X,
    case,
    family,
    log_uniform,
    orbit,
    runge_kutta,
    size,
)
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=9)
def cournot_duopoly_vector(rng: Rng) -> Case:
    """Two firms that go a part of the way to their best answers: together slowly, apart quickly."""
    alpha, size_ = rng.uniform(0.2, 1), log_uniform(rng, 1, 1e4)
    rate = 1 - alpha / 2
    n = int(rng.uniform(8, 24) / -math.log(rate)) + 10
    step = lambda q: q + alpha * ((size_ - q[::-1]) / 2 - q)  # noqa: E731
    v = orbit(step, size_ * rng.uniform(0, 1, 2), n)
    # the sum tends at 1 - 3 alpha / 2, the difference at 1 - alpha / 2: it must be there
    return case(v, C, hard=True, rate=rate) if abs(v[0, 0] - v[0, 1]) > 0.05 * size_ else cournot_duopoly_vector(rng)


@family(HISTORY, new=9)
def loser_of_a_competition(rng: Rng) -> Case:
    """The weaker of two annual plants, once the stronger has filled the field: a fixed share is left each year."""
    while True:
        b, c = rng.uniform(1.5, 6, 2), rng.uniform(0.8, 2, 2)
        rate = b[0] / (1 + c[0] * (b[1] - 1))
        if 0.3 < rate < 0.95 and b[1] / (1 + c[1] * (b[0] - 1)) > 1.1:
            break
    step = lambda s: s * b / (1 + s + c * s[::-1])  # noqa: E731
    v = orbit(step, np.array([0.2 * (b[0] - 1), b[1] - 1]), int(rng.uniform(8, 24) / -math.log(rate)) + 12)
    return case(v[:, 0], C, quarter=False, rate=rate, limit=0.0)


@family(HISTORY, new=9)
def occupied_patches(rng: Rng) -> Case:
    """Levins' share of patches that a species lives in: colonised and left at fixed rates."""
    e = rng.uniform(0.05, 0.3)
    c = e + rng.uniform(0.1, 0.6)
    n = int(rng.uniform(8, 24) / -math.log(1 - (c - e))) + 10
    limit = 1 - e / c
    return case(orbit(lambda p: p + c * p * (1 - p) - e * p, limit * rng.uniform(0.4, 0.9), n), C,
                rate=1 - (c - e), limit=limit)  # fmt: skip


@family(HISTORY, new=9)
def order_of_coupled_clocks(rng: Rng) -> Case:
    """|mean exp(i phase)| of equal clocks that pull each other: all in step at last."""
    m, pull = int(rng.integers(10, 60)), rng.uniform(0.02, 0.2)
    phase, out = rng.uniform(-1.2, 1.2, m), []
    for _ in range(int(rng.uniform(6, 12) / pull) + 10):
        z = np.exp(1j * phase).mean()
        out.append(float(abs(z)))
        phase = phase + pull * abs(z) * np.sin(np.angle(z) - phase)
    return case(out, C, hard=True, quarter=False, limit=1.0)


@family(HISTORY, new=9)
def voltage_of_a_slipping_junction(rng: Rng) -> Case:
    """w - sin(phase) along phase' = w - sin(phase), w > 1: pulses of period 2 pi / sqrt(w^2 - 1)."""
    w, p = rng.uniform(1.02, 1.6), rng.uniform(16, 60)
    time = 2 * math.pi / math.sqrt(w * w - 1)
    h, state, out = time / p / 20, (rng.uniform(0, 6),), []
    turns = int(rng.integers(6, 24))
    for _ in range(int(turns * p)):
        out.append(w - math.sin(state[0]))
        for _ in range(20):
            state = runge_kutta(lambda s: (w - math.sin(s[0]),), state, h)
    return case(out, O, hard=True, quarter=turns > 17, period=p)


@family(HISTORY, new=9)
def warbling_tone(rng: Rng) -> Case:
    """A tone whose pitch goes up and down once in some of its periods: together they repeat with the slower one."""
    m, p = int(rng.integers(5, 12)), rng.uniform(6, 15)
    turns = int(rng.integers(6, 24))
    k = 2 * math.pi * np.arange(int(p * m * turns)) / (p * m)
    v = np.sin(m * k + rng.uniform(1, 2.5) * np.sin(k) + rng.uniform(0, 6))
    return case(v, O, hard=True, quarter=turns > 17, period=p * m)


@family(HISTORY, new=9)
def channel_that_opens_and_closes(rng: Rng) -> Case:
    """The current of a channel that opens and closes at random, in noise."""
    flips = rng.random(size(rng, 1500, 6000)) < rng.uniform(0.08, 0.3)
    return case(np.cumsum(flips) % 2 + rng.uniform(0.02, 0.4) * rng.normal(size=len(flips)), S, hard=True)


@family(HISTORY, new=9)
def counts_of_a_dying_source(rng: Rng) -> Case:
    """Decays counted in each minute, until hardly one is left."""
    n = size(rng, 150, 1500)
    mean = log_uniform(rng, 100, 1e5) * np.exp(-rng.uniform(9, 14) * np.arange(n) / n)
    return case(rng.poisson(mean), C, hard=True, quarter=False, limit=0.0)


@family(HISTORY, new=9)
def visits_by_weekday(rng: Rng) -> Case:
    """Visitors by day: independent counts about a week's pattern, in which two days are nearly empty."""
    mean = np.r_[rng.uniform(40, 200, 5), rng.uniform(0, 6, 2)]
    weeks = int(rng.integers(20, 150))
    return case(rng.poisson(np.tile(np.roll(mean, int(rng.integers(7))), weeks)), O, hard=True, period=7.0)


@family(HISTORY, new=9)
def high_water_mark(rng: Rng) -> Case:
    """The greatest value so far of a walk that goes up a little more often than down."""
    steps = rng.choice([1, -1], size(rng, 1000, 6000), p=(0.6, 0.4))
    return case(np.maximum.accumulate(np.cumsum(steps)), D, hard=True)


@family(HISTORY, new=9)
def three_lap_zigzag_chaos(rng: Rng) -> Case:
    """A zigzag of three laps of slope 3: neighbours part threefold at each step."""
    x, out = rng.uniform(0.1, 0.9), []
    for _ in range(size(rng, 400, 3000) + 10):
        out.append(x)
        y = 3 * x % 2
        x = y if y <= 1 else 2 - y
    return case(out[10:], X, hard=True, quarter=False)


@family(HISTORY, new=9)
def halvorsen_flow_chaos(rng: Rng) -> Case:
    """x' = -a x - 4 y - 4 z - y^2 and so round, a = 1.4, known to be chaotic: one coordinate, sampled."""
    a, h = 1.4, rng.uniform(0.1, 0.2)
    f = lambda s: tuple(-a * s[i] - 4 * s[i - 2] - 4 * s[i - 1] - s[i - 2] ** 2 for i in range(3))  # noqa: E731
    s, out = (-1.48 + 0.1 * rng.normal(), -1.51, 2.04), []
    for _ in range(int(rng.integers(900, 1500)) + 100):
        out.append(s[0])
        for _ in range(8):
            s = runge_kutta(f, s, h / 8)
    return case(out[100:], X, hard=True, quarter=False)
