"""Fresh loops for the black box that end: solvers, games, searches, a net that learns, calendars and balances."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng, log_uniform
from tests.evaluation.families.loop_cases import DrawAgain, loop_family, observed, watched
from tests.evaluation.scoring.cases import Watched

K = np.arange(6002)


def _spd(rng: Rng, n: int, condition: float) -> np.ndarray:
    """A symmetric matrix with eigenvalues from 1 to the condition, evenly in the logarithm."""
    q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    return np.asarray((q * np.geomspace(1, condition, n)) @ q.T)


@loop_family(WATCHED, new=3)
def least_squares_by_conjugate_gradients(rng: Rng) -> Watched:
    """The normal equations' residual by CGLS on a blurred signal."""
    n, width = int(rng.integers(40, 120)), rng.uniform(0.6, 1.4)
    t = np.arange(n)
    a = np.exp(-(((t[:, None] - t) / width) ** 2)) + 0.02 * np.eye(n)
    r = a @ np.sin(t / 7) + 0.01 * rng.normal(size=n)
    s = a.T @ r
    p, gamma, out = s, s @ s, []
    for _ in range(1500):
        out.append(np.sqrt(gamma))
        q = a @ p
        r = r - gamma / (q @ q) * q
        s = a.T @ r
        p, gamma = s + (s @ s) / max(gamma, 1e-300) * p, s @ s
        if gamma < 1e-280:
            break
    return watched([("|A'r|", np.array(out), ">", out[0] * log_uniform(rng, 1e-8, 1e-3))], exact=False)


@loop_family(WATCHED, new=3)
def chebyshev_semi_iteration(rng: Rng) -> Watched:
    """The residual of Chebyshev's iteration with bounds of the spectrum that are a little wrong."""
    n, condition = int(rng.integers(20, 60)), log_uniform(rng, 20, 2000)
    a, b = _spd(rng, n, condition), rng.normal(size=n)
    low, high = float(rng.uniform(0.7, 1.3)), condition * 1.02
    mid, half = (high + low) / 2, (high - low) / 2
    x, r, out, p, alpha = np.zeros(n), b, [], np.zeros(n), 0.0
    for k in range(3000):
        out.append(np.linalg.norm(r))
        beta = 0.0 if k == 0 else (half * alpha / 2) ** 2 if k > 1 else 0.5 * (half * alpha) ** 2
        alpha = 1 / mid if k == 0 else 1 / (mid - beta / alpha)
        p = r + beta * p
        x = x + alpha * p
        r = b - a @ x
    return watched([("|r|", np.array(out), ">", out[0] * log_uniform(rng, 1e-9, 1e-3))], exact=False)


@loop_family(WATCHED, new=3)
def nesterov_on_a_quadratic(rng: Rng) -> Watched:
    """The gradient's norm by Nesterov's method with the momentum (k - 1) / (k + 2): it ripples."""
    n, condition = int(rng.integers(5, 30)), log_uniform(rng, 30, 3000)
    a, x = _spd(rng, n, condition), rng.normal(size=n)
    y, out = x, []
    for k in range(1, 5000):
        g = a @ y
        out.append(np.linalg.norm(g))
        new = y - g / condition
        x, y = new, new + (k - 1) / (k + 2) * (new - x)
    return watched([("|g|", np.array(out), ">", out[0] * log_uniform(rng, 1e-7, 1e-2))], exact=False)


@loop_family(WATCHED, new=3)
def frank_wolfe_gap(rng: Rng) -> Watched:
    """The duality gap of Frank and Wolfe's method on a simplex, with steps 2 / (k + 2)."""
    n = int(rng.integers(4, 15))
    a, goal = _spd(rng, n, 10.0), rng.uniform(0, 1, n)
    goal, x, out = goal / goal.sum(), np.eye(n)[0], []
    for k in range(5500):
        g = a @ (x - goal)
        to = np.eye(n)[int(np.argmin(g))]
        out.append(g @ (x - to))
        x = x + 2 / (k + 2) * (to - x)
    return watched([("gap", np.array(out), ">", log_uniform(rng, 3e-3, 0.1))], exact=False)


