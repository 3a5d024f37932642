"""Maps that keep area, and rules under noise: the chaotic sea, the islands in it, and attractors that are measured."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tests.evaluation.families.base import HISTORY, O, Rng, X, family, orbit, placed, size
from tests.evaluation.scoring.cases import Case

Step = Callable[[np.ndarray], np.ndarray]
TURN = 2 * math.pi


def _exponent(step: Step, start: np.ndarray, count: int = 3000, bound: float = 1e3) -> float:
    """Lyapunov's largest exponent by a neighbour that is drawn back to 1e-8 each time (Benettin 1976); inf: it left."""
    p, q, total = start, start + 1e-8 / math.sqrt(len(start)), 0.0
    for _ in range(count):
        p, q = step(p), step(q)
        apart = q - p
        if np.any(np.abs(p) > bound):
            return math.inf
        length = max(float(np.linalg.norm(apart)), 1e-14)
        if length > 1e-3:  # one of the two went round a torus
            apart, length = np.zeros_like(p) + 1e-8 / math.sqrt(len(p)), 1e-8
        total += math.log(length / 1e-8)
        q = p + apart * (1e-8 / length)
    return total / count


def _sea(rng: Rng, draw: Callable[[], tuple[Step, np.ndarray]], least: float = 0.06) -> tuple[Step, np.ndarray]:
    """A map and a start whose neighbours part."""
    for _ in range(200):
        step, start = draw()
        if least < _exponent(step, start) < math.inf:
            return step, start
    raise AssertionError("no draw is chaotic")


def _seen(rng: Rng, step: Step, start: np.ndarray, label: str, low: int = 400) -> Case:
    points = orbit(step, start, size(rng, low, 2500))
    return placed(rng, points[:, int(rng.integers(len(start)))], label, hard=True, quarter=False)


@family(HISTORY, new=5)
def kicked_harper_sea(rng: Rng) -> Case:
    """p' = p + K sin x, x' = x - K sin p' on the torus."""

    def draw() -> tuple[Step, np.ndarray]:
        k = rng.uniform(2.2, 4.5)

        def step(s: np.ndarray) -> np.ndarray:
            p = (s[0] + k * math.sin(s[1])) % TURN
            return np.array([p, (s[1] - k * math.sin(p)) % TURN])

        return step, rng.uniform(0.2, 6, 2)

    return _seen(rng, *_sea(rng, draw, 0.2), X)


@family(HISTORY, new=5)
def sawtooth_map_sea(rng: Rng) -> Case:
    """p' = p + K x, x' = x + p' on the torus of side 1: straight pieces, hyperbolic where K > 0."""
    k = rng.uniform(0.4, 3)

    def step(s: np.ndarray) -> np.ndarray:
        p = (s[0] + k * (s[1] - 0.5)) % 1.0
        return np.array([p, (s[1] + p) % 1.0])

    return _seen(rng, step, rng.uniform(0.1, 0.9, 2), X)


@family(HISTORY, new=5)
def kicked_top_sea(rng: Rng) -> Case:
    """A coordinate of a top that is kicked: turned by a right angle, and twisted about its axis; on the sphere."""

    def draw() -> tuple[Step, np.ndarray]:
        k, v = rng.uniform(3.5, 8), rng.normal(size=3)

        def step(s: np.ndarray) -> np.ndarray:
            x, y, z = s[2], s[1], -s[0]
            c, t = math.cos(k * z), math.sin(k * z)
            return np.array([x * c - y * t, x * t + y * c, z])

        return step, v / np.linalg.norm(v)

    return _seen(rng, *_sea(rng, draw, 0.15), X, 600)


@family(HISTORY, new=5)
def bouncing_between_walls(rng: Rng) -> Case:
    """The speed of a ball between a wall at rest and one that swings (Fermi and Ulam's map, its wall's place fixed)."""

    def draw() -> tuple[Step, np.ndarray]:
        m = rng.uniform(8, 25)

        def step(s: np.ndarray) -> np.ndarray:
            v = abs(s[0] + math.sin(s[1]))
            return np.array([v, (s[1] + TURN * m / max(v, 1e-3)) % TURN])

        return step, np.array([rng.uniform(0.5, 2), rng.uniform(0, 6)])

    return _seen(rng, *_sea(rng, draw, 0.3), X, 600)


@family(HISTORY, new=5)
def folded_line_sea(rng: Rng) -> Case:
    """x' = 1 - y + a |x|, y' = x: as the gingerbread man, other slopes."""

    def draw() -> tuple[Step, np.ndarray]:
        a = rng.uniform(0.7, 1.3)
        return lambda s: np.array([1 - s[1] + a * abs(s[0]), s[0]]), rng.uniform(-3, 1, 2)

    return _seen(rng, *_sea(rng, draw, 0.05), X, 600)


@family(HISTORY, new=5)
def mira_island(rng: Rng) -> Case:
    """Gumowski and Mira's map without friction, near its centre: a curve that closes upon itself."""
    m = rng.uniform(-0.4, 0.4)
    force = lambda x: m * x + 2 * (1 - m) * x * x / (1 + x * x)  # noqa: E731

    def step(s: np.ndarray) -> np.ndarray:
        x = s[1] + force(s[0])
        return np.array([x, -s[0] + force(x)])

    return _seen(rng, step, np.array([rng.uniform(0.02, 0.1), 0.0]), O)


@family(HISTORY, new=5)
def kicked_top_round(rng: Rng) -> Case:
    """The top with weak twists: it goes round."""
    k, turn = rng.uniform(0.2, 0.7), rng.uniform(0.5, 1.5)
    ct, st = math.cos(turn), math.sin(turn)

    def step(s: np.ndarray) -> np.ndarray:
        x, y, z = ct * s[0] + st * s[2], s[1], -st * s[0] + ct * s[2]
        c, t = math.cos(k * z), math.sin(k * z)
        return np.array([x * c - y * t, x * t + y * c, z])

    v = np.array([rng.uniform(0.2, 0.5), 1.0, rng.uniform(0.1, 0.4)])
    return _seen(rng, step, v / np.linalg.norm(v), O)


@family(HISTORY, new=5)
def henon_measured(rng: Rng) -> Case:
    """Henon's attractor, measured with an error of one to three hundredths."""
    step = lambda s: np.array([1 - 1.4 * s[0] ** 2 + s[1], 0.3 * s[0]])  # noqa: E731
    x = orbit(step, rng.uniform(-0.1, 0.1, 2), size(rng, 400, 2500) + 100)[100:, 0]
    return placed(rng, x + rng.uniform(0.01, 0.03) * x.std() * rng.normal(size=len(x)), X, hard=True, quarter=False)


@family(HISTORY, new=5)
def growth_map_measured(rng: Rng) -> Case:
    """Ricker's map in its chaos, measured with an error of one to five hundredths."""
    r = rng.choice([3.25, 3.3, 3.35, 3.5, 3.55])
    x = orbit(lambda x: x * math.exp(r * (1 - x)), rng.uniform(0.2, 0.8), size(rng, 300, 2000) + 100)[100:]
    return placed(rng, x + rng.uniform(0.01, 0.05) * x.std() * rng.normal(size=len(x)), X, hard=True, quarter=False)
