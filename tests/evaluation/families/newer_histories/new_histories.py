"""New histories: recursions of physics and ecology, queues, splitting methods and maps that no other family has."""

from __future__ import annotations

import math

import numpy as np
from scipy import integrate

from tests.evaluation.families.base import HISTORY, C, O, Rng, S, X, case, family, orbit, placed, scale, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=1)
def robbins_monro(rng: Rng) -> Case:
    """Stochastic approximation with steps 1/k: the iterate goes to the root, its noise dies as 1/sqrt(k)."""
    root, out, x = rng.normal(), [], rng.uniform(3, 8)
    for k in range(size(rng, 300, 3000)):
        out.append(x)
        x -= (x - root + 0.3 * rng.normal()) / (k + 2)
    return placed(rng, np.array(out), C, hard=True, quarter=False)


@family(HISTORY, new=1)
def generalised_pell_ratios(rng: Rng) -> Case:
    """a' = m a + b, b' = a: their ratio alternates about (m + sqrt(m^2 + 4)) / 2."""
    m = rng.integers(1, 6)
    root = (m + math.sqrt(m * m + 4)) / 2
    n = int(rng.uniform(10, 14) / math.log10(root**2))
    ratios = orbit(lambda q: m + 1 / q, rng.uniform(1, 9), max(n, 8))
    return case(ratios, C, quarter=False, rate=1 / root**2, limit=root)


@family(HISTORY, new=1)
def bouncing_ball_times(rng: Rng) -> Case:
    """The times of a ball's bounces: a geometric sum."""
    e, t0 = rng.uniform(0.6, 0.97), rng.uniform(0.2, 2)
    n = int(rng.uniform(8, 25) / -math.log(e)) + 16
    return placed(rng, np.cumsum(t0 * e ** np.arange(n)), C, rate=e, limit=t0 / (1 - e))


@family(HISTORY, new=1)
def overshooting_cooling(rng: Rng) -> Case:
    """Explicit Euler of Newton's cooling with 1 < k h < 2: alternates about the temperature outside."""
    rate = rng.uniform(0.3, 0.97)
    n = int(rng.uniform(8, 25) / -math.log(rate)) + 16
    return placed(rng, 20 + 60 * (-rate) ** np.arange(n), C, rate=rate, limit=20.0)


@family(HISTORY, new=1)
def van_der_pol_sampled(rng: Rng) -> Case:
    """The relaxation oscillation, on its cycle, at even times."""
    mu, turns, per = rng.uniform(0.5, 4), int(rng.integers(8, 25)), rng.uniform(24, 90)
    rhs = lambda t, y: [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]]  # noqa: E731
    up = lambda t, y: y[0]  # noqa: E731
    up.direction = 1  # type: ignore[attr-defined]
    first = integrate.solve_ivp(rhs, (0, 200), [2.0, 0.0], events=up, rtol=1e-9, atol=1e-9)
    period = float(np.diff(first.t_events[0][-4:]).mean())
    times = np.arange(0, turns * period, period / per)
    x = integrate.solve_ivp(rhs, (0, times[-1]), first.y[:, -1], t_eval=times, rtol=1e-9, atol=1e-9).y[0]
    return placed(rng, x, O, quarter=False, period=per)


