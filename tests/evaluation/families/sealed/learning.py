"""Learning and estimation: schedules, steps with moments, games, returns, expectations, averages."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import HISTORY, C, D, Rng, case, family, log_uniform, orbit, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=10)
def loss_while_the_rate_is_halved(rng: Rng) -> Case:
    """Mean loss of many noisy descents whose rate is halved every epoch: a floor of noise that is halved, too."""
    epoch, times, rate = int(rng.integers(30, 80)), int(rng.integers(8, 12)), 0.4
    x, out = 3 + rng.normal(size=200), []
    for k in range(epoch * times):
        out.append(float((x * x).mean()))
        step = rate * 0.5 ** (k // epoch)
        x = x - step * (x + rng.normal(size=200))
    return case(out, C, hard=True, quarter=False)


@family(HISTORY, new=10)
def rate_of_squared_gradients_so_far(rng: Rng) -> Case:
    """Adagrad's rate where gradients are noise: about a / sqrt(k), ever smaller."""
    g = rng.normal(size=size(rng, 400, 4000))
    return case(log_uniform(rng, 0.01, 1) / np.sqrt(np.cumsum(g * g + 0.1)), C, hard=True, quarter=False, limit=0.0)


@family(HISTORY, new=10)
def game_of_two_simultaneous_learners_vector(rng: Rng) -> Case:
    """Both players of x y with a small cost of size each: the pair turns outwards where the step is too long."""
    h, cost = rng.uniform(0.2, 0.5), rng.uniform(0.0, 0.05)
    rate = math.hypot(1 - h * cost, h)
    z = complex(1, rng.normal()) * complex(1 - h * cost, h) ** np.arange(int(rng.uniform(3, 20) / math.log(rate)) + 20)
    return case(np.column_stack([z.real, z.imag]), D, hard=True, rate=rate)


@family(HISTORY, new=10)
def learners_return_by_episode(rng: Rng) -> Case:
    """Returns of a learner that rise along a logistic curve, in noise that stays, and rest at their best."""
    n = size(rng, 400, 3000)
    k, best = np.arange(n) / n, log_uniform(rng, 1, 500)
    v = best / (1 + np.exp(-(k - rng.uniform(0.1, 0.25)) * rng.uniform(25, 60)))
    return case(v + rng.uniform(0.01, 0.06) * best * rng.normal(size=n), C, hard=True, quarter=False)


@family(HISTORY, new=10)
def one_cycle_of_the_rate(rng: Rng) -> Case:
    """A rate that rises in a straight line and goes down along half a cosine to nothing."""
    up, down, top = int(rng.integers(10, 60)), int(rng.integers(150, 900)), log_uniform(rng, 1e-4, 1)
    fall = (1 + np.cos(math.pi * np.arange(down + 1) / down)) / 2
    return case(top * np.r_[np.arange(up) / up, fall], C, hard=True, quarter=False, limit=0.0)


@family(HISTORY, new=10)
def two_coins_by_expectation(rng: Rng) -> Case:
    """The bias of the first of two coins, by EM, of throws of which nobody knows the coin."""
    while True:
        bias, m = np.sort(rng.uniform(0.1, 0.9, 2))[::-1], 10
        heads = rng.binomial(m, bias[rng.integers(0, 2, int(rng.integers(6, 40)))])
        theta, out = np.array([0.6, 0.5]), []
        for _ in range(4000):
            out.append(float(theta[0]))
            like = theta[:, None] ** heads * (1 - theta[:, None]) ** (m - heads)
            w = like / like.sum(axis=0)
            theta = (w @ heads) / (m * w.sum(axis=1))
        gap = np.abs(np.array(out) - out[-1])
        if np.flatnonzero(gap > 1e-13).size == 0 or gap[3900] > 1e-14 or gap[0] < 0.03:
            continue
        n = int(np.flatnonzero(gap > 1e-9 * gap[0])[-1])
        if 12 <= n <= 1500:
            return case(out[:n], C, hard=True, quarter=False, limit=out[-1])


@family(HISTORY, new=10)
def message_round_a_ring(rng: Rng) -> Case:
    """Belief propagation's message on a ring of equal bonds: a contraction, of the slope at its fixed point."""
    while True:
        w, field = math.tanh(rng.uniform(0.5, 2)), rng.uniform(0.05, 0.8)
        step = lambda h, w=w, field=field: math.atanh(w * math.tanh(h + field))  # noqa: E731
        root = float(orbit(step, 0.0, 5000)[-1])
        t = math.tanh(root + field)
        rate = w * (1 - t * t) / (1 - w * w * t * t)
        if 0.1 < rate < 0.95:
            n = int(rng.uniform(8, 24) / -math.log(rate)) + 8
            return case(orbit(step, root + rng.uniform(0.2, 1), n), C, rate=rate, limit=root)


@family(HISTORY, new=10)
def accepted_share_while_it_cools(rng: Rng) -> Case:
    """The share of proposals that annealing accepts, by hundreds or so, while its temperature falls geometrically."""
    n, m = size(rng, 150, 1500), int(rng.integers(100, 500))
    t = 5.0 * np.exp(-rng.uniform(9, 14) * np.arange(n) / n)
    return case(rng.binomial(m, t / (1 + t)) / m, C, hard=True, quarter=False, limit=0.0)
