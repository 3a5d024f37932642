"""Fresh loops for the black box that never end: opinions, brackets, inconsistent rows, cycles, kinks, growth."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng
from tests.evaluation.families.loop_cases import DrawAgain, loop_family, observed, watched
from tests.evaluation.scoring.cases import Watched


@loop_family(WATCHED, new=3)
def stubborn_opinions_disagree(rng: Rng) -> Watched:
    """Agents that keep a share of their first opinion: their spread tends to a value above the tolerance."""
    n, keep = int(rng.integers(3, 9)), float(rng.uniform(0.1, 0.5))
    trust = rng.random((n, n))
    trust /= trust.sum(1, keepdims=True)
    first, out = rng.uniform(0, 1, n), []
    x = first
    for _ in range(90):
        out.append(float(np.ptp(x)))
        x = keep * first + (1 - keep) * trust @ x
    return watched([("spread", np.array(out), ">", 0.3 * min(out))], ends=False)


@loop_family(WATCHED, new=3)
def narrow_bracket_cannot_close(rng: Rng) -> Watched:
    """Bisection in float32 below the distance of neighbouring numbers: the bracket stays as it is."""
    root, low = np.float32(rng.uniform(1.1, 99)), np.float32(1)

    def step(k: int, low: Any, high: Any) -> dict[str, Any]:
        mid = np.float32((low + high) / np.float32(2))
        return {"low": mid, "high": high} if mid <= root else {"low": low, "high": mid}

    start = {"low": low, "high": np.float32(100)}
    return observed(start, step, lambda low, high: [("width", high - low, ">", 1e-8)], ends=False)


@loop_family(WATCHED, new=3)
def kaczmarz_on_inconsistent_rows(rng: Rng) -> Watched:
    """The residual of Kaczmarz's method with rows by chance where no solution exists: it stays about a level."""
    n = int(rng.integers(2, 6))
    a = rng.normal(size=(30, n))
    a /= np.linalg.norm(a, axis=1)[:, None]
    b = a @ rng.normal(size=n) * 20 + rng.normal(size=30)
    least = float(np.linalg.norm(b - a @ np.linalg.lstsq(a, b)[0]))
    x, out = np.zeros(n), []
    for _ in range(90):
        out.append(float(np.linalg.norm(a @ x - b)))
        i = int(rng.integers(30))
        x = x + (b[i] - a[i] @ x) * a[i]
    return watched([("|r|", np.array(out), ">", least * float(rng.uniform(0.001, 0.3)))], ends=False)


@loop_family(WATCHED, new=3)
def prey_above_extinction(rng: Rng) -> Watched:
    """Prey and predators in a cycle by the midpoint rule, sampled; the prey never falls to the bound."""
    h, x, y, out = float(rng.uniform(0.2, 0.5)), float(rng.uniform(0.4, 0.8)), 1.0, []
    for _ in range(90):
        out.append(x)
        for _ in range(20):
            u, v = x, y
            for _ in range(8):
                mx, my = (x + u) / 2, (y + v) / 2
                u, v = x + h / 20 * mx * (1 - my), y + h / 20 * my * (mx - 1)
            x, y = u, v
    return watched([("prey", np.array(out), ">", float(rng.uniform(0.05, 0.5)) * min(out))], ends=False)


@loop_family(WATCHED, new=3)
def residues_miss_the_target(rng: Rng) -> Watched:
    """i = (a i + b) mod m goes through a cycle that the target is not in."""
    m = int(rng.integers(8, 40))
    a, b, target = int(rng.integers(2, m)), int(rng.integers(1, m)), int(rng.integers(0, m))
    i, out = int(rng.integers(0, m)), []
    for _ in range(90):
        out.append(i)
        i = (a * i + b) % m
    if target in out or len(set(out)) > 15:
        raise DrawAgain
    return watched([("i", np.array(out), "!=", target)], ends=False)


@loop_family(WATCHED, new=3)
def adam_about_a_kink(rng: Rng) -> Watched:
    """Adam with a step that stays on |x - c|: it swings about c, farther than the tolerance."""
    rate, c = float(rng.uniform(0.05, 0.3)), float(rng.uniform(0.1, 2))
    x, m, v, out = 0.0, 0.0, 0.0, []
    for k in range(1, 400):
        out.append(abs(x - c))
        g = float(np.sign(x - c))
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        x -= rate * (m / (1 - 0.9**k)) / (np.sqrt(v / (1 - 0.999**k)) + 1e-8)
    return watched([("|x - c|", np.array(out), ">", 0.1 * min(out))], ends=False)


@loop_family(WATCHED, new=3)
def jacobi_without_dominance(rng: Rng) -> Watched:
    """The residual of Jacobi's method where its matrix has a radius above one: it grows."""
    n = int(rng.integers(3, 9))
    a = rng.normal(size=(n, n))
    np.fill_diagonal(a, 1.0)
    radius = float(abs(np.linalg.eigvals(np.eye(n) - a)).max())
    a = np.eye(n) + (a - np.eye(n)) * float(rng.uniform(1.05, 1.6)) / radius
    b, x, out = rng.normal(size=n), np.zeros(n), []
    for _ in range(90):
        r = b - a @ x
        out.append(float(np.linalg.norm(r)))
        x = x + r
    return watched([("|r|", np.array(out), ">", 0.05 * min(out))], ends=False)


@loop_family(WATCHED, new=3)
def share_in_a_state_stays(rng: Rng) -> Watched:
    """The share of a Markov chain's state tends to its stationary share, above the one waited for."""
    n = int(rng.integers(3, 8))
    move = rng.random((n, n)) + float(rng.uniform(0, 6)) * np.eye(n)
    move /= move.sum(1, keepdims=True)
    p, out = np.eye(n)[0], []
    for _ in range(90):
        out.append(float(p[0]))
        p = p @ move
    return watched([("share", np.array(out), ">", float(rng.uniform(0.2, 0.8)) * min(out))], ends=False)
