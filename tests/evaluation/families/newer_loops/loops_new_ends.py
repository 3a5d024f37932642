"""New loops for the black box that end: physics, money, stock, queues, batches, published solvers, training curves."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng, log_uniform
from tests.evaluation.families.loop_cases import loop_family, observed, watched
from tests.evaluation.scoring.cases import Watched

K = np.arange(6002.0)


@loop_family(WATCHED, new=1)
def bouncing_until_still(rng: Rng) -> Watched:
    """The height of a ball's bounces against a height that counts as rest."""
    e2, low = float(rng.uniform(0.6, 0.98)), log_uniform(rng, 1e-6, 1e-2)
    return observed({"h": float(rng.uniform(1, 9))}, lambda k, h: {"h": e2 * h}, lambda h: [("h", h, ">", low)])


@loop_family(WATCHED, new=1)
def capacitor_charges(rng: Rng) -> Watched:
    """Euler's method for a voltage that approaches the source's, up to a share of it."""
    volt, rate, share = float(rng.uniform(3, 24)), log_uniform(rng, 0.005, 0.2), float(rng.choice([0.9, 0.99, 0.999]))
    return observed({"v": 0.0}, lambda k, v: {"v": v + rate * (volt - v)}, lambda v: [("v", v, "<", share * volt)])


@loop_family(WATCHED, new=1)
def loan_paid_off(rng: Rng) -> Watched:
    """Interest on the rest, then the same payment each month."""
    rate, months = float(rng.uniform(0.002, 0.012)), int(rng.integers(40, 360))
    payment = 1000.0
    start = payment * (1 - (1 + rate) ** -(months - float(rng.uniform(0.1, 0.9)))) / rate
    return observed({"b": start}, lambda k, b: {"b": b * (1 + rate) - payment}, lambda b: [("b", b, ">", 0.0)])


@loop_family(WATCHED, new=1)
def stock_runs_down(rng: Rng) -> Watched:
    """Sales with the pattern of a week from a stock of pieces."""
    week = rng.integers(1, 20, 7)
    stock = int(log_uniform(rng, 400, 20_000))
    left = stock - np.r_[0, np.cumsum(np.resize(week, 6000))]
    return watched([("stock", left, ">", 0)])


@loop_family(WATCHED, new=1)
def tasks_in_batches(rng: Rng) -> Watched:
    """A batch of a fixed size at each step, the last one smaller: clipped at zero."""
    total, batch = int(log_uniform(rng, 500, 100_000)), int(log_uniform(rng, 2, 64))
    return watched([("left", np.maximum(total - batch * np.arange(6000), 0), ">", 0)])


@loop_family(WATCHED, new=1)
def loss_by_a_scaling_law(rng: Rng) -> Watched:
    """c + a k^-b against a target above c, without noise."""
    b, c, n = float(rng.uniform(0.2, 0.9)), float(rng.uniform(0.5, 2)), int(log_uniform(rng, 60, 4000))
    loss = c + 3.0 * (K + 1) ** -b
    return watched([("loss", loss, ">", 0.5 * (loss[n] + loss[n - 1]))])


@loop_family(WATCHED, new=1)
def terminal_velocity(rng: Rng) -> Watched:
    """Fall with quadratic drag, in steps: tanh up to a share of the end velocity."""
    h, drag = float(rng.uniform(0.02, 0.2)), float(rng.uniform(0.01, 0.3))
    end, share = float(np.sqrt(9.81 / drag)), float(rng.choice([0.95, 0.99, 0.999]))
    step = lambda k, v: {"v": v + h * (9.81 - drag * v * v)}  # noqa: E731
    return observed({"v": 0.0}, step, lambda v: [("v", v, "<", share * end)], exact=False)


@loop_family(WATCHED, new=1)
def pagerank_one_norm(rng: Rng) -> Watched:
    """The one-norm of the change on a random web, damping 0.85 to 0.95."""
    size, damp, tol = int(rng.integers(20, 60)), float(rng.uniform(0.85, 0.95)), log_uniform(rng, 1e-12, 1e-6)
    links = rng.random((size, size)) < 3 / size
    links[rng.integers(0, size, size), np.arange(size)] = True
    p = links / links.sum(0)

    def step(k: int, x: Any, d: Any) -> dict[str, Any]:
        new = damp * p @ x + (1 - damp) / size
        return {"x": new, "d": np.abs(new - x).sum()}

    start = {"x": np.full(size, 1 / size), "d": 1.0}
    return observed(start, step, lambda x, d: [("d", d, ">", tol)], exact=False)


