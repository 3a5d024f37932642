"""The record that all steps of the analysis read: the values, their dtype's rounding, and exact differences."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError

#: How far a step looks back where its cost grows faster than the record; also the size of the streaming ring.
WINDOW = 512


class HistoryError(WorkbenchError):
    """Values that cannot be a history of a variable."""

    slug = "bad-history"


class History:
    """Values of one scalar variable, oldest first.

    ``exact`` keeps the dtype; ``x`` is float64, divided by the power of two ``2**exponent`` so that the largest
    magnitude is about 1 (exact, and squares neither overflow nor vanish at scales 1e-300 to 1e300).  ``start`` is the
    iteration of the first value kept and ``total`` the number of values ever seen, which is more than ``len`` for
    a streaming state.
    """

    def __init__(self, exact: np.ndarray, start: int = 0, dtype: np.dtype | None = None) -> None:
        self.exact = exact
        self.start = start
        self.dtype = np.dtype(dtype if dtype is not None else exact.dtype)
        self.raw = exact.astype(np.float64)
        self.finite = np.isfinite(self.raw)
        top = np.max(np.abs(self.raw[self.finite]), initial=0.0)
        self.exponent = int(np.frexp(top)[1]) if top > 0 else 0
        self.x = np.ldexp(np.ldexp(self.raw, -(self.exponent // 2)), -(self.exponent - self.exponent // 2))

    def __len__(self) -> int:
        return len(self.x)

    @property
    def total(self) -> int:
        return self.start + len(self.x)

    @property
    def integral(self) -> bool:
        """Whether values are exact integers or bools, so that no rounding blurs them."""
        return self.dtype.kind in "iub"

    @cached_property
    def eps(self) -> float:
        """Relative rounding unit of the dtype; 0 for integers."""
        return 0.0 if self.integral else float(np.finfo(self.dtype).eps)

    def ulp(self, x: np.ndarray | float) -> np.ndarray:
        """Spacing of the dtype's numbers at the scaled value x; 0 for integers."""
        if self.integral:
            return np.zeros_like(np.asarray(x, dtype=float))
        exponent = np.frexp(np.abs(x))[1]
        tiny = np.frexp(float(np.finfo(self.dtype).smallest_subnormal))[1] - 1 - self.exponent
        return np.ldexp(1.0, np.maximum(exponent - 1 + int(round(np.log2(self.eps))), tiny))

    def unscale(self, value: float) -> float:
        """From the scaled number back to the variable's own scale."""
        with np.errstate(over="ignore"):
            half = self.exponent // 2
            return float(np.ldexp(np.ldexp(value, half), self.exponent - half))

    @cached_property
    def d(self) -> np.ndarray:
        """Differences of the scaled values (of integers: exact before the scaling)."""
        if self.integral and self.exact.dtype.kind != "b" and self.exponent > 52:
            big = [int(v) for v in self.exact]
            diffs = [float(b - a) for a, b in zip(big, big[1:], strict=False)]
            return np.ldexp(np.array(diffs, dtype=float), -self.exponent)
        return np.diff(self.x)

    def tail(self, n: int) -> History:
        """The last n values as a history of their own."""
        n = min(n, len(self))
        return History(self.exact[len(self) - n :], self.total - n, self.dtype)

    def without(self, n: int) -> History:
        """All but the last n values."""
        return History(self.exact[: len(self) - n], self.start, self.dtype)


def as_values(values: Any) -> np.ndarray:
    """Check and convert what a user passed: (n,) or (n, d), real numeric or bool; else :class:`HistoryError`."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    try:
        a = np.asarray(values)
    except (ValueError, TypeError) as exc:
        raise HistoryError(
            f"The values are not one array: {exc}.", slug="bad-history", fix="Pass rows of one length, oldest first."
        ) from exc
    if a.dtype.name == "bfloat16" or a.dtype.name.startswith("float8"):
        a = a.astype(np.float32)
    if a.dtype.kind not in "fiub":
        raise HistoryError(
            f"The values must be real numbers or bools, but their dtype is {a.dtype}.",
            slug="bad-history-dtype",
            fix="Convert them first, for example with numpy.asarray(values, dtype=float); of complex ones pass abs().",
        )
    if a.ndim not in (1, 2):
        raise HistoryError(
            f"The values must be (n,) or (n, d), oldest first, but their shape is {a.shape}.",
            slug="bad-history-shape",
            fix="Flatten each iteration's value to one row: values.reshape(len(values), -1).",
        )
    if a.ndim == 2 and a.shape[1] == 0:
        raise HistoryError(f"The values hold no component: their shape is {a.shape}.", slug="bad-history-shape")
    if len(a) == 0:
        raise HistoryError(
            "There are no values: at least one iteration is needed.", slug="empty-history", fix="Run the loop first."
        )
    if a.dtype == np.longdouble and a.dtype != np.float64:
        a = a.astype(np.float64)
    return a
