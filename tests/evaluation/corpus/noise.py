"""Noise on the way to a limit, around a level, on growth and on waves."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tests.evaluation.scoring.cases import C, Case, D, O, S


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


GENERATORS = (noise,)
