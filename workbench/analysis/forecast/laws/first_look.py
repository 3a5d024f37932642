"""Finds the exact law of a record of floats: a compiled scan selects the few laws that it may follow, and only those
are tried.

Nearly every record follows none of them, and the scan is faster than the first test of any law. A law need not repeat
the tests of the scan: the number of values, the comparison, the direction, and one interpolated value.
"""

from __future__ import annotations

import numpy as np

from workbench.analysis.forecast.laws.exact_continuation import Steps, float_steps, limits
from workbench.analysis.forecast.laws.logarithm import logarithm
from workbench.analysis.forecast.laws.parabola import parabola
from workbench.analysis.forecast.laws.shifted_power import shifted_power
from workbench.analysis.forecast.laws.straight_line import straight_line
from workbench.analysis.forecast.laws.term_ratio import term_ratio
from workbench.kernels.laws import may_follow

#: The bits of ``may_follow``: the laws in the order in which they are tried, repeating steps, and whether it changes
#: too often for a staircase.
LAWS = ((1, float_steps), (2, parabola), (4, straight_line), (8, logarithm), (256, shifted_power), (16, term_ratio))
SEASONAL_STEPS, MOVES = 64, 128


def first_look(x: np.ndarray, op: str, threshold: float) -> int:
    """The laws that x (n,), floats, may follow, as bits; a law whose bit is set may still fail."""
    dtype = x.dtype if x.dtype.itemsize <= 8 else np.dtype(np.float64)
    return may_follow(x.astype(np.float64, copy=False), *limits(dtype), op, threshold)


def exact_law(x: np.ndarray, op: str, threshold: float, seen: int) -> Steps | None:
    """First k at which x (n,), 3 floats or more, fails ``op threshold`` by the first law that it follows; None if there
    is none.
    """
    if not seen & sum(bit for bit, _ in LAWS):
        return None
    for bit, law in LAWS:
        found = law(x, op, threshold) if seen & bit else None
        if found is not None:
            return found
    return None
