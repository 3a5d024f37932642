"""Whether a model of an operand runs away from its threshold."""

from __future__ import annotations

import numpy as np

from workbench.analysis.evolution import Evolution
from workbench.analysis.exact_steps import OPS


def goes_away(e: Evolution, keep: str, last: float, t: float) -> bool:
    """Whether the model keeps the comparison true and its distance from t only grows, 10,000 iterations ahead."""
    values = e.model.predict(np.array([1, 10, 100, 1000, 10_000]))
    values = values[np.isfinite(values)]
    if not len(values) or not np.all(OPS[keep](values, t)):
        return False
    distance = np.abs(np.concatenate([[last], values]) - t)
    return bool(np.all(np.diff(distance) > 0))
