"""Base of the generators of random histories: the record with its truth, lengths, scales, labels."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

C, D, O, S, X = "CONVERGING", "DIVERGING", "OSCILLATING", "STABLE", "CHAOTIC"  # noqa: E741


@dataclass
class Drawn:
    """One drawn history."""

    family: str
    values: np.ndarray
    label: str
    facts: dict[str, float] = field(default_factory=dict)
    quarter: bool = True


Rng = np.random.Generator


def length(rng: Rng, low: int = 12, high: int = 2000) -> int:
    return int(math.exp(rng.uniform(math.log(low), math.log(high))))


def shift(rng: Rng, values: np.ndarray, **limit: float) -> tuple[np.ndarray, dict[str, float]]:
    """A random scale, up to 1e-300 .. 1e300, and the limit with it."""
    kind = rng.integers(0, 4)
    scale = (1.0, 10.0 ** rng.uniform(-3, 3), 10.0 ** rng.uniform(-290, -20), 10.0 ** rng.uniform(20, 290))[kind]
    top = float(np.max(np.abs(values), initial=1e-300))
    scale = min(scale, 1e307 / max(top, 1.0))
    sign = float(rng.choice([-1.0, 1.0]))
    return values * (scale * sign), {k: v * scale * sign for k, v in limit.items()}


def low(rng: Rng, values: np.ndarray) -> np.ndarray:
    return values.astype(rng.choice([np.float32, np.float16])) if np.max(np.abs(values)) < 6e4 else values
