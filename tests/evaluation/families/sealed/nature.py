"""Economics, ecology, physics and signals: adjustments, competitors, fads, oscillators, channels, chaotic flows."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import HISTORY, C, D, O, Rng, case, family, log_uniform, orbit, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=10)
def solow_capital(rng: Rng) -> Case:
    """Capital of which a share of its product is saved, and another share wears out."""
    a, s, wear = rng.uniform(0.2, 0.6), rng.uniform(0.1, 0.4), rng.uniform(0.05, 0.4)
    limit, rate = (s / wear) ** (1 / (1 - a)), 1 - wear * (1 - a)
    n = int(rng.uniform(8, 22) / -math.log(rate)) + 10
    return case(orbit(lambda k: s * k**a + (1 - wear) * k, 0.4 * limit, n), C, rate=rate, limit=limit)


@family(HISTORY, new=10)
def prices_that_rise_ever_faster(rng: Rng) -> Case:
    """Prices whose rate of growth grows by the same amount each month."""
    k = np.arange(size(rng, 24, 150))
    return case(log_uniform(rng, 0.1, 100) * np.exp(np.cumsum(rng.uniform(0.01, 0.05) + rng.uniform(0.002, 0.01) * k)),
                D, hard=True)  # fmt: skip


@family(HISTORY, new=10)
def new_owners_of_a_fad(rng: Rng) -> Case:
    """Bass' new adopters of each month: a hump, and a geometric tail."""
    p, q = rng.uniform(0.002, 0.02), rng.uniform(0.2, 0.5)
    total, out = 0.0, []
    for _ in range(int(rng.uniform(25, 40) / (p + q)) + 20):
        out.append((p + q * total) * (1 - total))
        total += out[-1]
    return case(np.array(out) * log_uniform(rng, 1, 1e6), C, hard=True, quarter=False, rate=1 - p - q, limit=0.0)


@family(HISTORY, new=10)
def hawks_among_doves(rng: Rng) -> Case:
    """The share of hawks, by their gain relative to the mean: it comes to value over cost."""
    value, cost, base = rng.uniform(1, 3), rng.uniform(3.5, 8), rng.uniform(4, 12)
    hawk = lambda x: base + x * (value - cost) / 2 + (1 - x) * value  # noqa: E731
    dove = lambda x: base + (1 - x) * value / 2  # noqa: E731
    limit = value / cost
    rate = 1 + limit * (1 - limit) * ((value - cost) / 2 - value + value / 2) / dove(limit)
    step = lambda x: x * hawk(x) / (x * hawk(x) + (1 - x) * dove(x))  # noqa: E731
    n = int(rng.uniform(8, 20) / -math.log(rate)) + 10
    return case(orbit(step, limit * rng.uniform(0.6, 0.9), n), C, rate=rate, limit=limit)


@family(HISTORY, new=10)
def figure_on_an_oscilloscope_vector(rng: Rng) -> Case:
    """Two waves of frequencies in a small whole ratio: a closed figure, of the common period."""
    a, b = ((1, 2), (2, 3), (3, 4), (3, 5))[int(rng.integers(4))]
    p, turns = rng.uniform(40, 90), int(rng.integers(6, 24))
    k = 2 * math.pi * np.arange(int(p * turns)) / p
    v = np.column_stack([np.sin(a * k + rng.uniform(0, 6)), rng.uniform(0.5, 2) * np.sin(b * k)])
    return case(v, O, hard=True, quarter=turns > 17, period=p)


@family(HISTORY, new=10)
def swing_pushed_from_rest(rng: Rng) -> Case:
    """A damped linear swing, pushed by a wave: its own motion dies, and that of the push stays."""
    p, own, damp = rng.uniform(8, 30), rng.uniform(0.3, 0.9), rng.uniform(0.9, 0.97)
    n = int(-8 / math.log(damp)) + int(p * rng.integers(12, 30))
    k = np.arange(n)
    v = np.sin(2 * math.pi * k / p) - rng.uniform(0.5, 1.2) * damp**k * np.sin(own * k)
    return case(v, O, hard=True, quarter=False, period=p)
