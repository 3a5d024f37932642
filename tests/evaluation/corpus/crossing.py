"""When errors of known laws come below a tolerance for good."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tests.evaluation.scoring.cases import Tolerance


def _first(errors: np.ndarray, tol: float) -> int:
    outside = np.flatnonzero(np.abs(errors) > tol)
    return int(outside[-1]) + 1 if outside.size else 0


def tolerances() -> Iterator[Tolerance]:
    """Geometric, two modes, damped, power, critical and noisy laws; several rates, scales and tolerances."""
    rng = np.random.default_rng(99)
    for _ in range(15):
        n = 4000
        k, rate = np.arange(n), float(rng.uniform(0.75, 0.99))
        w, e = float(rng.uniform(0.2, 2.5)), rng.normal(size=n)
        scale, offset = 10.0 ** float(rng.integers(-8, 9)), float(rng.uniform(-3, 3))
        laws = {
            "tol_geometric": rate**k,
            "tol_alternating": (-rate) ** k,
            "tol_two_modes": rate**k - 0.7 * (0.7 * rate) ** k,
            "tol_damped": rate**k * np.cos(w * k),
            "tol_power": (k + 2.0) ** -float(rng.uniform(0.6, 1.8)),
            "tol_critical": (1 + k * (1 - rate)) * rate**k,
            "tol_noisy": rate**k * (1 + 0.1 * e),
        }
        for name, errors in laws.items():
            digits = float(rng.uniform(1.0, 2.5)) if name == "tol_power" else float(rng.uniform(2, 8))
            tol = 10.0**-digits
            at = _first(errors, tol)
            if 40 <= at < n - 1 and math.isfinite(at):
                yield Tolerance(name, (offset + errors) * scale, tol * scale, at)
