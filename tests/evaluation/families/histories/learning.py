"""Learning curves: gradient descent and its variants on problems whose course is known, schedules, noise balls."""

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
    case,
    family,
    log_uniform,
    orbit,
    placed,
    scale,
    size,
)
from tests.evaluation.scoring.cases import Case


@family(HISTORY)
def gradient_descent_loss(rng: Rng) -> Case:
    """A quadratic: (1 - lr l)^2 of the flattest direction, after the others are gone."""
    slow = log_uniform(rng, 0.005, 0.3)
    others = 1 - np.minimum(slow * rng.uniform(2.5, 5, 3), 0.95)
    n = int(rng.uniform(3, 9) / slow) + 20
    k = np.arange(n)[:, None]
    v = (rng.uniform(0.5, 3, 4) * np.r_[1 - slow, others] ** (2 * k)).sum(1)
    return placed(rng, v, C, quarter=False, rate=(1 - slow) ** 2, limit=0.0)


@family(HISTORY)
def gradient_descent_too_fast(rng: Rng) -> Case:
    """lr l > 2 in one direction: the loss falls at first, then grows."""
    rate = rng.uniform(1.02, 1.3)
    n = int(rng.uniform(20, 60) / math.log(rate))
    v = 1e-6 * rate ** (2 * np.arange(n)) + 5 * 0.5 ** np.arange(n)
    return case(v, D, hard=True, quarter=False, rate=rate**2)


@family(HISTORY)
def gradient_descent_at_the_edge(rng: Rng) -> Case:
    """lr = 2 / l: jumps between x and -x."""
    k = np.arange(size(rng, 16, 2000))
    return placed(rng, rng.uniform(0.5, 3) * (-1.0) ** k, O, quarter=len(k) >= 48, period=2.0)


@family(HISTORY)
def heavy_ball(rng: Rng) -> Case:
    """Momentum with complex roots: modulus sqrt(beta)."""
    beta = rng.uniform(0.5, 0.98)
    low, high = (1 - math.sqrt(beta)) ** 2, (1 + math.sqrt(beta)) ** 2
    a = low + (high - low) * rng.uniform(0.1, 0.9)
    n = int(rng.uniform(10, 40) / -math.log(beta)) + 30
    x = [3.0, 2.5]
    while len(x) < n:
        x.append((1 + beta - a) * x[-1] - beta * x[-2])
    return placed(rng, np.array(x), C, quarter=False, rate=math.sqrt(beta), limit=0.0)


@family(HISTORY)
def nesterov_loss(rng: Rng) -> Case:
    """Accelerated descent with rising momentum: ripples on a falling loss."""
    l = np.geomspace(rng.uniform(0.002, 0.02), 1, 5)  # noqa: E741
    x = y = rng.uniform(0.5, 2, 5)
    out = []
    for k in range(size(rng, 300, 1500)):
        out.append(0.5 * float(l @ x**2))
        new = y - l * y
        x, y = new, new + k / (k + 3) * (new - x)
    return case(out, C, hard=True, quarter=False, limit=0.0)


@family(HISTORY)
def stochastic_descent_with_approach(rng: Rng) -> Case:
    """Constant lr: an approach of 15 and more spreads, done in the first third, then a ball of noise."""
    n = size(rng, 400, 8000)
    a = rng.uniform(12, 60) / n
    x, out = rng.uniform(15, 80), []
    for e in rng.normal(size=n):
        out.append(x)
        x = (1 - a) * x + math.sqrt(2 * a) * e
    return placed(rng, np.array(out), C, hard=True, quarter=False)


@family(HISTORY)
def stochastic_descent_settled(rng: Rng) -> Case:
    """The same, watched when it is in the ball from the beginning."""
    a = rng.uniform(0.1, 0.6)
    x, out = rng.normal(), []
    for e in rng.normal(size=size(rng, 500, 8000)):
        out.append(x)
        x = (1 - a) * x + math.sqrt(2 * a - a * a) * e
    return placed(rng, np.array(out), S, hard=True, quarter=False)


@family(HISTORY)
def stochastic_descent_decreasing(rng: Rng) -> Case:
    """lr like 1/k: Robbins and Monro."""
    x, out = 20 * rng.normal(), []
    for k, e in enumerate(rng.normal(size=size(rng, 1000, 10_000)), start=1):
        out.append(x)
        x -= 1 / (k + 1) * (x - 3 + e)
    return case(np.array(out) * scale(rng), C, hard=True, quarter=False)


@family(HISTORY)
def minibatch_loss(rng: Rng) -> Case:
    """A geometric fall times a factor of each batch, the same in every epoch."""
    m, tau = int(rng.integers(5, 40)), rng.uniform(40, 400)
    k = np.arange(int(tau * rng.uniform(5, 12)) + 10 * m)
    factor = np.resize(1 + rng.uniform(0.05, 0.3) * rng.uniform(-1, 1, m), len(k))
    return case(np.exp(-k / tau) * factor * log_uniform(rng, 0.1, 10), C, hard=True, quarter=False, limit=0.0)


