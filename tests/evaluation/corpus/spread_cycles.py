"""Cycles after transients of every kind, quasi-periodic motion, waves over many periods and lengths."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tests.evaluation.corpus.orbit import iterate
from tests.evaluation.scoring.cases import Case, O


def after_transients() -> Iterator[Case]:
    """A way of its own (a counter, a decay, noise), then an exact cycle of period p for most of the record."""
    for p in (2, 3, 4, 6, 10, 25):
        rng = np.random.default_rng(1000 + p)
        cycle = np.tile(rng.integers(-9, 9, p) + np.r_[20, np.zeros(p - 1, int)], 16)
        ways = (np.arange(-30, 0), rng.integers(-50, 50, 25), (100 * 0.7 ** np.arange(20)).astype(int))
        for way in ways:
            for dtype in (np.int64, np.float32):
                yield Case("way_in", np.r_[way, cycle].astype(dtype), O, True, {"period": p}, False)
    for r, p in ((3.3, 2), (3.46, 4), (3.56, 8), (3.739, 5), (3.6275, 6)):
        for n in (300, 2400) if p in (5, 6) else (300,):
            v = iterate(lambda x, r=r: r * x * (1 - x), 0.71, n + 100)[100:]
            yield Case("logistic_window", v, O, p > 4, {"period": p}, n > 300)


def quasi() -> Iterator[Case]:
    """Two or three frequencies without a common period: oscillating, with no period to name."""
    golden = (1 + math.sqrt(5)) / 2
    for n in (300, 1500, 6000):
        k = np.arange(n)
        for w in (0.31, 1.1):
            yield Case("torus", np.cos(w * k) + 0.8 * np.cos(golden * w * k), O, True)
            yield Case("torus_product", (2 + np.cos(w * k)) * np.sin(golden * w * k), O, True)
        third = 0.5 * np.sin(0.19 * math.sqrt(3) * k)
        yield Case("torus_three", np.sin(0.19 * k) + 0.7 * np.sin(0.19 * golden * k) + third, O, True)
        yield Case("rotation_steps", np.floor((k + 1) / golden) - np.floor(k / golden), O, True)


def many_waves() -> Iterator[Case]:
    for p in (math.sqrt(5.3), math.sqrt(13.7), math.sqrt(50), 11.0, math.e**3.4, math.pi**4):
        for n in (10, 40):
            k = np.arange(int(p * n))
            if len(k) < 24:
                continue
            wave = np.sin(2 * math.pi * k / p + 0.6)
            yield Case("wave", wave, O, facts={"period": p})
            yield Case("wave_offset", 1e5 + 0.1 * wave, O, True, {"period": p})
            yield Case("wave_power", np.sign(wave) * np.abs(wave) ** 0.3, O, True, {"period": p})
            yield Case("wave_in_float32", wave.astype(np.float32), O, True, {"period": p})


def predator() -> Iterator[Case]:
    """Ricker's and Henon's maps in the windows of their stable cycles."""
    for r, p in ((2.1, 2), (2.3, 2), (2.55, 4)):
        v = iterate(lambda x, r=r: x * math.exp(r * (1 - x)), 0.2, 900)[300:]
        yield Case("ricker_window", v, O, facts={"period": p})
    for a, p in ((0.5, 2), (0.8, 2), (0.95, 4)):
        x, y, out = 0.0, 0.0, []
        for _ in range(900):
            out.append(x)
            x, y = 1 - a * x * x + y, 0.3 * x
        yield Case("henon_window", np.array(out[400:]), O, facts={"period": p})


GENERATORS = (after_transients, quasi, many_waves, predator)
