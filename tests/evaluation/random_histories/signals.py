"""Random histories that oscillate: damped, periodic, quasi-periodic, chaotic."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.random_histories.base import C, D, Drawn, O, Rng, X, length, shift


def damped(rng: Rng) -> Drawn:
    n, w = length(rng, 30, 1500), rng.uniform(0.1, 3.0)
    rate = math.exp(-rng.uniform(0.5, 25) / n)
    k = np.arange(n)
    if rng.random() < 0.25:
        rate = math.exp(rng.uniform(1, 30) / n)
        return Drawn("growing_oscillation", rng.normal() + rate**k * np.cos(w * k + 1), D, {"rate": rate})
    values, facts = shift(rng, rng.normal() + 0 * k + rate**k * np.cos(w * k + rng.uniform(0, 6)))
    level = rng.normal()
    base = level + rate**k * np.cos(w * k + rng.uniform(0, 6))
    values, facts = shift(rng, base, limit=level)
    return Drawn("damped", values, C, facts | {"rate": rate}, quarter=rate ** (n / 4) < 0.9 and n / 4 * w > 12)


def cycle(rng: Rng) -> Drawn:
    p = int(rng.integers(2, 50))
    values, n = rng.normal(size=p), int(p * rng.uniform(3, 30)) + 4
    if rng.random() < 0.3:
        values = rng.permutation(p) * int(rng.integers(1, 9))
    out = np.tile(values, n // p + 1)[:n]
    if rng.random() < 0.3:
        before = rng.normal(size=int(rng.integers(1, max(2, n // 4)))) if out.dtype.kind == "f" else out[:1] * 3 + 7
        return Drawn("cycle_transient", np.concatenate([before, out]), O, {"period": p}, quarter=False)
    return Drawn("cycle", out, O, {"period": p}, quarter=n / 4 > 2.2 * p)


def sine(rng: Rng) -> Drawn:
    w, n = rng.uniform(0.05, 3.0), length(rng, 60, 4000)
    k = np.arange(n)
    out = rng.normal() + rng.uniform(0.1, 5) * np.sin(w * k + rng.uniform(0, 6))
    near_two = abs(w - math.pi) < 0.05
    if rng.random() < 0.2:
        return Drawn("sine_low", out.astype(np.float32), O, {"period": 2 * math.pi / w}, n / 4 * w > 10)
    return Drawn("sine", shift(rng, out)[0], O, {} if near_two else {"period": 2 * math.pi / w}, n / 4 * w > 10)


def two_sines(rng: Rng) -> Drawn:
    w, n = rng.uniform(0.2, 1.4), length(rng, 200, 3000)
    k = np.arange(n)
    out = np.sin(w * k) + rng.uniform(0.3, 0.8) * np.sin(w * (math.sqrt(5) - 1) * k + 1)
    return Drawn("two_sines", shift(rng, out)[0], O, quarter=n > 800)


def square_wave(rng: Rng) -> Drawn:
    p = int(rng.integers(4, 30))
    on = int(rng.integers(1, p))
    out = np.arange(p * int(rng.integers(4, 40))) % p < on
    values = out if rng.random() < 0.5 else np.where(out, 1.5, -0.25)
    return Drawn("square_wave", values, O, {"period": p}, quarter=len(out) > 16 * p)


def limit_cycle(rng: Rng) -> Drawn:
    w, n, gain = rng.uniform(0.2, 2.8), length(rng, 150, 1500), rng.uniform(0.05, 0.2)
    z, out = complex(rng.uniform(0.05, 2.0), 0.0), []
    for _ in range(n):
        z *= complex(math.cos(w), math.sin(w)) * (1 + gain - gain * abs(z) ** 2)
        out.append(z.real)
    return Drawn("limit_cycle", np.array(out), O, {"period": 2 * math.pi / w}, quarter=False)


def two_cycle(rng: Rng) -> Drawn:
    n = length(rng, 30, 500)
    k = np.arange(n)
    rate = math.exp(-rng.uniform(6, 60) / n)
    return Drawn(
        "two_cycle", rng.normal() + (-1.0) ** k * (0.5 + rng.uniform(-0.4, 1) * rate**k), O, {"period": 2}, False
    )


def logistic(rng: Rng) -> Drawn:
    r, n = rng.uniform(3.05, 4.0), length(rng, 60, 2000)
    x, total, orbit = rng.uniform(0.1, 0.9), 0.0, []
    out = []
    for i in range(6000):
        if i < n:
            out.append(x)
        x = r * x * (1 - x)
        if i >= 2000:
            total += math.log(max(abs(r * (1 - 2 * x)), 1e-300))
            orbit.append(x)
    exponent = total / 4000
    ends = np.array(orbit[-512:])
    period = next((p for p in range(1, 65) if np.max(np.abs(ends[p:] - ends[:-p])) < 1e-9), 0)
    if period and exponent < -0.02 and 40 * period < n:
        reach = -0.05 * n * exponent > 1
        values = shift(rng, np.array(out))[0]
        return Drawn("logistic_cycle", values, O, {"period": period} if reach else {}, quarter=False)
    if exponent < 0.12 or period:
        return logistic(rng)
    values = np.array(out) + (rng.normal() if rng.random() < 0.3 else 0.0)
    if rng.random() < 0.15:
        return Drawn("logistic_low", values.astype(np.float32), X)
    return Drawn("logistic", shift(rng, values)[0], X)


def maps(rng: Rng) -> Drawn:
    kind, n = rng.integers(0, 5), length(rng, 120, 1500)
    out: list[float] = []
    if kind == 0:
        a, b = rng.uniform(1.36, 1.42), rng.uniform(0.28, 0.3)
        x, y = 0.1, 0.1
        for _ in range(n + 20):
            x, y = 1 - a * x * x + y, b * x
            out.append(x)
        if abs(x) > 5:
            return maps(rng)
        return Drawn("henon", shift(rng, np.array(out[20:]))[0], X)
    x, c = rng.uniform(0.15, 0.35), rng.uniform(0, 1)
    f = (
        None,
        lambda x: (1.6 + 0.39 * c) * min(x, 1 - x),
        lambda x: (0.955 + 0.04 * c) * math.sin(math.pi * x),
        lambda x: math.exp(-6.2 * x * x) - (0.53 + 0.03 * c),
        lambda x: x * math.exp((2.85 + 0.15 * c) * (1 - x)),
    )[kind]
    total = 0.0
    for i in range(max(n, 3000)):
        out.append(x)
        total += math.log(max(abs(f(x + 1e-7) - f(x - 1e-7)) / 2e-7, 1e-300)) if i > 100 else 0.0
        x = f(x)
    if total / (len(out) - 100) < 0.15:
        return maps(rng)
    return Drawn(("", "tent", "sine_map", "gauss_map", "ricker")[kind], np.array(out[:n]), X)


def lorenz(rng: Rng) -> Drawn:
    s, out, every = rng.normal(size=3) + [1, 1, 20], [], int(rng.integers(5, 9))
    for i in range(1000 + every * int(rng.integers(300, 600))):
        d = np.array([10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]])
        s = s + 0.01 * d
        if i >= 1000 and i % every == 0:
            out.append(s[0])
    return Drawn("lorenz", np.array(out), X, quarter=False)
