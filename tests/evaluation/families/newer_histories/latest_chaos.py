"""Latest histories of chaos: flows in noise, maps with delays, the momentum of a rotor, food chains and beetles."""

from __future__ import annotations

import math

import numpy as np
from scipy import integrate

from tests.evaluation.families.base import HISTORY, Rng, X, case, family, orbit, placed, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=4)
def sprott_flow_with_noise(rng: Rng) -> Case:
    """x' = y z, y' = x - y, z' = 1 - x y, measured at even times with noise of half a hundredth."""
    n, step = int(rng.integers(800, 2000)), rng.uniform(0.15, 0.5)
    rhs = lambda t, p: [p[1] * p[2], p[0] - p[1], 1 - p[0] * p[1]]  # noqa: E731
    times = 100 + step * np.arange(n)
    start = rng.uniform(0.5, 1, 3)
    x = integrate.solve_ivp(rhs, (0, times[-1]), start, t_eval=times, rtol=1e-8, atol=1e-8).y[int(rng.integers(3))]
    return placed(rng, x + 0.005 * x.std() * rng.normal(size=n), X, hard=True, quarter=False)


@family(HISTORY, new=4)
def delayed_henon_chaos(rng: Rng) -> Case:
    """x' = 1 - 1.6 x^2 + 0.1 x of d iterations before: J. C. Sprott (2006)."""
    d, n = int(rng.integers(2, 6)), size(rng, 300, 2000) + 200
    x = list(rng.uniform(-0.1, 0.1, d + 1))
    while len(x) < n:
        x.append(1 - 1.6 * x[-1] ** 2 + 0.1 * x[-1 - d])
    return placed(rng, np.array(x[200:]), X, quarter=False)


@family(HISTORY, new=4)
def zaslavsky_map_chaos(rng: Rng) -> Case:
    """The kicked rotor with friction, its momentum, where Lyapunov's exponent is well above zero."""
    shrink, n = math.exp(-5.0), size(rng, 300, 2000) + 100
    mu = (1 - shrink) / 5
    while True:
        nu, kick = rng.uniform(0.8, 1.4), rng.uniform(8.5, 9.5)
        x, y, tangent, grown, momenta = rng.uniform(0.1, 0.3), 0.2, np.array([1.0, 0.0]), 0.0, []
        for _ in range(n):
            momenta.append(y)
            cosine, slope = kick * math.cos(2 * math.pi * x), -2 * math.pi * kick * math.sin(2 * math.pi * x)
            tangent = np.array([[1 + nu * mu * slope, nu * mu], [shrink * slope, shrink]]) @ tangent
            grown += math.log(np.linalg.norm(tangent))
            tangent /= np.linalg.norm(tangent)
            x, y = (x + nu * (1 + mu * y) + nu * mu * cosine) % 1, shrink * (y + cosine)
        if grown > 0.3 * n:
            return placed(rng, np.array(momenta[100:]), X, quarter=False)


@family(HISTORY, new=4)
def food_chain_chaos(rng: Rng) -> Case:
    """Three species on the tea-cup attractor of Hastings and Powell (1991), at even times."""
    n, step, which = int(rng.integers(500, 1000)), rng.uniform(4, 9), int(rng.integers(3))

    def rhs(t: float, p: np.ndarray) -> list[float]:
        x, y, z = p
        eaten, taken = 5 * x / (1 + 3 * x), 0.1 * y / (1 + 2 * y)
        return [x * (1 - x) - eaten * y, eaten * y - taken * z - 0.4 * y, taken * z - 0.01 * z]

    times = 2000 + step * np.arange(n)
    start = [rng.uniform(0.6, 0.9), 0.2, rng.uniform(8, 10)]
    return case(
        integrate.solve_ivp(rhs, (0, times[-1]), start, t_eval=times, rtol=1e-7).y[which], X, hard=True, quarter=False
    )


@family(HISTORY, new=4)
def flour_beetle_chaos(rng: Rng) -> Case:
    """Larvae, pupae and adults of a flour beetle at the chaotic rates of Costantino et al. (1997)."""

    def step(p: np.ndarray) -> np.ndarray:
        larvae, pupae, adults = p
        born = 6.598 * adults * math.exp(-0.01209 * larvae - 0.01155 * adults)
        return np.array([born, larvae * (1 - 0.2055), pupae * math.exp(-0.35 * adults) + adults * (1 - 0.96)])

    points = orbit(step, rng.uniform(20, 100, 3), size(rng, 400, 2000) + 200)[200:]
    return case(points[:, int(rng.integers(3))], X, hard=True, quarter=False)
