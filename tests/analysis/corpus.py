"""Histories with mathematically known truth, deterministic. The development set of the loop analysis.

Each generator yields ``Case`` objects; the truth follows from how the values were made, never from looking at them.
Truths that depend on a convention follow the rules of analysis.md and of ``workbench.analysis.noise``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

C, D, O, S, X = "CONVERGING", "DIVERGING", "OSCILLATING", "STABLE", "CHAOTIC"  # noqa: E741


@dataclass
class Case:
    """One history: its label and the numbers that are known (rate, limit, period, exponent, order)."""

    family: str
    values: np.ndarray
    label: str
    hard: bool = False
    facts: dict[str, float] = field(default_factory=dict)


def iterate(f: Callable[[float], float], x: float, n: int) -> np.ndarray:
    out = [x]
    for _ in range(n - 1):
        x = f(x)
        out.append(x)
    return np.array(out)


def newton() -> Iterator[Case]:
    for a in (2.0, 3.0, 10.0, 0.5, 1e10, 1e-10):
        for n in (8, 12, 60):
            x0 = 1.5 * math.sqrt(a)
            values = iterate(lambda x, a=a: 0.5 * (x + a / x), x0, n)
            yield Case("newton", values, C, facts={"limit": math.sqrt(a)} | ({"order": 2.0} if n == 8 else {}))
    for scale in (1e-300, 1e-100, 1e100, 1e300):
        values = iterate(lambda x: 0.5 * (x + 2 / x), 2.5, 10) * scale
        yield Case("newton_scaled", values, C, facts={"limit": math.sqrt(2.0) * scale})
    for dtype in (np.float32, np.float16):
        yield Case("newton_low", iterate(lambda x: 0.5 * (x + 2 / x), 3.0, 20).astype(dtype), C)
    for n in (20, 40):  # a double root: linear, rate 1/2
        yield Case("newton_double", iterate(lambda x: x - (x - 1) / 2, 4.0, n), C, facts={"rate": 0.5})


def secant() -> Iterator[Case]:
    for f, x0, x1, root in (
        (lambda x: x * x - 2, 1.0, 2.0, math.sqrt(2)),
        (lambda x: x**3 - x - 2, 1.0, 2.0, 1.5213797068045675),
        (lambda x: math.cos(x) - x, 0.0, 1.0, 0.7390851332151607),
    ):
        xs = [x0, x1]
        for _ in range(10):
            a, b = xs[-2:]
            fa, fb = f(a), f(b)
            xs.append(b if fa == fb else b - fb * (b - a) / (fb - fa))
        yield Case("secant", np.array(xs), C, facts={"limit": root})
        yield Case("secant", np.array(xs[:8]), C, facts={"limit": root})


def fixed_points() -> Iterator[Case]:
    maps = (
        (math.cos, 1.0, 0.7390851332151607, math.sin(0.7390851332151607)),
        (lambda x: math.exp(-x), 0.5, 0.5671432904097838, 0.5671432904097838),
        (lambda x: 0.9 * x + 1, 0.0, 10.0, 0.9),
        (lambda x: 0.99 * x + 1, 0.0, 100.0, 0.99),
        (lambda x: -0.95 * x + 1, 3.0, 1 / 1.95, 0.95),
        (lambda x: math.sqrt(1 + x), 0.0, (1 + math.sqrt(5)) / 2, 1 / (1 + math.sqrt(5))),
        (lambda x: 0.999 * x + 5, 1.0, 5000.0, 0.999),
        (lambda x: 2.8 * x * (1 - x), 0.2, 1 - 1 / 2.8, 0.8),
        (lambda x: 1.5 * x * (1 - x), 0.2, 1 - 1 / 1.5, 0.5),
    )
    for f, x0, limit, rate in maps:
        for n in (12, 30, 100, 1000):
            values = iterate(f, x0, n)
            easy = n >= 30
            yield Case(
                "fixed_point", values, C, not easy, {"limit": limit} | ({"rate": rate} if 30 <= n <= 100 else {})
            )
    for scale in (1e-300, 1e-150, 1e150, 1e300):
        yield Case("fixed_scaled", iterate(math.cos, 1.0, 50) * scale, C, facts={"limit": 0.7390851332151607 * scale})
    for dtype in (np.float16, np.float32):
        for rate in (0.5, 0.8, 0.9):
            values = (1 + rate ** np.arange(80)).astype(dtype)
            yield Case("fixed_low", values, C)
            yield Case("fixed_low", values[:16], C, True)


def power_iteration() -> Iterator[Case]:
    for seed, ratio in ((0, 0.5), (1, 0.9), (2, 0.97), (3, 0.3)):
        rng = np.random.default_rng(seed)
        q, _ = np.linalg.qr(rng.normal(size=(6, 6)))
        a = q @ np.diag([2.0, 2.0 * ratio, 0.4, 0.3, 0.2, 0.1]) @ q.T
        v = rng.normal(size=6)
        out = []
        for _ in range(120):
            v = a @ v
            v /= np.linalg.norm(v)
            out.append(v @ a @ v)
        for n in (20, 120):
            facts = {"limit": 2.0, "rate": ratio**2} if ratio < 0.95 and n > 20 else {}
            yield Case("power_iteration", np.array(out[:n]), C, n == 20, facts)


def linear_solvers() -> Iterator[Case]:
    n = 12
    a = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    b = np.ones(n)
    for omega, label in ((1.0, C), (1.4, C), (1.7, C), (1.9, C), (2.1, D)):
        x, residuals = np.zeros(n), []
        for _ in range(150):
            for i in range(n):
                x[i] += omega * (b[i] - a[i] @ x) / a[i, i]
            residuals.append(np.linalg.norm(b - a @ x))
        yield Case("sor", np.array(residuals), label, omega >= 1.7)
        yield Case("sor", np.array(residuals[:60]), label, True)
    for step in (0.1, 0.4, 0.49):
        x, values = np.linspace(0, 1, n), []
        for _ in range(400):
            x = x - step * (a @ x - b)
            values.append(0.5 * x @ a @ x - b @ x)
        yield Case("gradient_descent", np.array(values), C)
    for step in (0.6, 1.0):
        x, values = np.linspace(0, 1, n), []
        for _ in range(100):
            x = x - step * (a @ x - b)
            values.append(x[0])
        yield Case("gradient_too_long", np.array(values), D)


def momentum() -> Iterator[Case]:
    for beta, lr in ((0.9, 0.1), (0.9, 0.5), (0.95, 0.05), (0.5, 0.3), (0.99, 0.1)):
        x, v, out = 1.0, 0.0, []
        for _ in range(300):
            v = beta * v - lr * x
            x += v
            out.append(x)
        z = np.roots([1, -(1 + beta - lr), beta])
        for n in (40, 300):
            yield Case("momentum", np.array(out[:n]), C, n == 40, {"rate": float(np.abs(z).max())})
    for rate, w in ((0.95, 0.3), (0.99, 1.1), (0.9, 2.5), (0.998, 0.05)):
        k = np.arange(400)
        values = 3 + rate**k * np.cos(w * k)
        yield Case("damped", values, C, facts={"limit": 3.0, "rate": rate})
        yield Case("damped", values[:100], C, True, {"limit": 3.0, "rate": rate})
    for rate, w in ((1.02, 0.3), (1.1, 2.0), (1.005, 1.0)):
        k = np.arange(300)
        yield Case("growing_oscillation", rate**k * np.cos(w * k), D, facts={"rate": rate})


def noise() -> Iterator[Case]:
    for seed in range(6):
        rng = np.random.default_rng(100 + seed)
        k = np.arange(600)
        e = rng.normal(size=600)
        yield Case("sgd", 5 * 0.97**k + 0.1 * e, C, True)
        yield Case("sgd", (5 * 0.97**k + 0.1 * e).astype(np.float32), C, True)
        yield Case("sgd_decay", 2 + e / (1 + k) ** 0.6, C, True)
        yield Case("noise", 3 + 0.2 * e, S, True)
        yield Case("noise", 1e200 * (3 + 0.2 * e[:80]), S, True)
        yield Case("noise_uniform", rng.uniform(-1, 1, 200), S, True)
        yield Case("noisy_counter", k + 0.3 * e, D, True)
        yield Case("noisy_growth", 1.02**k * (1 + 0.05 * e), D, True)
        yield Case("noise_growing", 1.01**k * e, D, True)
        yield Case("noisy_sine", np.sin(0.35 * k) + 0.15 * e, O, True, {"period": 2 * math.pi / 0.35})
        yield Case("noisy_linear", 4 + 3 * 0.99**k * (1 + 0.02 * e), C, True)
        x, out = 4.0, []
        for _ in range(600):
            x -= 0.1 * (x + rng.normal())
            out.append(x)
        yield Case("sgd_real", np.array(out), C, True)


def periodic() -> Iterator[Case]:
    for p in (2, 3, 5, 7, 12, 40):
        rng = np.random.default_rng(p)
        cycle = rng.normal(size=p)
        for n in (4 * p, 10 * p, 500):
            if n >= 8:
                yield Case("cycle", np.tile(cycle, n // p + 1)[:n], O, facts={"period": p})
        yield Case("cycle_int", np.tile(rng.permutation(p) * 3, 30), O, facts={"period": p})
        yield Case("cycle_transient", np.concatenate([rng.normal(size=9), np.tile(cycle, 30)]), O, facts={"period": p})
    for w in (0.1, 0.5, 1.0, 2.0, 3.0):
        for n in (100, 1000):
            yield Case("sine", 2 + np.sin(w * np.arange(n)), O, facts={"period": 2 * math.pi / w})
        yield Case(
            "sine_low", (2 + np.sin(w * np.arange(300))).astype(np.float32), O, facts={"period": 2 * math.pi / w}
        )
    for r, p in ((3.2, 2), (3.5, 4), (3.55, 8), (3.83, 3)):
        for n in (60, 400, 3000):
            yield Case("logistic_cycle", iterate(lambda x, r=r: r * x * (1 - x), 0.3, n), O, n == 60, {"period": p})
    for w in (0.3, 1.0, 2.2):
        z, out = complex(0.1, 0.0), []
        for _ in range(400):
            z = z * complex(math.cos(w), math.sin(w)) * (1.1 - 0.1 * abs(z) ** 2)
            out.append(z.real)
        yield Case("spiral_to_circle", np.array(out), O, True, {"period": 2 * math.pi / w})
    k = np.arange(200)
    yield Case("two_cycle", 1 + (-1.0) ** k * (0.5 + 0.4 * 0.9**k), O, facts={"period": 2})
    yield Case("two_cycle", 1 + (-1.0) ** k[:40] * (0.5 + 0.4 * 0.7 ** k[:40]), O, facts={"period": 2})
    for pattern in ([True, False], [True, True, False], [False, False, False, True]):
        yield Case("bool_cycle", np.array(pattern * 20), O, facts={"period": len(pattern)})


def chaotic() -> Iterator[Case]:
    for r in (3.7, 3.8, 3.9, 4.0, 3.6):
        for n in (40, 200, 1000):
            values = iterate(lambda x, r=r: r * x * (1 - x), 0.3123, n)
            yield Case("logistic", values, X, n == 40 or r == 3.6)
    yield Case("logistic_low", iterate(lambda x: 3.9 * x * (1 - x), 0.31, 300).astype(np.float32), X)
    yield Case("logistic_scaled", iterate(lambda x: 3.9 * x * (1 - x), 0.31, 300) * 1e-300, X)
    for n in (60, 500):
        x, y, out = 0.1, 0.1, []
        for _ in range(n):
            x, y = 1 - 1.4 * x * x + y, 0.3 * x
            out.append(x)
        yield Case("henon", np.array(out), X, n == 60)
    for n in (100, 800):
        yield Case("tent", iterate(lambda x: 1.9 * min(x, 1 - x), 0.213, n), X, True)
        yield Case("sine_map", iterate(lambda x: 0.97 * math.sin(math.pi * x), 0.213, n), X, True)
        yield Case("gauss_map", iterate(lambda x: math.exp(-6.2 * x * x) - 0.55, 0.1, n), X, True)
    s, out = np.array([1.0, 1.0, 20.0]), []
    for i in range(4000):
        d = np.array([10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]])
        s = s + 0.01 * d
        if i >= 1000 and i % 6 == 0:
            out.append(s[0])
    yield Case("lorenz", np.array(out), X, True)


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


GENERATORS = (
    newton,
    secant,
    fixed_points,
    power_iteration,
    linear_solvers,
    momentum,
    noise,
    periodic,
    chaotic,
    sums,
    counters,
    collapse,
    constants,
    broken,
)


def cases() -> Iterator[Case]:
    """All cases, always the same ones in the same order."""
    for generator in GENERATORS:
        yield from generator()
