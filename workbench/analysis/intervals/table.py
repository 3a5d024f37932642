"""The table of transfer functions by op, and the helpers of its rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from workbench.analysis.intervals.interval import Interval, box, converted

Attrs = Mapping[str, Any]
#: rule(boxes, attrs with the op's name as "_op", dtype of the result) -> the result's box, None if it is unknown
Rule = Callable[[list[Interval], Attrs, str], "Interval | None"]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule for these ops."""

    def put(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return put


def dead_of(boxes: list[Interval]) -> np.ndarray:
    out = boxes[0].dead
    for b in boxes[1:]:
        out = out | b.dead
    return out


def empty(*boxes: Interval) -> Any:
    out: Any = False
    for b in boxes:
        out = out | (b.lo > b.hi)
    return out


def float_box(dtype: str, lo: Any, hi: Any, nan: Any, boxes: list[Interval]) -> Interval:
    """Bounds of a float op: a NaN bound means unbounded, and an empty operand gives an empty result."""
    kind: Any = np.dtype(dtype).type
    low = np.where(np.isnan(lo), kind(-np.inf), lo).astype(dtype)
    high = np.where(np.isnan(hi), kind(np.inf), hi).astype(dtype)
    for b in boxes:
        nan = nan | b.nan
    void = empty(*boxes)
    low, high = np.where(void, kind(np.inf), low), np.where(void, kind(-np.inf), high)
    low, high, nan = np.broadcast_arrays(low, high, nan)
    return box(dtype, low.astype(dtype), high.astype(dtype), nan, dead_of(boxes))


def in_dtype(boxes: list[Interval], dtype: str) -> list[Interval] | None:
    found = [converted(b, dtype) for b in boxes]
    return None if any(b is None for b in found) else [b for b in found if b is not None]


def least(ends: list[Any]) -> Any:
    out = ends[0]
    for e in ends[1:]:
        out = np.minimum(out, e)
    return out


def most(ends: list[Any]) -> Any:
    out = ends[0]
    for e in ends[1:]:
        out = np.maximum(out, e)
    return out


def has(x: Interval, number: float) -> Any:
    return (x.lo <= number) & (x.hi >= number)


def unbounded(x: Interval) -> Any:
    return (x.lo == -np.inf) | (x.hi == np.inf)