@family(HISTORY)
def adam_loss(rng: Rng) -> Case:
    """Adam with lr like k^(-1/2) on a bowl, over long enough to be near the bottom."""
    l = rng.uniform(0.5, 3, 3)  # noqa: E741
    x, m, v, out = rng.uniform(1, 3, 3), np.zeros(3), np.zeros(3), []
    for k in range(1, size(rng, 800, 2500)):
        out.append(0.5 * float(l @ x**2))
        g = l * x
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        x = x - 0.1 / math.sqrt(k) * (m / (1 - 0.9**k)) / (np.sqrt(v / (1 - 0.999**k)) + 1e-8)
    return case(out, C, hard=True, quarter=False, limit=0.0)


@family(HISTORY)
def separable_logistic_loss(rng: Rng) -> Case:
    """No minimum: the loss falls like 1/k."""
    a = rng.uniform(0.3, 2)
    w, out = 0.0, []
    for _ in range(size(rng, 500, 8000)):
        out.append(math.log1p(math.exp(-a * w)))
        w += a / (1 + math.exp(a * w))
    return case(out, C, hard=True, limit=0.0, exponent=1.0)


@family(HISTORY)
def separable_logistic_weight(rng: Rng) -> Case:
    """Its weight grows like log k, without a bound."""
    a = rng.uniform(0.3, 2)
    w, out = 0.0, []
    for _ in range(size(rng, 500, 8000)):
        out.append(w)
        w += a / (1 + math.exp(a * w))
    return case(out, D, hard=True)


@family(HISTORY)
def scaling_law(rng: Rng) -> Case:
    """Loss floor + k^(-alpha), with a little relative noise."""
    alpha, n = rng.uniform(0.4, 1.2), size(rng, 500, 8000)
    k = np.arange(1.0, n + 1)
    v = rng.uniform(0.5, 2) + 4 * k**-alpha * (1 + 0.005 * rng.normal(size=n))
    return case(v, C, hard=True, quarter=False)


@family(HISTORY)
def accuracy_in_samples(rng: Rng) -> Case:
    """A share of right answers among 200 to 2000: rises to its level, by whole samples, with chance."""
    m, n = int(rng.integers(200, 2000)), size(rng, 150, 1500)
    p = rng.uniform(0.8, 0.97) * (1 - np.exp(-rng.uniform(10, 30) * np.arange(n) / n))
    return case(rng.binomial(m, p) / m, C, hard=True, quarter=False)


@family(HISTORY)
def bilinear_game(rng: Rng) -> Case:
    """min x max y of x y by simultaneous steps: turns outwards by sqrt(1 + lr^2)."""
    lr = rng.uniform(0.05, 0.5)
    z = orbit(lambda z: z * (1 + 1j * lr), 1 + 0j, min(int(rng.uniform(3, 60) / math.log1p(lr * lr) * 2) + 40, 6000))
    return case(z.real * scale(rng) * 1e-30, D, quarter=False, rate=math.sqrt(1 + lr * lr))


@family(HISTORY)
def bilinear_game_alternating(rng: Rng) -> Case:
    """By turns: bounded, with the period of an area-preserving rotation."""
    lr = rng.uniform(0.1, 0.9)
    x, y, out = 1.0, 0.3, []
    n = size(rng, max(80, int(60 / lr)), 4000)
    for _ in range(n):
        out.append(x)
        x -= lr * y
        y += lr * x
    period = 2 * math.pi / math.acos(1 - lr * lr / 2)
    return placed(rng, np.array(out), O, quarter=n > 40 * period, period=period)


@family(HISTORY)
def subgradient_constant_step(rng: Rng) -> Case:
    """|x| with a constant step: walks to the kink, then to and fro for ever."""
    a, steps = rng.uniform(0.05, 1), int(rng.integers(5, 60))
    x, out = a * (steps + rng.uniform(0.2, 0.8)), []
    for _ in range(int(steps * rng.uniform(4, 12)) + 40):
        out.append(x)
        x -= a * math.copysign(1, x)
    return case(out, O, hard=True, quarter=False, period=2.0)


@family(HISTORY)
def soft_thresholding_objective(rng: Rng) -> Case:
    """ISTA on a small lasso: proximal steps, linear in the end."""
    a = rng.normal(size=(30, 10))
    b = a @ np.r_[rng.normal(size=4), np.zeros(6)] + 0.1 * rng.normal(size=30)
    lam, step = rng.uniform(0.5, 3), 1 / np.linalg.norm(a, 2) ** 2
    x, out = np.zeros(10), []
    for _ in range(size(rng, 150, 500)):
        out.append(0.5 * float(np.sum((a @ x - b) ** 2)) + lam * float(np.abs(x).sum()))
        y = x - step * a.T @ (a @ x - b)
        x = np.sign(y) * np.maximum(np.abs(y) - step * lam, 0)
    return case(out, C, quarter=False)


@family(HISTORY)
def loss_blows_up_to_nan(rng: Rng) -> Case:
    """A curve that falls, until a step turns it into infinity and then into not-a-number."""
    n = size(rng, 60, 1000)
    v = 2 * np.exp(-np.arange(n) / (n / 4)) + 0.05 * rng.uniform(size=n)
    at = int(n * rng.uniform(0.6, 0.9))
    v[at:] = np.nan
    v[at] = np.inf
    return case(v.astype(rng.choice([np.float32, np.float64])), D, quarter=False)
