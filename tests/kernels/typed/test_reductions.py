"""Reductions, running results, products and statistics of the typed kernels against NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.reference.typed import bits, dtype_of, edges
from tests.kernels.typed import addresses
from workbench.kernels import typed
from workbench.kernels.types.ops import KINDS, OPS, is_exact

FAMILIES = {"reduction", "index_reduction", "cumulative"}
ROWS = [row for row in typed.table() if OPS[row[0]].family in FAMILIES]
LENGTHS = [1, 2, 7, 8, 9, 16, 127, 128, 129, 130, 255, 1000, 8191, 8192, 8193, 20000]


def numpy_result(op: str, output: str, array: np.ndarray, axis: int) -> np.ndarray:
    keywords = {"dtype": dtype_of(output)} if op in ("sum", "prod", "mean", "cumsum", "cumprod") else {}
    if op == "mean" and output == "float16":
        keywords = {}  # left to itself, NumPy takes the mean of float16 in float32
    function = {"cummin": np.minimum.accumulate, "cummax": np.maximum.accumulate}.get(op) or getattr(np, op)
    with np.errstate(all="ignore"):
        return np.asarray(function(array, axis=axis, **keywords)).astype(dtype_of(output))


def values(name: str, size: int, random: np.random.Generator, style: str) -> np.ndarray:
    dtype, kind = dtype_of(name), KINDS[name]
    if kind == "b":
        return random.random(size) < (0.5 if style == "normal" else 0.999)
    if style == "edges":
        return random.choice(edges(name), size)
    if kind in "iu":
        info = np.iinfo(dtype)
        return random.integers(info.min, info.max, size, dtype, endpoint=True)
    a = random.normal(size=size) * (1e-3 if name == "float16" else 1)
    return (a + 1j * random.normal(size=size)).astype(dtype) if kind == "c" else a.astype(dtype)


def same(op: str, wanted: np.ndarray, got: np.ndarray) -> np.ndarray:
    if op in ("min", "max"):  # which of several zeros wins depends on the position, in NumPy as here
        return (wanted == got) | ((wanted != wanted) & (got != got))
    return (bits(wanted) == bits(got)).reshape(*np.shape(wanted), -1).all(axis=-1)


def check(row, array: np.ndarray, axis: int) -> None:
    op, (dtype,), output = row
    got = addresses.reduce(op, dtype, output, array, axis, keeps=OPS[op].family == "cumulative")
    wanted = numpy_result(op, output, array, axis)
    assert same(op, wanted, got).all(), (row, array.shape, axis, wanted, got)


@pytest.mark.parametrize("op", sorted({row[0] for row in ROWS}))
def test_every_reduction_equals_numpy_along_the_last_axis(op):
    random = np.random.default_rng(5)
    for row in (r for r in ROWS if r[0] == op and is_exact(*r)):
        for n in LENGTHS:
            check(row, values(row[1][0], n, random, "normal"), 0)
            check(row, values(row[1][0], n, random, "edges"), 0)


@pytest.mark.parametrize("op", sorted({row[0] for row in ROWS}))
def test_every_reduction_equals_numpy_along_other_axes(op):
    random = np.random.default_rng(6)
    for row in (r for r in ROWS if r[0] == op and is_exact(*r)):
        for shape, axis in (((7, 5), 0), ((300, 3), 0), ((2, 9, 70), 1), ((3, 40, 2), 1), ((4, 33), 1), ((1, 6, 1), 1)):
            for style in ("normal", "edges"):
                check(row, values(row[1][0], math.prod(shape), random, style).reshape(shape), axis)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.sampled_from([r for r in ROWS if is_exact(*r)]), st.integers(1, 700), st.integers(0, 2**32 - 1), st.data())
def test_reductions_equal_numpy_on_random_values(row, n, seed, data):
    style = data.draw(st.sampled_from(["normal", "edges"]))
    check(row, values(row[1][0], n, np.random.default_rng(seed), style), 0)
