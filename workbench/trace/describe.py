"""Values described in words or in a few statistics, for errors, reports and chains of values."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

#: largest array, in items, that is written out
WRITTEN_OUT = 6
_BEGINNING = reprlib.Repr()
_BEGINNING.maxlevel, _BEGINNING.maxlist, _BEGINNING.maxdict, _BEGINNING.maxstring = 3, 2, 3, 20


def describe(array: Any) -> str:
    """One line about a value: dtype, shape, and the number itself or its range; for lists and dicts the first items."""
    if isinstance(array, list | dict):
        return f"{type(array).__name__} of {len(array)}: {_BEGINNING.repr(array)}"
    if not isinstance(array, np.ndarray):
        return type(array).__name__
    head = f"{array.dtype}[{','.join(map(str, array.shape))}]"
    if array.size == 1:
        return f"{head} {array.reshape(-1)[0]}"
    if array.size and array.dtype.kind in "biuf":
        with np.errstate(all="ignore"):
            bad = int(array.size - np.isfinite(array).sum()) if array.dtype.kind == "f" else 0
            shown = f"{head} min {array.min()} max {array.max()}"
        return shown + (f", {bad} not finite" if bad else "")
    return head


def short(value: Any, digits: int = 6) -> str:
    """A value in short form on one line: the number, a few items with ``digits`` digits, or :func:`describe`."""
    if isinstance(value, np.ndarray) and value.size <= WRITTEN_OUT and value.dtype != object:
        if value.ndim == 0:
            return str(value.reshape(-1)[0])
        return np.array2string(value, separator=", ", precision=digits).replace("\n", "")
    return describe(value)


def numbers(value: Any) -> dict[str, float]:
    """``size``, ``nan``, ``inf``, ``min``, ``max``, ``mean`` of an array of real numbers.

    The last three leave out NaN and infinities, and are missing if no finite number remains. The dict is empty for
    values that are not arrays of real numbers.
    """
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf":
        return {}
    found = {"size": float(value.size), "nan": 0.0, "inf": 0.0}
    if value.dtype.kind == "f":
        found["nan"], found["inf"] = float(np.isnan(value).sum()), float(np.isinf(value).sum())
        value = value[np.isfinite(value)]
    if value.size:
        with np.errstate(all="ignore"):
            mean = float(value.mean(dtype=np.float64))
        found |= {"min": float(value.min()), "max": float(value.max()), "mean": mean}
    return found
