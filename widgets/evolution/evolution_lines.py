"""The lines that represent a value: numbers, elements of small arrays, norms and statistics of large ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.trace.series import STATISTICS as NUMBERS
from workbench.widgets.series.minmax_pyramid import Pyramid
from workbench.widgets.series.thinning import BUDGET, Thinned, thin

MAX_COMPONENTS = 8
#: maximum arrays of differing shapes that are read, one by one, in one part of the record
MAX_OBJECTS = 20_000
STATISTICS = (" max", " min", " mean", " 2-norm")


class Line:
    """A growing line: thinned as a whole, and in blocks for any stretch of it."""

    def __init__(self) -> None:
        self.whole, self.parts = Thinned(BUDGET), Pyramid()
        self.bad, self.last_bad = 0, -1.0

    def extend(self, x: np.ndarray, y: np.ndarray) -> None:
        self.whole.extend(x, y)
        self.parts.extend(x, y)
        bad = np.flatnonzero(~np.isfinite(y))
        if len(bad):
            self.bad, self.last_bad = self.bad + len(bad), float(x[bad[-1]])

    def cut(self, x: float) -> None:
        self.whole.cut(x)
        self.parts.cut(x)
        if self.whole.first_bad is None or not len(self.whole.x):
            self.bad = 0
        self.last_bad = min(self.last_bad, x - 1.0)

    def newest(self, most: int) -> np.ndarray:
        """The newest values without a gap, at least ``SIZE`` of them if there are that many."""
        x, y = self.parts.end()
        missing = np.flatnonzero(np.diff(x) != 1.0)
        return y[int(missing[-1]) + 1 if len(missing) else 0 :][-most:]

    def exact(
        self,
        stretch: tuple[np.ndarray, np.ndarray],
        suffix: str,
        lines: Callable[[Any], dict[str, np.ndarray]],
        budget: int,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The whole line with a stretch read from the record; raises KeyError if the record has no such line."""
        y = lines(stretch[1])[suffix]
        return joined(self.whole.x, self.whole.y, *thin(stretch[0][: len(y)], y, budget))

    def zoomed(self, low: float, high: float, budget: int) -> tuple[np.ndarray, np.ndarray]:
        """The whole line, with the stretch ``low`` .. ``high`` in detail."""
        x, y = thin(*self.parts.between(low, high), budget)
        return joined(self.whole.x, self.whole.y, x, y)


def joined(x: np.ndarray, y: np.ndarray, fine_x: np.ndarray, fine_y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A line in which the stretch covered by ``fine`` is replaced by ``fine``."""
    if not len(fine_x):
        return x, y
    left, right = np.searchsorted(x, fine_x[0]), np.searchsorted(x, fine_x[-1], side="right")
    return np.concatenate([x[:left], fine_x, x[right:]]), np.concatenate([y[:left], fine_y, y[right:]])


def lines_of(values: Any) -> dict[str, np.ndarray]:
    """Suffix of the line's name -> (n,) float64 for n values, oldest first.

    Scalars have one line, arrays of up to 8 elements one for each, larger ones and those of differing shapes their
    2-norm. Complex values have their magnitude; strings and empty arrays have no line.
    """
    values = _numbers(np.asarray(values))
    if values is None:
        return {}
    if values.dtype == object:
        return {" (2-norm)": np.array([_norm(v) for v in values[:MAX_OBJECTS]])}
    flat = values.reshape(len(values), -1) if values.size else values.reshape(len(values), 0)
    if values.ndim == 1:
        return {"": values.astype(np.float64)}
    if not flat.shape[1]:
        return {}
    if flat.shape[1] <= MAX_COMPONENTS:
        places = list(np.ndindex(values.shape[1:]))
        return {f"[{','.join(map(str, p))}]": flat[:, k].astype(np.float64) for k, p in enumerate(places)}
    return {" (2-norm)": _norms(flat)}


def curves_of(values: Any) -> dict[str, np.ndarray]:
    """The same, and for large arrays also the largest, smallest and mean element."""
    found = lines_of(values)
    return found | statistics_of(values) if " (2-norm)" in found else found


def statistics_of(values: Any) -> dict[str, np.ndarray]:
    """Largest, smallest and mean element and 2-norm of each value, the first three without NaN; nothing for single
    numbers.
    """
    values = _numbers(np.asarray(values))
    if values is None or values.ndim < 2 or values.dtype == object or not values.size:
        return {}
    flat = values.reshape(len(values), -1).astype(np.float64)
    with np.errstate(all="ignore"):
        good = ~np.isnan(flat)
        count = good.sum(axis=1)
        most = np.where(good, flat, -np.inf).max(axis=1)
        least = np.where(good, flat, np.inf).min(axis=1)
        mean = np.where(good, flat, 0.0).sum(axis=1) / count
    found = {" max": most, " min": least, " mean": mean, " 2-norm": _norms(flat)}
    return {k: np.where(count > 0, v, np.nan) for k, v in found.items()}


def measured_of(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """The same from (n, 7) statistics of the values, as kept by a run with ``trace="stats"``; a norm whose square
    exceeds the range of float64 is left out.
    """
    numbers = np.ascontiguousarray(numbers, dtype=np.float64).view(NUMBERS).reshape(-1)
    with np.errstate(all="ignore"):
        count = numbers["size"] - numbers["nan"]
        up, down = numbers["max"] == np.inf, numbers["min"] == -np.inf
        mean = numbers["sum"] / count + np.where(up, np.inf, 0.0) - np.where(down, np.inf, 0.0)
        norm = np.where(np.isfinite(numbers["sumsq"]), np.sqrt(numbers["sumsq"]), np.nan)
        norm = np.where(numbers["nan"] > 0, np.nan, np.where(numbers["inf"] > 0, np.inf, norm))
    found = {" max": numbers["max"], " min": numbers["min"], " mean": mean, " 2-norm": norm}
    return {k: np.where(count > 0, v, np.nan) for k, v in found.items()}


def why_not(values: Any) -> str:
    """The reason why a value has no line, in a few words; "" if it has one."""
    array = np.asarray(values)
    if array.dtype.kind in "SUTV":
        return "text"
    if array.dtype == object and not any(_norm(v) == _norm(v) for v in array[:64]):
        return "no numbers"
    return "empty arrays" if array.ndim > 1 and not array.size and len(array) else ""


def _numbers(values: np.ndarray) -> np.ndarray | None:
    """Numbers, complex ones as magnitudes; arrays of differing shapes as objects; None for strings."""
    if values.dtype.kind in "SUTVMm" or values.ndim == 0:
        return None
    if values.dtype == object:
        return values if len(values) and any(_norm(v) == _norm(v) for v in values[:64]) else None
    return np.abs(values) if values.dtype.kind == "c" else values


def _norms(flat: np.ndarray) -> np.ndarray:
    """2-norms of rows, without intermediate overflow."""
    flat = flat.astype(np.float64)
    with np.errstate(all="ignore"):
        size = np.abs(flat).max(axis=1, keepdims=True)
        scale = np.where(np.isfinite(size) & (size > 0), size, 1.0)
        return scale[:, 0] * np.sqrt(((flat / scale) ** 2).sum(axis=1))


def _norm(value: Any) -> float:
    """2-norm of one array; NaN for other values."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biufc":
            return float("nan")
        return float(np.linalg.norm(np.abs(array).astype(np.float64).reshape(-1)))
    except (TypeError, ValueError):
        return float("nan")
