"""When two results are equal. Fixed before the first run, and not to be changed for the sake of a result.

float
    rtol 1e-3, atol 1e-4
half (the model computes in float16)
    rtol 1e-2, atol 1e-3
quantised
    as float, but 1 % of a value's elements (one at least) may lie one step beside, a 255th of the value's range

Integers, strings and truth values are equal exactly; NaN equals NaN; dtypes and shapes are the same; a sequence has as
many elements, a map the same keys.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.models.recipe import Precision

TOLERANCE: dict[Precision, tuple[float, float]] = {
    "float": (1e-3, 1e-4),
    "half": (1e-2, 1e-3),
    "quantised": (1e-3, 1e-4),
}
MAY_STEP = 0.01
STEPS = 255


def difference(got: Any, expected: Any, precision: Precision) -> str:
    """How two values of one output differ; empty when they are equal."""
    if isinstance(expected, Mapping):
        if not isinstance(got, Mapping) or list(map(_plain, got)) != list(map(_plain, expected)):
            return f"not the same map: {_shown(got)}, expected {_shown(expected)}"
        return _first(difference(g, e, precision) for g, e in zip(got.values(), expected.values(), strict=True))
    if isinstance(expected, list):
        if not isinstance(got, (list, tuple)) or len(got) != len(expected):
            return f"not a sequence of {len(expected)}: {_shown(got)}"
        return _first(difference(g, e, precision) for g, e in zip(got, expected, strict=True))
    if isinstance(got, (list, tuple, Mapping)) or got is None:
        return f"no array: {_shown(got)}"
    return _arrays(np.asarray(got), np.asarray(expected), precision)


def _arrays(got: np.ndarray, expected: np.ndarray, precision: Precision) -> str:
    if got.shape != expected.shape:
        return f"shape {got.shape}, expected {expected.shape}"
    if expected.dtype.kind in "OSU":
        same = list(map(_plain, got.ravel().tolist())) == list(map(_plain, expected.ravel().tolist()))
        return "" if same else f"{_shown(got)}, expected {_shown(expected)}"
    if got.dtype != expected.dtype:
        return f"dtype {got.dtype}, expected {expected.dtype}"
    if expected.dtype.kind in "biu":
        wrong = got != expected
        return f"{int(wrong.sum())} of {wrong.size} elements" if wrong.any() else ""
    rtol, atol = TOLERANCE[precision]
    wide, wanted = got.astype(np.complex128), expected.astype(np.complex128)
    near = np.isclose(wide, wanted, rtol=rtol, atol=atol, equal_nan=True)
    if near.all() or (precision == "quantised" and _steps(wide, wanted, near)):
        return ""
    far = np.abs(wide - wanted)[~near]
    return f"{far.size} of {near.size} elements, by {np.nanmax(far, initial=0.0):.3g} at most"


def _steps(got: np.ndarray, expected: np.ndarray, near: np.ndarray) -> bool:
    """True if the elements that are not near are few and one step beside."""
    off = np.abs(got - expected)[~near]
    step = np.ptp(expected.real) / STEPS
    return off.size <= math.ceil(MAY_STEP * near.size) and bool((off <= step * (1 + 1e-3)).all())


def _plain(key: Any) -> Any:
    return key.decode() if isinstance(key, bytes) else str(key) if isinstance(key, str) else key


def _first(found: Any) -> str:
    return next((d for d in found if d), "")


def _shown(value: Any) -> str:
    text = f"{type(value).__name__} {value!r}".replace("\n", " ")
    return text if len(text) < 200 else text[:197] + "..."
