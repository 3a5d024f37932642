"""Plain thresholds: what is written first when loops are to be watched."""

from __future__ import annotations

import math

import numpy as np

from tests.evaluation.methods.method import finite, joined
from tests.evaluation.scoring.cases import Watched

SMALL = 1e-6
STUCK = 10


class Plain:
    """Steps below 1e-6, growth, a value met again, a spread that shrinks; a straight line to the end."""

    name = "plain thresholds"

    def label(self, values: np.ndarray) -> str:
        x = finite(values)
        if not np.all(np.isfinite(x)):
            return "DIVERGING"
        spread = float(np.ptp(x))
        if spread <= 1e-12:
            return "STABLE"
        quarter = max(2, len(x) // 4)
        early, late = float(np.ptp(x[:quarter])), float(np.ptp(x[-quarter:]))
        if abs(x[-1] - x[-2]) < SMALL * spread or late < 0.1 * early:
            return "CONVERGING"
        d = np.diff(x)
        if late > 3 * early or np.all(d > 0) or np.all(d < 0):
            return "DIVERGING"
        tail = x[-min(len(x), 200) :]
        for lag in range(2, len(tail) // 2):
            if np.all(np.abs(tail[lag:] - tail[:-lag]) < 1e-3 * spread):
                return "OSCILLATING"
        first, second = x[: len(x) // 2], x[len(x) // 2 :]
        if abs(first.mean() - second.mean()) < 0.1 * spread and float(np.std(x)) < 0.1 * abs(float(x.mean())):
            return "STABLE"
        return "CHAOTIC"

    def end(self, loop: Watched, upto: int) -> int | str | None:
        return joined(loop, upto, self._line)

    @staticmethod
    def _line(g: np.ndarray, op: str) -> int | str | None:
        if len(g) < 2 or not np.all(np.isfinite(g)):
            return None
        if len(g) >= STUCK and np.all(g[-STUCK:] == g[-1]):
            return "never"
        step = float(g[-1] - g[-2])
        if step >= 0:
            return "never" if len(g) >= STUCK and np.all(np.diff(g)[-STUCK:] >= 0) else None
        strict = op in ("<=", ">=")
        k = g[-1] / -step
        return max(1, math.floor(k) + 1 if strict else math.ceil(k)) if k < 1e15 else None
