"""Random histories of sums, counters, growth, and what rounding and overflow make of them."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.random_histories.base import C, D, Drawn, Rng, S, length, shift


def power_sum(rng: Rng) -> Drawn:
    n, kind = length(rng, 30, 10000), rng.integers(0, 6)
    k = np.arange(1.0, n + 1) + (rng.uniform(0, 5) if rng.random() < 0.5 else 0.0)
    if kind == 0:
        s = rng.uniform(0.2, 1.0)
        return Drawn("sum_without_limit", shift(rng, np.cumsum(k**-s))[0], D)
    if kind == 1:
        s = rng.uniform(1.2, 3.0)
        return Drawn("sum_with_limit", shift(rng, np.cumsum(k**-s))[0], C, {"exponent": s - 1})
    if kind == 2:
        e, level = rng.uniform(0.3, 2.5), rng.normal()
        values, facts = shift(rng, level + rng.uniform(0.2, 5) * k**-e, limit=level)
        return Drawn("power_law", values, C, facts | {"exponent": e})
    if kind == 3:
        values = np.log(k) if rng.random() < 0.5 else k ** rng.uniform(0.2, 0.8)
        return Drawn("root_or_log", shift(rng, values)[0], D)
    if kind == 4:
        p = rng.uniform(0.5, 2.0)
        return Drawn("alternating_sum", np.cumsum((-1.0) ** np.arange(n) * k**-p), C)
    x, out, c, p = rng.uniform(0.3, 1.0), [], rng.uniform(0.1, 0.4), int(rng.integers(2, 5))
    for _ in range(n):
        out.append(x)
        x -= c * x**p
    return Drawn("slow_fixed_point", np.array(out), C, {"exponent": 1 / (p - 1)} if n > 1500 else {}, n > 400)


def counter(rng: Rng) -> Drawn:
    n, kind = length(rng, 8, 10000), rng.integers(0, 7)
    k = np.arange(n)
    start, step = int(rng.integers(-1000, 1000)), int(rng.integers(1, 50)) * int(rng.choice([-1, 1]))
    if kind == 0:
        return Drawn("counter", (start + step * k).astype(rng.choice([np.int64, np.int32, np.float64])), D)
    if kind == 1:
        return Drawn("counter_big", int(2**60) + step * k.astype(np.int64), D)
    if kind == 2:
        return Drawn("counter_float", np.cumsum(np.full(n, rng.uniform(0.01, 3))) + start, D)
    if kind == 3:
        return Drawn("counter_float32", np.cumsum(np.full(n, np.float32(rng.uniform(0.1, 3))), dtype=np.float32), D)
    if kind == 4:
        p = int(rng.integers(2, 4))
        return Drawn("polynomial", (k.astype(np.int64) + 1) ** p * step, D)
    if kind == 5:
        each = int(rng.integers(2, 6))
        return Drawn("slow_counter", start + step * (np.arange(max(n, 8 * each)) // each), D, quarter=n > 48 * each)
    return Drawn("counter_scaled", shift(rng, start + step * k.astype(float))[0], D)


def growth(rng: Rng) -> Drawn:
    n, kind = length(rng, 12, 400), rng.integers(0, 3)
    if kind == 0:
        rate = rng.choice([-1.0, 1.0]) * math.exp(rng.uniform(2, 200) / n)
        return Drawn("growth", shift(rng, rate ** np.arange(n))[0], D, {"rate": abs(rate)})
    if kind == 1:
        a, b = int(rng.integers(1, 9)), int(rng.integers(1, 9))
        out = [a, b]
        while len(out) < min(n, 70):
            out.append(out[-1] + out[-2])
        return Drawn("fibonacci", np.array(out), D)
    x, out = rng.uniform(1.1, 3.0), []
    for _ in range(12):
        out.append(x)
        if x > 1e120:
            break
        x = x * x
    return Drawn("double_exponential", np.array(out), D) if len(out) >= 6 else growth(rng)


def collapse(rng: Rng) -> Drawn:
    kind = rng.integers(0, 5)
    n = length(rng, 60, 1000)
    at = int(rng.integers(n // 4, 3 * n // 4))
    if kind == 0:
        top, one = rng.choice([(2.0**24, np.float32), (2.0**11, np.float16), (2.0**53, np.float64)], axis=0)
        return Drawn("absorbed", np.minimum(top - at + np.arange(n), top).astype(one), S, quarter=False)
    if kind == 1:
        return Drawn("saturated", np.minimum(np.arange(n), at), C, quarter=False)
    if kind == 2:
        return Drawn("flag", np.arange(4 * n) >= at, C, quarter=False)
    if kind == 3:
        first = 10 ** int(rng.integers(3, 18))
        return Drawn("halving", np.array([first // 2**i for i in range(max(12, n // 8))]), C, quarter=False)
    values = (rng.normal() + 3 * math.exp(-rng.uniform(10, 60) / n) ** np.arange(n)).astype(np.float16)
    return Drawn("float16_approach", values, C, quarter=False)


def constant(rng: Rng) -> Drawn:
    n = length(rng, 8, 3000)
    if rng.random() < 0.5:
        value = rng.choice([0.0, 1.0, rng.normal() * 10.0 ** rng.uniform(-30, 30)])
        return Drawn("constant", np.full(n, value).astype(rng.choice([np.float64, np.float32])), S)
    return Drawn("flutter", rng.normal() * (1 + rng.integers(-1, 2, n) * 2.2e-16), S)


def broken(rng: Rng) -> Drawn:
    n = length(rng, 12, 600)
    at = int(rng.integers(n // 2, n - 1)) if n > 4 else 2
    k = np.arange(n)
    kind = rng.integers(0, 4)
    with np.errstate(all="ignore"):
        if kind == 0:
            out = np.multiply.accumulate(np.full(n + 40, math.exp(800 / n)))
            return Drawn("overflow", out, D, quarter=False)
        values = rng.normal() + 0.9**k if kind == 1 else np.cos(k) if kind == 2 else k * 2.0
    return Drawn("becomes_nan", np.where(k < at, values, math.nan), D, quarter=False)
