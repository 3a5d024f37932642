"""Histories without a bound: counters of every kind, growth, unstable solvers, walks, blow-ups and NaN."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tests.evaluation.heldout.common import orbit, rng_of, scales
from tests.evaluation.scoring.cases import Case, D


def counters() -> Iterator[Case]:
    """Affine, patterned and staircase counters in every integer and float dtype."""
    dtypes = (np.int16, np.int32, np.int64, np.uint32, np.uint64, np.float16, np.float32, np.float64)
    for i, dtype in enumerate(dtypes):
        rng = rng_of("steps", i)
        for n in (8, 55, 600):
            step = int(rng.integers(1, 4))
            start = int(rng.integers(0, 30))
            v = start + step * np.arange(n)
            yield Case("steps", (v if v[-1] < 2000 else start + np.arange(n)).astype(dtype), D)
            if np.dtype(dtype).kind != "u":
                yield Case("steps_down", (-v if n < 600 else 9 - np.arange(n)).astype(dtype), D)
        yield Case("patterned", np.cumsum(np.tile([1, 2, 1, 3], 40)).astype(dtype), D, True)
        yield Case("two_up_one_down", np.cumsum(np.tile([3, -1], 60)).astype(dtype), D, True)
        yield Case("stairs_up", (np.arange(200) // 7).astype(dtype), D, True)
    for n in (12, 300, 4000):
        k = np.arange(n)
        yield Case("near_int64_end", 2**63 - 1 - 3 * k[::-1], D)
        yield Case("uint64_high", np.uint64(2**63) + (5 * k).astype(np.uint64), D)
        yield Case("triangular", k * (k + 1) // 2, D)
        for inc in (1 / 3, 1e-5, 1e-290, 1e295):
            yield Case("float_steps", np.add.accumulate(np.full(n, inc)), D)
        yield Case("offset_steps", 1e9 + 0.01 * k, D)


def growth() -> Iterator[Case]:
    for i in range(16):
        rng = rng_of("growth", i)
        rate = float(rng.choice([1.0008, 1.01, 1.07, 1.4, 3.0]))
        n = int(np.clip(math.log(1e6) / math.log(rate), 10, 6000))
        k, (scale, offset) = np.arange(n), scales(rng)
        scale = min(scale, 1e280)
        kind, w = i % 4, float(rng.uniform(0.3, 2.5))
        e = (rate**k, (-rate) ** k, rate**k * np.cos(w * k), rate**k * (1 + 0.2 * np.sin(w * k)))[kind]
        hard = kind >= 2
        facts = {"rate": rate} if kind < 3 and n >= 30 else {}
        yield Case("exponential", (offset + e) * scale, D, hard, facts)
    yield Case("factorials", np.array([float(math.factorial(i)) for i in range(60)]), D)
    yield Case("powers_of_two", 2 ** np.arange(62), D, facts={"rate": 2.0})
    t = [1, 1, 2]
    while len(t) < 50:
        t.append(sum(t[-3:]))
    yield Case("tribonacci", np.array(t), D, facts={"rate": 1.8392867552141612})
    yield Case("squaring", orbit(lambda x: x * x - 1.0, 1.7, 13), D, quarter=False)
    k = np.arange(400.0)
    for w in (0.2, 1.3):
        yield Case("amplitude_up", (5 + k) * np.sin(w * k), D, True)
        yield Case("ramp_with_sine", 0.3 * k + 4 * np.sin(w * k), D, True)
        yield Case("parabola_with_sine", 0.01 * k * k - 9 * np.cos(w * k), D, True)


def unstable() -> Iterator[Case]:
    """Steps that are too long: the eigenvalue 1 - h L is known."""
    for h, rate in ((2.2, 1.2), (2.05, 1.05), (3.0, 2.0)):
        yield Case("euler_unstable", orbit(lambda x, h=h: x - h * (x - 1), 1.001, 90), D, facts={"rate": rate})
    a = np.array([[1.0, 2.0], [3.0, 1.0]])
    x, v = np.array([0.3, -0.2]), []
    for _ in range(60):
        v.append(x[0])
        x = np.array([1.0, 1.0]) - (a - np.eye(2)) @ x
    yield Case("jacobi_unstable", np.array(v), D, facts={"rate": math.sqrt(6.0)})
    s, v = np.array([1.0, 0.0]), []
    for _ in range(300):
        v.append(s[0])
        s = s + 0.1 * np.array([s[1], -s[0]])
    yield Case("euler_oscillator", np.array(v), D, True, {"rate": math.sqrt(1.01)})


def random_growth() -> Iterator[Case]:
    for i in range(8):
        rng = rng_of("random_growth", i)
        n = int(rng.choice([250, 900, 4000]))
        k, e = np.arange(n), rng.normal(size=n)
        scale, _ = scales(rng)
        yield Case("drifting_walk", np.cumsum(0.6 + e) * scale, D, True)
        yield Case("lognormal_walk", np.exp(np.cumsum(0.05 + 0.1 * e[:250])) * min(scale, 1e150), D, True)
        yield Case("noisy_ramp", (0.05 * k + e) * scale, D, True)
        yield Case("poisson_counter", np.cumsum(rng.poisson(2.0, n)), D, True)
        yield Case("spread_grows", (1 + 0.05 * k) * e * scale, D, True)


def broken() -> Iterator[Case]:
    """Beyond the finite numbers: overflow, a square root below zero, blow-up in finite time."""
    with np.errstate(all="ignore"):
        x, v = np.float64(0.6), []
        for _ in range(30):
            v.append(x)
            x = x + 0.5 * x * x
        yield Case("blow_up", np.array(v), D, quarter=False)
        yield Case("sqrt_below_zero", np.sqrt(5.0 - np.arange(30) * 0.4), D, quarter=False)
        yield Case("log_of_zero", np.log(np.maximum(20.0 - np.arange(60), 0)), D, quarter=False)
        yield Case("float32_overflow", np.multiply.accumulate(np.full(150, np.float32(3))), D, quarter=False)
        yield Case("float16_overflow", np.add.accumulate(np.full(300, np.float16(900))), D, quarter=False)
        for n in (40, 700):
            v = np.cos(0.3 * np.arange(n))
            v[n // 2 :] = np.nan
            yield Case("cosine_then_nan", v, D, quarter=False)
            v = 1 + 0.9 ** np.arange(n)
            v[n - 5 :] = np.inf
            yield Case("settled_then_inf", v, D, True, quarter=False)


GENERATORS = (counters, growth, unstable, random_growth, broken)
