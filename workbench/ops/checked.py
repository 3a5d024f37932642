"""Python's arithmetic for scalars: the results and errors of ops with the attr ``checked``.

The numbers are int64, float64, complex128 or bool and represent Python's int, float, complex and bool. Python itself
computes here, so that results are Python's bit for bit, and so are errors: ZeroDivisionError, OverflowError,
ValueError. One error is our own: Python's ints are unbounded, those of a graph have 64 bits, and an int that does not
fit is an :class:`ExecutionError` with the slug ``integer-overflow``; it never wraps around. Compiled code (kernels:
checked.h) computes the same in cases without errors and leaves all others to this file.

Narrower floats are accepted too, for functions that run in another precision (:func:`wb.in_dtype`): Python computes,
and the result is rounded to their dtype.

Source: https://docs.python.org/3/library/stdtypes.html#numeric-types-int-float-complex
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import ExecutionError
from workbench.ir.types import ANY, TensorType, dtype_name, numpy_dtype
from workbench.ops.rules import WRONG_DTYPE, WRONG_SHAPE, RuleError, show

#: dtypes of Python's numbers, by NumPy's letter
LETTERS = {"bool": "b", "int64": "i", "float64": "f", "complex128": "c"}
DTYPES = {letter: dtype for dtype, letter in LETTERS.items()}
_NARROW = frozenset(("float32", "float16", "bfloat16"))
LOWEST, HIGHEST = -(2**63), 2**63 - 1

_SAME = {"ii": "i", "ff": "f", "cc": "c"}
_REAL = {"ii": "i", "ff": "f"}
_ORDER = {"ii": "b", "ff": "b", "if": "b", "fi": "b", "bb": "b"}
_SMOOTH = {"f": "f"}

#: op -> (function of Python's numbers, letters of the inputs -> letter of the result)
RULES: dict[str, tuple[Callable[..., Any], Mapping[str, str]]] = {
    "add": (operator.add, _SAME),
    "subtract": (operator.sub, _SAME),
    "multiply": (operator.mul, _SAME),
    "divide": (operator.truediv, {"ii": "f", "ff": "f", "cc": "c"}),
    "floor_divide": (operator.floordiv, _REAL),
    "remainder": (operator.mod, _REAL),
    "power": (operator.pow, _SAME),
    "negative": (operator.neg, {"i": "i", "f": "f", "c": "c"}),
    "abs": (operator.abs, {"i": "i", "f": "f", "c": "f"}),
    "left_shift": (operator.lshift, {"ii": "i"}),
    "right_shift": (operator.rshift, {"ii": "i"}),
    "less": (operator.lt, _ORDER),
    "less_equal": (operator.le, _ORDER),
    "greater": (operator.gt, _ORDER),
    "greater_equal": (operator.ge, _ORDER),
    "equal": (operator.eq, {**_ORDER, "cc": "b"}),
    "not_equal": (operator.ne, {**_ORDER, "cc": "b"}),
    "sqrt": (math.sqrt, _SMOOTH),
    "cbrt": (math.cbrt, _SMOOTH),
    "exp": (math.exp, _SMOOTH),
    "exp2": (math.exp2, _SMOOTH),
    "expm1": (math.expm1, _SMOOTH),
    "log": (math.log, {"f": "f", "i": "f"}),
    "log1p": (math.log1p, _SMOOTH),
    "log2": (math.log2, {"f": "f", "i": "f"}),
    "log10": (math.log10, {"f": "f", "i": "f"}),
    "sin": (math.sin, _SMOOTH),
    "cos": (math.cos, _SMOOTH),
    "tan": (math.tan, _SMOOTH),
    "asin": (math.asin, _SMOOTH),
    "acos": (math.acos, _SMOOTH),
    "atan": (math.atan, _SMOOTH),
    "atan2": (math.atan2, {"ff": "f"}),
    "sinh": (math.sinh, _SMOOTH),
    "cosh": (math.cosh, _SMOOTH),
    "tanh": (math.tanh, _SMOOTH),
    "asinh": (math.asinh, _SMOOTH),
    "acosh": (math.acosh, _SMOOTH),
    "atanh": (math.atanh, _SMOOTH),
    "hypot": (math.hypot, {"ff": "f"}),
    "fmod": (math.fmod, {"ff": "f"}),
    "nextafter": (math.nextafter, {"ff": "f"}),
}


def letters_of(dtypes: Sequence[str]) -> tuple[str, Mapping[str, str]]:
    """Letters of these dtypes, and the dtypes of results by letter; with a narrow float among them, float results are
    narrow.
    """
    narrow = _NARROW.intersection(dtypes)
    if not narrow:
        return "".join(LETTERS.get(d, "?") for d in dtypes), DTYPES
    if len(narrow) > 1 or "float64" in dtypes:
        return "?" * len(dtypes), DTYPES
    return "".join("f" if d in narrow else LETTERS.get(d, "?") for d in dtypes), {**DTYPES, "f": min(narrow)}


def python_value(array: np.ndarray) -> Any:
    """A scalar array as a Python number."""
    return float(array) if str(array.dtype) in _NARROW else array.item()


def checked_type(op: str, types: Sequence[TensorType]) -> TensorType:
    """The result type of ``op`` for Python's numbers; raises RuleError for other inputs."""
    if any(t.shape not in ((), None) for t in types):
        shown = next(show(t.shape) for t in types if t.shape not in ((), None))
        raise RuleError(WRONG_SHAPE, f"with checked takes single numbers, but got {shown}.", "Leave checked out.")
    if any(t.dtype == ANY for t in types):
        return TensorType(ANY, ())
    letters, dtypes = letters_of([t.dtype for t in types])
    found = RULES[op][1].get(letters)
    if found is None:
        names = " and ".join(t.dtype for t in types)
        raise RuleError(WRONG_DTYPE, f"with checked is not defined for {names}.", "Cast the inputs first.")
    return TensorType(dtypes[found], ())


