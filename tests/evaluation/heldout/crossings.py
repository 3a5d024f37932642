"""When an error comes below a tolerance for good; the laws are closed forms, so is the iteration."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.evaluation.heldout.common import orbit, rng_of, scales
from tests.evaluation.scoring.cases import Tolerance


def last_outside(errors: np.ndarray, tol: float) -> int | None:
    """First index from which all errors are within ``tol``; None if that is not in the record."""
    outside = np.flatnonzero(np.abs(errors) > tol)
    first = int(outside[-1]) + 1 if outside.size else 0
    return first if first < len(errors) - 1 else None


def _laws(rng: np.random.Generator, i: int) -> tuple[str, np.ndarray]:
    n, rate = 6000, float(rng.uniform(0.7, 0.995))
    k = np.arange(n)
    w = float(rng.uniform(0.1, 2.9))
    return (
        ("geometric", 3 * rate**k),
        ("alternating", -2 * (-rate) ** k),
        ("two_real", rate**k + float(rng.uniform(-0.9, 0.9)) * (0.8 * rate) ** k),
        ("pair", rate**k * np.cos(w * k + 0.3)),
        ("power", (k + float(rng.uniform(1, 9))) ** -float(rng.uniform(0.5, 2.0))),
        ("double", (1 + 0.1 * k) * rate**k),
        ("noisy_rate", np.exp(np.cumsum(np.log(rate) * (1 + 0.3 * rng.normal(size=n))))),
        ("noise_decays", rate**k * (1 + 0.2 * rng.normal(size=n))),
        ("two_power", 1.0 / (k + 2) + 2.0 / (k + 2) ** 2),
        ("map", orbit(lambda x: rate * np.sin(x), 0.8, n)),
    )[i % 10]


def tolerances() -> Iterator[Tolerance]:
    for i in range(120):
        rng = rng_of("tolerance", i)
        name, errors = _laws(rng, i)
        scale, offset = scales(rng)
        digits = float(rng.uniform(1.2, 2.8)) if name in ("power", "two_power") else float(rng.uniform(2, 7))
        tol = abs(errors[0]) * 10.0**-digits
        iteration = last_outside(errors, tol)
        if iteration is not None and iteration >= 40:
            values = (offset + errors) * scale
            yield Tolerance(name, values, tol * scale, iteration)
