"""Momentum, damped and growing oscillation, cycles and waves."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tests.evaluation.corpus.orbit import iterate
from tests.evaluation.scoring.cases import C, Case, D, O


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


GENERATORS = (momentum, periodic)
