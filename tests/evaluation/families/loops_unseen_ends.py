"""Unseen loops for the black box that end: searches that keep the best, schedules, solvers of systems, physics."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng, log_uniform
from tests.evaluation.families.loop_cases import DrawAgain, loop_family, observed, watched
from tests.evaluation.scoring.cases import Watched

K = np.arange(6002.0)


@loop_family(WATCHED, new=2)
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


@loop_family(WATCHED, new=2)
def pattern_search_mesh(rng: Rng) -> Watched:
    """Compass search on a quadratic: the mesh halves when no neighbour is better; the best value is watched."""
    scales, x, mesh, best = rng.uniform(1, 20, 2), rng.uniform(-5, 5, 2), 1.0, []
    f = lambda x: float(scales @ (x - 0.317) ** 2)  # noqa: E731
    for _ in range(600):
        best.append(f(x))
        around = [x + mesh * np.array(step) for step in ([1, 0], [-1, 0], [0, 1], [0, -1])]
        nearest = min(around, key=f)
        x, mesh = (nearest, mesh) if f(nearest) < f(x) else (x, mesh / 2)
    return watched([("best", np.array(best), ">", log_uniform(rng, 1e-10, 1e-3))], exact=False)


@loop_family(WATCHED, new=2)
def annealing_by_levels(rng: Rng) -> Watched:
    """A temperature that is multiplied by a factor after the same number of moves at each level."""
    every, factor = int(rng.integers(3, 15)), float(rng.uniform(0.7, 0.97))
    start = log_uniform(rng, 1, 1000)
    return watched([("T", start * factor ** (K // every), ">", start * log_uniform(rng, 1e-5, 1e-1))])


@loop_family(WATCHED, new=2)
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


@loop_family(WATCHED, new=2)
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


@loop_family(WATCHED, new=2)
def gauss_seidel_on_a_grid(rng: Rng) -> Watched:
    """The largest change in a sweep of Gauss and Seidel's method on Poisson's equation in one dimension."""
    size, tol = int(rng.integers(6, 16)), log_uniform(rng, 1e-9, 1e-4)
    f = rng.normal(size=size)

    def step(k: int, x: Any, d: Any) -> dict[str, Any]:
        new = np.r_[0.0, x, 0.0]
        for i in range(1, size + 1):
            new[i] = 0.5 * (new[i - 1] + new[i + 1] + f[i - 1])
        return {"x": new[1:-1], "d": np.abs(new[1:-1] - x).max()}

    return observed({"x": np.zeros(size), "d": 9.0}, step, lambda x, d: [("d", d, ">", tol)], exact=False)


@loop_family(WATCHED, new=2)
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


@loop_family(WATCHED, new=2)
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


@loop_family(WATCHED, new=2)
def policy_evaluation_change(rng: Rng) -> Watched:
    """The largest change of Bellman's recursion on a random chain, discounted by a factor."""
    size, gamma, tol = int(rng.integers(5, 30)), float(rng.uniform(0.8, 0.99)), log_uniform(rng, 1e-8, 1e-3)
    p = rng.dirichlet(np.full(size, 0.5), size)
    reward = rng.normal(size=size)

    def step(k: int, v: Any, d: Any) -> dict[str, Any]:
        new = reward + gamma * p @ v
        return {"v": new, "d": np.abs(new - v).max()}

    return observed({"v": np.zeros(size), "d": 9.0}, step, lambda v, d: [("d", d, ">", tol)], exact=False)


@loop_family(WATCHED, new=2)
def perceptron_mistakes(rng: Rng) -> Watched:
    """Mistakes in a pass of the perceptron over separable points."""
    size = int(rng.integers(3, 12))
    w, x = rng.normal(size=size), rng.normal(size=(int(rng.integers(100, 300)), size))
    side, guess, mistakes = np.sign(x @ w), np.zeros(size), []
    for _ in range(2000):
        wrong = 0
        for point, s in zip(x, side, strict=True):
            if s * (point @ guess) <= 0:
                guess, wrong = guess + s * point, wrong + 1
        mistakes.append(wrong)
        if not wrong:
            break
    return watched([("mistakes", np.array(mistakes), ">", 0)], exact=False)


@loop_family(WATCHED, new=2)
def stone_thrown_upwards(rng: Rng) -> Watched:
    """The height of a stone at even times: a parabola, by sums of its velocity."""
    h, v = float(rng.uniform(0.002, 0.05)), float(rng.uniform(5, 30))

    def step(k: int, y: Any, v: Any) -> dict[str, Any]:
        return {"y": y + h * v, "v": v - h * 9.81}

    return observed({"y": 1.0, "v": v}, step, lambda y, v: [("y", y, ">", 0.0)])


@loop_family(WATCHED, new=2)
def rocket_burns_its_fuel(rng: Rng) -> Watched:
    """Tsiolkovsky's velocity while mass leaves at an even rate, up to a velocity."""
    n, share = int(log_uniform(rng, 40, 3000)), float(rng.uniform(0.3, 0.9))
    mass = 1.0 - share * np.arange(n + 5) / (n + 5)
    v = -float(rng.uniform(1, 4)) * np.log(mass)
    return watched([("v", v, "<", 0.5 * (v[n] + v[n - 1]))], exact=False)


@loop_family(WATCHED, new=2)
def digits_of_a_whole_number(rng: Rng) -> Watched:
    """A stock of which a tenth, rounded down but one piece at least, is sold each day."""
    part = int(rng.integers(5, 40))
    start = {"n": int(log_uniform(rng, 1e3, 1e9))}
    return observed(start, lambda k, n: {"n": n - max(n // part, 1)}, lambda n: [("n", n, ">", 0)])


@loop_family(WATCHED, new=2)
def coupons_still_missing(rng: Rng) -> Watched:
    """Coupons that have not been drawn yet: rests become longer towards the end."""
    size = int(rng.integers(15, 120))
    missing, out = set(range(size)), []
    for _ in range(5900):
        out.append(len(missing))
        missing.discard(int(rng.integers(size)))
    return watched([("missing", np.array(out), ">", int(rng.integers(0, 3)))], exact=False)


@loop_family(WATCHED, new=2)
def battery_by_day_and_night(rng: Rng) -> Watched:
    """A battery that is charged by day and drained by night, with clouds."""
    day = int(rng.integers(8, 24))
    flow = np.sin(2 * np.pi * K / day) * float(rng.uniform(0.3, 1.5)) - float(rng.uniform(0.05, 0.3))
    level = log_uniform(rng, 10, 150) + np.cumsum(flow + 0.1 * rng.normal(size=len(K)))
    return watched([("charge", level, ">", 0.0)], exact=False)


@loop_family(WATCHED, new=2)
def validation_loss_in_noise(rng: Rng) -> Watched:
    """A smoothed loss that falls as a power, until it is below a goal."""
    power, goal = float(rng.uniform(0.2, 0.7)), float(rng.uniform(0.12, 0.35))
    raw = (1 + K / float(rng.uniform(3, 30))) ** -power + float(rng.uniform(0.01, 0.05)) * rng.normal(size=len(K))
    smooth, keep = [raw[0]], float(rng.uniform(0.5, 0.95))
    for value in raw[1:]:
        smooth.append(keep * smooth[-1] + (1 - keep) * value)
    return watched([("loss", np.array(smooth), ">", goal)], exact=False)


@loop_family(WATCHED, new=2)
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
