"""Loops for the black box whose conditions read counters: every dtype, strides, wraps, staircases, shifts, sums."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.evaluation.families.base import WATCHED, Rng, log_uniform
from tests.evaluation.families.loop_cases import loop_family, observed, watched
from tests.evaluation.scoring.cases import Watched

INTEGERS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)
FLOATS = (np.float16, np.float32, np.float64)


def _length(rng: Rng, low: float = 60, high: float = 4000) -> int:
    return round(log_uniform(rng, low, high))


@loop_family(WATCHED)
def counter_up(rng: Rng) -> Watched:
    dtype: Any = INTEGERS[rng.integers(8)] if rng.random() < 0.7 else FLOATS[rng.integers(1, 3)]
    n = _length(rng, 60, 120 if np.dtype(dtype).itemsize == 1 else 4000)
    most = np.iinfo(dtype).max if np.dtype(dtype).kind in "iu" else 2**20
    step = int(rng.integers(1, max(2, min(50, most // (n + 2)))))
    i = (step * np.arange(n + 2)).astype(dtype)
    return watched([("i", i, "<", i[n]) if rng.random() < 0.5 else ("i", i, "<=", i[n - 1])])


@loop_family(WATCHED)
def counter_down(rng: Rng) -> Watched:
    n, step = _length(rng), int(rng.integers(1, 8))
    low = int(rng.integers(0, 100))
    i = (low + step * np.arange(n + 1)[::-1]).astype(INTEGERS[rng.integers(2, 8)] if n * step < 30_000 else np.int64)
    return watched([("left", i, ">", low)])


@loop_family(WATCHED)
def stride_meets_inequality(rng: Rng) -> Watched:
    """``!=`` against a value that the stride meets."""
    n, step, start = _length(rng), int(rng.integers(2, 40)), int(rng.integers(-500, 500))
    i = start + step * np.arange(n + 1)
    return watched([("i", i.astype(np.float64) if rng.random() < 0.3 else i, "!=", start + step * n)])


@loop_family(WATCHED)
def stride_misses_inequality(rng: Rng) -> Watched:
    """An even stride never meets an odd number, nor by wrapping."""
    step, start = 2 * int(rng.integers(1, 20)), 2 * int(rng.integers(-50, 50))
    goal = start + step * int(rng.integers(100, 900)) + 1
    dtype = (np.int64, np.int32)[rng.integers(2)]
    return watched([("i", (start + step * np.arange(80)).astype(dtype), "!=", dtype(goal))], ends=False)


@loop_family(WATCHED)
def wrap_ends_it(rng: Rng) -> Watched:
    """The counter runs away from its threshold, and its dtype brings it back from the other end."""
    dtype = INTEGERS[rng.integers(4)]
    info = np.iinfo(dtype)
    step = int(rng.integers(1, 3)) if info.bits == 8 else int(rng.integers(11, 200))
    start = int(rng.integers(info.min // 4 + info.max // 4, info.max // 2))
    i = (start - step * np.arange(7000)).astype(dtype)
    return watched([("i", i, "<", dtype(info.max - 2 * step))])


@loop_family(WATCHED)
def wrap_misses_it(rng: Rng) -> Watched:
    """A narrow counter comes round for ever: its stride shares a factor with 2^bits, the goal does not fit."""
    dtype = INTEGERS[rng.integers(4)]
    step = int(rng.choice([2, 6, 4, 10, 12]))
    i = (np.iinfo(dtype).max - 1 - step * np.arange(80)).astype(dtype)  # even values only
    return watched([("i", i, "!=", dtype(2 * rng.integers(3, 50) + 1))], ends=False)


@loop_family(WATCHED)
def epochs(rng: Rng) -> Watched:
    """The epoch of a batch counter, a staircase of equal treads."""
    batches, count = int(rng.integers(2, 60)), int(rng.integers(30, 100))
    return watched([("epoch", np.arange(batches * count + 1) // batches, "<", count)])


@loop_family(WATCHED)
def doubles_every_few(rng: Rng) -> Watched:
    """A size that doubles every p iterations: a staircase in the logarithm."""
    every, factor = int(rng.integers(2, 12)), int(rng.choice([2, 2, 3]))
    stairs = int(rng.integers(20, 39))
    size = float(factor) ** (np.arange(every * stairs + 1) // every)
    size = size.astype(np.int64) if rng.random() < 0.5 else size
    return watched([("size", size, "<", size[-1])])


@loop_family(WATCHED)
def halved_by_schedule(rng: Rng) -> Watched:
    """A learning rate halved, or cut to a tenth, every p iterations."""
    every, factor, stairs = int(rng.integers(3, 40)), float(rng.choice([0.5, 0.1, 0.8])), int(rng.integers(20, 60))
    rate = 0.1 * np.cumprod(np.where(np.arange(every * stairs + 1) % every == 0, factor, 1.0)) / factor
    return watched([("lr", rate, ">", rate[-1] * (1 + 1e-12))])


@loop_family(WATCHED)
def bits_shifted_out(rng: Rng) -> Watched:
    """x >> 1 until nothing is left: integer halving has no fractional tail."""
    x, out = int(rng.integers(2**59, 2**62)), []
    while x:
        out.append(x)
        x >>= 1
    return watched([("x", np.array([*out, 0]), str(rng.choice([">", "!="])), 0)])


@loop_family(WATCHED)
def floor_divided(rng: Rng) -> Watched:
    d, x, floor = int(rng.choice([2, 2, 3])), int(rng.integers(2**58, 2**62)), int(rng.integers(0, 1000))
    out = [x]
    while out[-1] > floor:
        out.append(out[-1] // d)
    return watched([("x", np.array(out), ">", floor)])


@loop_family(WATCHED)
def loses_a_share(rng: Rng) -> Watched:
    """x -= x // d: geometric as long as x is large, by ones at the end, and at rest below d."""
    d, floor = int(rng.integers(5, 40)), int(rng.integers(1, 50))
    start = int(log_uniform(rng, 1e4, 1e9))
    return observed(
        {"x": np.int64(start)}, lambda k, x: {"x": x - x // d}, lambda x: [("x", x, ">=", max(d, floor))], exact=False
    )


@loop_family(WATCHED)
def two_pointers(rng: Rng) -> Watched:
    """Two counters that run towards each other."""
    a, b, width = int(rng.integers(1, 9)), int(rng.integers(1, 9)), int(rng.integers(400, 20_000))
    k = np.arange(7000)
    return watched([("low", a * k, "<", width + int(rng.integers(9)) - b * k)])


@loop_family(WATCHED)
def float_clock(rng: Rng) -> Watched:
    """t += h in its own dtype: rounding decides on the last iteration."""
    dtype: Any = FLOATS[rng.integers(1, 3)]
    h, n = dtype(rng.choice([0.1, 0.01, 1 / 3, 0.7, 1e-3])), _length(rng)
    t = np.add.accumulate(np.full(n + 3, h), dtype=dtype)
    return watched([("t", t, "<", dtype(float(h) * n))])


@loop_family(WATCHED)
def square_of_counter(rng: Rng) -> Watched:
    k, n = np.arange(4100), _length(rng)
    s = (k * k, k * (k + 1) // 2, np.cumsum(np.resize([1, 4, 2], 4100)), k**3)[rng.integers(4)]
    return watched([("s", s, "<", int(s[n]))])


@loop_family(WATCHED)
def absorbed_one(rng: Rng) -> Watched:
    """A float counter where + 1 is lost: 2^24 in float32, 2^11 in float16, 2^8 in bfloat16."""
    dtype, top = ((np.float32, 2**24), (np.float16, 2**11), (ml_dtypes.bfloat16, 2**8))[rng.integers(3)]
    x = dtype(top - int(rng.integers(5, 40)))
    limit = dtype(2 * top)
    return observed({"x": x}, lambda k, x: {"x": x + dtype(1)}, lambda x: [("x", x, "<", limit)], ends=False)


@loop_family(WATCHED)
def will_be_absorbed(rng: Rng) -> Watched:
    """A float16 clock whose step will be lost long before the goal: its dtype says so from the beginning."""
    step = np.float16(rng.choice([0.25, 0.5, 1.0, 0.125]))
    goal = np.float16(float(step) * 2**12 + 100)  # at 2^11 steps, x + step rounds to x
    return observed({"t": np.float16(0)}, lambda k, t: {"t": t + step}, lambda t: [("t", t, "<", goal)], ends=False)


@loop_family(WATCHED)
def ends_before_absorption(rng: Rng) -> Watched:
    step = np.float16(rng.choice([0.25, 0.5, 1.0]))
    goal = np.float16(float(step) * rng.integers(100, 2047))
    return observed({"t": np.float16(0)}, lambda k, t: {"t": t + step}, lambda t: [("t", t, "<", goal)])


@loop_family(WATCHED)
def trip_limit_ends_it(rng: Rng) -> Watched:
    """The condition stays true; the loop's own limit of iterations ends it."""
    n = _length(rng, 60, 2000)
    k = np.arange(n + 1)
    shown = (1 + 0.9**k, np.full(n + 1, 3.0), 5.0 + k)[rng.integers(3)]
    return watched([("x", shown, ">", 0.5)], trip_limit=n)
