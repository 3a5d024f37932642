"""Helpers shared by the families: orbits, draws that depend on a family's name only, scales and offsets."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np


def orbit(f: Callable[[Any], Any], x: Any, n: int) -> np.ndarray:
    """x, f(x), f(f(x)) ...: n values."""
    out = [x]
    while len(out) < n:
        out.append(f(out[-1]))
    return np.array(out)


def rng_of(family: str, i: int = 0) -> np.random.Generator:
    """Draws of one instance of a family, independent of all other families."""
    return np.random.default_rng([zlib.crc32(family.encode()), i])


def scales(rng: np.random.Generator) -> tuple[float, float]:
    """(scale, offset in units of the scale): often plain, sometimes as far as float64 goes."""
    power = float(rng.choice([0, 0, 0, -9, 6, -120, 150, -290, 290]))
    return 10.0**power, float(rng.choice([0.0, 0.0, 1.0, -2.5, 30.0]))
