"""Statistical and decision iterations: EM, IRLS, k-means, Sinkhorn, PageRank, value iteration, Markov chains, MCMC."""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize

from tests.evaluation.families.base import HISTORY, C, D, O, Rng, S, case, family, placed, scale, sign, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY)
def em_genetic_linkage(rng: Rng) -> Case:
    """Dempster, Laird and Rubin's example, with drawn counts: the rate is the map's slope at its fixed point."""
    y = rng.integers(20, 150, 4).astype(float)

    def step(t: float) -> float:
        x = y[0] * t / (2 + t) + y[3]
        return x / (x + y[1] + y[2])

    limit = float(optimize.brentq(lambda t: step(t) - t, 1e-6, 1, xtol=1e-15))
    x, dx = y[0] * limit / (2 + limit) + y[3], 2 * y[0] / (2 + limit) ** 2
    rate = dx * (y[1] + y[2]) / (x + y[1] + y[2]) ** 2
    out = [rng.uniform(0.01, 0.99)]
    while len(out) < max(9, int(rng.uniform(16, 26) / -math.log(rate))):
        out.append(step(out[-1]))
    return case(out, C, hard=len(out) < 14, quarter=False, rate=rate, limit=limit)


@family(HISTORY)
def em_mixture(rng: Rng) -> Case:
    """A mean, or the log-likelihood, of a mixture of two normals."""
    gap = rng.uniform(2, 3.5)
    x = np.r_[rng.normal(size=200), gap + rng.normal(size=int(rng.integers(100, 300)))]
    m, w, likelihood, mean = np.array([x.mean() - 0.5, x.mean() + 0.5]), 0.5, [], []
    for _ in range(size(rng, 80, 250)):
        p = np.stack([w * np.exp(-0.5 * (x - m[0]) ** 2), (1 - w) * np.exp(-0.5 * (x - m[1]) ** 2)])
        likelihood.append(float(np.log(p.sum(0)).sum()))
        mean.append(m[1])
        p /= p.sum(0)
        w, m = float(p[0].mean()), (p @ x) / p.sum(1)
    return case(mean if rng.random() < 0.5 else likelihood, C, hard=True, quarter=False)


def _irls(x: np.ndarray, y: np.ndarray, steps: int) -> np.ndarray:
    b, out = np.zeros(x.shape[1]), []
    for _ in range(steps):
        out.append(b[1])
        p = 1 / (1 + np.exp(-x @ b))
        b = b + np.linalg.solve((x.T * (p * (1 - p))) @ x, x.T @ (y - p))
    return np.array(out)


@family(HISTORY)
def irls_logistic(rng: Rng) -> Case:
    """Newton on a logistic likelihood with a maximum."""
    x = np.stack([np.ones(200), rng.normal(size=200)], axis=1)
    y = (rng.random(200) < 1 / (1 + np.exp(-0.3 - rng.uniform(1, 2.5) * x[:, 1]))).astype(float)
    return case(_irls(x, y, int(rng.integers(8, 12))), C, quarter=False)


@family(HISTORY)
def irls_separable(rng: Rng) -> Case:
    """Classes that a line separates: the coefficient grows by a nearly constant step, without a bound."""
    u = rng.uniform(0.3, 2, 20)
    x = np.stack([np.ones(40), np.r_[-u, u] * rng.uniform(0.8, 1.2)], axis=1)
    return case(_irls(x, np.repeat([0.0, 1.0], 20), int(rng.integers(12, 18))), D, hard=True, quarter=False)


@family(HISTORY)
def irls_median(rng: Rng) -> Case:
    """Weiszfeld's weights for a geometric median inside of a cloud."""
    points, m, out = rng.normal(size=(30, 2)) + 5, np.zeros(2), []
    for _ in range(size(rng, 60, 200)):
        out.append(float(np.linalg.norm(points - m, axis=1).sum()))
        w = 1 / np.linalg.norm(points - m, axis=1)
        m = w @ points / w.sum()
    return case(out, C, quarter=False)


@family(HISTORY)
def kmeans_inertia(rng: Rng) -> Case:
    """Lloyd's algorithm until it stays: falls every time, at rest at once in the end."""
    while True:
        x = rng.uniform(size=(1500, 2))
        c, out = x[:8] * 0.2, []
        while len(out) < 3 or out[-1] != out[-2]:
            d = ((x[:, None] - c) ** 2).sum(2)
            out.append(float(d.min(1).sum()))
            near = d.argmin(1)
            c = np.array([x[near == j].mean(0) if (near == j).any() else c[j] for j in range(8)])
        if len(out) >= 14:
            return case(out, C, hard=True, quarter=False)


@family(HISTORY)
def sinkhorn_marginal_error(rng: Rng) -> Case:
    """Falls by the squared second singular value of the scaled plan."""
    while True:
        n = int(rng.integers(4, 9))
        k = np.exp(-rng.uniform(2, 6) * rng.uniform(size=(n, n)))
        r, v, out = np.full(n, 1 / n), np.ones(n), []
        for _ in range(400):
            u = r / (k @ v)
            out.append(float(np.abs(v * (k.T @ u) - r).sum()))
            v = r / (k.T @ u)
            if out[-1] < 1e-12:
                break
        s = np.linalg.svd(n * u[:, None] * k * v, compute_uv=False)
        if 20 <= len(out) < 400 and s[2] < 0.8 * s[1]:
            return case(out, C, quarter=False, rate=float(s[1] ** 2), limit=0.0)


