"""Iterations, envelopes and schedules: roots, eigenvalues, sweeps, EM, strings, notes, losses, ratings."""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize

from tests.evaluation.families.base import HISTORY, C, D, Rng, case, family, log_uniform, orbit, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=8)
def kepler_equation_iterates(rng: Rng) -> Case:
    """E' = M + e sin(E): the eccentric anomaly, with the derivative e cos(E) as its rate."""
    while True:
        e, mean = rng.uniform(0.2, 0.95), rng.uniform(0.2, 3)
        error = lambda x, e=e, mean=mean: x - e * math.sin(x) - mean  # noqa: E731
        root = float(optimize.brentq(error, mean - 1, mean + 1, xtol=1e-15))
        rate = abs(e * math.cos(root))
        if 0.1 < rate < 0.9:
            break
    n = int(rng.uniform(8, 24) / -math.log(rate)) + 10
    return case(orbit(lambda x: mean + e * math.sin(x), mean, n), C, rate=rate, limit=root)


@family(HISTORY, new=8)
def durand_kerner_correction(rng: Rng) -> Case:
    """The largest correction of all roots of a polynomial at once: wild at first, quadratic at last."""
    while True:
        roots = rng.normal(size=int(rng.integers(3, 9))) + 1j * rng.normal(size=1)
        z, out = (0.4 + 0.9j) ** np.arange(1, len(roots) + 1), []
        gaps = np.abs(roots[:, None] - roots) + 9 * np.eye(len(roots))
        for _ in range(60):
            apart = np.prod(z[:, None] - z + np.eye(len(z)), axis=1)
            step = np.prod(z[:, None] - roots, axis=1) / apart
            z = z - step
            out.append(float(np.abs(step).max()))
            if out[-1] < 1e-12:
                break
        if out[-1] < 1e-12 and len(out) >= 8 and gaps.min() > 0.2:
            return case(out, C, hard=True, quarter=False, limit=0.0)


@family(HISTORY, new=8)
def cyclic_jacobi_off_norm(rng: Rng) -> Case:
    """The part of a symmetric matrix off its diagonal, after each rotation: no rotation makes it larger."""
    m = int(rng.integers(4, 9))
    a = rng.normal(size=(m, m))
    a, out = a + a.T, []
    pairs = [(i, j) for i in range(m) for j in range(i + 1, m)]
    for _ in range(12):
        for i, j in pairs:
            out.append(float(np.linalg.norm(a - np.diag(np.diag(a)))))
            if out[-1] < 1e-10:
                return case(out, C, hard=True, quarter=False, limit=0.0)
            t = 0.5 * math.atan2(2 * a[i, j], a[j, j] - a[i, i])
            g = np.eye(m)
            g[i, i] = g[j, j] = math.cos(t)
            g[i, j], g[j, i] = math.sin(t), -math.sin(t)
            a = g.T @ a @ g
    return case(out, C, hard=True, quarter=False, limit=0.0)


@family(HISTORY, new=8)
def envelope_with_release(rng: Rng) -> Case:
    """A note's level: it rises, falls to its sustained height, stays, and fades when the key is let go."""
    rise, fall, stay = (int(rng.integers(5, 40)) for _ in range(3))
    height, rate = rng.uniform(0.3, 0.8), rng.uniform(0.85, 0.97)
    fade = height * rate ** np.arange(int(rng.uniform(8, 20) / -math.log(rate)) + 2 * (rise + fall + stay))
    v = np.r_[np.linspace(0, 1, rise), height + (1 - height) * rate ** np.arange(fall), np.full(stay, height), fade]
    return case(v, C, hard=True, quarter=False, rate=rate, limit=0.0)


@family(HISTORY, new=8)
def exploration_rate_with_a_floor(rng: Rng) -> Case:
    """max(least, decay^k): it falls, and then it is constant for longer than it fell."""
    decay, least = rng.uniform(0.9, 0.99), log_uniform(rng, 0.01, 0.2)
    fall = int(math.log(least) / math.log(decay))
    v = np.maximum(least, decay ** np.arange(fall * int(rng.integers(4, 9))))
    return case(v, C, quarter=False, limit=least)


@family(HISTORY, new=8)
def glicko_deviation(rng: Rng) -> Case:
    """A rating's deviation, widened by time and narrowed by a match each period."""
    widen, match = rng.uniform(10, 60), rng.uniform(100, 300)
    step = lambda d: 1 / math.sqrt(1 / (d * d + widen * widen) + 1 / match**2)  # noqa: E731
    s = (-(widen**2) + math.sqrt(widen**4 + 4 * widen**2 * match**2)) / 2
    rate = (match**2 / (s + widen**2 + match**2)) ** 2
    n = int(rng.uniform(9, 24) / -math.log(rate)) + 12
    return case(orbit(step, 350.0, n), C, quarter=False, rate=rate, limit=math.sqrt(s))


@family(HISTORY, new=8)
def softmax_policy_vector(rng: Rng) -> Case:
    """Probabilities of the arms by exact policy gradients: the best one's error falls like 1/k."""
    gain = np.r_[1.0, rng.uniform(0, 0.6, int(rng.integers(1, 5)))]
    theta, out, step = np.zeros(len(gain)), [], rng.uniform(0.3, 1)
    for _ in range(size(rng, 500, 3000)):
        p = np.exp(theta - theta.max())
        p /= p.sum()
        out.append(p)
        theta = theta + step * p * (gain - p @ gain)
    return case(np.array(out), C, hard=True, quarter=False)


@family(HISTORY, new=8)
def short_heron_values(rng: Rng) -> Case:
    """Four or five values of Heron's method, the last ones alike to many digits."""
    a = rng.uniform(2, 30)
    v = orbit(lambda x: (x + a / x) / 2, math.sqrt(a) * rng.uniform(1.3, 2), int(rng.integers(4, 6)))
    return case(v, C, hard=True, quarter=False, limit=math.sqrt(a))


@family(HISTORY, new=8)
def short_cubes(rng: Rng) -> Case:
    """Five cubes or fourth powers of whole numbers."""
    k = np.arange(5) + int(rng.integers(1, 9))
    return case(k ** int(rng.integers(3, 5)) * int(rng.choice([-1, 1, 2])), D, hard=True, quarter=False)
