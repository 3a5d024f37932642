"""Learning and estimation: schedules, steps with moments, games, returns, expectations, averages."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import HISTORY, C, Rng, S, case, family, orbit, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=9)
def second_moment_in_balance(rng: Rng) -> Case:
    """The mean of squared noise with forgetting, as RMSprop keeps it, long after its beginning."""
    keep, v, out = float(rng.choice([0.8, 0.9, 0.95])), 1.0, []
    for g in rng.normal(size=size(rng, 800, 4000) + 200):
        out.append(v)
        v = keep * v + (1 - keep) * g * g
    return case(out[200:], S, hard=True)


@family(HISTORY, new=9)
def extragradient_on_a_game(rng: Rng) -> Case:
    """A player of x y who looks one step ahead: it turns inwards where the plain one turns outwards."""
    h = rng.uniform(0.15, 0.7)
    rate = math.sqrt((1 - h * h) ** 2 + h * h)
    n = int(rng.uniform(8, 20) / -math.log(rate)) + 20
    turn = complex(1 - h * h, h)
    z = complex(rng.normal() + 1, rng.normal()) * turn ** np.arange(n)
    return case(z.real, C, hard=True, quarter=False, rate=rate, limit=0.0)


@family(HISTORY, new=9)
def action_values_vector(rng: Rng) -> Case:
    """Q values of a chain whose last place pays for ever, all of them brought nearer to their goals at once."""
    m, alpha, gamma = int(rng.integers(2, 5)), rng.uniform(0.3, 1), rng.uniform(0.5, 0.95)
    rate = 1 - alpha * (1 - gamma)
    step = lambda q: q + alpha * (gamma * np.r_[q[1:], q[-1]] + np.eye(m)[-1] - q)  # noqa: E731
    n = int(rng.uniform(10, 24) / -math.log(rate)) + int(12 * m / alpha)
    return case(orbit(step, np.zeros(m), n), C, hard=True, quarter=False, rate=rate)


@family(HISTORY, new=9)
def averaged_noisy_iterates(rng: Rng) -> Case:
    """Polyak's average of noisy iterates about a minimum, from afar: the start is forgotten like 1 / k."""
    n, best = size(rng, 1500, 6000), rng.normal()
    x, out = best + rng.uniform(20, 60), []
    for e in rng.normal(size=n):
        out.append(x)
        x = x - 0.1 * (x - best + e)
    v = np.cumsum(out) / np.arange(1, n + 1)
    return case(v, C, hard=True, quarter=False, limit=best)
