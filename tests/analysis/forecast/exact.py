"""The exact law of a record of floats, as a monitor finds it: a first look, then the remaining laws."""

from __future__ import annotations

import numpy as np

from workbench.analysis.forecast.laws.exact_continuation import Steps
from workbench.analysis.forecast.laws.first_look import exact_law, first_look


def exact(x: np.ndarray, op: str, threshold: float, why: str) -> Steps | None:
    """The end by the law of this slug; None if another law, or none, holds."""
    found = exact_law(x, op, threshold, first_look(x, op, threshold))
    return found if found is not None and found.why == why else None
