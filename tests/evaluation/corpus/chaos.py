"""Chaotic maps and a flow."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tests.evaluation.corpus.orbit import iterate
from tests.evaluation.scoring.cases import Case, X


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


GENERATORS = (chaotic,)
