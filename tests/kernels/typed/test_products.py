"""Matrix products and one-pass statistics: exact for integers, inside the stated bounds for floats."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.reference.typed import dtype_of, edges
from tests.kernels.typed import addresses
from workbench.kernels import typed
from workbench.kernels.types.ops import KINDS

PRODUCTS = [row for row in typed.table() if row[0] == "matmul"]
STATISTICS = [t for t in KINDS if t != "string" and typed.statistics(t) is not None]
UNIT = {
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
    "float32": 2.0**-24,
    "float64": 2.0**-53,
    "complex64": 2.0**-24,
    "complex128": 2.0**-53,
}


def product(row, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    _, inputs, output = row
    out = np.zeros((a.shape[0], b.shape[1]), dtype_of(output))
    run = addresses.MATMUL(typed.matmul(inputs[0], output))
    run(out.ctypes.data, a.ctypes.data, b.ctypes.data, *a.shape, b.shape[1])
    return out


def test_there_are_products_and_statistics():
    assert PRODUCTS and STATISTICS


@pytest.mark.parametrize("row", PRODUCTS, ids=lambda r: f"{r[1][0]}-{r[2]}")
def test_products(row):
    """Integers wrap as NumPy's; floats stay inside (k + 1) u sum |a b|, plus the rounding to a narrow output; sums of
    small whole numbers are exact in every type."""
    _, (name, _), output = row
    random, dtype = np.random.default_rng(3), dtype_of(name)
    for m, k, n in ((1, 1, 1), (2, 3, 4), (5, 17, 1), (1, 40, 33), (16, 16, 16), (7, 9, 21), (3, 0, 2)):
        whole = [random.integers(0 if KINDS[name] == "u" else -2, 3, s).astype(dtype) for s in ((m, k), (k, n))]
        assert (product(row, *whole) == whole[0].astype(object) @ whole[1].astype(object)).all() or k == 0
        if KINDS[name] in "iu":
            info = np.iinfo(dtype)
            a, b = (random.integers(info.min, info.max, s, dtype, endpoint=True) for s in ((m, k), (k, n)))
            assert (product(row, a, b) == np.matmul(a, b, dtype=dtype_of(output))).all()
        elif output in UNIT:
            a, b = (random.normal(size=s).astype(dtype) for s in ((m, k), (k, n)))
            wide = np.complex128 if KINDS[name] == "c" else np.float64
            exact = a.astype(wide) @ b.astype(wide)
            size = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
            inside = min(UNIT[output], 2.0**-24)  # narrow floats are added in float32
            terms = 4 * (k + 1) if KINDS[name] == "c" else k + 1
            bound = terms * inside * size + UNIT[output] * np.abs(exact) + terms * 2.0**-53 * size
            assert (np.abs(product(row, a, b).astype(wide) - exact) <= bound * 1.001).all(), (m, k, n)


def brute(array: np.ndarray) -> tuple:
    """The seven numbers in exact arithmetic."""
    values = [float(x) for x in array]
    numbers = [x for x in values if math.isfinite(x)]
    ranked = [x for x in values if not math.isnan(x)]
    return (
        len(values),
        sum(math.isnan(x) for x in values),
        sum(math.isinf(x) for x in values),
        min(ranked, default=math.inf),
        max(ranked, default=-math.inf),
        sum(map(Fraction, numbers)),
        sum(map(Fraction, map(abs, numbers))),
        sum(Fraction(x) ** 2 for x in numbers),
    )


def near(got: float, exact: Fraction, size: Fraction) -> bool:
    if math.isinf(got):  # a sum of squares may overflow
        return abs(exact) > Fraction(1.7e308)
    return abs(Fraction(got) - exact) <= 70 * size / 2**53 + Fraction(1, 2**1060)


def check(array: np.ndarray) -> None:
    size, nan, inf, low, high, total, absolute, squares = brute(array)
    got = typed.stats(array)
    assert got[:5] == (size, nan, inf, low, high)
    assert near(got.sum, total, absolute), (got.sum, float(total))
    assert near(got.sumsq, squares, squares), (got.sumsq, float(squares))


@pytest.mark.parametrize("name", STATISTICS)
def test_statistics_of_edge_values(name):
    random = np.random.default_rng(4)
    moderate = edges(name)
    if name == "float64":  # the sums may not overflow on the way
        moderate = moderate[~(np.abs(moderate) > 1e100) | np.isinf(moderate)]
    for n in (0, 1, 5, 1023, 1024, 1025, 2048, 5000):
        check(random.choice(moderate, n))
        check(np.resize(np.array([3, 1, 2]).astype(dtype_of(name)), n))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 4000), st.floats(0, 0.01), st.floats(-1e6, 1e6), st.integers(0, 2**32 - 1))
def test_statistics_of_random_values(n, share, level, seed):
    """A few NaN and infinities anywhere, and a level that makes naive sums lose digits."""
    random = np.random.default_rng(seed)
    array = random.normal(size=n) + level
    array[random.random(n) < share] = np.nan
    array[random.random(n) < share] = np.inf
    check(array)
    check(array.astype(np.float32))


def test_statistics_of_all_nan_and_of_infinities():
    assert typed.stats(np.full(3000, np.nan))[:5] == (3000, 3000, 0, np.inf, -np.inf)
    assert typed.stats(np.array([-np.inf, 1.0, np.nan]))[:6] == (3, 1, 1, -np.inf, 1.0, 1.0)
    assert typed.stats(np.array([1e200] * 2000)).sumsq == np.inf


def test_statistics_refuse_what_has_no_order():
    with pytest.raises(TypeError, match="take .real and .imag"):
        typed.stats(np.array([1j]))
