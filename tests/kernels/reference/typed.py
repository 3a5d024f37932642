"""NumPy's result for an instance of a typed kernel, values at which kernels go wrong, and bit comparison."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from workbench.kernels.types.ops import KINDS, OPS, compute_type

STEPS = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}
REDUCTIONS = ("reduction", "index_reduction", "cumulative")


def dtype_of(name: str) -> np.dtype:
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def edges(name: str) -> np.ndarray:
    """Values at which arithmetic goes wrong: limits, signs, zeros, powers of two and their neighbours, subnormals, NaN,
    Inf."""
    dtype, kind = dtype_of(name), KINDS[name]
    if kind == "b":
        return np.array([False, True])
    if kind in "iu":
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        points = {low, low + 1, low // 2, high // 2, high - 1, high, -8, -3, -2, -1, 0, 1, 2, 3, 5, 7, 8, 31, 32, 64}
        return np.array(sorted(p for p in points if low <= p <= high), dtype)
    if kind == "c":
        part = np.array([0.0, -0.0, 1.0, -1.5, 2.5, 3e4, np.inf, -np.inf, np.nan])
        return (part[:, None] + 1j * np.where(np.isfinite(part), part, 0)[None, :]).astype(dtype).ravel()
    info = ml_dtypes.finfo(dtype)
    points = [0.0, 0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 7.0, 100.0]
    points += [2.0**11 + 1, 2.0**24 + 1, 2.0**31, 2.0**53, 2.0**63, 2.0**64]
    positive = [p for p in points if p <= float(info.max)]
    positive += [float(x) for x in (info.max, info.smallest_subnormal, info.smallest_normal, info.eps)]
    positive += [float(info.smallest_subnormal) * 3, np.inf, np.nan]
    return np.array([*positive, *(-p for p in positive)], np.float64).astype(dtype)


def convert(x: np.ndarray, name: str) -> np.ndarray:
    if x.dtype.kind == "c" and KINDS[name] not in "cb":
        x = x.real
    return x.astype(dtype_of(name))


def truncate_divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Python's exact quotients, cut towards zero, in the integers of the type."""
    pairs = zip(*(x.ravel().tolist() for x in np.broadcast_arrays(a, b)), strict=True)
    exact = [0 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x, y in pairs]
    bits = a.dtype.itemsize * 8
    wrapped = np.array([e & ((1 << bits) - 1) for e in exact], np.dtype(f"u{a.dtype.itemsize}"))
    return wrapped.view(a.dtype).reshape(np.broadcast_shapes(a.shape, b.shape))


def clip(x, low, high):
    """A zero at a zero bound keeps its sign, any NaN wins."""
    up = np.where((x < low) | (low != low), low, x)
    return np.where((up > high) | (high != high), high, up)


def function(op: str):
    """The NumPy function of an element-wise op, on inputs of the compute type."""
    row = OPS[op]
    if "<" in row.functor:
        first, last = op.split("_", 1)
        if last.startswith("reverse_"):
            return lambda a, b, c: STEPS[last[8:]](c, STEPS[first](a, b))
        return lambda a, b, c: STEPS[last](STEPS[first](a, b), c)
    if op == "power":  # negative integer exponents are no concern of this module: see usable()
        return lambda a, b: np.power(a, np.where(b < 0, b.dtype.type(0), b) if b.dtype.kind == "i" else b)
    special = {"clip": clip, "cast": lambda x: x, "round": np.rint, "truncate_divide": truncate_divide}
    return special.get(op) or getattr(np, op)


def expected(op: str, inputs: tuple[str, ...], output: str, arrays: list[np.ndarray]) -> np.ndarray:
    """NumPy's result: inputs in the compute type, one op, then the output type."""
    row = OPS[op]
    with np.errstate(all="ignore"):
        if row.family not in ("comparison", "logical"):
            common = compute_type(row, inputs, output)
            arrays = [a if row.family == "select" and k == 0 else convert(a, common) for k, a in enumerate(arrays)]
        return convert(np.asarray(function(op)(*arrays)), output)


def usable(op: str, inputs: tuple[str, ...], output: str, arrays: list[np.ndarray]) -> np.ndarray:
    """Selects the operands for which NumPy has one answer.

    Left out are negative integer exponents, which NumPy refuses, and operands for which its answer depends on the
    position in the array: floats outside the range of uint32; for fmax and fmin of float32 and float64 zeros of either
    sign and signalling NaN.
    """
    row, mask = OPS[op], np.ones(arrays[0].shape, bool)
    if row.family == "cast" and output == "uint32" and KINDS[inputs[0]] in "fc":
        with np.errstate(all="ignore"):
            value = arrays[0].real.astype(np.float64)
            mask = (value > -(2.0**31)) & (value < 2.0**32)
    if op == "power" and KINDS[inputs[1]] == "i":
        mask = arrays[1] >= 0
    if op in ("fmax", "fmin") and inputs[0] in ("float32", "float64"):
        a, b = arrays
        return ~((a == 0) & (b == 0)) & ~signalling(a) & ~signalling(b)
    return mask


def signalling(x: np.ndarray) -> np.ndarray:
    """NaN whose first fraction bit is 0."""
    word, quiet = (np.uint32, 1 << 22) if x.dtype.itemsize == 4 else (np.uint64, 1 << 51)
    return np.isnan(x) & ((np.ascontiguousarray(x).view(word) & word(quiet)) == 0)


def bits(x: np.ndarray) -> np.ndarray:
    """The bits of every item, with one NaN for all NaN."""
    x = np.ascontiguousarray(x)
    if x.dtype.kind == "c":
        x = x.view(f"f{x.dtype.itemsize // 2}")
    if x.dtype.kind in "fV":
        x = np.where(np.isnan(x), np.array(np.nan, x.dtype), x)
    return x.view(f"u{x.dtype.itemsize}")


def ulps(x: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Distance of float results from exact values of a wider type, in units in the last place of ``x``."""
    info = ml_dtypes.finfo(x.dtype)
    wide = np.asarray(exact, np.longdouble)
    size = np.maximum(np.abs(wide), float(info.smallest_normal))
    unit = np.ldexp(np.longdouble(1), np.frexp(size)[1].astype(int) - info.nmant - 1)
    return np.abs(x.astype(np.longdouble) - wide) / unit