@family(HISTORY, new=1)
def cellular_automaton_population(rng: Rng) -> Case:
    """Living cells of a two-state automaton on a ring, after its transient: exactly periodic, or at rest."""
    while True:
        rule = np.array([int(b) for b in f"{int(rng.integers(1, 255)):08b}"[::-1]])
        cells = rng.integers(0, 2, int(rng.integers(7, 12)))
        seen: dict[bytes, int] = {}
        counts = []
        while cells.tobytes() not in seen:
            seen[cells.tobytes()] = len(counts)
            counts.append(int(cells.sum()))
            cells = rule[4 * np.roll(cells, 1) + 2 * cells + np.roll(cells, -1)]
        cycle = np.array(counts[seen[cells.tobytes()] :])
        n = size(rng, 100, 1500)
        if np.ptp(cycle) == 0:
            return case(np.resize(cycle, n), S)
        p = next(p for p in range(2, len(cycle) + 1) if np.array_equal(cycle, np.roll(cycle, p)))
        if p <= n // 10:
            return case(np.resize(cycle, n), O, quarter=p < n // 30, period=p)


@family(HISTORY, new=1)
def batch_service_queue(rng: Rng) -> Case:
    """a arrivals at each step, and b at once are served as soon as there are so many."""
    while True:
        a, b = int(rng.integers(2, 12)), int(rng.integers(5, 40))
        period = b // math.gcd(a, b)
        if a < b and period >= 2:
            break
    queue = orbit(lambda q: q + a - b * (q + a >= b), 0, size(rng, 12 * period, 60 * period))
    return case(queue, O, quarter=False, period=period)


@family(HISTORY, new=1)
def alternating_projections(rng: Rng) -> Case:
    """Distance to the intersection of two planes: falls by cos^2 of their angle in a round."""
    angle = rng.uniform(0.15, 1.1)
    rate = math.cos(angle) ** 2
    n = int(min(rng.uniform(8, 28) / -math.log(rate), 2000)) + 16
    u, v = np.array([1.0, 0.0]), np.array([math.cos(angle), math.sin(angle)])
    points = orbit(lambda x: u * (u @ (v * (v @ x))), rng.uniform(1, 9) * u, n)
    return case(scale(rng) * np.linalg.norm(points, axis=1), C, rate=rate, limit=0.0)


@family(HISTORY, new=1)
def admm_primal_residual(rng: Rng) -> Case:
    """ADMM on a lasso: linear once the support is found, with swings before."""
    a = rng.normal(size=(60, 20))
    y, lam, rho = a[:, :4] @ rng.normal(size=4) + 0.1 * rng.normal(size=60), 5.0, float(rng.uniform(20, 120))
    inverse = np.linalg.inv(a.T @ a + rho * np.eye(20))
    z, u, out = np.zeros(20), np.zeros(20), []
    for _ in range(size(rng, 60, 200)):
        x = inverse @ (a.T @ y + rho * (z - u))
        z = np.sign(x + u) * np.maximum(np.abs(x + u) - lam / rho, 0)
        u = u + x - z
        out.append(np.linalg.norm(x - z))
    v = np.array(out)
    v = v[: int(np.flatnonzero(v > 1e-12)[-1]) + 1]
    return case(v, C, quarter=False, limit=0.0)


@family(HISTORY, new=1)
def endemic_spiral(rng: Rng) -> Case:
    """Infected of an SIR model with births: damped waves to the endemic level."""
    beta, gamma, birth = rng.uniform(0.5, 1.2), rng.uniform(0.1, 0.25), rng.uniform(0.01, 0.03)
    s, i, out = 0.9, 0.01, []
    level = birth * (beta - gamma - birth) / beta / (gamma + birth)
    a = np.array([[-birth * beta / (gamma + birth), -(gamma + birth)], [birth * (beta / (gamma + birth) - 1), 0.0]])
    rate = float(np.abs(np.linalg.eigvals(np.eye(2) + a)).max())
    for _ in range(int(min(rng.uniform(10, 20) / -math.log(rate), 4000))):
        out.append(i)
        s, i = s + birth * (1 - s) - beta * s * i, i + beta * s * i - (gamma + birth) * i
    return case(out, C, quarter=False, rate=rate, limit=level)


@family(HISTORY, new=1)
def delayed_logistic(rng: Rng) -> Case:
    """x' = r x (1 - previous x): at rest below r = 2, then on a closed curve."""
    r = float(rng.uniform(1.5, 1.93) if rng.random() < 0.5 else rng.uniform(2.03, 2.15))
    pairs = orbit(lambda p: (r * p[0] * (1 - p[1]), p[0]), (0.4, 0.3), size(rng, 300, 2000) + 1500)
    if r > 2:
        return case(pairs[1500:, 0], O, hard=True)
    rate = float(np.sqrt(r - 1))
    n = int(min(rng.uniform(10, 25) / -math.log(rate), 1500)) + 20
    return case(pairs[:n, 0], C, quarter=False, rate=rate, limit=1 - 1 / r)


@family(HISTORY, new=1)
def rulkov_neuron_chaos(rng: Rng) -> Case:
    """x' = a / (1 + x^2) + y with a fixed y where it spikes without order."""
    while True:
        a, y = float(rng.uniform(4.3, 5.5)), float(rng.uniform(-2.95, -2.75))
        x = orbit(lambda x: a / (1 + x * x) + y, float(rng.uniform(-1, 1)), size(rng, 400, 2500) + 300)[300:]  # noqa: B023
        if np.log(np.abs(2 * a * x / (1 + x * x) ** 2) + 1e-12).mean() > 0.1:  # Lyapunov's exponent
            return case(x, X)


@family(HISTORY, new=1)
def tinkerbell_chaos(rng: Rng) -> Case:
    def step(p: np.ndarray) -> np.ndarray:
        x, y = p
        return np.array([x * x - y * y + 0.9 * x - 0.6013 * y, 2 * x * y + 2.0 * x + 0.5 * y])

    start = np.array([-0.72, -0.64]) + rng.uniform(-0.002, 0.002, 2)
    points = orbit(step, start, size(rng, 300, 2000) + 100)[100:]
    return placed(rng, points[:, int(rng.integers(2))], X)


@family(HISTORY, new=1)
def mackey_glass_chaos(rng: Rng) -> Case:
    """x' = 0.2 x(t - tau) / (1 + x(t - tau)^10) - 0.1 x, tau 17 to 30, in steps of one."""
    tau = int(rng.integers(17, 31))
    x = list(1.2 + 0.1 * rng.random(10 * tau + 1))
    for _ in range(10 * (size(rng, 800, 3000) + 300)):
        x.append(x[-1] + 0.1 * (0.2 * x[-1 - 10 * tau] / (1 + x[-1 - 10 * tau] ** 10) - 0.1 * x[-1]))
    return case(np.array(x[3000 + 10 * tau :: 10]), X, hard=True, quarter=False)
