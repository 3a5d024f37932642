"""Histories that stay: constants of every dtype, rounding flutter, noise of many kinds around a level; and chaos."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tests.evaluation.heldout.common import orbit, rng_of, scales
from tests.evaluation.scoring.cases import Case, S, X


def constants() -> Iterator[Case]:
    for i, value in enumerate(
        (
            np.int8(-7),
            np.uint64(2**64 - 3),
            np.int64(-(2**62)),
            np.float32(1e-38),
            np.float16(65000),
            5e-324,
            -1e308,
            math.pi,
            False,
            np.int32(0),
        )
    ):
        for n in (8, 37, 5000):
            yield Case("constant", np.full(n, value), S)
        if isinstance(value, float):
            up, rng = np.nextafter(value, np.inf), rng_of("flutter", i)
            yield Case("one_ulp", np.where(rng.integers(0, 2, 300) > 0, value, up), S, True)
    yield Case("signed_zero", np.where(np.arange(60) % 2, 0.0, -0.0), S)
    yield Case("big_absorbs", np.add.accumulate(np.r_[1e17, np.full(90, 1.0)]), S)
    stuck = np.add.accumulate(np.r_[np.float32(3e8), np.full(500, np.float32(4))], dtype=np.float32)
    yield Case("float32_stuck", stuck, S)


def noise() -> Iterator[Case]:
    """Constant spread around a level from the first value on: STABLE by the rule."""
    for i in range(10):
        rng = rng_of("level_noise", i)
        n = int(rng.choice([60, 150, 700, 5000]))
        scale, offset = scales(rng)
        draws = {
            "laplace": rng.laplace(size=n),
            "uniform": rng.uniform(-1, 1, n),
            "student": rng.standard_t(4, n),
            "gauss": rng.normal(size=n),
        }
        name, e = list(draws.items())[i % 4]
        yield Case("level_" + name, (offset + 0.3 * e) * scale, S, True)
        ar = np.zeros(n)
        for k in range(1, n):
            ar[k] = 0.4 * ar[k - 1] + e[k]
        yield Case("level_ar", (5 + 0.1 * ar) * scale, S, True)
        yield Case("level_poisson", rng.poisson(30, n), S, True)
        yield Case("level_coin", rng.integers(0, 2, max(n, 150)).astype(bool), S, True)
        yield Case("level_low", (2 + 0.05 * e).astype((np.float16, np.float32)[i % 2]), S, True)


def maps() -> Iterator[Case]:
    """Maps whose Lyapunov exponent is known to be positive."""
    known = {
        "cubic": (lambda x: 2.9 * x * (1 - x * x), 0.21),
        "chebyshev": (lambda x: x * (4 * x * x - 3), 0.317),
        "beta": (lambda x: (1.7 * x) % 1.0, 0.1317),
        "ricker": (lambda x: x * math.exp(3.1 * (1 - x)), 0.41),
        "full_parabola": (lambda x: 1 - 2 * x * x, 0.123),
        "logistic_395": (lambda x: 3.95 * x * (1 - x), 0.271),
        "logistic_372": (lambda x: 3.72 * x * (1 - x), 0.4),
        "skew_tent": (lambda x: x / 0.37 if x < 0.37 else (1 - x) / 0.63, 0.1871),
        "circle_map": (lambda x: (x + 0.25 + 0.9 * math.sin(2 * math.pi * x)) % 1.0, 0.2),
    }
    for i, (name, (f, x0)) in enumerate(known.items()):
        for n in (50, 180, 1200, 8000):
            scale, offset = scales(rng_of("maps", 10 * i + n % 7))
            yield Case(name, (offset + orbit(f, x0, n)) * scale, X, n == 50, quarter=n > 50)
        yield Case(name + "_low", orbit(f, x0, 250).astype(np.float32), X, True)
    laminar = orbit(lambda x: (1 + math.sqrt(8) - 2e-4) * x * (1 - x), 0.3, 4000)
    yield Case("intermittent", laminar, X, True, quarter=False)


def flows() -> Iterator[Case]:
    """Two-dimensional maps and flows on their attractors."""
    for n in (120, 900):
        x, y, v = 0.2, 0.1, []
        for _ in range(n):
            v.append(x)
            x, y = 1 - 1.7 * abs(x) + y, 0.5 * x
        yield Case("lozi", np.array(v), X, n == 120)
        z, v = 0.1 + 0.1j, []
        for _ in range(n):
            v.append(z.real)
            t = 0.4 - 6 / (1 + abs(z) ** 2)
            z = 1 + 0.9 * z * complex(math.cos(t), math.sin(t))
        yield Case("ikeda", np.array(v), X, n == 120)
        p, q, v = 0.4, 1.1, []
        for _ in range(n):
            v.append(p)
            p = (p + 7.0 * math.sin(q)) % (2 * math.pi)
            q = (q + p) % (2 * math.pi)
        yield Case("standard_map", np.array(v), X, True)
        x, y, v = -0.7, 0.3, []
        for _ in range(n):
            v.append(y)
            x, y = y, -0.2 * x + 2.75 * y - y**3
        yield Case("duffing_map", np.array(v), X, True)

    def rossler(s: np.ndarray) -> np.ndarray:
        return np.array([-s[1] - s[2], s[0] + 0.2 * s[1], 0.2 + s[2] * (s[0] - 5.7)])

    s, v, h = np.array([1.0, 1.0, 0.0]), [], 0.05
    for i in range(16000):
        k1 = rossler(s)
        k2 = rossler(s + h / 2 * k1)
        k3 = rossler(s + h / 2 * k2)
        s = s + h / 6 * (k1 + 2 * k2 + 2 * k3 + rossler(s + h * k3))
        if i > 2000 and i % 20 == 0:
            v.append(s[0])
    yield Case("rossler", np.array(v), X, True)
    delay = list(0.9 + 0.1 * np.sin(np.arange(301)))
    for _ in range(60000):
        delay.append(delay[-1] + 0.1 * (0.2 * delay[-301] / (1 + delay[-301] ** 10) - 0.1 * delay[-1]))
    yield Case("mackey_glass", np.array(delay[10000::60]), X, True)


GENERATORS = (constants, noise, maps, flows)
