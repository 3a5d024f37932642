"""NumPy's semantics where those of another library, mainly CuPy, differ: one table, and a rule in standard functions
for each difference that can be removed.

Rules use only functions of the array API standard and run with every library except NumPy itself. Tests run them with
NumPy and with array-api-strict against NumPy's own result. Sources: CuPy user guide, "Differences between CuPy and
NumPy"; array API standard 2024.12; C standard 6.3.1.4, 6.5.7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

BITS = {f"{sign}int{size}": size for sign in ("", "u") for size in (8, 16, 32, 64)}


@dataclass(frozen=True, slots=True)
class Difference:
    """One point in which libraries differ: NumPy's result, CuPy's, and what the workbench does about it."""

    topic: str
    numpy: str
    cupy: str
    here: str


DIFFERENCES = (
    Difference("float to integer, out of range or NaN", "what the processor gives (x86: the least int64, then the low "
               "bits)", "the nearest integer in range, 0 for NaN", "rule cast_to_integer: NumPy's"),
    Difference("integer // 0 and % 0", "0", "undefined", "rules floor_divide and remainder: 0"),
    Difference("least integer // -1", "the least integer", "undefined", "rule floor_divide: NumPy's"),
    Difference("float % and //", "exact, after C's fmod", "x - floor(x / y) * y, rounded", "on the host"),
    Difference("shift by the number of bits or more", "0 (or -1)", "undefined", "rules left_shift, right_shift"),
    Difference("sign of NaN", "NaN", "0", "rule sign: NaN"),
    Difference("index out of bounds", "IndexError", "wraps or clamps silently", "rule take: IndexError"),
    Difference("NaN in sort and argsort", "last", "depends on the function", "rule sort: last; argsort on the host"),
    Difference("reductions to one number", "a number", "an array of rank 0", "comes to the host as a number"),
    Difference("dtype of a Python number", "weak", "weak (CuPy 14), by value before", "cast before the call"),
    Difference("duplicate indices in an assignment", "the last one wins", "undefined", "scatter ops on the host"),
    Difference("negative integer power", "ValueError", "some number", "integer powers on the host"),
    Difference("order of additions in sum, mean, matmul", "fixed on one machine", "by blocks of threads",
               "left: the last digits differ, wb.diff shows where"),
    Difference("functions such as exp and sin", "within 1 ulp or so", "within 1 or 2 ulp", "left: last digits differ"),
    Difference("float16, bfloat16, complex, text, lists", "work", "partly, or not at all", "on the host"),
)  # fmt: skip


def as_number(value: Any, dtype: np.dtype[Any]) -> Any:
    """A Python number for a host operand of rank 0, cast to the dtype in which the op works."""
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(dtype).item()


def is_number(value: Any) -> bool:
    """True if an operand is a number on the host."""
    return isinstance(value, np.ndarray) and value.ndim == 0


def cast_to_integer(xp: Any, x: Any, dtype: str) -> Any:
    """A float array to integers as x86-64 processors convert: to int64, with the least int64 for values out of range,
    and then the low bits; to int32, int16 and int8 through int32; to uint64 from 2^63 on through the difference.
    """
    if dtype == "uint64":
        half = 2.0**63
        high = x >= half
        low = _to_signed(xp, xp.where(high, x - half, x), xp.int64)
        bits = xp.astype(low, xp.uint64)
        return xp.where(high, xp.bitwise_xor(bits, xp.full_like(bits, 1 << 63)), bits)
    if dtype in ("int64", "uint32"):
        return xp.astype(_to_signed(xp, x, xp.int64), getattr(xp, dtype))
    return xp.astype(_to_signed(xp, x, xp.int32), getattr(xp, dtype))


def _to_signed(xp: Any, x: Any, target: Any) -> Any:
    info = xp.iinfo(target)
    low, high = float(info.min), float(info.max + 1)
    fits = xp.logical_and(x >= low, x < high) if target == xp.int64 else xp.logical_and(x > low - 1.0, x < high)
    return xp.where(
        fits, xp.astype(xp.where(fits, x, xp.zeros_like(x)), target), xp.full(x.shape, info.min, dtype=target)
    )


def floor_divide(xp: Any, a: Any, b: Any) -> Any:
    """Integers: 0 where b is 0; the least integer // -1 is itself."""
    zero, one, least = b == 0, xp.ones_like(b), b == -1 if _signed(xp, b) else None
    quotient = xp.floor_divide(a, xp.where(zero if least is None else xp.logical_or(zero, least), one, b))
    if least is not None:  # -a wraps as NumPy's does
        quotient = xp.where(least, xp.negative(a), quotient)
    return xp.where(zero, xp.zeros_like(quotient), quotient)


