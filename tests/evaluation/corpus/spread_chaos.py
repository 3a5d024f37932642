"""Chaos over maps and lengths, intermittent chaos, and Henon's map at many scales."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tests.evaluation.corpus.orbit import iterate
from tests.evaluation.scoring.cases import Case, X


def maps() -> Iterator[Case]:
    """One-dimensional maps with a positive Lyapunov exponent (ln 2 for the conjugates of the tent map)."""
    known = {
        "logistic_387": (lambda x: 3.87 * x * (1 - x), 0.2),
        "logistic_398": (lambda x: 3.98 * x * (1 - x), 0.37),
        "conjugate_tent": (lambda x: math.sin(math.pi * x / 2) ** 2 if x < 0 else 4 * x * (1 - x), 0.271),
        "tent_175": (lambda x: 1.75 * min(x, 1 - x), 0.3331),
        "beta_golden": (lambda x: (1.9 * x + 0.1) % 1.0, 0.47),
        "ricker_28": (lambda x: x * math.exp(2.85 * (1 - x)), 0.3),
        "gauss_75": (lambda x: math.exp(-7.5 * x * x) - 0.58, 0.12),
        "sine_095": (lambda x: 0.95 * math.sin(math.pi * x), 0.33),
    }
    for i, (name, (f, x0)) in enumerate(known.items()):
        for n in (64, 240, 1500, 10000):
            scale = 10.0 ** (0, 90, -140, 280)[(i + n) % 4]
            yield Case(name, scale * (iterate(f, x0, n + 50)[50:] + (i % 3)), X, n == 64, quarter=n > 64)
        yield Case("float32_" + name, iterate(f, x0, 200).astype(np.float32), X, True)


def henon() -> Iterator[Case]:
    for n in (80, 400, 5000):
        for scale in (1.0, 1e-250, 1e200):
            x, y, out = 0.05, -0.1, []
            for _ in range(n):
                out.append(x)
                x, y = 1 - 1.4 * x * x + y, 0.3 * x
            yield Case("henon_spread", scale * np.array(out), X, n == 80, quarter=n > 80)
        x, y, z, out = 0.3, 0.2, 0.1, []
        for _ in range(n):
            out.append(x)
            x, y, z = 1.76 - y * y - 0.1 * z, x, y
        yield Case("henon_three", np.array(out), X, True, quarter=n > 80)


def intermittent() -> Iterator[Case]:
    """Long nearly regular stretches with bursts between (Pomeau and Manneville 1980)."""
    for z, x0 in ((1.6, 0.11), (1.8, 0.23)):
        v = iterate(lambda x, z=z: (x + x**z) % 1.0, x0, 3000)
        yield Case("manneville", v, X, True, quarter=False)
    for gap in (5e-4, 2e-3):
        v = iterate(lambda x, gap=gap: (1 + math.sqrt(8) - gap) * x * (1 - x), 0.4, 5000)
        yield Case("laminar", v, X, True, quarter=False)


GENERATORS = (maps, henon, intermittent)
