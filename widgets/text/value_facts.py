"""Facts of one value: least, largest, how many items are not finite and zero, and its bytes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class ValueFacts(NamedTuple):
    """``least`` and ``largest`` are of its finite items, None where there is none."""

    least: Any
    largest: Any
    nan: int
    inf: int
    zeros: int
    bytes: int


def facts_of(value: Any) -> ValueFacts | None:
    """The facts of a value, None for what holds no numbers."""
    array = np.asarray(value) if isinstance(value, (np.ndarray, np.generic, bool, int, float, complex)) else None
    if array is None or array.dtype.kind not in "biufc":
        return None
    zeros = array.size - int(np.count_nonzero(array))
    if array.dtype.kind == "c" or not array.size:
        nan = int(np.isnan(array).sum())
        return ValueFacts(None, None, nan, int(np.isinf(array).sum()), zeros, array.nbytes)
    least, largest, nan, inf = array.min(), array.max(), 0, 0
    if not (np.isfinite(least) and np.isfinite(largest)):
        finite = array[np.isfinite(array)]
        nan = int(np.isnan(array).sum())
        inf = array.size - finite.size - nan
        least, largest = (finite.min(), finite.max()) if finite.size else (None, None)
    return ValueFacts(least, largest, nan, inf, zeros, array.nbytes)