@family(HISTORY)
def pagerank_change(rng: Rng) -> Case:
    """A web in two closed parts: the change falls by the damping factor."""
    n, d = int(rng.integers(8, 20)), rng.uniform(0.5, 0.9)
    p = np.zeros((2 * n, 2 * n))
    for part in (slice(0, n), slice(n, 2 * n)):
        p[part, part] = rng.uniform(0.2, 1, (n, n))
    p /= p.sum(0)
    x, out = np.r_[np.full(n, 0.9 / n), np.full(n, 0.1 / n)], []
    for _ in range(int(rng.uniform(12, 27) / -math.log(d))):
        new = d * p @ x + (1 - d) / (2 * n)
        out.append(float(np.abs(new - x).sum()))
        x = new
    return case(out, C, quarter=False, rate=d, limit=0.0)


@family(HISTORY)
def value_iteration(rng: Rng) -> Case:
    """Largest change of the values, or all values: falls by the discount."""
    n, a, g = int(rng.integers(4, 12)), 3, rng.uniform(0.6, 0.98)
    p = rng.dirichlet(np.ones(n), size=(a, n))
    r = rng.uniform(0, 1, (a, n))
    v, values = np.zeros(n), []
    for _ in range(int(rng.uniform(5, 14) / -math.log(g)) + 24):
        values.append(v)
        v = (r + g * p @ v).max(0)
    out = np.array(values)
    if rng.random() < 0.5:
        return case(out, C, quarter=False, rate=g)
    return case(np.abs(np.diff(out, axis=0)).max(1), C, quarter=False, rate=g, limit=0.0)


@family(HISTORY)
def markov_chain_share(rng: Rng) -> Case:
    """Probability of a state of a chain of two: |1 - a - b|."""
    a, b = rng.uniform(0.02, 0.35, 2) if rng.random() < 0.6 else rng.uniform(0.6, 0.95, 2)
    rate = abs(1 - a - b)
    k = np.arange(int(rng.uniform(6, 25) / -math.log(rate)) + 12)
    return case(b / (a + b) + a / (a + b) * (1 - a - b) ** k, C, quarter=False, rate=rate, limit=b / (a + b))


@family(HISTORY)
def periodic_chain_share(rng: Rng) -> Case:
    """A chain that goes round d classes: its distribution never settles."""
    d = int(rng.integers(2, 8))
    p = rng.dirichlet(np.ones(d))
    p[0] += 1
    v = np.resize(p, size(rng, max(20, 6 * d), 1500))
    return case(v, O, quarter=len(v) > 24 * d, period=float(d))


@family(HISTORY)
def gibbs_trace(rng: Rng) -> Case:
    """Two normals of correlation rho, sampled by turns: AR(1) with rho squared."""
    rho = rng.uniform(0.3, 0.85)
    x, out, s = rng.normal(), [], math.sqrt(1 - rho * rho)
    for e, f in rng.normal(size=(size(rng, 800, 8000), 2)):
        x = rho * (rho * x + s * e) + s * f
        out.append(x)
    return placed(rng, np.array(out), S, hard=True, quarter=False)


def _metropolis(rng: Rng, x: float, n: int, step: float) -> np.ndarray:
    out = []
    for e, u in zip(rng.normal(size=n), rng.random(n), strict=True):
        y = x + step * e
        if math.log(u) < (x * x - y * y) / 2:
            x = y
        out.append(x)
    return np.array(out)


@family(HISTORY)
def metropolis_trace(rng: Rng) -> Case:
    """Random-walk Metropolis that mixes well, from the target's middle: noise with repeated values."""
    v = _metropolis(rng, rng.normal(), size(rng, 2000, 10_000), rng.uniform(1.5, 4))
    return placed(rng, v, S, hard=True, quarter=False)


@family(HISTORY)
def metropolis_burn_in(rng: Rng) -> Case:
    """From 25 to 60 spreads away: the record shows the way to the ball of noise."""
    v = _metropolis(rng, rng.uniform(25, 60) * sign(rng), size(rng, 1500, 6000), rng.uniform(0.8, 1.5))
    return placed(rng, v, C, hard=True, quarter=False)


@family(HISTORY)
def temporal_difference(rng: Rng) -> Case:
    """TD(0) with a constant step and constant rewards: 1 - a (1 - g)."""
    a, g = rng.uniform(0.05, 0.5), rng.uniform(0.5, 0.95)
    rate = 1 - a * (1 - g)
    k = np.arange(int(rng.uniform(5, 25) / -math.log(rate)) + 12)
    return case((1 - rate**k) / (1 - g), C, rate=rate, limit=1 / (1 - g))


@family(HISTORY)
def annealing_temperature(rng: Rng) -> Case:
    rate = rng.uniform(0.8, 0.999)
    return case(abs(scale(rng)) * rate ** np.arange(size(rng, 60, 4000)), C, rate=rate, limit=0.0)


@family(HISTORY)
def multiplicative_factorisation(rng: Rng) -> Case:
    """Lee and Seung's updates on a matrix of exact rank: the error falls every time."""
    v = rng.uniform(0, 1, (12, 2)) @ rng.uniform(0, 1, (2, 10))
    w, h, out = rng.uniform(0.1, 1, (12, 2)), rng.uniform(0.1, 1, (2, 10)), []
    for _ in range(size(rng, 150, 500)):
        out.append(float(np.linalg.norm(v - w @ h)))
        h = h * (w.T @ v) / (w.T @ w @ h)
        w = w * (v @ h.T) / (w @ h @ h.T)
    return case(out, C, hard=True, quarter=False)