@loop_family(WATCHED, new=3)
def fictitious_play_gap(rng: Rng) -> Watched:
    """The gain that two players of a matrix game still see against the other's past: falls slowly, not always."""
    m = rng.normal(size=(int(rng.integers(3, 8)), int(rng.integers(3, 8))))
    rows, columns, out = np.zeros(len(m)), np.zeros(len(m[0])), []
    rows[0] = columns[0] = 1
    for k in range(1, 5500):
        pay, cost = m @ columns, rows @ m
        out.append((pay.max() - cost.min()) / k)
        rows[int(np.argmax(pay))] += 1
        columns[int(np.argmin(cost))] += 1
    return watched([("gap", np.array(out), ">", out[0] * log_uniform(rng, 0.02, 0.3))], exact=False)


@loop_family(WATCHED, new=3)
def lasso_by_thresholding(rng: Rng) -> Watched:
    """The change of the weights by proximal steps: the rate changes when a weight becomes zero."""
    rows, n = 60, int(rng.integers(10, 60))
    a, w, out = rng.normal(size=(rows, n)), np.zeros(n), []
    y = a @ (rng.normal(size=n) * (rng.random(n) < 0.3)) + 0.1 * rng.normal(size=rows)
    rate = 1 / float(np.linalg.norm(a, 2) ** 2)
    for _ in range(5000):
        z = w - rate * a.T @ (a @ w - y)
        new = np.sign(z) * np.maximum(abs(z) - 2 * rate, 0)
        out.append(np.linalg.norm(new - w))
        w = new
    return watched([("change", np.array(out), ">", out[0] * log_uniform(rng, 1e-8, 1e-3))], exact=False)


@loop_family(WATCHED, new=3)
def loss_of_a_small_net(rng: Rng) -> Watched:
    """The loss of a small net of tanh units, trained by whole gradients: it rests, and falls."""
    x = np.linspace(-2, 2, 40)[:, None]
    y, units = np.sin(float(rng.uniform(1, 2.5)) * x), int(rng.integers(4, 12))
    w, b, v, out = rng.normal(size=(1, units)), rng.normal(size=units), 0.3 * rng.normal(size=(units, 1)), []
    rate = float(rng.uniform(0.03, 0.2))
    for _ in range(4000):
        h = np.tanh(x @ w + b)
        e = h @ v - y
        out.append(float(np.mean(e * e)))
        back = (e @ v.T) * (1 - h * h) / len(x)
        w, b, v = w - rate * x.T @ back, b - rate * back.sum(0), v - rate * h.T @ e / len(x)
    return watched([("loss", np.array(out), ">", out[0] * log_uniform(rng, 0.01, 0.3))], exact=False)


@loop_family(WATCHED, new=3)
def particle_swarm_best(rng: Rng) -> Watched:
    """The best value of a swarm of particles on a sphere that is turned into an ellipse."""
    n, many = int(rng.integers(2, 6)), int(rng.integers(6, 15))
    scales = np.geomspace(1, log_uniform(rng, 1, 100), n)
    x, v, out = rng.uniform(-5, 5, (many, n)), np.zeros((many, n)), []
    own, own_f = x, (x * x) @ scales
    for _ in range(800):
        out.append(own_f.min())
        best = own[int(np.argmin(own_f))]
        v = 0.72 * v + 1.49 * (rng.random(x.shape) * (own - x) + rng.random(x.shape) * (best - x))
        x = x + v
        f = (x * x) @ scales
        own, own_f = np.where((f < own_f)[:, None], x, own), np.minimum(f, own_f)
    return watched([("best", np.array(out), ">", log_uniform(rng, 1e-10, 1e-2))], exact=False)