def checked(op: str, arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Python's own result; raises as Python does, or ExecutionError if the graph's numbers cannot represent it."""
    function, results = RULES[op]
    letters, dtypes = letters_of([str(a.dtype) for a in arrays])
    if letters not in results or any(a.ndim for a in arrays):
        raise RuleError(WRONG_DTYPE, "with checked takes single Python numbers.", "Leave checked out.")
    if op == "left_shift":
        _shift_fits(arrays[0].item(), arrays[1].item())
    elif op == "power" and letters == "ii":
        _power_fits(arrays[0].item(), arrays[1].item())
    return number(function(*map(python_value, arrays)), dtypes[results[letters]], op)


def number(value: Any, dtype: str, op: str) -> np.ndarray:
    """A Python number as an array of the graph."""
    if dtype == "int64" and not LOWEST <= value <= HIGHEST:
        raise too_large(op)
    if isinstance(value, complex) and dtype != "complex128":
        raise ExecutionError(
            f"The result of {op} is the complex number {value!r}, where a float was expected.",
            slug="complex-result",
            fix="make one operand complex, as in complex(x) ** y.",
        )
    with np.errstate(over="ignore"):  # a float beyond the range of a narrow dtype becomes infinite
        return np.asarray(value, numpy_dtype(dtype))


def too_large(op: str) -> ExecutionError:
    """The error for an int of more than 64 bits."""
    return ExecutionError(
        f"The result of {op} does not fit 64 bits: Python's ints are unbounded, those of a graph reach from -2**63 to "
        "2**63 - 1.",
        slug="integer-overflow",
        fix="compute with floats where digits may be lost, as in float(x), take a remainder on the way, or keep to "
        "smaller numbers; for ints that wrap round use np.int64(x).",
    )


def _power_fits(x: int, y: int) -> None:
    """Refuse powers that would take long to compute and not fit, and powers that are not ints."""
    if y < 0:
        if x == 0:
            raise ZeroDivisionError("0.0 cannot be raised to a negative power")
        raise ExecutionError(
            f"An int to the power {y} is a float in Python, where an int was expected.",
            slug="negative-power",
            fix="write float(x) ** y: the exponent is only known when the graph runs.",
        )
    if abs(x) > 1 and y > 64:
        raise too_large("power")


def _shift_fits(x: int, y: int) -> None:
    if x and y > 64:
        raise too_large("left_shift")


def checked_cast(x: np.ndarray, dtype: str) -> np.ndarray:
    """A Python number as a NumPy scalar of ``dtype``, or a float as an int (int64); fails if it does not fit, as in
    Python.
    """
    value = python_value(x)
    wanted = numpy_dtype(dtype_name(dtype))
    if wanted.kind in "iu":
        value = int(value)
        bounds = np.iinfo(wanted)
        if not bounds.min <= value <= bounds.max:
            raise too_large("int") if wanted == np.int64 else OverflowError(f"{value} does not fit {wanted}")
    return np.asarray(value).astype(wanted)


def checked_round(x: np.ndarray, decimals: int) -> np.ndarray:
    """Python's ``round(x, decimals)``: the decimal nearest to the exact value, with halves to even."""
    return number(round(python_value(x), decimals), str(x.dtype), "round")