def remainder(xp: Any, a: Any, b: Any) -> Any:
    """Integers: 0 where b is 0 or -1."""
    none = xp.logical_or(b == 0, b == -1) if _signed(xp, b) else b == 0
    rest = xp.remainder(a, xp.where(none, xp.ones_like(b), b))
    return xp.where(none, xp.zeros_like(rest), rest)


def left_shift(xp: Any, a: Any, b: Any) -> Any:
    """0 for counts from the number of bits on, and for negative counts."""
    inside = _shift_fits(xp, a, b)
    shifted = xp.bitwise_left_shift(a, xp.where(inside, b, xp.zeros_like(b)))
    return xp.where(inside, shifted, xp.zeros_like(shifted))


def right_shift(xp: Any, a: Any, b: Any) -> Any:
    """0, or -1 for a negative number, for counts from the number of bits on, and for negative counts."""
    inside = _shift_fits(xp, a, b)
    shifted = xp.bitwise_right_shift(a, xp.where(inside, b, xp.zeros_like(b)))
    beyond = xp.zeros_like(shifted)
    if _signed(xp, a):
        beyond = xp.where(a < 0, xp.full_like(shifted, -1), beyond)
    return xp.where(inside, shifted, beyond)


def _shift_fits(xp: Any, a: Any, b: Any) -> Any:
    fits = b < xp.iinfo(a.dtype).bits
    return xp.logical_and(fits, b >= 0) if _signed(xp, b) else fits


def sign(xp: Any, x: Any) -> Any:
    """The sign; NaN for NaN."""
    return xp.where(xp.isnan(x), x, xp.sign(x)) if xp.isdtype(x.dtype, "real floating") else xp.sign(x)


def sort(xp: Any, x: Any, axis: int) -> Any:
    """Sort in ascending order, NaN last."""
    if not xp.isdtype(x.dtype, "real floating"):
        return xp.sort(x, axis=axis)
    nan = xp.isnan(x)
    ordered = xp.sort(xp.where(nan, xp.full_like(x, float("inf")), x), axis=axis)
    numbers = xp.sum(xp.astype(xp.logical_not(nan), xp.int64), axis=axis, keepdims=True)
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    place = xp.reshape(xp.arange(x.shape[axis], dtype=xp.int64), tuple(shape))
    return xp.where(place < numbers, ordered, xp.full_like(x, float("nan")))


def take(xp: Any, x: Any, indices: Any, axis: int) -> Any:
    """Rows by index, negative indices from the end; IndexError with NumPy's text if out of bounds."""
    size = x.shape[axis]
    outside = xp.logical_or(indices >= size, indices < -size)
    if bool(xp.any(outside)):
        first = int(indices[tuple(int(k[0]) for k in xp.nonzero(outside))])
        raise IndexError(f"index {first} is out of bounds for axis {axis} with size {size}")
    flat = xp.reshape(xp.where(indices < 0, indices + size, indices), (-1,))
    taken = xp.take(x, flat, axis=axis)
    return xp.reshape(taken, (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))


def _signed(xp: Any, x: Any) -> bool:
    return bool(xp.isdtype(x.dtype, "signed integer"))


#: op -> its rule for two operands, or for one
RULES: dict[str, Callable[..., Any]] = {
    "floor_divide": floor_divide,
    "remainder": remainder,
    "left_shift": left_shift,
    "right_shift": right_shift,
    "sign": sign,
}