@loop_family(WATCHED, new=1)
def coordinate_descent_change(rng: Rng) -> Watched:
    """The largest change in a sweep of coordinate descent on least squares."""
    size, tol = int(rng.integers(4, 12)), log_uniform(rng, 1e-10, 1e-5)
    a = rng.normal(size=(3 * size, size)) + 1.2 * rng.normal(size=(3 * size, 1))
    y = rng.normal(size=3 * size)

    def step(k: int, x: Any, d: Any) -> dict[str, Any]:
        new = x.copy()
        for i in range(size):
            new[i] += a[:, i] @ (y - a @ new) / (a[:, i] @ a[:, i])
        return {"x": new, "d": np.abs(new - x).max()}

    return observed({"x": np.zeros(size), "d": 9.0}, step, lambda x, d: [("d", d, ">", tol)], exact=False)


@loop_family(WATCHED, new=1)
def likelihood_gain_of_em(rng: Rng) -> Watched:
    """The gain in log likelihood of EM for two normal distributions with one unknown share and two means."""
    y = np.r_[rng.normal(0, 1, 150), rng.normal(float(rng.uniform(1.5, 3)), 1, 100)]
    tol = log_uniform(rng, 1e-9, 1e-3)

    def step(k: int, m: Any, w: Any, last: Any, gain: Any) -> dict[str, Any]:
        p, q = (1 - w) * np.exp(-((y - m[0]) ** 2) / 2), w * np.exp(-((y - m[1]) ** 2) / 2)
        r, now = q / (p + q), np.log(p + q).sum()
        new = np.array([((1 - r) * y).sum() / (1 - r).sum(), (r * y).sum() / r.sum()])
        return {"m": new, "w": r.mean(), "last": now, "gain": now - last}

    start = {"m": np.array([-1.0, 4.0]), "w": 0.5, "last": -1e4, "gain": 1e4}
    return observed(start, step, lambda m, w, last, gain: [("gain", gain, ">", tol)], exact=False)


@loop_family(WATCHED, new=1)
def patience_runs_out(rng: Rng) -> Watched:
    """Epochs since the best loss, in noise, against a patience: starts again at each better one."""
    loss = 1 / np.sqrt(1 + K) + 0.05 * rng.normal(size=len(K))
    best, since, out = np.inf, 0, []
    for v in loss:
        best, since = (v, 0) if v < best else (best, since + 1)
        out.append(since)
    return watched([("since", np.array(out), "<", int(rng.integers(10, 60)))], exact=False)


@loop_family(WATCHED, new=1)
def queue_drains(rng: Rng) -> Watched:
    """Poisson arrivals below what is served, from a long queue."""
    served = int(rng.integers(5, 20))
    change = rng.poisson(served * float(rng.uniform(0.6, 0.9)), 6000) - served
    queue = int(log_uniform(rng, 200, 3000)) + np.r_[0, np.cumsum(change)]
    return watched([("queue", np.maximum(queue, 0), ">", 0)], exact=False)


@loop_family(WATCHED, new=1)
def sweep_doubles_its_window(rng: Rng) -> Watched:
    """A window that doubles at each success and halves at every fifth step, up to a size."""
    n = int(rng.integers(24, 120))
    window = 2.0 ** np.cumsum(np.where(np.arange(n + 9) % 5 == 4, -1, 1))
    return watched([("window", window, "<", float(np.maximum.accumulate(window)[n - 4]) + 0.5)])


@loop_family(WATCHED, new=1)
def radioactive_decay(rng: Rng) -> Watched:
    """Each nucleus decays with the same chance in a step: a count with binomial noise."""
    p, n, out = float(rng.uniform(0.005, 0.08)), int(log_uniform(rng, 1000, 1e6)), []
    for _ in range(3000):
        out.append(n)
        n -= int(rng.binomial(n, p))
    return watched([("nuclei", np.array(out), ">", int(rng.integers(20, 400)))], exact=False)
