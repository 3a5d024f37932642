"""Few digits: absorption, underflow, overflow, quantised approaches, offsets that hide most of a movement."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.families.base import HISTORY, C, D, O, Rng, S, case, family, size
from tests.evaluation.scoring.cases import Case

NARROW = (np.float32, np.float16)


def _sum(first: float, step: float, n: int, dtype: type) -> np.ndarray:
    """Repeated addition in a dtype."""
    return np.add.accumulate(np.r_[first, np.full(n - 1, step)].astype(dtype), dtype=dtype)


@family(HISTORY)
def absorbed_counter(rng: Rng) -> Case:
    """A counter at the number from where + 1 is lost: at rest in all but the first few values."""
    dtype, top = ((np.float32, 2.0**24), (np.float16, 2.0**11), (np.float64, 2.0**53))[int(rng.integers(3))]
    before = int(rng.integers(0, 3))
    return case(_sum(top - before, 1.0, size(rng, 150, 4000), dtype), S, hard=True, quarter=False)


@family(HISTORY)
def absorbed_small_step(rng: Rng) -> Case:
    """A step below half a unit in the last place: nothing ever moves."""
    dtype = NARROW[int(rng.integers(2))]
    level = float(rng.uniform(1, 100))
    return case(_sum(level, level * float(np.finfo(dtype).eps) / 9, size(rng, 12, 3000), dtype), S)


@family(HISTORY)
def narrow_counter_before_absorption(rng: Rng) -> Case:
    dtype, top = ((np.float32, 10_000), (np.float16, 1900))[int(rng.integers(2))]
    return case(_sum(0.0, 1.0, size(rng, 30, top), dtype), D)


@family(HISTORY)
def narrow_sum_of_tenths(rng: Rng) -> Case:
    """0.1 added again and again: what is really added changes with each power of two, but it does not stop yet."""
    if rng.random() < 0.5:
        return case(_sum(0.0, 0.1, size(rng, 60, 1500), np.float16), D, hard=True, quarter=False)
    return case(_sum(0.0, 0.1, size(rng, 60, 10_000), np.float32), D, quarter=False)


@family(HISTORY)
def narrow_harmonic_sum(rng: Rng) -> Case:
    """In float32, over far fewer terms than it takes to absorb one."""
    k = np.arange(1, size(rng, 100, 10_000)).astype(np.float32)
    return case(np.add.accumulate(1 / k, dtype=np.float32), D, hard=True, quarter=False)


@family(HISTORY)
def narrow_decay_to_zero(rng: Rng) -> Case:
    """Through the subnormal numbers to 0, and a few zeros."""
    dtype = NARROW[int(rng.integers(2))]
    rate = rng.uniform(0.3, 0.75)
    x, out = dtype(rng.uniform(1, 100)), []
    while x > 0:
        out.append(x)
        x = dtype(x * dtype(rate))
        if out[-1] == x:
            break
    return case(np.array(out[: size(rng, 12, 400)]), C, hard=True, quarter=False, limit=0.0)


@family(HISTORY)
def narrow_geometric_approach(rng: Rng) -> Case:
    """An approach that ends in rounding, well before the record does not."""
    dtype = NARROW[int(rng.integers(2))]
    rate, digits = rng.uniform(0.7, 0.98), -math.log(float(np.finfo(dtype).eps))
    n = int(rng.uniform(0.7, 1.2) * digits / -math.log(rate)) + 12
    return case((rng.uniform(1, 3) + 3 * rate ** np.arange(n)).astype(dtype), C, hard=True, quarter=False)


@family(HISTORY)
def narrow_approach_in_steps(rng: Rng) -> Case:
    """x += (t - x) a in float16: the last steps are units in the last place, then it stalls short of t."""
    a, t = np.float16(rng.uniform(0.05, 0.3)), np.float16(rng.uniform(1, 100))
    x, out = np.float16(0), []
    while len(out) < 3 or out[-1] != out[-3]:
        out.append(x)
        x = np.float16(x + np.float16(np.float16(t - x) * a))
    return case(np.array(out), C, hard=True, quarter=False)


@family(HISTORY)
def narrow_newton(rng: Rng) -> Case:
    """Square root in float32."""
    a = np.float32(rng.uniform(2, 1000))
    x, out = np.float32(a), []
    for _ in range(int(rng.integers(12, 18))):
        out.append(x)
        x = np.float32((x + a / x) / np.float32(2))
    return case(np.array(out), C, quarter=False)


@family(HISTORY)
def narrow_wave(rng: Rng) -> Case:
    p = rng.uniform(5, 40)
    n = int(p * rng.uniform(10, 60))
    v = rng.uniform(0.5, 50) * np.sin(2 * math.pi * np.arange(n) / p + 1)
    return case(v.astype(rng.choice(NARROW)), O, quarter=n > 40 * p, period=p)


@family(HISTORY)
def wave_on_a_large_offset(rng: Rng) -> Case:
    """A wave of 20 to 200 units in the last place of float32."""
    p, offset = rng.uniform(6, 40), 2.0 ** rng.uniform(4, 20)
    n = int(p * rng.uniform(12, 50))
    wave = np.sin(2 * math.pi * np.arange(n) / p) * offset * float(np.finfo(np.float32).eps) * rng.uniform(20, 200)
    return case((offset + wave).astype(np.float32), O, hard=True, quarter=False, period=p)


@family(HISTORY)
def narrow_noise(rng: Rng) -> Case:
    v = rng.uniform(1, 3) + rng.uniform(0.03, 0.3) * rng.normal(size=size(rng, 100, 6000))
    return case(v.astype(rng.choice(NARROW)), S, hard=True)


@family(HISTORY)
def noise_in_few_levels(rng: Rng) -> Case:
    """Noise of 2 to 6 units in the last place of float16."""
    v = 100 + 0.0625 * rng.uniform(2, 6) * rng.normal(size=size(rng, 200, 5000))
    return case(v.astype(np.float16), S, hard=True)


@family(HISTORY)
def narrow_overflow(rng: Rng) -> Case:
    """Grows until it is infinite."""
    dtype = NARROW[int(rng.integers(2))]
    rate = dtype(rng.uniform(1.2, 3))
    x, out = dtype(rng.uniform(0.5, 5)), []
    with np.errstate(over="ignore"):
        while np.isfinite(x):
            out.append(x)
            x = dtype(x * rate)
    out += [x] * int(rng.integers(1, 6))
    return case(np.array(out), D, quarter=False)


@family(HISTORY)
def narrow_growth(rng: Rng) -> Case:
    rate = rng.uniform(1.03, 1.5)
    n = int(10 / math.log(rate))
    return case((0.5 * rate ** np.arange(n)).astype(rng.choice(NARROW)), D, quarter=False, rate=rate)


@family(HISTORY)
def narrow_trend_in_noise(rng: Rng) -> Case:
    """A rise of 4 to 10 spreads."""
    n = size(rng, 300, 6000)
    v = 20 + rng.uniform(4, 10) * np.arange(n) / n + rng.normal(size=n)
    return case(v.astype(rng.choice(NARROW)), D, hard=True, quarter=False)


@family(HISTORY)
def rounding_flutter(rng: Rng) -> Case:
    """Differs by one unit in the last place at random: nothing moves but rounding."""
    dtype = (np.float64, np.float32)[int(rng.integers(2))]
    a = dtype(rng.uniform(1, 1000))
    v = np.where(rng.random(size(rng, 60, 3000)) < 0.5, a, np.nextafter(a, dtype(np.inf)))
    return case(v.astype(dtype), S, hard=True)


@family(HISTORY)
def constant_of_any_dtype(rng: Rng) -> Case:
    dtype = rng.choice([np.float64, np.float32, np.float16, np.int64, np.int32, np.bool_])
    return case(np.full(size(rng, 6, 10_000), rng.normal() * 100).astype(dtype), S)
