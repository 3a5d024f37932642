"""Records of 10,000 values, far longer than the ring of a streaming state, of every kind that loops make."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tests.evaluation.corpus.orbit import iterate

N = 10_000


def records() -> Iterator[tuple[str, np.ndarray]]:
    """(name, values), deterministic."""
    yield from smooth()
    yield from noisy()
    yield from returning()
    yield from arriving()
    yield from whole_numbers()


def smooth() -> Iterator[tuple[str, np.ndarray]]:
    k = np.arange(N, dtype=float)
    for rate in (0.9, 0.99, 0.999, 0.9995, 0.9999, -0.9, -0.999):
        for level in (0.0, 3.0):
            yield f"geometric {rate} to {level}", level + 2.0 * np.sign(rate) ** k * abs(rate) ** k
    for s in (0.25, 0.5, 1.0, 1.5, 2.0, 3.0):
        yield f"power {s}", 1.0 + (k + 1) ** -s
        yield f"sum of power {s}", np.cumsum((k + 1) ** -s)
    yield "logarithm", np.log(k + 1)
    yield "alternating harmonic", np.cumsum((-1.0) ** k / (k + 1))
    yield "line", 0.25 * k
    yield "parabola", 1e-3 * k * k
    yield "growth", 1.01**k * 1e-40
    yield "square root", np.sqrt(k + 1)
    for rate, turn in ((0.999, 0.1), (0.9995, 1.0), (1.0, 0.3), (1.0, 0.05), (1.0002, 0.2)):
        yield f"spiral {rate} {turn}", 1.0 + rate**k * np.cos(turn * k)
    yield "two rates", 1 + 0.9995**k + 0.9**k
    yield "geometric float32", (1 + 0.999**k).astype(np.float32)
    yield "geometric float16", (1 + 0.999**k).astype(np.float16)
    yield "power float32", (1 + (k + 1) ** -0.5).astype(np.float32)


def noisy() -> Iterator[tuple[str, np.ndarray]]:
    k = np.arange(N, dtype=float)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        noise = rng.normal(size=N)
        yield f"noise {seed}", 5 + 0.1 * noise
        yield f"walk {seed}", np.cumsum(noise)
        yield f"noisy line {seed}", 0.01 * k + noise
        for time in (30, 300, 1500):
            yield f"noise ball after {time}, {seed}", 5 * np.exp(-k / time) + 0.1 * noise
        yield f"shrinking noise {seed}", noise / np.sqrt(k + 1)
        yield f"fading noise {seed}", noise * 0.999**k
        yield f"growing noise {seed}", noise * (1 + k / 1000)
        yield f"noisy sine {seed}", np.sin(0.1 * k) + 0.02 * noise
        x = np.zeros(N)
        for i in range(1, N):
            x[i] = 0.95 * x[i - 1] + noise[i]
        yield f"pulled back {seed}", x


def returning() -> Iterator[tuple[str, np.ndarray]]:
    for r in (3.2, 3.5, 3.55, 3.7, 3.9, 4.0, 2.9, 3.83):
        yield f"logistic {r}", iterate(lambda x, r=r: r * x * (1 - x), 0.2, N)
    x, y, henon = 0.1, 0.1, []
    for _ in range(N):
        x, y = 1 - 1.4 * x * x + y, 0.3 * x
        henon.append(x)
    yield "henon", np.array(henon)
    for p in (2, 3, 7, 30, 100, 400):
        cycle = np.random.default_rng(p).normal(size=p)
        yield f"period {p}", np.tile(cycle, N // p + 1)[:N]
        yield f"period {p} in the end", np.r_[np.random.default_rng(p + 1).normal(size=3000), np.tile(cycle, N)][:N]
    for p in (5.5, 40.3, 300.7):
        yield f"sine {p}", np.sin(2 * math.pi / p * np.arange(N))


def arriving() -> Iterator[tuple[str, np.ndarray]]:
    yield "newton", iterate(lambda x: 0.5 * (x + 2 / x), 30.0, N)
    yield "cosine", iterate(math.cos, 1.0, N)
    yield "slow cosine", iterate(lambda x: x + 0.003 * (math.cos(x) - x), 1.0, N)
    for f, x0, name in ((math.cos, 1.0, "cosine"), (lambda x: 0.9 * x + 1, 0.0, "line")):
        yield f"{name} float32", np.array(iterate(f, x0, N), np.float32)
    yield "constant", np.full(N, 2.5)
    yield "steps then still", np.r_[np.arange(3000.0), np.full(N - 3000, 3000.0)]
    yield "collapse", np.cumsum(np.full(N, 1.0, np.float32) * np.float32(4096.0), dtype=np.float32)
    yield "absorbed", np.minimum(np.float32(2**24) - 5000 + np.arange(N), 2**24).astype(np.float32)
    chaos = iterate(lambda x: 3.9 * x * (1 - x), 0.3, 5000)
    yield "chaos then still", np.r_[chaos, np.full(N - 5000, 0.5)]
    yield "still then a line", np.r_[np.full(5000, 1.0), 1.0 + np.arange(N - 5000)]
    yield "still then chaos", np.r_[np.full(5000, 0.5), chaos]
    for at in (3, 5000, 9990):
        late = 1 + 0.999 ** np.arange(N)
        late[at] = np.nan
        yield f"one nan at {at}", late
        gone = 1 + 0.999 ** np.arange(N)
        gone[at:] = np.inf
        yield f"inf from {at}", gone
    yield "overflow", np.exp(np.minimum(np.arange(N) * 0.5, 800.0))


def whole_numbers() -> Iterator[tuple[str, np.ndarray]]:
    k = np.arange(N)
    yield "counter", k
    yield "counter of int8", k.astype(np.int8)
    yield "countdown", N - k
    yield "beyond 2^53", 2**60 + 3 * k
    yield "unsigned", (np.uint64(2**63) + k.astype(np.uint64))
    yield "halving", np.maximum(10**9 >> np.minimum(k, 40), 0)
    yield "collatz tail", np.array(collatz(27, N))
    yield "bool that settles", k > 100
    yield "bool that alternates", k % 2 == 0
    yield "coin", np.random.default_rng(0).integers(0, 2, N).astype(bool)
    yield "dice", np.random.default_rng(0).integers(0, 6, N)
    yield "still", np.full(N, 7)
    yield "residues", k % 37


def collatz(n: int, count: int) -> list[int]:
    found: list[int] = []
    for _ in range(count):
        found.append(n)
        n = n // 2 if n % 2 == 0 else 3 * n + 1
    return found
