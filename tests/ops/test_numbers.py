"""Results of the ops compared with NumPy and with handwritten numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.ops.samples import SAMPLES, B, M, N, V, X, ints, scalar
from tests.ops.test_agreement import ELEMENTWISE
from tests.ops.test_special import VALUES
from workbench import ops
from workbench.errors import ExecutionError


def run(name, *arrays, **attrs):
    with np.errstate(all="ignore"):
        results = ops.lookup(name).evaluate([np.asarray(a) for a in arrays], attrs)
    return results[0] if len(results) == 1 else results


nan, inf = math.nan, math.inf
BY_HAND = [
    # name, inputs, attrs, expected
    ("truncate_divide", (ints(7, -7, 7, -7, 6, 1), ints(2, 2, -2, -2, -3, 0)), {}, ints(3, -3, -3, 3, -2, 0)),
    ("truncate_mod", (ints(7, -7, 7), ints(3, 3, -3)), {}, ints(1, -1, 1)),
    ("remainder", (ints(7, -7, 7), ints(3, 3, -3)), {}, ints(1, 2, -2)),
    ("floor_divide", (ints(-7), ints(2)), {}, ints(-4)),
    ("divide", (ints(1), ints(4)), {}, np.array([0.25])),
    ("divide", (np.array([1.0, 0.0]), 0.0), {}, np.array([inf, nan])),
    ("round", (np.array([0.5, 1.5, 2.5, -0.5]),), {}, np.array([0.0, 2.0, 2.0, -0.0])),
    ("clip", (np.array([-1.0, nan, 9.0]), 0.0, 1.0), {}, np.array([0.0, nan, 1.0])),
    ("cast", (np.array([1.9, -1.9]),), {"dtype": "int32"}, ints(1, -1, dtype=np.int32)),
    ("sigmoid", (np.array([-1000.0, 0.0, 1000.0, nan]),), {}, np.array([0.0, 0.5, 1.0, nan])),
    ("softplus", (np.array([-1000.0, 0.0, 1000.0]),), {}, np.array([0.0, math.log(2), 1000.0])),
    ("erf", (np.array([0.0, 1.0, -inf]),), {}, np.array([0.0, math.erf(1), -1.0])),
    ("gelu", (np.array([1.0]),), {}, np.array([0.5 * (1 + math.erf(1 / math.sqrt(2)))])),
    ("gelu", (np.array([1.0]),), {"approximate": "tanh"}, np.array([0.8411919906082768])),
    ("elu", (np.array([-1.0, 2.0]),), {"alpha": 2.0}, np.array([2 * math.expm1(-1), 2.0])),
    ("celu", (np.array([-1.0, 2.0]),), {"alpha": 2.0}, np.array([2 * math.expm1(-0.5), 2.0])),
    ("selu", (np.array([-1.0, 1.0]),), {}, np.array([-1.1113307378125625, 1.0507009873554805])),
    ("leaky_relu", (np.array([-1.0, 2.0]),), {"alpha": 0.1}, np.array([-0.1, 2.0])),
    ("relu", (ints(-1, 2),), {}, ints(0, 2)),
    ("relu6", (np.array([-1.0, 7.0]),), {}, np.array([0.0, 6.0])),
    ("hard_sigmoid", (np.array([-9.0, 1.0]),), {}, np.array([0.0, 0.7])),
    ("softsign", (np.array([-1.0, 3.0]),), {}, np.array([-0.5, 0.75])),
    ("swish", (np.array([2.0]),), {}, np.array([2 / (1 + math.exp(-2))])),
    ("rsqrt", (np.array([4.0]),), {}, np.array([0.5])),
    ("squared_difference", (ints(1, 5), ints(3)), {}, ints(4, 4)),
    ("imag", (np.array([1 + 2j]),), {}, np.array([2.0])),
    ("real", (np.array([1 + 2j]),), {}, np.array([1.0])),
    ("logsumexp", (np.array([1000.0, 1000.0]),), {}, np.array(1000 + math.log(2))),
    ("logsumexp", (np.array([-inf, -inf]),), {}, np.array(-inf)),
    ("logsumexp", (np.array([inf, 0.0]),), {}, np.array(inf)),
    ("norm", (np.array([3.0, -4.0]),), {}, np.array(5.0)),
    ("norm", (np.array([3.0, -4.0]),), {"ord": 1}, np.array(7.0)),
    ("norm", (np.array([3.0, -4.0]),), {"ord": inf}, np.array(4.0)),
    ("mean", (ints(-3, -4),), {"dtype": "same"}, np.array(-3)),
    ("sum", (ints(100, 100, dtype=np.int8),), {"dtype": "same"}, np.array(-56, np.int8)),
    ("argmax", (ints(1, 3, 3),), {"select_last": True}, np.array(2)),
    ("argmin", (ints(1, 1, 3),), {"dtype": "int32"}, np.array(0, np.int32)),
    ("cumsum", (ints(1, 2, 3),), {"exclusive": True, "axis": 0}, ints(0, 1, 3)),
    ("cumsum", (ints(1, 2, 3),), {"reverse": True, "axis": 0}, ints(6, 5, 3)),
    ("cumprod", (ints(1, 2, 3),), {"exclusive": True, "reverse": True, "axis": 0}, ints(6, 3, 1)),
    ("softmax", (np.array([1000.0, 1000.0]),), {}, np.array([0.5, 0.5])),
    ("log_softmax", (np.array([0.0, 0.0]),), {}, np.log([0.5, 0.5])),
    ("sort", (ints(2, 3, 1),), {"descending": True}, ints(3, 2, 1)),
    ("argsort", (ints(2, 3, 2),), {"descending": True}, ints(1, 0, 2)),
    ("reshape", (np.zeros((2, 3, 4)),), {"shape": (0, -1), "copy_zeros": True}, np.zeros((2, 12))),
    ("gemm", (np.eye(2), np.ones((2, 2)), np.ones(2)), {"alpha": 2.0, "beta": 3.0}, np.full((2, 2), 5.0)),
    ("pad", (ints(1, 2),), {"pad_width": ((1, 2),), "value": 7}, ints(7, 1, 2, 7, 7)),
    ("shape", (np.zeros((2, 3)),), {"dtype": "int32"}, ints(2, 3, dtype=np.int32)),
    ("size", (np.zeros((2, 3)),), {}, scalar(6)),
    ("rank", (np.zeros((2, 3)),), {}, scalar(2)),
    ("range", (scalar(10), scalar(0), scalar(-3)), {}, ints(10, 7, 4, 1)),
    ("range", (scalar(0.0, float), scalar(1.0, float), scalar(0.3, float)), {}, np.arange(4) * 0.3),
    ("linspace", (scalar(0), scalar(1), scalar(3)), {}, np.array([0.0, 0.5, 1.0])),
    ("fill", (ints(2), scalar(5)), {}, ints(5, 5)),
    ("constant_of_shape", (ints(2),), {}, np.zeros(2, np.float32)),
    ("zeros_like", (ints(1, 2),), {}, ints(0, 0)),
    ("ones_like", (ints(3),), {"dtype": "float32"}, np.ones(1, np.float32)),
    ("one_hot", (ints(1, 3, -1), scalar(3)), {"dtype": "int64"}, np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]])),
    ("one_hot", (ints(-1), scalar(3)), {"wrap_negative": True, "dtype": "int64"}, np.array([[0, 0, 1]])),
    ("one_hot", (ints(0, 1), scalar(2), scalar(9), scalar(4)), {"axis": 0}, np.array([[9, 4], [4, 9]])),
    ("nonzero", (np.array([[0, 1], [1, 0]]),), {}, np.array([[0, 1], [1, 0]])),
    ("eye", (), {"n": 2, "m": 3, "k": 1}, np.eye(2, 3, 1)),
    ("gather", (ints(5, 6, 7), ints(-1, 0)), {}, ints(7, 5)),
    ("gather_nd", (np.arange(8).reshape(2, 2, 2), np.array([[1], [0]])), {"batch_dims": 1}, np.array([[2, 3], [4, 5]])),
    ("take_along_axis", (ints(5, 6, 7), ints(2)), {"axis": 0}, ints(7)),
    ("scatter_update", (ints(1, 2, 3), ints(0, 0).reshape(2, 1), ints(5, 6)), {"reduction": "add"}, ints(12, 2, 3)),
    ("scatter_update", (ints(1, 2, 3), ints(2).reshape(1, 1), ints(9)), {}, ints(1, 2, 9)),
    ("scatter_nd", (ints(1, 1).reshape(2, 1), ints(5, 6), ints(3)), {}, ints(0, 11, 0)),
    ("put_along_axis", (ints(1, 2, 3), ints(1), ints(9)), {"axis": 0, "reduction": "max"}, ints(1, 9, 3)),
    ("max", (np.empty((2, 0), np.float32),), {"axis": 1, "of_none": "limit"}, np.full(2, -np.inf, np.float32)),
    ("min", (np.empty((2, 0), np.int8),), {"axis": 1, "of_none": "limit"}, np.full(2, 127, np.int8)),
    ("max", (np.empty((0, 1), bool),), {"axis": 0, "of_none": "limit"}, np.array([False])),
    ("slice_size", (ints(1, 2, 3), ints(1), ints(-1)), {}, ints(2, 3)),
    ("setitem", (ints(1, 2, 3), scalar(9)), {"index": (("slice", 1, None, None),)}, ints(1, 9, 9)),
    ("stop_gradient", (ints(1),), {}, ints(1)),
    ("Identity", (ints(1),), {}, ints(1)),
    ("Const", (), {"value": ints(4)}, ints(4)),
    ("ensure_shape", (ints(1),), {"shape": (None,)}, ints(1)),
    ("equal", (np.array(["a", "b"], object), np.array("a", object)), {}, np.array([True, False])),
    ("where", (B, N, scalar(0)), {}, np.where(B, N, np.int64(0))),
    ("isclose", (1.0, 1.0 + 1e-9), {}, np.array(True)),
    # TensorFlow's own results, on both sides of the tolerance and on it
    (
        "approximate_equal",
        (np.array([1, 1, 1, inf, inf, nan, 0.0]), np.array([1, 1.5, 1.25, inf, 1, nan, -0.0])),
        {"tolerance": 0.25},
        np.array([True, False, True, False, False, False, True]),
    ),
    # in float32 the distance of 1 and 1.1 exceeds 0.1, which is 0.100000001
    ("approximate_equal", (np.float32(1), np.float32(1.1)), {"tolerance": 0.1}, np.array(False)),
    ("approximate_equal", (np.zeros(2), np.array([9e-6, 2e-5])), {}, np.array([True, False])),
    ("matmul", (V, V), {}, np.array(18.0, np.float32)),
    ("broadcast_to", (ints(1, 2).reshape(2, 1), ints(1, 2)), {"mutual": True}, np.array([[1, 1], [2, 2]])),
]


@pytest.mark.parametrize(("name", "inputs", "attrs", "expected"), BY_HAND, ids=[r[0] for r in BY_HAND])
def test_by_hand(name, inputs, attrs, expected):
    found = run(name, *inputs, **attrs)
    assert found.dtype == expected.dtype or expected.dtype == np.float64
    assert found.shape == expected.shape
    if found.dtype.kind in "fc":
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=0)
    else:
        np.testing.assert_array_equal(found, expected)


NUMPY = [
    ("sum", np.sum, (X,), {"axis": 1}),
    ("prod", np.prod, (N,), {}),
    ("mean", np.mean, (N,), {"axis": 0}),
    ("max", np.max, (X,), {"axis": 2, "keepdims": True}),
    ("min", np.min, (X,), {}),
    ("any", np.any, (B,), {"axis": 0}),
    ("all", np.all, (B,), {"axis": 1}),
    ("var", np.var, (X,), {"ddof": 1}),
    ("std", np.std, (M,), {"axis": 0}),
    ("argmax", np.argmax, (X,), {"axis": 1}),
    ("argmin", np.argmin, (X,), {}),
    ("cumsum", np.cumsum, (N,), {}),
    ("cumprod", np.cumprod, (V,), {"axis": 0}),
    ("matmul", np.matmul, (X, M.T), {}),
    ("dot", np.dot, (X, M.T), {}),
    ("outer", np.outer, (V, V), {}),
    ("tensordot", np.tensordot, (X, M), {"axes": 2}),
    ("reshape", lambda x, shape: np.reshape(x, shape), (X,), {"shape": (4, 6)}),
    ("expand_dims", np.expand_dims, (X,), {"axis": (0, 2)}),
    ("squeeze", np.squeeze, (X[:1],), {}),
    ("tile", np.tile, (V, ints(2, 3)), {}),
    ("sort", np.sort, (X,), {"axis": 1}),
    ("argsort", np.argsort, (X,), {"axis": 0}),
    ("diagonal", np.diagonal, (N,), {"offset": 1}),
    ("diag", np.diag, (V,), {"k": 1}),
    ("tril", np.tril, (N,), {"k": 1}),
    ("triu", np.triu, (N,), {}),
    ("roll", np.roll, (V,), {"shift": 2}),
    ("repeat", np.repeat, (N,), {"repeats": 2, "axis": 0}),
    ("reverse", np.flip, (N,), {"axis": 1}),
    ("flatten", np.ravel, (N,), {}),
    ("transpose", np.transpose, (X,), {}),
]


@pytest.mark.parametrize(("name", "function", "inputs", "attrs"), NUMPY, ids=[r[0] for r in NUMPY])
def test_as_numpy(name, function, inputs, attrs):
    expected = np.asarray(function(*inputs, **attrs))
    found = run(name, *inputs, **attrs)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_every_elementwise_op_has_expected_numbers():
    """Ufuncs of NumPy are compared with NumPy in ``test_agreement``."""
    named = {row[0] for row in (*BY_HAND, *NUMPY, *VALUES)}
    lacking = [n for n in ELEMENTWISE if ops.lookup(n).ufunc is None and n not in named]
    assert lacking == ["whole_power"]  # which has a separate file


def test_joining_and_cutting_are_inverse():
    parts = run("split", V, sizes=(1, -1))
    np.testing.assert_array_equal(run("concat", *parts), V)
    np.testing.assert_array_equal(run("stack", *run("unstack", N, axis=1), axis=1), N)
    np.testing.assert_array_equal(run("concat", N, N, scalar(1), axis_input=True), np.concatenate([N, N], 1))


def test_strided_slice_masks():
    x = np.arange(24).reshape(2, 3, 4)
    for begin, end, step, masks, expected in [
        ((0, 1), (1, 3), (1, 1), {"shrink_axis_mask": 1}, x[0, 1:3]),
        ((0, -1), (0, -3), (1, -1), {"ellipsis_mask": 1}, x[..., -1:-3:-1]),
        ((0, 0, 0), (0, 0, 2), (1, 1, 1), {"begin_mask": 1, "end_mask": 1, "new_axis_mask": 2}, x[:, None, 0:2]),
        ((1, 0, 0), (0, 0, 2), (1, 1, 1), {"shrink_axis_mask": 1, "ellipsis_mask": 2}, x[1, ..., :2]),
    ]:
        np.testing.assert_array_equal(run("strided_slice", x, ints(*begin), ints(*end), ints(*step), **masks), expected)


def test_slice_as_onnx_has_it():
    huge = 2**63 - 1
    np.testing.assert_array_equal(run("slice", V, ints(-1), ints(-huge), ints(0), ints(-1)), V[::-1])
    np.testing.assert_array_equal(run("slice", N, ints(1), ints(huge), ints(-1)), N[:, 1:])


def test_top_k_and_unique():
    values, indices = run("top_k", V, scalar(2))
    np.testing.assert_array_equal(values, [3, 2])
    np.testing.assert_array_equal(indices, [0, 2])  # the first of equals
    found, first, inverse, counts = run("unique", ints(3, 1, 3), sorted=False)
    for array, expected in zip((found, first, inverse, counts), ([3, 1], [0, 1], [0, 1, 0], [2, 1]), strict=True):
        np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("equation", [a["equation"] for _, a in SAMPLES["einsum"]])
def test_einsum(equation):
    inputs = next(i for i, a in SAMPLES["einsum"] if a["equation"] == equation)
    np.testing.assert_allclose(run("einsum", *inputs, equation=equation), np.einsum(equation, *inputs), rtol=1e-6)


def test_effects(capsys):
    assert ops.lookup("NoOp").evaluate([], {}) == ()
    run("print", V, message="v is")
    assert capsys.readouterr().out.startswith("v is [")
    assert ops.lookup("assert").evaluate([np.array(True)], {}) == ()
    for name, inputs, attrs, slug in [
        ("assert", (np.array(False), V), {"message": "V is bad"}, "assertion-failed"),
        ("check_numerics", (np.array([1.0, nan]),), {}, "not-finite"),
        ("ensure_shape", (V,), {"shape": (3,)}, "wrong-shape"),
    ]:
        with pytest.raises(ExecutionError) as caught:
            run(name, *inputs, **attrs)
        assert caught.value.slug == slug
    assert all(not ops.lookup(n).pure for n in ("assert", "print", "check_numerics"))
