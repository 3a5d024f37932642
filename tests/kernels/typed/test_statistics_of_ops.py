"""An op and the statistics of its result in one pass: the bits of both, one after the other."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from workbench.kernels import typed

OPS = ("add", "subtract", "multiply", "divide")
FORMS = ("vv", "vs", "sv")
LENGTHS = [*range(20), 63, 64, 65, 500, 502, 512, 1023, 1024, 1031, 2055]


def operands(dtype: str, n: int, seed: int, odd: bool) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays of numbers; with ``odd``, some are infinite, no numbers, zeros or below the normal range."""
    rng = np.random.default_rng(seed)
    a, b = (np.ascontiguousarray(rng.normal(size=n + 1) * 10.0 ** rng.integers(-3, 4, n + 1), dtype) for _ in range(2))
    if odd and n:
        for array in (a, b):
            for value in (np.inf, -np.inf, np.nan, 0.0, -0.0, np.finfo(dtype).tiny / 8, np.finfo(dtype).max):
                array[rng.integers(0, n)] = value
    return a, b


def bits(array: np.ndarray) -> bytes:
    """NaNs alike: the sign and payload of one made from two are left open."""
    return np.where(np.isnan(array), np.nan, array).tobytes()


def check(dtype: str) -> int:
    checked = 0
    for n in LENGTHS:
        for number in range(12):
            op, form = OPS[number // 3], FORMS[number % 3]
            addresses: Any = typed.kernel(op, (dtype, dtype), dtype)
            for odd in (False, True):
                a, b = operands(dtype, n, 31 * n + number, odd)
                wanted, found = np.zeros(n, dtype), np.zeros(n, dtype)
                typed._repeat(addresses[1 + number % 3], wanted, a, b, n, 1)
                statistics: Any = typed.statistics(dtype)
                numbers = typed._repeat_statistics(statistics, wanted, 1)
                for out in (found, b[:n] if form != "vs" else a[:n]):  # beside its operands, and in place of one
                    got = typed._statistics_of_op(dtype, number, out, a, b)
                    assert bits(out) == bits(wanted), (dtype, n, op, form, odd)
                    assert got.tobytes() == numbers.tobytes(), (dtype, n, op, form, odd, got, numbers)
                    checked += 1
    return checked


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_bits_are_those_of_the_op_and_of_its_statistics(dtype: str) -> None:
    with np.errstate(all="ignore"):
        assert check(dtype) == len(LENGTHS) * 48


@pytest.mark.parametrize("isa", ["x86-64", "avx2", "avx512"])
def test_every_instruction_set(isa: str) -> None:
    code = f"import {__name__} as t; t.np.seterr(all='ignore')\n"
    code += "print(t.check('float64') + t.check('float32'), t.typed.isa())"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "WORKBENCH_ISA": isa}, capture_output=True, text=True
    )
    if "does not have" in done.stderr:
        pytest.skip(f"no {isa} here")
    assert done.stdout.split() == [str(len(LENGTHS) * 96), isa], done.stderr


def test_integers_have_none() -> None:
    assert typed.statistics_of_ops("int64") is None and typed.statistics_of_ops("float64")
