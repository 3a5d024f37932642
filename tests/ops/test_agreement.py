"""Inferred types agree with computed results, for every op, also where shapes, dtypes and values are unknown."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ops.samples import SAMPLES
from workbench import ops
from workbench.errors import TypeMismatchError
from workbench.ir.types import ANY, NUMERIC, TensorType, numpy_dtype

# by family, because frontends may have added ops to the registry
FAMILIES = ("arithmetic", "bits", "functions", "comparison", "logic")
#: ops whose shapes follow from values
#: ops whose result sizes depend on values
BY_VALUE = (
    "nonzero",
    "unique",
    "non_max_suppression",
    "decode_raw",
    "ragged_gather",
    "ragged_to_dense",
    "ragged_to_sparse",
    "string_ngrams",
    "string_split",
    "unicode_decode",
)
ELEMENTWISE = [n for n in ops.names() if n not in SAMPLES and ops.lookup(n).family in FAMILIES]


def run(name, arrays, attrs):
    with np.errstate(all="ignore"):
        return ops.lookup(name).evaluate(arrays, attrs)


def check(name, arrays, attrs, types, values, exact):
    spec = ops.lookup(name)
    inferred = spec.infer(types, attrs, values)
    before = [a.copy() for a in arrays]
    results = run(name, arrays, attrs)
    assert all(type(r) is np.ndarray for r in results)
    found = [TensorType.of(r) for r in results]
    assert len(inferred) == len(found)
    for promise, result in zip(inferred, found, strict=True):
        assert promise.accepts(result), f"{name}{attrs}: inferred {promise}, computed {result}"
        if exact:
            assert promise.dtype == result.dtype
    for a, b in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(a, b)  # inputs are never written to
    return inferred


def blurred(draw, array):
    """A type of the array with some parts unknown."""
    exact = TensorType.of(array)
    dtype = draw(st.sampled_from([exact.dtype, exact.dtype, ANY]))
    if draw(st.integers(0, 3)) == 0:
        return TensorType(dtype, None)
    return TensorType(dtype, tuple(draw(st.sampled_from([d, d, None])) for d in exact.shape))


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_exact_types_give_exact_dtypes(name):
    for arrays, attrs in SAMPLES[name]:
        types = [TensorType.of(a) for a in arrays]
        inferred = check(name, arrays, attrs, types, list(arrays), exact=True)
        data_dependent = name in BY_VALUE or any(a.dtype == bool for a in arrays[1:]) or len(arrays) == 3
        if not data_dependent:
            assert all(t.is_static for t in inferred), f"{name}{attrs}: {inferred}"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SAMPLES))
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_partly_unknown_types(name, data):
    arrays, attrs = data.draw(st.sampled_from(SAMPLES[name]))
    types = [blurred(data.draw, a) for a in arrays]
    values = [data.draw(st.sampled_from([None, a])) for a in arrays]
    try:
        check(name, arrays, attrs, types, values, exact=False)
    except TypeMismatchError as error:  # the number of parts must be known
        assert name in ("unstack", "split") and error.slug == "wrong-attr"


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_every_dtype(name):
    """The float32 arrays of each sample in every other dtype."""
    for (arrays, attrs), dtype in itertools.product(SAMPLES[name], NUMERIC):
        other = [np.abs(a).astype(numpy_dtype(dtype)) if a.dtype == np.float32 else a for a in arrays]
        types = [TensorType.of(a) for a in other]
        try:
            ops.lookup(name).infer(types, attrs, other)
        except TypeMismatchError as error:
            assert error.slug == "wrong-dtype"
        else:
            check(name, other, attrs, types, other, exact=True)


@st.composite
def operands(draw, count):
    """Broadcastable arrays of drawn dtypes."""
    rank = draw(st.integers(0, 3))
    full = [draw(st.integers(0, 3)) for _ in range(rank)]
    arrays = []
    for _ in range(count):
        keep = draw(st.integers(0, rank))
        shape = tuple(draw(st.sampled_from([d, d, 1])) for d in full[rank - keep :])
        dtype = numpy_dtype(draw(st.sampled_from(NUMERIC)))
        seed = draw(st.integers(0, 99))
        values = np.random.default_rng(seed).integers(0 if dtype.kind in "ub" else -3, 5, shape)
        arrays.append((values * (0.75 if dtype.kind not in "iub" else 1)).astype(dtype))
    return arrays


@pytest.mark.slow
@pytest.mark.parametrize("name", ELEMENTWISE)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_elementwise(name, data):
    spec = ops.lookup(name)
    arrays = data.draw(operands(len(spec.inputs)))
    exact = [TensorType.of(a) for a in arrays]
    try:
        spec.infer(exact, {}, arrays)
    except TypeMismatchError as error:
        assert error.slug == "wrong-dtype"
        return
    try:
        inferred = check(name, arrays, {}, exact, arrays, exact=True)
    except (ValueError, ZeroDivisionError) as error:
        assert "negative integer powers" in str(error) or "negative power" in str(error)
        return
    assert all(t.is_static for t in inferred)
    check(name, arrays, {}, [blurred(data.draw, a) for a in arrays], [None] * len(arrays), exact=False)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_ufunc_entry_names_the_same_function(name):
    spec = ops.lookup(name)
    if spec.ufunc is None:
        return
    ufunc = getattr(np, spec.ufunc)
    arrays = [np.array([1.0, 2.0, 3.0], np.float32) for _ in range(ufunc.nin)]
    try:
        spec.infer([TensorType.of(a) for a in arrays], {}, arrays)
    except TypeMismatchError:
        arrays = [a.astype(np.int32) for a in arrays]
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run(name, arrays, {})[0], ufunc(*arrays))
