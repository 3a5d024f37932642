"""Typed kernels against NumPy: calls as compiled code makes them, narrow floats, statistics in one pass."""

from __future__ import annotations

from functools import partial

import ml_dtypes
import numpy as np
import pytest

from tests.benchmarks.timing import interleaved
from workbench.kernels import typed

pytestmark = pytest.mark.bench

TYPES = (
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
)
#: items -> calls in a round, kernel and NumPy
SIZES = {1: (100_000, 2000), 8: (100_000, 2000), 1000: (5000, 500), 1_000_000: (2, 2)}


def array_of(dtype: np.dtype, n: int, spread: int) -> np.ndarray:
    """Small whole numbers, on a 64-byte boundary as the executor's buffers are."""
    raw = np.empty(n * dtype.itemsize + 64, np.uint8)
    start = -raw.ctypes.data % 64
    out = raw[start : start + n * dtype.itemsize].view(dtype)
    out[:] = (np.arange(n) % spread + 1).astype(dtype)
    return out


def test_add_from_compiled_code(capsys):
    lines = [f"add, kernel from compiled code as fast as np.add(a, b, out=c), {typed.isa()}"]
    lines.append(f"  {'':10}" + "".join(f"{f'n = {n:g}':>26}" for n in SIZES))
    for name in TYPES:
        addresses = typed.kernel("add", (name, name), name)
        if addresses is None:
            continue
        dtype, cells = np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name), []
        for n, (calls, numpy_calls) in SIZES.items():
            a, b, out = (array_of(dtype, n, spread) for spread in (7, 5, 3))
            best = interleaved(
                {
                    "kernel": partial(typed._repeat_scalar, addresses[0], out, a, b, calls)
                    if n == 1
                    else partial(typed._repeat, addresses[1], out, a, b, n, calls),
                    "numpy": lambda a=a, b=b, out=out, c=numpy_calls: [np.add(a, b, out=out) for _ in range(c)],
                },
                rounds=9,
            )
            kernel, plain = best["kernel"] / calls, best["numpy"] / numpy_calls
            cells.append(f"{kernel * 1e9:12.1f} ns {plain / kernel:8.1f}x")
        lines.append(f"  {name:10}" + "  ".join(cells))
    with capsys.disabled():
        print("\n" + "\n".join(lines))
    assert len(lines) > 2


def plain_passes(a: np.ndarray) -> tuple:
    with np.errstate(all="ignore"):
        return a.min(), a.max(), a.sum(), np.square(a).sum(), np.isnan(a).sum(), np.isinf(a).sum()


def test_statistics_in_one_pass(capsys):
    lines = ["statistics in one pass, against plain NumPy passes, and in reads of the array (maximum of its words)"]
    for name in ("float64", "float32", "float16", "int32"):
        address = typed.statistics(name)
        if address is None:
            continue
        for n in (100_000, 1_000_000):
            a = (np.random.default_rng(0).normal(size=n) * 100).astype(name)
            words = a.view(np.int64)
            best = interleaved(
                {
                    "kernel": lambda a=a, k=address: typed._repeat_statistics(k, a, 1),
                    "numpy": lambda a=a: plain_passes(a),
                    "read": lambda w=words: w.max(),
                },
                rounds=15,
            )
            kernel = best["kernel"]
            lines.append(
                f"  {name:8} n = {n:<8} {kernel * 1e6:8.1f} us  {best['numpy'] / kernel:6.1f}x NumPy  "
                f"{kernel / best['read']:5.2f} reads"
            )
    with capsys.disabled():
        print("\n" + "\n".join(lines))
    assert len(lines) > 1


def test_call_from_python(capsys):
    a, b = np.arange(8.0), np.arange(8.0)
    best = interleaved(
        {
            "call": lambda: [typed.call("add", a, b) for _ in range(1000)],
            "np.add": lambda: [np.add(a, b) for _ in range(1000)],
        }
    )
    with capsys.disabled():
        print(f"\ncall('add') of 8 float64 from Python: {best['call'] / best['np.add']:.1f} times np.add")
    assert best["call"] > 0
