"""Fresh histories: products, sampled flows, ratings, tides and digit routines that no other family has."""

from __future__ import annotations

import math

import numpy as np
from scipy import integrate

from tests.evaluation.families.base import HISTORY, C, D, O, Rng, S, X, case, family, orbit, placed, size
from tests.evaluation.scoring.cases import Case


@family(HISTORY, new=3)
def viete_product(rng: Rng) -> Case:
    """Viete's product of nested roots, 2 / pi in the end: its error falls by 4."""
    n = int(rng.integers(10, 22))
    roots = orbit(lambda a: math.sqrt(2 + a), math.sqrt(2), n)
    return placed(rng, np.cumprod(roots / 2), C, quarter=False, rate=0.25, limit=2 / math.pi)


@family(HISTORY, new=3)
def van_der_corput_mean(rng: Rng) -> Case:
    """The running mean of van der Corput's sequence in some base tends to 1/2."""
    base, values = int(rng.integers(2, 6)), []
    for k in range(1, size(rng, 200, 1500)):
        value, share = 0.0, 1.0
        while k:
            share /= base
            k, digit = divmod(k, base)
            value += digit * share
        values.append(value)
    mean = np.cumsum(values) / np.arange(1, len(values) + 1)
    return placed(rng, mean, C, hard=True, quarter=False, limit=0.5)


@family(HISTORY, new=3)
def look_and_say_lengths(rng: Rng) -> Case:
    """The lengths of Conway's sequence grow by the factor 1.303577 in the end."""
    while (term := str(rng.integers(1, 4)) + str(rng.integers(1, 4))) == "22":
        pass  # the one term that describes itself
    lengths = []
    for _ in range(int(rng.integers(28, 40))):
        lengths.append(len(term))
        runs, out = 1, []
        for a, b in zip(term, term[1:] + " ", strict=True):
            if a == b:
                runs += 1
            else:
                out.append(f"{runs}{a}")
                runs = 1
        term = "".join(out)
    return case(lengths, D, quarter=False)


@family(HISTORY, new=3)
def weiszfeld_distance(rng: Rng) -> Case:
    """The distance of Weiszfeld's iteration to the point of the least sum of distances."""
    points, x = rng.normal(size=(int(rng.integers(8, 30)), 2)), rng.normal(size=2) * 3
    path = []
    for _ in range(400):
        path.append(x)
        weights = 1 / np.maximum(np.linalg.norm(points - x, axis=1), 1e-12)
        x = weights @ points / weights.sum()
    far = np.linalg.norm(np.array(path) - path[-1], axis=1)
    many = int(np.argmax(far < 1e-10 * far[0])) or 200
    return case(far[: max(many, 12)], C, quarter=False, limit=0.0)


@family(HISTORY, new=3)
def douglas_rachford_spiral(rng: Rng) -> Case:
    """A coordinate of Douglas and Rachford's method on two lines: turns in by the cosine of their angle."""
    angle = rng.uniform(0.1, 0.6)
    many = int(min(rng.uniform(6, 20) / -math.log(math.cos(angle)), 1500)) + 16
    k = np.arange(many)
    x = math.cos(angle) ** k * np.cos(angle * k + rng.uniform(0, 6))
    return placed(rng, x, C, quarter=False, rate=math.cos(angle), limit=0.0)


@family(HISTORY, new=3)
def brusselator_sampled(rng: Rng) -> Case:
    """The brusselator on its limit cycle, sampled at even times."""
    b, n, step = rng.uniform(2.5, 3.2), int(rng.integers(300, 900)), rng.uniform(0.3, 0.6)
    flow = lambda t, y: [1 + y[0] ** 2 * y[1] - (b + 1) * y[0], b * y[0] - y[0] ** 2 * y[1]]  # noqa: E731
    times = 60 + step * np.arange(n)
    found = integrate.solve_ivp(flow, (0, times[-1] + 1), [1.2, 3.0], t_eval=times, rtol=1e-8, atol=1e-9)
    return placed(rng, found.y[0], O)


@family(HISTORY, new=3)
def chua_circuit_chaos(rng: Rng) -> Case:
    """Chua's circuit on its double scroll, sampled at even times."""
    n, step = int(rng.integers(800, 2500)), rng.uniform(0.1, 0.25)

    def flow(t: float, v: np.ndarray) -> list[float]:
        x, y, z = v
        f = -5 / 7 * x - 3 / 14 * (abs(x + 1) - abs(x - 1))
        return [15.6 * (y - x - f), x - y + z, -28 * y]

    times = 50 + step * np.arange(n)
    start = [0.7 + rng.uniform(-0.1, 0.1), 0.0, 0.0]
    found = integrate.solve_ivp(flow, (0, times[-1] + 1), start, t_eval=times, rtol=1e-8, atol=1e-9)
    return placed(rng, found.y[0], X, hard=True, quarter=False)


@family(HISTORY, new=3)
def holmes_map_chaos(rng: Rng) -> Case:
    """x' = y, y' = -0.2 x + 2.75 y - y^3."""
    start = np.array([rng.uniform(0.5, 1), rng.uniform(0.5, 1)])
    step = lambda p: np.array([p[1], -0.2 * p[0] + 2.75 * p[1] - p[1] ** 3])  # noqa: E731
    return placed(rng, orbit(step, start, size(rng, 300, 2000))[50:, 0], X)


@family(HISTORY, new=3)
def tide_of_two_constituents(rng: Rng) -> Case:
    """The moon's and the sun's half-daily tides, by the hour: spring tides and neap tides."""
    t = np.arange(int(rng.integers(700, 2500)))
    sun = rng.uniform(0.2, 0.5)
    tide = np.cos(2 * np.pi * t / 12.4206 + rng.uniform(0, 6)) + sun * np.cos(2 * np.pi * t / 12 + rng.uniform(0, 6))
    return placed(rng, tide, O, quarter=False)


@family(HISTORY, new=3)
def kaprekar_routine(rng: Rng) -> Case:
    """The digits sorted down minus the digits sorted up: four digits arrive at 6174."""
    value = int(rng.choice([1112, 2026, 9831, 5200, 1459, 3087, 7641, 1000]))

    def step(v: int) -> int:
        digits = sorted(f"{v:04d}")
        return int("".join(digits[::-1])) - int("".join(digits))

    return case(orbit(step, value, int(rng.integers(20, 40))), C, quarter=False, limit=6174)


@family(HISTORY, new=3)
def saturation_in_noise(rng: Rng) -> Case:
    """Logistic growth to a capacity, measured with noise of a hundredth."""
    n = size(rng, 100, 800)
    t = np.linspace(-6, 12, n)
    return placed(rng, 1 / (1 + np.exp(-t)) + 0.01 * rng.normal(size=n), C, quarter=False)


@family(HISTORY, new=3)
def rating_of_a_player(rng: Rng) -> Case:
    """Elo's rating of a player among equals: wins and losses, about the level at which it began."""
    rating, ratings, k = 0.0, [], float(rng.choice([16, 32]))
    for _ in range(size(rng, 400, 2000)):
        rating += k * ((rng.random() < 0.5) - 1 / (1 + 10 ** (-rating / 400)))
        ratings.append(rating)
    return case(1500 + np.array(ratings[50:]), S, hard=True, quarter=False)
