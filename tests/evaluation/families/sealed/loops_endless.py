"""Endless loops for the black box: rounding, signs, resets, ratios, residues, flags, orbits and balances."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng, log_uniform, runge_kutta
from tests.evaluation.families.loop_cases import loop_family, watched
from tests.evaluation.scoring.cases import Watched


@loop_family(WATCHED, new=10)
def residual_in_float32_rests(rng: Rng) -> Watched:
    """b - A x of conjugate gradients in float32: it rests at rounding, orders of magnitude above the tolerance."""
    m = int(rng.integers(20, 60))
    q = np.linalg.qr(rng.normal(size=(m, m)))[0]
    a = ((q * rng.uniform(1, 4, m)) @ q.T).astype(np.float32)
    b = rng.normal(size=m).astype(np.float32)
    x = np.zeros(m, np.float32)
    r = p = b
    out = []
    for _ in range(1500):
        out.append(np.float32(np.linalg.norm(b - a @ x)))
        rho, image = r @ r, a @ p
        if rho > 0 and p @ image > 0:
            step = rho / (p @ image)
            x, r = x + step * p, r - step * image
            p = r + (r @ r) / rho * p
    return watched([("residual", np.array(out), ">", np.float32(min(out) * log_uniform(rng, 1e-5, 1e-2)))], ends=False)


@loop_family(WATCHED, new=10)
def waiting_that_progress_resets(rng: Rng) -> Watched:
    """Evaluations since the last progress, which never is more than some apart, against two or more times as many."""
    most, out = int(rng.integers(3, 9)), []
    while len(out) < 3000:
        out += range(int(rng.integers(1, most + 1)))
    return watched([("wait", np.array(out[:3000]), "<", most * int(rng.integers(2, 6)))], ends=False)


@loop_family(WATCHED, new=10)
def alternating_game_goes_round(rng: Rng) -> Watched:
    """|x| + |y| of two players of x y who take turns: the map keeps areas, and an ellipse."""
    h, x, y, out = float(rng.uniform(0.1, 0.9)), float(rng.uniform(0.5, 2)), float(rng.uniform(-1, 1)), []
    for _ in range(3000):
        out.append(abs(x) + abs(y))
        x -= h * y
        y += h * x
    v = np.array(out)
    return watched([("distance", v, ">", float(v.min()) * log_uniform(rng, 1e-6, 0.5))], ends=False)


@loop_family(WATCHED, new=10)
def sign_of_the_vector_turns(rng: Rng) -> Watched:
    """|v' - v| of the power method where the largest eigenvalue is negative: it comes to 2."""
    m = int(rng.integers(2, 7))
    values = np.r_[-1.0, rng.uniform(-0.8, 0.8, m - 1)]
    v, out = rng.normal(size=m) + 0.1, []
    for _ in range(1500):
        v = v / np.linalg.norm(v)
        w = values * v / np.linalg.norm(values * v)
        out.append(float(np.linalg.norm(w - v)))
        v = w
    v = np.array(out)
    return watched([("change", v, ">", float(v.min()) * log_uniform(rng, 1e-9, 0.5))], ends=False)


@loop_family(WATCHED, new=10)
def descent_on_an_unbounded_objective(rng: Rng) -> Watched:
    """The slope of c x + exp(-a x) along its own descent: it falls to c, and there is no minimum."""
    c, a, x, out = float(rng.uniform(0.1, 2)), float(rng.uniform(0.5, 2)), 0.0, []
    h = float(rng.uniform(0.02, 0.15))
    for _ in range(3000):
        out.append(c + a * math.exp(a * x))
        x -= h * out[-1]
    return watched([("slope", np.array(out), ">", c * log_uniform(rng, 1e-6, 0.8))], ends=False)


@loop_family(WATCHED, new=10)
def delay_that_success_resets(rng: Rng) -> Watched:
    """Delays that double until a try succeeds, which takes the same number of tries each time."""
    m, base = int(rng.integers(2, 8)), float(rng.choice([0.1, 0.5, 1.0, 2.0]))
    v = base * 2.0 ** (np.arange(3000) % m)
    return watched([("delay", v, "<", base * 2.0 ** (m + int(rng.integers(0, 6))))], ends=False)


@loop_family(WATCHED, new=10)
def ratio_of_terms_settles(rng: Rng) -> Watched:
    """a' / a of the terms k^p r^k: (1 + 1/k)^p r falls to r, and no farther."""
    r, p, k = float(rng.uniform(0.3, 0.95)), float(rng.uniform(0.5, 3)), np.arange(1, 3001.0)
    return watched([("ratio", (1 + 1 / k) ** p * r, ">", r * log_uniform(rng, 1e-4, 0.85))], ends=False)


@loop_family(WATCHED, new=10)
def laser_keeps_shining(rng: Rng) -> Watched:
    """The light of a laser above its threshold: spikes that die out about a level, which is above the bound."""
    pump, slow, h = float(rng.uniform(1.5, 4)), float(rng.uniform(0.05, 0.4)), 0.02
    flow = lambda s: (s[0] * (s[1] - 1), slow * (pump - s[1] * (1 + s[0])))  # noqa: E731
    state, out = ((pump - 1) * float(rng.uniform(0.6, 1.6)), 1.0), []
    for _ in range(1500):
        out.append(state[0])
        for _ in range(15):
            state = runge_kutta(flow, state, h)
    return watched([("light", np.array(out), ">", min(out) * log_uniform(rng, 1e-4, 0.5))], ends=False)
