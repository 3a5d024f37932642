"""NumPy's functions and index keys as op calls: the same result as in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ops.samples import B, M, N, V, X, ints
from workbench import ops
from workbench.errors import TypeMismatchError
from workbench.ir.types import TensorType

CALLS = [
    (np.sum, (X,), {"axis": (0, 1), "keepdims": True}),
    (np.sum, (X, 1), {}),
    (np.prod, (N,), {"dtype": np.float32}),
    (np.mean, (N,), {"axis": -1}),
    (np.max, (X,), {}),
    (np.amin, (X, 0), {}),
    (np.min, (X, 1), {}),
    (np.amax, (N,), {}),
    (np.any, (B,), {"axis": 0}),
    (np.all, (B,), {}),
    (np.var, (X,), {"ddof": 1}),
    (np.std, (X, 0), {}),
    (np.argmax, (X, 1), {}),
    (np.argmin, (X,), {"keepdims": True}),
    (np.cumsum, (N,), {"axis": 1}),
    (np.cumprod, (N,), {}),
    (np.linalg.norm, (X,), {}),
    (np.linalg.norm, (M, 1, 0), {}),
    (np.linalg.norm, (M,), {"axis": (0, 1)}),
    (np.where, (B, N, -N), {}),
    (np.isclose, (V, V), {"atol": 0.1}),
    (np.clip, (X, np.array(-0.5), np.array(0.5)), {}),
    (np.round, (X, 1), {}),
    (np.around, (X,), {}),
    (np.real, (M * 1j,), {}),
    (np.imag, (M * 1j,), {}),
    (np.copy, (X,), {}),
    (np.reshape, (X, (4, -1)), {}),
    (np.reshape, (X, -1), {"order": "C"}),
    (np.ravel, (X,), {}),
    (np.transpose, (X,), {}),
    (np.transpose, (X, (2, 0, 1)), {}),
    (np.expand_dims, (X, 1), {}),
    (np.squeeze, (X[:1],), {"axis": 0}),
    (np.broadcast_to, (V, (2, 4)), {}),
    (np.tile, (V, 3), {}),
    (np.take, (N, ints(0, 2)), {"axis": 1}),
    (np.take, (V, ints(1, 1)), {}),
    (np.take_along_axis, (N, ints(0, 1, 2).reshape(3, 1)), {"axis": 1}),
    (np.flip, (X,), {"axis": (0, 1)}),
    (np.roll, (N, (1, 2)), {"axis": (0, 1)}),
    (np.repeat, (N, 2), {"axis": 1}),
    (np.sort, (X,), {"axis": 0}),
    (np.argsort, (X,), {}),
    (np.zeros_like, (X,), {"dtype": int}),
    (np.ones_like, (N,), {}),
    (np.diagonal, (N, 1), {}),
    (np.diag, (V,), {"k": 1}),
    (np.tril, (N, -1), {}),
    (np.triu, (N,), {}),
    (np.dot, (N, N.T), {}),
    (np.outer, (V, V), {}),
    (np.tensordot, (X, M), {}),
    (np.tensordot, (X, X, ([0, 1], [0, 1])), {}),
    (np.concatenate, ([N, N],), {"axis": 1}),
    (np.stack, ([V, V], -1), {}),
    (np.split, (N, 2), {"axis": 1}),
    (np.split, (N, [1, 3]), {"axis": 1}),
    (np.einsum, ("ij,kj->ik", M, M), {}),
    (np.pad, (N, 1), {}),
    (np.pad, (N, ((0, 1), (2, 0))), {"mode": "edge"}),
    (np.pad, (V, (1, 2)), {"constant_values": 9}),
    (np.swapaxes, (X, 0, -1), {}),
    (np.moveaxis, (X, 0, 2), {}),
    (np.moveaxis, (X, [0, 1], [-1, 0]), {}),
]


@pytest.mark.parametrize(("function", "args", "kwargs"), CALLS, ids=[c[0].__name__ for c in CALLS])
def test_function(function, args, kwargs):
    op, adapter = ops.numpy_functions[function]
    inputs, attrs = adapter(args, kwargs)
    spec, arrays = ops.lookup(op), [np.asarray(i) for i in inputs]
    spec.infer([TensorType.of(a) for a in arrays], attrs, arrays)
    found, expected = spec.evaluate(arrays, attrs), function(*args, **kwargs)
    for a, b in zip(found, expected if isinstance(expected, list) else [expected], strict=True):
        assert a.dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_every_adapter_is_tested():
    assert set(ops.numpy_functions) == {c[0] for c in CALLS}
    assert all(op in ops.names() for op, _ in ops.numpy_functions.values())


@pytest.mark.parametrize(
    ("function", "args", "kwargs"),
    [
        (np.sum, (X,), {"where": B}),
        (np.sum, (X,), {"out": X}),
        (np.max, (X,), {"initial": 0}),
        (np.reshape, (X, -1), {"order": "F"}),
        (np.concatenate, ([N, N],), {"axis": None}),
        (np.take, (N, ints(0)), {}),
        (np.sort, (N,), {"axis": None}),
        (np.clip, (N, 0, None), {}),
        (np.linalg.norm, (M, 2), {}),
        (np.einsum, (M, [0, 1]), {}),
        (np.pad, (N, 1), {"end_values": 3}),
    ],
)
def test_arguments_without_counterpart_are_refused(function, args, kwargs):
    with pytest.raises(TypeMismatchError, match="does not take the argument") as caught:
        ops.numpy_functions[function][1](args, kwargs)
    assert caught.value.slug == "wrong-attr"


def keys():
    ints_ = st.integers(-2, 1)
    bound = st.one_of(st.none(), st.integers(-5, 5))
    slices = st.builds(slice, bound, bound, st.sampled_from([None, 1, 2, -1, -2]))
    arrays = st.sampled_from([ints(0, 1), ints(1), np.array([[0], [-1]])])
    item = st.one_of(ints_, slices, st.none(), arrays)
    return st.lists(item, max_size=3).flatmap(lambda k: st.sampled_from([tuple(k), (*k[:1], ..., *k[1:]), (*k, ...)]))


@settings(max_examples=300, deadline=None)
@given(keys(), st.sampled_from([(2, 3, 4), (2, None, 4), (None, None, None), None]), st.booleans())
def test_index_keys(key, shape, as_value):
    """x[key] by NumPy, and by getitem with ints, slice bounds and arrays as extra inputs."""
    x = np.arange(24.0).reshape(2, 3, 4)
    index, extra = ops.encode_index(key, (lambda i: isinstance(i, int)) if as_value else (lambda i: False))
    arrays = [x, *map(np.asarray, extra)]
    spec = ops.lookup("getitem")
    types = [TensorType("float64", shape), *map(TensorType.of, arrays[1:])]
    inferred = spec.infer(types, {"index": index}, [None] * len(arrays))[0]
    found = spec.evaluate(arrays, {"index": index})[0]
    np.testing.assert_array_equal(found, x[key])
    assert type(found) is np.ndarray and inferred.accepts(TensorType.of(found))
    if shape == x.shape and not as_value and not any(isinstance(k, np.ndarray) for k in key):
        assert inferred.shape == found.shape


def test_keys_that_are_no_index():
    with pytest.raises(TypeMismatchError, match="indexed with str 'a'"):
        ops.encode_index("a")
    with pytest.raises(TypeMismatchError, match="index item"):
        ops.lookup("getitem").infer([TensorType("float32", (2,))], {"index": (0,)}, [None])
