"""New loops for the black box that end: searches that keep the best, solvers of systems, integration, schedules."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng, log_uniform
from tests.evaluation.families.loop_cases import DrawAgain, loop_family, observed, watched
from tests.evaluation.scoring.cases import Watched

K = np.arange(6002.0)


@loop_family(WATCHED, new=1)
def one_plus_one_strategy_best(rng: Rng) -> Watched:
    """The best value of a (1+1) evolution strategy with the one-fifth rule on the sphere: rests between successes."""
    size, tol = int(rng.integers(2, 8)), log_uniform(rng, 1e-8, 1e-3)
    x, width, best = rng.normal(size=size), 0.5, []
    for _ in range(4000):
        best.append(x @ x)
        trial = x + width * rng.normal(size=size)
        better = trial @ trial < x @ x
        x, width = (trial, width * 1.5) if better else (x, width * 1.5**-0.25)
    return watched([("best", np.array(best), ">", tol)], exact=False)


@loop_family(WATCHED, new=1)
def steepest_descent_in_a_valley(rng: Rng) -> Watched:
    """The gradient's norm of steepest descent with exact steps on an ill-conditioned quadratic."""
    scales = np.geomspace(1.0, log_uniform(rng, 5, 200), int(rng.integers(3, 12)))
    x, norms = rng.normal(size=len(scales)), []
    for _ in range(4000):
        g = scales * x
        norms.append(np.linalg.norm(g))
        if not norms[-1] > 1e-14:
            break
        x = x - (g @ g) / (g @ (scales * g)) * g
    return watched([("|g|", np.array(norms), ">", log_uniform(rng, 1e-9, 1e-3))], exact=False)


@loop_family(WATCHED, new=1)
def barzilai_borwein_gradient(rng: Rng) -> Watched:
    """Barzilai and Borwein's step sizes: the gradient's norm falls with high jumps upwards."""
    scales = np.geomspace(1.0, log_uniform(rng, 20, 3000), int(rng.integers(5, 40)))
    x, step, norms = rng.normal(size=len(scales)), 0.1 / scales[-1], []
    for _ in range(3000):
        g = scales * x
        norms.append(np.linalg.norm(g))
        if not norms[-1] > 1e-14:
            break
        s = -step * g
        x, step = x + s, (s @ s) / (s @ (scales * s))
    return watched([("|g|", np.array(norms), ">", log_uniform(rng, 1e-9, 1e-3))], exact=False)


@loop_family(WATCHED, new=1)
def conjugate_gradients_clustered(rng: Rng) -> Watched:
    """The relative residual of conjugate gradients where the eigenvalues lie in clusters: steps and rests."""
    size, tol = int(rng.integers(60, 200)), log_uniform(rng, 1e-9, 1e-4)
    centres = np.geomspace(1, log_uniform(rng, 1e2, 1e5), int(rng.integers(4, 9)))
    values = np.resize(centres, size) * (1 + 0.05 * rng.normal(size=size))
    x, r = np.zeros(size), rng.normal(size=size)
    p, first, out = r.copy(), np.linalg.norm(r), []
    for _ in range(1200):
        out.append(np.linalg.norm(r) / first)
        if not out[-1] > 1e-13:
            break
        q = values * p
        a = (r @ r) / (p @ q)
        new = r - a * q
        x, p, r = x + a * p, new + (new @ new) / (r @ r) * p, new
    return watched([("r", np.array(out), ">", tol)], exact=False)


@loop_family(WATCHED, new=1)
def integration_with_step_control(rng: Rng) -> Watched:
    """The time of an integration of van der Pol's equation by Heun's method with an adapted step."""
    mu, tol, end = float(rng.uniform(0.5, 8)), log_uniform(rng, 1e-5, 1e-2), float(rng.uniform(10, 40))
    f = lambda y: np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])  # noqa: E731
    t, h, y, times = 0.0, 0.01, np.array([2.0, 0.0]), []
    for _ in range(6000):
        times.append(t)
        if t >= end:
            break
        k1 = f(y)
        k2 = f(y + h * k1)
        error = h / 2 * float(np.abs(k2 - k1).max()) / (1 + float(np.abs(y).max()))
        if error < tol:
            t, y = t + h, y + h / 2 * (k1 + k2)
        h = h * min(2.0, max(0.3, 0.9 * (tol / max(error, 1e-300)) ** 0.5))
    return watched([("t", np.array(times), "<", end)], exact=False)


@loop_family(WATCHED, new=1)
def policy_evaluation_change(rng: Rng) -> Watched:
    """The largest change of Bellman's recursion on a random chain, discounted by a factor."""
    size, gamma, tol = int(rng.integers(5, 30)), float(rng.uniform(0.8, 0.99)), log_uniform(rng, 1e-8, 1e-3)
    p = rng.dirichlet(np.full(size, 0.5), size)
    reward = rng.normal(size=size)

    def step(k: int, v: Any, d: Any) -> dict[str, Any]:
        new = reward + gamma * p @ v
        return {"v": new, "d": np.abs(new - v).max()}

    return observed({"v": np.zeros(size), "d": 9.0}, step, lambda v, d: [("d", d, ">", tol)], exact=False)


@loop_family(WATCHED, new=1)
def rocket_burns_its_fuel(rng: Rng) -> Watched:
    """Tsiolkovsky's velocity while mass leaves at an even rate, up to a velocity."""
    n, share = int(log_uniform(rng, 40, 3000)), float(rng.uniform(0.3, 0.9))
    mass = 1.0 - share * np.arange(n + 5) / (n + 5)
    v = -float(rng.uniform(1, 4)) * np.log(mass)
    return watched([("v", v, "<", 0.5 * (v[n] + v[n - 1]))], exact=False)


@loop_family(WATCHED, new=1)
def digits_of_a_whole_number(rng: Rng) -> Watched:
    """A stock of which a tenth, rounded down but one piece at least, is sold each day."""
    part = int(rng.integers(5, 40))
    start = {"n": int(log_uniform(rng, 1e3, 1e9))}
    # until so few are left that a part of them is less than one, nothing tells that one is sold all the same
    return observed(start, lambda k, n: {"n": n - max(n // part, 1)}, lambda n: [("n", n, ">", 0)], exact=False)


@loop_family(WATCHED, new=1)
def anderson_on_a_system(rng: Rng) -> Watched:
    """The residual of Anderson's acceleration with a memory of two to five on x = tanh(A x) + b."""
    size, memory, tol = int(rng.integers(8, 40)), int(rng.integers(2, 6)), log_uniform(rng, 1e-11, 1e-6)
    a, b = rng.normal(size=(size, size)), rng.normal(size=size)
    a *= float(rng.uniform(0.9, 1.6)) / np.linalg.norm(a, 2)
    x, points, rests, out = np.zeros(size), [], [], []
    for _ in range(600):
        g = np.tanh(a @ x) + b
        out.append(np.linalg.norm(g - x))
        if not 1e-13 < out[-1] < 1e6:
            break
        points, rests = [*points, g][-memory:], [*rests, g - x][-memory:]
        if len(rests) > 1:
            f = np.array(rests)
            d = (f[1:] - f[:-1]).T
            weights = np.linalg.lstsq(d, f[-1], rcond=None)[0]
            x = g - (np.array(points)[1:] - np.array(points)[:-1]).T @ weights
        else:
            x = g
    if not np.all(np.isfinite(out)):
        raise DrawAgain
    return watched([("r", np.array(out), ">", tol)], exact=False)
