"""Histories that repeat: finite machines, waves of every shape, rotations, cycles of maps, sums of two waves."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tests.evaluation.heldout.common import orbit, rng_of, scales
from tests.evaluation.scoring.cases import Case, O


def machines() -> Iterator[Case]:
    """Exact arithmetic on finite states; the period is found by running them."""
    for m, a, c in ((16, 5, 3), (31, 3, 0), (100, 21, 7), (257, 3, 0), (64, 13, 1)):
        x, seen = 1, []
        while x not in seen:
            seen.append(x)
            x = (a * x + c) % m
        p = len(seen) - seen.index(x)
        for repeat, dtype in ((3, np.int64), (6, np.float32), (8, np.int16)):
            v = orbit(lambda x, a=a, c=c, m=m: (a * x + c) % m, 1, repeat * p + 5)
            yield Case("congruential", v.astype(dtype), O, repeat == 3, {"period": p}, False)
    yield Case("collatz_negative", orbit(lambda n: n // 2 if n % 2 == 0 else 3 * n + 1, -5, 60), O, facts={"period": 5})
    with np.errstate(all="ignore"):
        yield Case("int8_wraps", np.arange(1100).astype(np.int8), O, True, {"period": 256}, False)
        yield Case("uint8_wraps", (np.arange(900) * 5).astype(np.uint8), O, True, {"period": 256}, False)
    state, bits = 1, []
    for _ in range(90):
        bits.append(state & 1)
        state = (state >> 1) | (((state ^ (state >> 1)) & 1) << 3)
    yield Case("shift_register", np.array(bits, dtype=bool), O, facts={"period": 15}, quarter=False)
    newton = orbit(lambda x: x - (x**3 - 2 * x + 2) / (3 * x * x - 2), 0.0, 40)
    yield Case("newton_cycle", newton, O, facts={"period": 2})
    yield Case("sign_flip", orbit(lambda x: -x, 3.5, 50), O, facts={"period": 2})
    yield Case("step_of_two_over_l", orbit(lambda x: x - 2.0 * (x - 1.0), 5.0, 33), O, facts={"period": 2})
    for i in range(8):
        rng = rng_of("pattern", i)
        p = int(rng.choice([2, 3, 4, 6, 9, 17, 60, 150]))
        n = max(8, int(p * rng.choice([3.3, 5.0, 12.5])))
        scale, offset = scales(rng)
        v = np.resize(offset + rng.normal(size=p), n) * scale
        yield Case("pattern", v, O, n < 4 * p, {"period": p}, n >= 10 * p)
        ints = rng.integers(-100, 100, p)
        ints[0] = 101
        dtype = (np.int8, np.int32)[i % 2]
        yield Case("pattern_int", np.resize(ints, n).astype(dtype), O, n < 4 * p, {"period": p}, n >= 10 * p)
        way = np.r_[50 * 0.6 ** np.arange(20) + 3, 3 + np.resize(rng.normal(size=p), 12 * p)]
        yield Case("way_to_pattern", way, O, True, {"period": p}, False)
        if p <= 17:
            b = np.resize(np.r_[True, rng.integers(0, 2, p - 2).astype(bool), False], 8 * p)
            yield Case("pattern_bool", b, O, quarter=False)


def waves() -> Iterator[Case]:
    """Waves with a fractional period; sums of harmonics; low precision; far offsets."""
    for i in range(20):
        rng = rng_of("waves", i)
        p, n = float(rng.uniform(2.6, 60)), int(rng.choice([150, 500, 2500, 9000]))
        n = max(n, int(6 * p))
        scale, offset = scales(rng)
        phase = np.arange(n) / p + 0.1234
        f = phase % 1.0
        shapes = {
            "wave_sine": np.sin(2 * np.pi * phase),
            "wave_square": np.where(f < 0.5, 1.0, -1.0),
            "wave_triangle": np.abs(2 * f - 1),
            "wave_saw": f,
            "wave_harmonics": np.sin(2 * np.pi * phase) + 0.4 * np.cos(4 * np.pi * phase),
        }
        name = list(shapes)[i % 5]
        hard = name in ("wave_square", "wave_saw")
        yield Case(name, (offset + shapes[name]) * scale, O, hard, {"period": p}, n >= 24 * p)
        noisy = shapes["wave_sine"] + float(rng.uniform(0.02, 0.2)) * rng.normal(size=n)
        if n >= 12 * p:
            yield Case("wave_noisy", (offset + noisy) * scale, O, True, {"period": p}, n >= 60 * p)
        if i % 4 == 0:
            low = (3 + shapes["wave_sine"]).astype((np.float32, np.float16)[i % 8 // 4])
            yield Case("wave_low", low, O, True, {"period": p}, n >= 24 * p)
    k = np.arange(800)
    for w in (0.17, 0.9, 2.3):
        yield Case("far_offset", 1e6 + 1e-2 * np.sin(w * k), O, True, {"period": 2 * math.pi / w})
        settling = (1 + 0.8 * 0.97**k) * np.cos(w * k)
        yield Case("to_amplitude", settling, O, True, {"period": 2 * math.pi / w}, False)
        for v in (math.sqrt(2), math.sqrt(7)):
            yield Case("two_waves", np.sin(w * k) + 0.6 * np.sin(v * w * k + 1), O, True)
        yield Case("beats", np.cos(w * k) * (1 + 0.5 * np.cos(0.11 * w * k)), O, True)


def rotations() -> Iterator[Case]:
    """Symplectic Euler of the oscillator turns by acos(1 - h^2 / 2) a step; a relaxed circle; a plane rotation."""
    for h in (0.1, 0.6, 1.3):
        q, p, v = 1.0, 0.0, []
        for _ in range(700):
            v.append(q)
            p -= h * q
            q += h * p
        yield Case("symplectic", np.array(v), O, facts={"period": 2 * math.pi / math.acos(1 - h * h / 2)})
    for w in (0.4, 1.9):
        z, v = complex(2.0, 0.5), []
        for _ in range(500):
            v.append(z.imag)
            z = z * complex(math.cos(w), math.sin(w)) / math.sqrt(abs(z))
        yield Case("circle_attracts", np.array(v), O, True, {"period": 2 * math.pi / w}, False)


def cycles_of_maps() -> Iterator[Case]:
    """Stable cycles: of x^2 - c near superstable centers, of Ricker's and Henon's maps in their known windows."""
    for c, p in ((1.0, 2), (0.9, 2), (1.3107, 4), (1.7549, 3), (1.6254, 5)):
        for n in (70, 900):
            v = orbit(lambda x, c=c: x * x - c, 0.2, n + 200)[200:]
            yield Case("quadratic_cycle", v, O, n == 70, {"period": p}, n == 900)
    for r, p in ((2.2, 2), (2.6, 4)):
        for n in (80, 1200):
            v = orbit(lambda x, r=r: x * math.exp(r * (1 - x)), 0.4, n)
            yield Case("ricker_cycle", v, O, n == 80, {"period": p}, n == 1200)
    for a, p in ((0.6, 2), (1.0, 4), (1.25, 7)):
        x, y, v = 0.1, 0.1, []
        for _ in range(1500):
            v.append(x)
            x, y = 1 - a * x * x + y, 0.3 * x
        yield Case("henon_cycle", np.array(v[500:]), O, facts={"period": p})


GENERATORS = (machines, waves, rotations, cycles_of_maps)
