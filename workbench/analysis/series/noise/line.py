"""The line through a record whose noise is correlated, and how well its slope is known.

The residuals of the line are modelled as a first-order autoregression, whose mean varies by (1 + r) / (1 - r) more than
that of independent values (Box, Jenkins and Reinsel, Time Series Analysis, section 2.1).
"""

from __future__ import annotations

import math

import numpy as np


def line_in_noise(x: np.ndarray, most: float) -> tuple[float, float, float, float]:
    """Slope of the line through x (n,), n > 2, over its index; its standard error; the correlation of neighbours in
    what the line leaves, taken for 0 to ``most``; and the sum of squares of that."""
    n = len(x)
    k = np.arange(n) - (n - 1) / 2
    square = float(k @ k)
    slope = float(k @ x) / square
    rest = x - x.mean() - slope * k
    left = float(rest @ rest)
    r = min(max(float(rest[1:] @ rest[:-1]) / (left + 1e-300), 0.0), most)
    return slope, math.sqrt((left + 1e-300) / (n - 2) / square * (1.0 + r) / (1.0 - r)) + 1e-300, r, left
