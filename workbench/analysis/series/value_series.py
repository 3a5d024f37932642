"""``History``: the record that all steps of the classifier read, with the dtype's rounding and exact differences."""

from __future__ import annotations

import math
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import WorkbenchError
from workbench.kernels import fits
from workbench.text import harmless

#: Number of newest values for steps whose cost grows faster than the record; also the size of the streaming ring.
WINDOW = 512

# dtype name -> (binary digits, exponent of the smallest positive number): finfo costs more than a whole step
_FORMATS = {"float64": (53, -1074), "float32": (24, -149), "float16": (11, -24), "bfloat16": (8, -133)}
_LARGEST = {"float64": 1.7976931348623157e308, "float32": 3.4028234663852886e38, "float16": 65504.0}
_LARGEST["bfloat16"] = 3.3895313892515355e38


@cache
def _format(dtype: np.dtype) -> tuple[int, int]:
    """Binary digits and exponent of the smallest positive number of a dtype; cached, because NumPy builds the name anew
    each time.
    """
    return _FORMATS.get(dtype.name, (53, -1074))


class HistoryError(WorkbenchError):
    """Raised for values that are not the record of a variable, or for invalid arguments about a record.

    Raised by :func:`workbench.classify`, :func:`workbench.iterations_to_tolerance` and
    :class:`workbench.TerminationMonitor`. Slugs: ``bad-history`` for rows of different lengths, ``bad-history-dtype``
    for items that are not numbers, ``bad-history-shape`` for shapes other than (n,) and (n, d), ``bad-history-masked``
    and ``bad-history-table`` for masked arrays and tables, ``empty-history``, ``bad-tolerance``, ``bad-logic``.
    """

    slug = "bad-history"


#: laws of labels: name of the method -> words
LAWS = {
    "level": "one level",
    "periodic": "an exact period",
    "constant_tail": "an end at rest",
    "superlinear": "superlinear convergence",
    "counter": "steps of one size",
    "geometric": "steps that change by a factor",
    "power": "steps that go like a power of the iteration",
    "linear_prediction": "a linear recurrence",
    "map": "a polynomial map",
    "return_map": "a map of one value",
    "one_way": "steps one way with rests",
    "spectrum": "one wave with its harmonics",
    "random_walk": "a random walk",
    "envelope": "a spread that grows or shrinks",
    "moving_mean": "a mean that moves",
    "noise_ball": "noise about a level",
}


class RefusedLaw(NamedTuple):
    """A law that was rejected for a label: its name, the reason, and the numbers in it."""

    law: str
    reason: str
    numbers: dict[str, float]

    def table(self) -> dict[str, Any]:
        """Return ``law``, ``reason`` and ``numbers`` as plain data for JSON, numbers not finite as None."""
        numbers = {name: float(v) if math.isfinite(v) else None for name, v in self.numbers.items()}
        return {"law": self.law, "reason": self.reason.format(**self.numbers), "numbers": numbers}

    @harmless
    def __str__(self) -> str:
        return f"{LAWS[self.law]}: refused, {self.reason.format(**self.numbers)}"


