"""Sums, series and counters."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tests.evaluation.corpus.orbit import iterate
from tests.evaluation.scoring.cases import C, Case, D


def sums() -> Iterator[Case]:
    for n in (40, 300, 3000, 10000):
        k = np.arange(1.0, n + 1)
        for s in (0.5, 0.8, 1.0):
            yield Case("harmonic", np.cumsum(k**-s), D, s == 1.0)
        for s in (1.25, 1.5, 2.0, 3.0):
            yield Case("p_series", np.cumsum(k**-s), C, s == 1.25, {"exponent": s - 1})
        yield Case("log", np.log(k), D, True)
        yield Case("sqrt", np.sqrt(k), D)
        yield Case("alternating_series", np.cumsum((-1) ** k / k), C, facts={"limit": -math.log(2)})
        yield Case("sublinear", iterate(math.sin, 1.0, n), C, True, {"exponent": 0.5})
        yield Case("one_over_k", 3 + 1 / k, C, facts={"limit": 3.0, "exponent": 1.0})
    k = np.arange(1.0, 2001)
    yield Case("harmonic_low", np.cumsum((1 / k).astype(np.float32), dtype=np.float32), D, True)
    yield Case("p_series_low", np.cumsum((k**-1.5).astype(np.float32), dtype=np.float32), C, True)
    yield Case("exp_series", np.cumsum([1 / math.factorial(i) for i in range(25)]), C, facts={"limit": math.e})
    yield Case("exp_series", np.cumsum([1 / math.factorial(i) for i in range(9)]), C, facts={"limit": math.e})


def counters() -> Iterator[Case]:
    for n in (8, 30, 1000, 10000):
        k = np.arange(n)
        for dtype in (np.int64, np.int32, np.float32, np.float64, np.uint8 if n < 200 else np.uint16):
            yield Case("counter", k.astype(dtype), D)
        yield Case("counter_down", 1_000_000 - 7 * k, D)
        yield Case("counter_tenth", np.cumsum(np.full(n, 0.1)), D)
        yield Case("counter_tenth_low", np.cumsum(np.full(n, np.float32(0.1)), dtype=np.float32), D, n > 1000)
        yield Case("counter_big", 2**60 + k.astype(np.int64), D)
        yield Case("square", k.astype(np.int64) ** 2, D)
        yield Case("slow_counter", k // 3, D, True)
    for scale in (1e-300, 1e300):
        yield Case("counter_scaled", np.arange(1, 50) * (scale / 100), D)
    yield Case("halving", np.array([10**6 // 2**i for i in range(40)]), C)
    yield Case("halving", np.array([10**6 // 2**i for i in range(12)]), C, True)
    yield Case("fibonacci", np.array(_fibonacci(60)), D, facts={"rate": (1 + math.sqrt(5)) / 2})
    for rate in (1.001, 1.1, 2.0, -1.5):
        for n in (12, 60):
            yield Case("growth", 3 * rate ** np.arange(n, dtype=float), D, n == 12, {"rate": abs(rate)})
    yield Case("growth_wide", 10.0 ** (np.arange(600.0) - 300.0), D)
    yield Case("double_exponential", iterate(lambda x: x * x, 1.1, 12), D)


def _fibonacci(n: int) -> list[int]:
    out = [1, 2]
    while len(out) < n:
        out.append(out[-1] + out[-2])
    return out


GENERATORS = (sums, counters)
