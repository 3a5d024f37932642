"""Intervals of functions of one number.

Transcendental functions are not correctly rounded: their bounds are moved outward by ``SLACK`` units in the last place,
several times the error that NumPy documents (https://numpy.org/neps/nep-0054-simd-cpp-highway.html: 4 ulp).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.analysis.intervals.interval import FLOATS, NO, Interval, box
from workbench.analysis.intervals.table import RULES, Attrs, Rule, float_box, rule, unbounded

#: generous bound of the error of a function that is not correctly rounded, in units in the last place
SLACK = 16


def _monotone(function: Any, slack: int, low: float, high: float, domain: tuple[float, float]) -> Rule:
    """The rule of an increasing function with range [low, high], at most ``slack`` ulp off, NaN outside its domain."""

    def apply(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
        x = boxes[0]
        if x.dtype != dtype or dtype not in FLOATS:
            return None
        outside = (x.lo < domain[0]) | (x.hi > domain[1])
        a, b = np.clip(x.lo, *domain).astype(dtype), np.clip(x.hi, *domain).astype(dtype)
        lo, hi = outward(function(a), -slack), outward(function(b), slack)
        if low <= 0 <= high and function(np.zeros(1, dtype))[0] == 0:  # a relative error keeps signs and zeros
            lo, hi = np.where(a == 0, 0, lo).astype(dtype), np.where(b == 0, 0, hi).astype(dtype)
        # the range bounds the exact function; computed values may lie ``slack`` ulp beyond it
        least, most = outward(np.full(1, low, dtype), -slack), outward(np.full(1, high, dtype), slack)
        return float_box(dtype, np.maximum(lo, least if low else 0), np.minimum(hi, most), outside, boxes)

    return apply


def outward(x: np.ndarray, steps: int) -> np.ndarray:
    """``x`` moved by ``steps`` units in the last place plus the smallest normal number."""
    kind: Any = x.dtype.type
    info = np.finfo(x.dtype)
    by = np.abs(x) * (kind(abs(steps)) * info.eps) + info.tiny
    moved = x + by if steps > 0 else x - by
    return np.where(np.isfinite(x), moved, x).astype(x.dtype) if steps else x


INF = np.inf
RULES["sqrt"] = _monotone(np.sqrt, 0, 0.0, INF, (0.0, INF))
RULES["exp"] = _monotone(np.exp, SLACK, 0.0, INF, (-INF, INF))
RULES["exp2"] = _monotone(np.exp2, SLACK, 0.0, INF, (-INF, INF))
RULES["expm1"] = _monotone(np.expm1, SLACK, -1.0, INF, (-INF, INF))
RULES["log"] = _monotone(np.log, SLACK, -INF, INF, (0.0, INF))
RULES["log2"] = _monotone(np.log2, SLACK, -INF, INF, (0.0, INF))
RULES["log10"] = _monotone(np.log10, SLACK, -INF, INF, (0.0, INF))
RULES["log1p"] = _monotone(np.log1p, SLACK, -INF, INF, (-1.0, INF))
RULES["tanh"] = _monotone(np.tanh, SLACK, -1.0, 1.0, (-INF, INF))
RULES["atan"] = _monotone(np.arctan, SLACK, -2.0, 2.0, (-INF, INF))
RULES["asin"] = _monotone(np.arcsin, SLACK, -2.0, 2.0, (-1.0, 1.0))
RULES["cbrt"] = _monotone(np.cbrt, SLACK, -INF, INF, (-INF, INF))
RULES["floor"] = _monotone(np.floor, 0, -INF, INF, (-INF, INF))
RULES["ceil"] = _monotone(np.ceil, 0, -INF, INF, (-INF, INF))
RULES["trunc"] = _monotone(np.trunc, 0, -INF, INF, (-INF, INF))


@rule("round")
def _round(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
    if attrs.get("decimals", 0) != 0 or attrs.get("checked") or boxes[0].dtype != dtype:
        return None
    x = boxes[0]
    return x if x.integral else float_box(dtype, np.rint(x.lo), np.rint(x.hi), False, boxes)


@rule("sin", "cos", "sigmoid", "softmax")
def _bounded(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
    """Bounds by the range alone; sin and cos give NaN only for infinities, and softmax always may."""
    x = boxes[0]
    if x.dtype != dtype or dtype not in FLOATS:
        return None
    waves = attrs["_op"] in ("sin", "cos")
    lo, hi = outward(np.full(1, -1.0 if waves else 0.0, dtype), -SLACK), outward(np.ones(1, dtype), SLACK)
    n = np.broadcast_shapes(np.shape(x.lo))
    nan = unbounded(x) if waves else attrs["_op"] == "softmax"
    return float_box(dtype, np.broadcast_to(lo if waves else 0 * lo, n), np.broadcast_to(hi, n), nan, boxes)


@rule("relu", "relu6")
def _relu(boxes: list[Interval], attrs: Attrs, dtype: str) -> Interval | None:
    x = boxes[0]
    if x.dtype != dtype:
        return None
    highest: Any = 6 if attrs["_op"] == "relu6" else np.inf
    if x.integral:
        high = x.hi if highest == np.inf else np.minimum(x.hi, 6)
        return box(dtype, np.maximum(np.minimum(x.lo, high), 0), np.maximum(high, 0), NO, x.dead)
    low, high = np.maximum(x.lo, 0), np.maximum(np.minimum(x.hi, highest), 0)
    return float_box(dtype, np.minimum(low, high), high, False, boxes)
