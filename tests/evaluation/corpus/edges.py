"""Records at the limits of floats: absorbed steps, constants, flutter, overflow, NaN."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tests.evaluation.corpus.orbit import iterate
from tests.evaluation.scoring.cases import C, Case, D, S


def collapse() -> Iterator[Case]:
    x = np.float32(2**24 - 100)
    out = []
    for _ in range(300):
        out.append(x)
        x = np.float32(x + np.float32(1))
    yield Case("absorb", np.array(out), S, True)
    x, out = np.float16(2000), []
    for _ in range(120):
        out.append(x)
        x = np.float16(x + np.float16(1))
    yield Case("absorb", np.array(out), S, True)
    x, out = 2.0**53 - 50, []
    for _ in range(200):
        out.append(x)
        x += 1.0
    yield Case("absorb", np.array(out), S, True)
    yield Case("saturate", np.minimum(np.arange(100), 20), C)
    yield Case("arrived", np.r_[5.0, 3.0, 2.5, np.full(50, 2.25)], C)


def constants() -> Iterator[Case]:
    for value in (0.0, 1.0, -3.7, 1e300, 1e-300, 5, 2**62, True, np.float16(0.1), np.float32(1e-30)):
        for n in (8, 100):
            yield Case("constant", np.full(n, value), S)
    rng = np.random.default_rng(5)
    for value in (1.0, 1e-200, 7e250):
        yield Case("flutter", value * (1 + rng.integers(-1, 2, 100) * 2.2e-16), S)
    yield Case("flag", np.r_[np.zeros(5, bool), np.ones(40, bool)], C)


def broken() -> Iterator[Case]:
    with np.errstate(all="ignore"):
        for rate in (2.0, 1e10, -3.0):
            yield Case("overflow", np.multiply.accumulate(np.full(1200, rate)), D)
        yield Case("overflow_low", np.multiply.accumulate(np.full(60, np.float16(2))), D)
        yield Case("overflow_to_nan", iterate(lambda x: x * x - x if abs(x) < 1e200 else math.nan, 3.0, 15), D)
        yield Case("becomes_nan", np.r_[np.linspace(5, 1, 10), np.full(10, np.nan)], D)
    yield Case("nan_once", np.r_[1.0, np.nan, 2 + 0.5 ** np.arange(40)], C)
    yield Case("best_so_far", np.r_[np.inf, np.inf, 1 + 0.5 ** np.arange(60)], C)


GENERATORS = (collapse, constants, broken)
