"""Loops for the black box that never end, each for a mathematical reason; 500 evaluations of each."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.evaluation.heldout.common import orbit, rng_of
from tests.evaluation.heldout.ending import truth
from tests.evaluation.scoring.cases import Watched

N = 500


def never(family: str, clauses: list[Any], logic: str = "single") -> Iterator[Watched]:
    if truth(clauses, logic) is None:
        yield Watched(family, clauses, None, logic, False)


def unending() -> Iterator[Watched]:
    k = np.arange(N)
    for i in range(14):
        rng = rng_of("unending", i)
        scale = 10.0 ** int(rng.integers(-8, 9))
        rate = float(rng.uniform(0.3, 0.88))
        level = float(rng.uniform(0.5, 9))
        e = rate**k
        yield from never("limit_above", [("r", (level + 4 * e) * scale, ">", 0.7 * level * scale)])
        yield from never("limit_below", [("x", (level - 3 * e) * scale, "<", 1.2 * level * scale)])
        yield from never("alternating_limit", [("x", (level + 2 * (-rate) ** k) * scale, ">", -2.5 * scale)])
        yield from never("residual_floor", [("r", scale * (3e-8 + e), ">", 1e-10 * scale)])
        yield from never(
            "rounding_floor", [("r", scale * (3e-16 * rng.integers(1, 4, N) + (0.4 * rate) ** k), ">", 1e-17 * scale)]
        )
        yield from never("held", [("x", np.full(N, level), "<", level + 1)])
        yield from never("arrived", [("x", np.maximum(level - k, 0.5), ">", 0.1)])
        yield from never("away", [("x", -scale * (2.0 * k + 1), "<", scale)])
        yield from never("away_fast", [("x", -scale * 1.05**k, "<", scale)])
        w = float(rng.uniform(0.2, 2.9))
        yield from never("wave", [("x", level + np.sin(w * k), "<", level + 1.3)])
        p = int(rng.integers(2, 12))
        yield from never("pattern", [("x", np.resize(rng.normal(size=p), N), "<", 9.0)])
        yield from never("pattern_misses", [("x", np.resize(rng.integers(0, 50, p), N), "!=", 77)])
        m = int(rng.choice([2, 3, 5]))
        yield from never("steps_over", [("i", m * k + 1.0, "!=", float(m * rng.integers(3000, 9000)))])
        yield from never("wrong_sign", [("t", 1e-3 * k, ">=", 0.0)])
        x0 = float(rng.uniform(0.1, 0.9))
        yield from never("bounded_chaos", [("x", orbit(lambda x: 3.9 * x * (1 - x), x0, N), "<", 2.0)])
        grown = orbit(lambda x: -1.7 * x + 0.1, 0.3, N)
        yield from never("swings_out", [("x", grown, "!=", 0.0)])
        yield from never("noise_ball", [("loss", np.abs(2 + 6 * e + 0.05 * rng.normal(size=N)), ">", 0.5)])
        stuck = ("i", np.full(N, 4), "<", 10)
        yield from never("stuck_and_limit", [stuck, ("r", level + e, ">", 0.3 * level)], "and")
        yield from never("or_stuck", [("r", e, ">", 1e-4), stuck], "or")
        yield from never("not_stuck", [("i", np.full(N, 4), ">", 10)], "not")
    nan = np.r_[1.0, 5.0, 25.0, np.full(N - 3, np.nan)]
    yield from never("nan_differs", [("x", nan, "!=", 3.0)])
    yield from never("overflowed", [("x", np.where(k > 30, np.inf, 2.0 * 3.0 ** np.minimum(k, 30)), ">", 1.0)])
    for start in (2**24 - 20, 2**24 - 5):
        x, v = np.float32(start), []
        for _ in range(N):
            v.append(x)
            x = np.float32(x + np.float32(1))
        yield from never("absorbed", [("i", np.array(v), "<", np.float32(3e7))])
    yield from never("sqrt_chain", [("x", orbit(math.sqrt, 90.0, N), ">", 0.99)])
    yield from never("slow_sum", [("s", np.cumsum(1.0 / np.arange(1, N + 1) ** 3), "<", 1.3)])


GENERATORS = (unending,)