class History:
    """Values of one scalar variable, oldest first.

    ``exact`` keeps the dtype; ``x`` is float64, divided by the power of two ``2**exponent`` so that the largest
    magnitude is about 1 (exact, and squares neither overflow nor vanish at scales 1e-300 to 1e300).  ``start`` is the
    iteration of the first value kept and ``total`` the number of all values so far, which exceeds ``len`` for a
    streaming state.  ``dtype`` is the variable's, if ``exact`` holds its values in a wider one.
    """

    def __init__(self, exact: np.ndarray, start: int = 0, dtype: Any = None) -> None:
        self.exact = exact
        self.start = start
        self.dtype = exact.dtype if dtype is None else np.dtype(dtype)
        #: True if values are exact integers or bools, without rounding.
        self.integral = self.dtype.kind in "iub"
        self.raw = np.ascontiguousarray(exact, dtype=np.float64)
        self.exponent, self.bad, self.first_nan, self.first_inf, self.last_bad = fits.scan(self.raw)
        digits, tiny = _format(self.dtype)
        self.digits, self.tiny = digits, tiny - self.exponent
        self.eps = 0.0 if self.integral else 2.0 ** (1 - digits)
        #: Quantities that several steps need, by name: each is computed once.
        self.known: dict[str, Any] = {}
        #: The laws that were tried and rejected for the label.
        self.refused: dict[str, RefusedLaw] = {}

    def __len__(self) -> int:
        return len(self.raw)

    @property
    def total(self) -> int:
        return self.start + len(self.raw)

    def refuse(self, law: str, reason: str = "it does not describe the record", **numbers: float) -> None:
        """Records why this law was rejected for the label; ``reason`` names the numbers in braces."""
        self.refused[law] = RefusedLaw(law, reason, numbers)

    @cached_property
    def _scaled(self) -> tuple[np.ndarray, np.ndarray, float, float]:
        return fits.scaled(self.raw, self.exponent)

    @cached_property
    def x(self) -> np.ndarray:
        """The scaled values."""
        return self._scaled[0]

    @property
    def low(self) -> float:
        """Smallest scaled value."""
        return self._scaled[2]

    @property
    def high(self) -> float:
        """Largest scaled value."""
        return self._scaled[3]

    @cached_property
    def words(self) -> np.ndarray:
        """Values for comparisons of equality: float64, or int64 if 64-bit integers exceed its digits."""
        if self.integral and self.exponent > 53 and self.exact.dtype.itemsize == 8:
            return np.ascontiguousarray(self.exact).view(np.int64)
        return self.raw

    @cached_property
    def d(self) -> np.ndarray:
        """Differences of the scaled values (of integers: exact before the scaling)."""
        if self.words is not self.raw:
            return fits.exact_differences(self.words, self.exact.dtype.kind == "u", self.exponent)
        return self._scaled[1]

    @cached_property
    def end(self) -> int:
        """Number of leading differences above the rounding noise: 100 ulp, or 25, 8 or 2 if too few would remain."""
        if self.integral:
            return fits.last_moved(self.d)
        return fits.usable(self.x, self.d, self.digits, self.tiny)

    @property
    def largest(self) -> float:
        """Largest finite number of the dtype, not scaled."""
        if self.integral:
            return 1.0 if self.dtype.kind == "b" else float(np.iinfo(self.dtype).max)
        return _LARGEST.get(self.dtype.name, _LARGEST["float64"])

    @property
    def smallest_normal(self) -> float:
        """Smallest normal number of a floating dtype, not scaled."""
        return 2.0 ** (self.tiny + self.exponent + self.digits - 1)

    def ulp(self, x: float) -> float:
        """Spacing of the dtype's numbers at the scaled value x; 0 for integers."""
        return 0.0 if self.integral else fits.ulp(x, self.digits, self.tiny)

    def unscale(self, value: float) -> float:
        """Convert a scaled number back to the variable's scale; inf if it exceeds float64."""
        half = self.exponent // 2
        return float(value) * 2.0**half * 2.0 ** (self.exponent - half)

    def tail(self, n: int) -> History:
        """The last n values as a separate history."""
        n = min(n, len(self))
        return History(self.exact[len(self) - n :], self.total - n, self.dtype)

    def without(self, n: int) -> History:
        """All but the last n values."""
        return History(self.exact[: len(self) - n], self.start, self.dtype)


def as_values(values: Any) -> np.ndarray:
    """Check and convert values from a user: (n,) or (n, d), real numeric or bool; else :class:`HistoryError`."""
    return as_typed_values(values)[0]


def as_typed_values(values: Any) -> tuple[np.ndarray, np.dtype]:
    """(values, dtype that rounded them): bfloat16 and float8 values are widened to float32, but their own dtype is
    returned.

    A masked array may have no masked value; the index of a pandas Series is ignored; a DataFrame is rejected, because
    its columns have separate names and dtypes.
    """
    if hasattr(values, "columns") and hasattr(values, "iloc"):
        raise HistoryError(
            "The values are a table with named columns, but one variable at a time is classified.",
            slug="bad-history-table",
            fix="Pass one column (table['loss']), or the rows as one array (table.to_numpy()).",
        )
    if isinstance(values, np.ma.MaskedArray):
        if np.any(np.ma.getmaskarray(values)):
            raise HistoryError(
                f"Of the {values.size} values, {np.ma.count_masked(values)} are masked: what they were is not known.",
                slug="bad-history-masked",
                fix="Pass values.compressed(), if iterations may be left out, or values.filled(numpy.nan).",
            )
        values = values.data
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    try:
        a = np.asarray(values)
    except (ValueError, TypeError, OverflowError) as exc:
        raise HistoryError(
            f"The values are not one array: {exc}.", slug="bad-history", fix="Pass rows of one length, oldest first."
        ) from exc
    dtype = a.dtype
    if dtype.name == "bfloat16" or dtype.name.startswith("float8"):
        a = a.astype(np.float32)
    if a.dtype.kind not in "fiub":
        raise HistoryError(
            f"The values must be real numbers or bools, but their dtype is {a.dtype}.",
            slug="bad-history-dtype",
            fix="Convert them first, for example with numpy.asarray(values, dtype=float); for complex ones pass abs().",
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
    if a.dtype.itemsize > 8 or not a.dtype.isnative:
        a = a.astype(np.float64 if a.dtype.kind == "f" else a.dtype.newbyteorder("="))
        dtype = a.dtype
    return a, dtype


def changes(flags: np.ndarray) -> int:
    """Number of truth values that differ from the one before: for ``steps > 0``, the number of turns of a record."""
    return int(np.count_nonzero(flags[1:] != flags[:-1]))
