"""Axes of strips: the range that fits the shown values, and at most four ticks at round numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from workbench.widgets.text.numerals import numeral

#: ticks of a vertical axis, and the share of the range that is left free at both ends
TICKS, ROOM = 4, 0.08
#: on a linear axis browsers cannot compute with larger values
LINEAR_MOST = 1e300
#: decades that values of one sign span before they are easier to read on a logarithmic axis
DECADES = 2.0


def shown_part(x: np.ndarray, y: np.ndarray, zoom: tuple[float, float] | None, log: bool) -> np.ndarray:
    """The values of a line in the stretch ``zoom`` that the axis can show."""
    y = np.asarray(y, dtype=np.float64)
    if zoom is not None:
        x = np.asarray(x, dtype=np.float64)
        y = y[(x >= zoom[0]) & (x <= zoom[1])]
    with np.errstate(invalid="ignore"):
        return y[(np.abs(y) <= LINEAR_MOST) & ((y > 0) | (not log))]


def spans_decades(columns: Iterable[np.ndarray]) -> bool:
    """True if all values are positive, and the largest is a hundred times the smallest."""
    low, high = math.inf, 0.0
    for y in columns:
        good = y[np.isfinite(y)]
        if len(good):
            low, high = min(low, float(good.min())), max(high, float(good.max()))
    return 0 < low < math.inf and math.log10(high) - math.log10(low) >= DECADES


def fitted(columns: Iterable[np.ndarray], log: bool, words: bool = False, whole: bool = False) -> dict[str, Any]:
    """``range``, ``tickvals`` and ``ticktext`` of a vertical axis for these values; the range ascends.

    ``words``: of flags, false and true; ``whole``: of integers, which have no ticks between them.
    """
    axis: dict[str, Any] = {"autorange": False, "tickmode": "array", "type": "log" if log else "linear"}
    if words:
        return {**axis, "range": [-0.2, 1.2], "tickvals": [0, 1], "ticktext": ["false", "true"]}
    parts = [y for y in columns if len(y)]
    if not parts:
        return {**axis, "type": "linear", "range": [0, 1], "tickvals": [], "ticktext": []}
    low, high = min(float(y.min()) for y in parts), max(float(y.max()) for y in parts)
    if log:
        return {**axis, **_decades(math.log10(low), math.log10(high))}
    span = high - low
    if not span > 1e-14 * max(abs(low), abs(high)):
        span = max(abs(high) * 0.2, 1.0 if whole or not high else 0.0)
        low, high = low - span / 2, high + span / 2
        room = 0.0
    else:
        room = ROOM * span
    low, high = low - room, high + room
    values = ticks(low, high, whole=whole)
    return {**axis, "range": [low, high], "tickvals": values, "ticktext": tick_texts(values)}


def ticks(low: float, high: float, most: int = TICKS, whole: bool = False) -> list[float]:
    """At most ``most`` round numbers from ``low`` to ``high``, at equal distances of 1, 2 or 5 times a power of ten."""
    if not low < high:
        return [low]
    power = math.floor(math.log10((high - low) / most))
    for k in range(6):
        step = (1, 2, 5)[k % 3] * 10.0 ** (power + k // 3)
        if whole and step < 1:
            continue
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            return [round(i * step, 12 - power) if power < 0 else i * step for i in range(first, last + 1)]
    return [low, high]


def tick_texts(values: list[float]) -> list[str]:
    """Texts of ticks, with as many digits as tell them apart."""
    for digits in (7, 10, 13, 16):
        texts = [numeral(float(v), digits) for v in values]
        if len(set(texts)) == len(values):
            break
    return texts


def _decades(low: float, high: float) -> dict[str, Any]:
    """The same of a logarithmic axis, from the logarithms of its ends."""
    if not high - low > 1e-12:
        low, high = low - 0.5, high + 0.5
    room = ROOM * (high - low)
    low, high = low - room, high + room
    first, last = math.ceil(low), math.floor(high)
    step = max(1, -(-(last - first + 1) // TICKS))
    powers = [10.0**k for k in range(first, last + 1) if k % step == 0] if first <= last else []
    values = powers if len(powers) > 1 else ticks(10.0**low, 10.0**high)
    values = [v for v in values if v > 0]
    return {"range": [low, high], "tickvals": values, "ticktext": [numeral(v, 3) for v in values]}
