"""Noise over kinds, colours, lengths and scales: at a level, on the way, growing, wandering."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.evaluation.scoring.cases import C, Case, D, O, S


def levels() -> Iterator[Case]:
    for seed in range(7):
        rng = np.random.default_rng(500 + seed)
        n = (48, 90, 200, 500, 1300, 4000, 9000)[seed]
        e, u, scale = rng.normal(size=n), rng.uniform(-1, 1, n), 10.0 ** (60 * (seed - 3))
        yield Case("around", scale * (1 + 0.1 * e), S, True)
        yield Case("around_zero", scale * u, S, True)
        smooth = np.convolve(rng.normal(size=n + 2), np.ones(3) / 3, "valid")
        yield Case("moving_average", scale * (4 + smooth), S, True)
        yield Case("dice", rng.integers(1, 7, n), S, True)
        yield Case("quantised", np.round(4 * e) / 4 + 10, S, True)
        yield Case("coarse_float16", (50 + e).astype(np.float16), S, True)
        yield Case("triangular_noise", scale * (u + rng.uniform(-1, 1, n)), S, True)


def ways() -> Iterator[Case]:
    for seed in range(6):
        rng = np.random.default_rng(600 + seed)
        n = (150, 400, 400, 1000, 3000, 8000)[seed]
        k, e = np.arange(n), rng.normal(size=n)
        yield Case("ball_after_fall", 10 * np.exp(-30 * k / n) + 0.05 * e, C, True, quarter=False)
        yield Case("ball_after_swing", 8 * np.exp(-25 * k / n) * np.cos(0.4 * k) + 0.05 * e, C, True, quarter=False)
        yield Case("dying_noise", 3 + np.exp(-12 * k / n) * e, C, True, quarter=False)
        yield Case("relative_noise", np.exp(-20 * k / n) * (1 + 0.1 * e), C, True)
        yield Case("noisy_parabola", (6 * k / n) ** 2 + 0.2 * e, D, True, quarter=False)
        yield Case("noisy_line_down", -9.0 * k / n + 0.3 * e, D, True, quarter=False)
        yield Case("noise_explodes", np.exp(6 * k / n) * e, D, True, quarter=False)
        wave = np.sin(2 * np.pi * k * 15 / n)
        yield Case("noisy_wave", 100 + wave + 0.2 * e, O, True, {"period": n / 15}, False)
        if n >= 400:
            yield Case("wandering", np.cumsum(0.3 + e), D, True, quarter=False)


GENERATORS = (levels, ways)
