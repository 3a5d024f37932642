"""ONNX Pow of integers, compared with Python's integers modulo the dtype's size."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.ir.opspec import REGISTRY

DTYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def _power(x, y):
    return REGISTRY["whole_power"].evaluate([np.asarray(x), np.asarray(y)], {})[0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_wrap_round_as_integers_do(dtype):
    bases, exponents = np.array([0, 1, 2, 3, 7, 11], dtype), np.array([0, 1, 2, 3, 5], dtype)
    bits = bases.dtype.itemsize * 8
    wanted = [[pow(int(b), int(e), 1 << bits) for e in exponents] for b in bases]
    found = _power(bases[:, None], exponents)
    assert found.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(found, np.array(wanted, np.uint64).astype(dtype))


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.startswith("i")])
def test_negative_powers_of_one_and_minus_one_are_exact(dtype):
    x, y = np.array([1, 1, -1, -1, 2, -3], dtype), np.array([-1, -2, -1, -2, -1, -3], dtype)
    np.testing.assert_array_equal(_power(x, y), np.array([1, 1, -1, 1, 0, 0], dtype))
