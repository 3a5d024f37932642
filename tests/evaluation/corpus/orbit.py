"""The orbit of a map."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def iterate(f: Callable[[float], float], x: float, n: int) -> np.ndarray:
    """x, f(x), f(f(x)) ...: n values."""
    out = [x]
    for _ in range(n - 1):
        x = f(x)
        out.append(x)
    return np.array(out)