@loop_family(WATCHED, new=3)
def tour_by_exchanges(rng: Rng) -> Watched:
    """The length of a tour that is shortened by exchanges drawn by chance: ever longer rests."""
    n = int(rng.integers(15, 40))
    places, tour = rng.random((n, 2)), rng.permutation(n)
    away = np.linalg.norm(places[:, None] - places, axis=2)
    length = lambda t: float(away[t, np.roll(t, 1)].sum())  # noqa: E731
    now, out = length(tour), []
    for _ in range(4000):
        out.append(now)
        i, j = sorted(rng.integers(0, n, 2))
        other = np.r_[tour[:i], tour[i : j + 1][::-1], tour[j + 1 :]]
        if length(other) < now:
            tour, now = other, length(other)
    goal = out[-1] + (out[0] - out[-1]) * float(rng.uniform(0.02, 0.4))
    return watched([("length", np.array(out), ">", goal)], exact=False)


@loop_family(WATCHED, new=3)
def rod_that_cools(rng: Rng) -> Watched:
    """The warmest place of a rod whose ends are cold: many modes, of which the slowest is left."""
    n = int(rng.integers(10, 40))
    start, out = rng.uniform(0, 100, n), []
    state = start
    for _ in range(5500):
        out.append(state.max())
        wide = np.r_[0, state, 0]
        state = state + 0.4 * (wide[:-2] - 2 * state + wide[2:])
    return watched([("warmest", np.array(out), ">", float(rng.uniform(0.5, 20)))], exact=False)


@loop_family(WATCHED, new=3)
def rumour_that_spreads(rng: Rng) -> Watched:
    """People who have not heard of it: falls slowly, fast, and slowly again."""
    people, meet = int(rng.integers(200, 3000)), float(rng.uniform(0.05, 0.4))
    heard, out = 2, []
    for _ in range(3000):
        out.append(people - heard)
        heard += int(rng.binomial(people - heard, 1 - np.exp(-meet * heard / people)))
        if heard >= people:
            break
    out.append(people - heard)
    return watched([("unaware", np.array(out), ">", int(rng.integers(0, people // 20)))], exact=False)


@loop_family(WATCHED, new=3)
def off_diagonal_by_qr_steps(rng: Rng) -> Watched:
    """The size below the diagonal under the QR algorithm without shifts."""
    n = int(rng.integers(4, 10))
    q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    a, out = (q * np.cumsum(rng.uniform(0.1, 1.5, n))) @ q.T, []
    for _ in range(3000):
        out.append(np.linalg.norm(np.tril(a, -1)))
        q, r = np.linalg.qr(a)
        a = r @ q
    return watched([("below", np.array(out), ">", log_uniform(rng, 1e-9, 1e-3))], exact=False)


@loop_family(WATCHED, new=3)
def days_by_months(rng: Rng) -> Watched:
    """A day of the year as months of 31, 28, 31 ... days are added to it."""
    days = np.resize([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], 6002)
    reached = np.r_[0, np.cumsum(np.roll(days, int(rng.integers(12))))]
    return watched([("day", reached, "<", int(rng.integers(2000, 60000)))])


@loop_family(WATCHED, new=3)
def balance_in_whole_cents(rng: Rng) -> Watched:
    """A debt in whole cents with interest rounded down, less the same payment each month."""
    debt, rate = int(rng.integers(50_000, 2_000_000)), int(rng.integers(2, 9))
    pay = debt * rate // 1200 + int(rng.integers(500, 9000))
    step = lambda k, debt: {"debt": debt + debt * rate // 1200 - pay}  # noqa: E731
    return observed({"debt": debt}, step, lambda debt: [("debt", debt, ">", 0)])


@loop_family(WATCHED, new=3)
def tank_that_drains(rng: Rng) -> Watched:
    """Torricelli's law in small steps: the height falls as a parabola, to nothing."""
    rate = float(rng.uniform(0.003, 0.05))

    def step(k: int, h: Any) -> dict[str, Any]:
        return {"h": h - rate * np.sqrt(max(h, 0.0))}

    if rate * 3000 < 2:
        raise DrawAgain
    return observed({"h": float(rng.uniform(0.5, 4))}, step, lambda h: [("h", h, ">", 1e-3)], exact=False)
