"""Staircases: values that stay for some iterations and jump; epochs, batches, schedules, capacities, records."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import HISTORY, C, D, O, Rng, case, family, log_uniform, placed, scale, size
from tests.evaluation.scoring.cases import Case


def _stairs(rng: Rng, least: int = 8, most: int = 60) -> np.ndarray:
    """Number of the stair at each iteration; all stairs have the same width."""
    width, count = int(rng.integers(3, 60)), int(rng.integers(least, most))
    return np.arange(width * count + int(rng.integers(0, width))) // width


@family(HISTORY)
def epoch_counter(rng: Rng) -> Case:
    return case(_stairs(rng).astype(rng.choice([np.int64, np.int32, np.float64])), D, quarter=False)


@family(HISTORY)
def step_decay(rng: Rng) -> Case:
    """A learning rate that is cut every so many iterations."""
    v = rng.choice([0.1, 0.3, 0.5, 0.8]) ** _stairs(rng, 8, 20)
    return case(v * abs(scale(rng)), C, hard=True, quarter=False, limit=0.0)


@family(HISTORY)
def doubling_every_k(rng: Rng) -> Case:
    v = 2.0 ** _stairs(rng, 8, 40)
    return case(v.astype(rng.choice([np.int64, np.float64])), D, hard=True, quarter=False)


@family(HISTORY)
def capacity_of_a_list(rng: Rng) -> Case:
    """The next power of two: stairs twice as high and twice as long each time."""
    k = np.arange(1, size(rng, 300, 9000))
    v = 2 ** np.ceil(np.log2(k + int(rng.integers(0, 5))))
    return case(v.astype(np.int64), D, hard=True, quarter=False)


@family(HISTORY)
def integer_root_of_counter(rng: Rng) -> Case:
    """isqrt(k): stairs that grow longer, without a bound."""
    return case(np.array([math.isqrt(k) for k in range(size(rng, 600, 9000))]), D, hard=True, quarter=False)


@family(HISTORY)
def stairs_of_the_harmonic_sum(rng: Rng) -> Case:
    s = _stairs(rng, 40, 120)
    return case(np.cumsum(1 / np.arange(1.0, s[-1] + 2))[s] * scale(rng), D, hard=True, quarter=False)


@family(HISTORY)
def stairs_to_a_limit(rng: Rng) -> Case:
    """A geometric approach by epochs."""
    s = _stairs(rng, 12, 40)
    rate = rng.uniform(0.3, 0.8)
    return placed(rng, 3 * rate**s, C, hard=True, quarter=False, limit=0.0)


@family(HISTORY)
def stairs_of_a_convergent_sum(rng: Rng) -> Case:
    s = _stairs(rng, 30, 100)
    return placed(rng, np.cumsum(np.arange(1.0, s[-1] + 2) ** -rng.uniform(1.8, 3))[s], C, hard=True, quarter=False)


@family(HISTORY)
def noisy_stairs_up(rng: Rng) -> Case:
    s = _stairs(rng, 10, 40)
    return placed(rng, s + rng.uniform(0.02, 0.25) * rng.normal(size=len(s)), D, hard=True, quarter=False)


@family(HISTORY)
def batch_in_epoch(rng: Rng) -> Case:
    """Index of the batch: counts, and starts again."""
    m = int(rng.integers(5, 200))
    k = np.arange(int(m * rng.uniform(4.3, 30)))
    return case((k % m).astype(rng.choice([np.int64, np.int32])), O, quarter=len(k) > 17 * m, period=float(m))


@family(HISTORY)
def odometer_digit(rng: Rng) -> Case:
    """k // m % b: a staircase that starts again."""
    m, b = int(rng.integers(2, 30)), int(rng.integers(3, 10))
    k = np.arange(int(m * b * rng.uniform(4.3, 20)))
    return case(k // m % b, O, hard=True, quarter=len(k) > 17 * m * b, period=float(m * b))


@family(HISTORY)
def best_of_random_search(rng: Rng) -> Case:
    """Minimum of uniform draws so far: to 0 like 1/k, with waits that double."""
    v = np.minimum.accumulate(rng.uniform(0, 1, size(rng, 1000, 10_000)))
    return case(v * abs(scale(rng)), C, hard=True, quarter=False)


@family(HISTORY)
def quantised_sine(rng: Rng) -> Case:
    """A sine in few levels."""
    p = rng.uniform(12, 80)
    n = int(p * rng.uniform(6, 40))
    v = np.round(rng.uniform(2, 12) * np.sin(2 * math.pi * np.arange(n) / p))
    return case(v.astype(rng.choice([np.int64, np.float32])), O, quarter=n > 24 * p, period=p)


@family(HISTORY)
def work_done_in_bursts(rng: Rng) -> Case:
    """Grows for some iterations, rests for some, grows again."""
    busy, idle = int(rng.integers(3, 20)), int(rng.integers(3, 40))
    k = np.arange((busy + idle) * int(rng.integers(10, 40)))
    return case(np.cumsum(k % (busy + idle) < busy) * log_uniform(rng, 0.1, 100), D, hard=True, quarter=False)
