"""Transfer functions: bounds of an op's result from bounds of its inputs. An op without a rule bounds nothing.

::

    table: the table and its helpers
        arithmetic, functions, comparisons: the rules, which register themselves
            this module: all rules, and reductions, which need the number of elements
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.analysis.intervals import arithmetic, functions
from workbench.analysis.intervals.comparisons import COMPARED
from workbench.analysis.intervals.interval import FLOATS, Interval, truth
from workbench.analysis.intervals.table import RULES, float_box

#: the modules that fill the table
FAMILIES = (arithmetic, functions)


def needs_size(op: str) -> bool:
    """True if an op is bounded by :func:`reduced`, which needs the number of elements of one result."""
    return op in ("max", "min", "any", "all", "sum", "mean", "l2_loss", "norm")


def reduced(x: Interval, op: str, count: int, dtype: str) -> Interval | None:
    """Bounds of a reduction over ``count`` elements, None for 0; sums include the rounding errors of any order."""
    if count < 1:
        return None
    if op in ("any", "all"):
        return truth(x)
    if op in ("max", "min"):
        return x if x.dtype == dtype else None
    if dtype not in FLOATS or x.dtype != dtype or op in ("l2_loss", "norm"):
        return None
    kind: Any = np.dtype(dtype).type
    n = kind(count) if op == "sum" else kind(1)
    # |error| <= (count - 1) eps times the sum of the sizes: N. Higham, Accuracy and Stability, section 4.2; doubled
    # here, plus the rounding of a mean's quotient
    eps = kind(2 * (count + 1)) * np.finfo(dtype).eps
    size = np.maximum(np.abs(x.lo), np.abs(x.hi))
    room = n * size * eps + np.finfo(dtype).tiny
    mixed = (x.lo == -np.inf) & (x.hi == np.inf)
    out = float_box(dtype, n * x.lo - room, n * x.hi + room, mixed, [x])
    huge = (n * kind(4) * size * kind(count)) == np.inf  # partial sums may have overflowed
    return float_box(dtype, np.where(huge, -np.inf, out.lo), np.where(huge, np.inf, out.hi), huge | mixed, [x])


__all__ = ["COMPARED", "RULES", "needs_size", "reduced"]
