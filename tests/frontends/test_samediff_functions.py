"""SameDiff's elementwise ops, reductions and moves of elements, compared with NumPy and SciPy: rules of one
node each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import workbench as wb
from tests.frontends.flatbytes import SameDiff, flat_array
from workbench.errors import UnknownOpError
from workbench.frontends.samediff.rules import FLAT_RULES

ALL = 2**31 - 1
RNG = np.random.default_rng(11)
X = RNG.normal(size=(3, 4)).round(2)
Y = RNG.normal(size=(3, 4)).round(2)
#: inside the domain of every function: between 0 and 1
U = RNG.uniform(0.05, 0.95, (3, 4))
N = RNG.integers(-9, 9, (3, 4))
M = RNG.choice([-4, -3, 2, 5], (3, 4))
P, Q = X > 0, Y > 0
ODD = np.array([1.0, -np.inf, np.nan, 0.0, np.inf, -2.5])
#: three segments of rows
SEGMENTS = np.int32([0, 0, 2])
IMAGE = RNG.normal(size=(1, 4, 4, 4))

UNARY: dict[str, tuple[Callable[..., Any], np.ndarray]] = {
    "abs": (np.abs, X),
    "sign": (np.sign, X),
    "reciprocal": (np.reciprocal, U),
    "floor": (np.floor, X * 3),
    "ceil": (np.ceil, X * 3),
    "rsqrt": (lambda x: 1 / np.sqrt(x), U),
    "exp": (np.exp, X),
    "expm1": (np.expm1, X),
    "log": (np.log, U),
    "log1p": (np.log1p, U),
    "sin": (np.sin, X),
    "cos": (np.cos, X),
    "tan": (np.tan, X),
    "asin": (np.arcsin, U),
    "acos": (np.arccos, U),
    "atan": (np.arctan, X),
    "sinh": (np.sinh, X),
    "cosh": (np.cosh, X),
    "asinh": (np.arcsinh, X),
    "acosh": (np.arccosh, U + 1),
    "atanh": (np.arctanh, U),
    "softplus": (lambda x: np.log1p(np.exp(x)), X),
    "softsign": (lambda x: x / (1 + np.abs(x)), X),
    "elu": (lambda x: np.where(x > 0, x, np.expm1(x)), X),
    "selu": (lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)), X),
    "erf": (special.erf, X),
    "erfc": (special.erfc, X),
    "lgamma": (special.gammaln, U + 1),
    "digamma": (special.digamma, U + 1),
    "identity": (np.array, X),
    "linear": (np.array, X),
    "old_identity": (np.array, X),
    "stop_gradient": (np.array, X),
    "print_variable": (np.array, X),
    "order": (np.array, X),
    "cbrt": (np.cbrt, X),
    "hardtanh": (lambda x: np.clip(x, -1, 1), X * 2),
    "rectifiedtanh": (lambda x: np.maximum(np.tanh(x), 0), X),
    "logsigmoid": (special.log_expit, X),
    "mish": (lambda x: x * np.tanh(np.log1p(np.exp(x))), X),
    "timesoneminus": (lambda x: x * (1 - x), X),
    "hard_sigmoid": (lambda x: np.clip(0.2 * x + 0.5, 0, 1), X * 4),
    "hardsigmoid": (lambda x: np.clip(0.2 * x + 0.5, 0, 1), X * 4),
    "isnan": (np.isnan, ODD),
    "isinf": (np.isinf, ODD),
    "isfinite": (np.isfinite, ODD),
    "not": (np.logical_not, P),
    "bool_not": (np.logical_not, P),
    "toggle_bits": (np.invert, N),
    "zeroslike": (np.zeros_like, X),
    "oneslike": (np.ones_like, X),
    "to_double": (lambda x: x.astype("float64"), N),
    "to_float32": (lambda x: x.astype("float32"), X),
    "to_float16": (lambda x: x.astype("float16"), X),
    "to_int32": (lambda x: x.astype("int32"), X * 3),
    "to_int64": (lambda x: x.astype("int64"), X * 3),
    "to_uint32": (lambda x: x.astype("uint32"), np.abs(X * 3)),
    "to_uint64": (lambda x: x.astype("uint64"), np.abs(X * 3)),
    "cholesky": (np.linalg.cholesky, np.eye(3) * 2 + 0.5),
    "matrix_inverse": (np.linalg.inv, np.eye(3) * 2 + 0.5),
    "matrix_determinant": (np.linalg.det, np.eye(3) * 2 + 0.5),
    "trace": (np.trace, X[:, :3]),
    "diag": (np.diag, X[0]),
    "diag_part": (np.diag, X[:, :3]),
    "matrix_diag": (np.diag, X[0]),
    "matrix_diag_part": (np.diag, X[:, :3]),
    "invert_permutation": (lambda x: np.argsort(x).astype(x.dtype), np.int32([2, 0, 3, 1])),
    "flatten": (np.ravel, X),
    "unique": (lambda x: np.int32([5, -1, 3]), np.int32([5, -1, 5, 3, -1])),
    "where_np": (np.argwhere, P),
}
BINARY: dict[str, tuple[Callable[..., Any], np.ndarray, np.ndarray]] = {
    "sub": (np.subtract, X, Y),
    "mul": (np.multiply, X, Y),
    "div": (np.divide, X, Y),
    "realdiv": (np.divide, X, Y),
    "truncatediv": (lambda a, b: np.trunc(a / b).astype(a.dtype), N, M),
    "fmod": (np.fmod, X * 5, Y),
    # C's remainder, as in libnd4j: with the sign of the dividend
    "reversemod": (lambda a, b: np.fmod(b, a), M, N),
    "squareddifference": (lambda a, b: (a - b) ** 2, X, Y),
    "minimum": (np.minimum, X, Y),
    "tf_atan2": (np.arctan2, X, Y),
    "divide_no_nan": (lambda a, b: np.where(b == 0, 0, a / np.where(b == 0, 1, b)), X, np.where(P, Y, 0)),
    "nextafter": (np.nextafter, X, Y),
    "igamma": (special.gammainc, U + 0.5, U[::-1] + 0.2),
    "igammac": (special.gammaincc, U + 0.5, U[::-1] + 0.2),
    "zeta": (special.zeta, U + 2, U[::-1] + 1),
    "polygamma": (special.polygamma, np.float64([[0, 1, 2, 3]] * 3), U + 1),
    "bitwise_and": (np.bitwise_and, N, M),
    "bitwise_or": (np.bitwise_or, N, M),
    "bitwise_xor": (np.bitwise_xor, N, M),
    "shift_bits": (np.left_shift, N, np.abs(M)),
    "rshift_bits": (np.right_shift, N * 100, np.abs(M)),
    "eq": (np.equal, N, M),
    "not_equals": (np.not_equal, N, M),
    "neq": (np.not_equal, N, M),
    "lt": (np.less, N, M),
    "lessthan": (np.less, N, M),
    "less_equal": (np.less_equal, N, M),
    "lte": (np.less_equal, N, M),
    "greater": (np.greater, N, M),
    "greaterthan": (np.greater, N, M),
    "gt": (np.greater, N, M),
    "greater_equal": (np.greater_equal, N, M),
    "and": (np.logical_and, P, Q),
    "boolean_or": (np.logical_or, P, Q),
    "or": (np.logical_or, P, Q),
    "boolean_xor": (np.logical_xor, P, Q),
    "xor": (np.logical_xor, P, Q),
    "mergemax": (np.maximum, X, Y),
    "mergeavg": (lambda a, b: (a + b) / 2, X, Y),
    "mergemaxindex": (lambda a, b: (b > a).astype("int64"), X, Y),
    "mergesum": (np.add, X, Y),
    "accumulate_n": (np.add, X, Y),
    "assign": (lambda a, b: np.broadcast_to(b, a.shape), X, Y[0]),
    "reshapeas": (lambda a, b: a.reshape(b.shape), X, Y.reshape(2, 6)),
    "cross": (np.cross, X[:, :3], Y[:, :3]),
    "solve": (np.linalg.solve, np.eye(3) * 2 + 0.5, X),
    "embedding_lookup": (lambda a, i: a[i], X, np.int32([2, 0, 2])),
    "broadcast_to": (lambda a, shape: np.broadcast_to(a, shape), X[0], np.int32([2, 4])),
    "broadcast_dynamic_shape": (lambda a, b: np.int32([2, 4]), np.int32([1, 4]), np.int32([2, 1])),
    "matrix_set_diag": (lambda a, d: a * (1 - np.eye(3)) + np.diag(d), X[:, :3], Y[0, :3]),
    "segment_max": (lambda a, s: np.stack([a[:2].max(0), 0 * a[0], a[2]]), X, SEGMENTS),
    "segment_min": (lambda a, s: np.stack([a[:2].min(0), 0 * a[0], a[2]]), X, SEGMENTS),
    "segment_sum": (lambda a, s: np.stack([a[:2].sum(0), 0 * a[0], a[2]]), X, SEGMENTS),
    "segment_prod": (lambda a, s: np.stack([a[:2].prod(0), 1 + 0 * a[0], a[2]]), X, SEGMENTS),
    "segment_mean": (lambda a, s: np.stack([a[:2].mean(0), 0 * a[0], a[2]]), X, SEGMENTS),
}
THREE: dict[str, tuple[Any, ...]] = {
    "select": (np.where(P, X, Y), P, X, Y),
    "betainc": (special.betainc(U + 1, U[::-1] + 1, U), U + 1, U[::-1] + 1, U),
    "scatter_upd": ([X[0], Y[1], Y[0]], X, np.int32([2, 1]), Y[:2]),
    "scatter_add": ([X[0], X[1] + Y[1], X[2] + Y[0]], X, np.int32([2, 1]), Y[:2]),
    "scatter_sub": ([X[0], X[1] - Y[1], X[2] - Y[0]], X, np.int32([2, 1]), Y[:2]),
    "scatter_nd_update": ([X[0], Y[1], Y[0]], X, np.int32([[2], [1]]), Y[:2]),
    "scatter_nd_add": ([X[0], X[1] + Y[1], X[2] + Y[0]], X, np.int32([[2], [1]]), Y[:2]),
    "scatter_nd_sub": ([X[0], X[1] - Y[1], X[2] - Y[0]], X, np.int32([[2], [1]]), Y[:2]),
    "unsorted_segment_max": ([X[2], np.maximum(X[0], X[1])], X, np.int32([1, 1, 0]), np.int32(2)),
    "unsorted_segment_min": ([X[2], np.minimum(X[0], X[1])], X, np.int32([1, 1, 0]), np.int32(2)),
    "unsorted_segment_sum": ([X[2], X[0] + X[1]], X, np.int32([1, 1, 0]), np.int32(2)),
    "unsorted_segment_prod": ([X[2], X[0] * X[1]], X, np.int32([1, 1, 0]), np.int32(2)),
    "matrix_band_part": (np.triu(X), X, np.int32(0), np.int32(-1)),
    "relu_layer": (np.maximum(X @ Y.T + Y[:, 0], 0), X, np.ascontiguousarray(Y.T), Y[:, 0]),
    "roll": (np.roll(X, 1, 1), X, np.int32(1), np.int32(1)),
    "batch_to_space_nd": (
        IMAGE.reshape(1, 2, 2, 2, 2, 4).transpose(2, 4, 0, 1, 3, 5).reshape(4, 2, 2, 4)[[0]],
        IMAGE.reshape(1, 2, 2, 2, 2, 4).transpose(2, 4, 0, 1, 3, 5).reshape(4, 2, 2, 4)[[0]],
        np.int32([1, 1]),
        np.zeros((2, 2), np.int32),
    ),
    "space_to_batch_nd": (
        IMAGE.reshape(1, 2, 2, 2, 2, 4).transpose(2, 4, 0, 1, 3, 5).reshape(4, 2, 2, 4),
        IMAGE,
        np.int32([2, 2]),
        np.zeros((2, 2), np.int32),
    ),
}
SCALAR: dict[str, Callable[..., Any]] = {
    "sub_scalar": np.subtract,
    "pow_scalar": np.power,
    "fdiv_scalar": np.floor_divide,
    "fmod_scalar": np.fmod,
    "max_scalar": np.maximum,
    "min_scalar": np.minimum,
    "equals_scalar": np.equal,
    "eq_scalar": np.equal,
    "notequals_scalar": np.not_equal,
    "lessthan_scalar": np.less,
    "lessthanorequal_scalar": np.less_equal,
    "greaterthanorequal_scalar": np.greater_equal,
    "set_scalar": lambda x, c: np.full_like(x, c),
}
REDUCED: dict[str, tuple[Callable[..., Any], np.ndarray]] = {
    "sum": (np.sum, X),
    "mean": (np.mean, X),
    "reduce_prod": (np.prod, X),
    "prod": (np.prod, X),
    "max": (np.max, X),
    "reduce_min": (np.min, X),
    "min": (np.min, X),
    "any": (np.any, P),
    "reduce_all": (np.all, P),
    "reduce_any": (np.any, P),
    "norm1": (lambda x, axis: np.abs(x).sum(axis), X),
    "asum": (lambda x, axis: np.abs(x).sum(axis), X),
    "norm2": (lambda x, axis: np.sqrt((x * x).sum(axis)), X),
    "reduce_norm_max": (lambda x, axis: np.abs(x).max(axis), X),
    "normmax": (lambda x, axis: np.abs(x).max(axis), X),
    "amax": (lambda x, axis: np.abs(x).max(axis), X),
    "amin": (lambda x, axis: np.abs(x).min(axis), X),
    "amean": (lambda x, axis: np.abs(x).mean(axis), X),
    "sqnorm": (lambda x, axis: (x * x).sum(axis), X),
    "reduce_logsumexp": (special.logsumexp, X),
    "logsumexp": (special.logsumexp, X),
    "reduce_variance": (np.var, X),
    "reduce_stdev": (np.std, X),
    "entropy": (lambda x, axis: -(x * np.log(x)).sum(axis), U),
    "countZero": (lambda x, axis: (x == 0).sum(axis), np.where(P, X, 0)),
    "hasnan": (lambda x, axis: np.isnan(x).any(axis), ODD.reshape(2, 3)),
    "hasinf": (lambda x, axis: np.isinf(x).any(axis), ODD.reshape(2, 3)),
    "argmin": (np.argmin, X),
    "imax": (np.argmax, X),
    "argamax": (lambda x, axis: np.abs(x).argmax(axis), X),
    "argamin": (lambda x, axis: np.abs(x).argmin(axis), X),
}
#: ops with arguments: op -> expected, inputs, arguments
STATED: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any]]] = {
    "thresholdedrelu": (np.where(X > 0.5, X, 0), (X,), {"floats": (0.5,)}),
    "replace_nans": (np.nan_to_num(ODD, nan=7.0, posinf=np.inf, neginf=-np.inf), (ODD,), {"floats": (7.0,)}),
    "lrelu": (np.where(X > 0, X, 0.2 * X), (X,), {"floats": (0.2,)}),
    "axpy": (2 * X + Y, (X, Y), {"floats": (2.0,)}),
    "clipbynorm": (X / np.linalg.norm(X) * 0.5, (X,), {"floats": (0.5,)}),
    "clipbyvalue": (np.clip(X, -0.5, 0.5), (X,), {"floats": (-0.5, 0.5)}),
    "eye": (np.eye(3, 4), (), {"ints": (3, 4)}),
    "tri": (np.tri(3, 4, 1), (), {"ints": (3, 4, 1)}),
    "triu": (np.triu(X, -1), (X,), {"ints": (-1,)}),
    "size_at": (4, (X,), {"ints": (-1,)}),
    "linspace": (np.linspace(0, 1, 5), (), {"floats": (0, 1), "ints": (5,), "bools": [True]}),
    "lin_space": (np.linspace(1, 3, 5), (), {"floats": (1, 0.5), "ints": (5,), "bools": [False]}),
    "parallel_stack": (np.stack([X, Y]), (X, Y), {}),
    "mirror_pad": (np.pad(X, ((1, 1), (0, 0)), "reflect"), (X, np.int32([[1, 1], [0, 0]])), {"ints": (0,)}),
    "reverse_sequence": ([X[0, [1, 0, 2, 3]], X[1], X[2, ::-1]], (X, np.int32([2, 1, 4])), {"ints": (1, 0)}),
    "space_to_depth": (
        IMAGE.reshape(1, 2, 2, 2, 2, 4).transpose(0, 1, 3, 2, 4, 5).reshape(1, 2, 2, 16),
        (IMAGE,),
        {"ints": (2, 1)},
    ),
    "depth_to_space": (
        IMAGE.reshape(1, 4, 4, 2, 2, 1).transpose(0, 1, 3, 2, 4, 5).reshape(1, 8, 8, 1),
        (IMAGE,),
        {"ints": (2, 1)},
    ),
    "resize_nearest_neighbor": (IMAGE[:, ::2, ::2], (IMAGE,), {"ints": (2, 2)}),
    "compat_sparse_to_dense": (
        np.float64([0, 5, 0, 6]),
        (np.int32([1, 3]), np.int32([4]), np.float64([5, 6]), np.float64(0)),
        {},
    ),
    "dynamic_stitch": ([X[1], X[0], Y[0]], (np.int32([1, 0]), np.int32([2]), X[:2], Y[:1]), {}),
    "euclidean": (np.linalg.norm(X - Y), (X, Y), {"op_class": 16, "dimensions": [ALL]}),
    "manhattan": (np.abs(X - Y).sum(1), (X, Y), {"op_class": 16, "dimensions": [1]}),
    "dot": ((X * Y).sum(0), (X, Y), {"op_class": 16, "dimensions": [0]}),
    "cosinesimilarity": (
        (X * Y).sum(1) / np.linalg.norm(X, axis=1) / np.linalg.norm(Y, axis=1),
        (X, Y),
        {"op_class": 16, "dimensions": [1]},
    ),
    "cosinedistance": (
        1 - (X * Y).sum() / np.linalg.norm(X) / np.linalg.norm(Y),
        (X, Y),
        {"op_class": 16, "dimensions": [ALL]},
    ),
    "bitcast": (X.view("int64"), (X,), {"ints": (10,)}),
}


def value(op: str, inputs: tuple[Any, ...], dtype: str, **arguments: Any) -> np.ndarray:
    """The output of a file with one op; ``dtype`` is the one stored for it."""
    sd = SameDiff()
    names = [sd.constant(f"in{i}", np.asarray(each)) for i, each in enumerate(inputs)]
    sd.op(op, "out", names, dtype=dtype, **arguments)
    return wb.load(sd.bytes()).run()["out"]


def agrees(op: str, inputs: tuple[Any, ...], expected: Any, **arguments: Any) -> None:
    """The output has the shape, the dtype and the numbers expected."""
    expected = np.asarray(expected)
    got = value(op, inputs, str(expected.dtype), **arguments)
    assert got.shape == expected.shape and got.dtype == expected.dtype, op
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-9, err_msg=op)


@pytest.mark.parametrize("op", UNARY)
def test_a_function_of_one_array(op):
    function, x = UNARY[op]
    agrees(op, (x,), function(x))


@pytest.mark.parametrize("op", BINARY)
def test_a_function_of_two_arrays(op):
    function, x, y = BINARY[op]
    agrees(op, (x, y), function(x, y))


@pytest.mark.parametrize("op", THREE)
def test_a_function_of_three_arrays(op):
    expected, *inputs = THREE[op]
    agrees(op, tuple(inputs), expected)


@pytest.mark.parametrize("op", SCALAR)
@pytest.mark.parametrize("x", [X * 3, N], ids=["floats", "integers"])
def test_an_array_and_the_number_of_the_op(op, x):
    number = x.dtype.type(2) if x.dtype.kind == "i" else x[1, 2]
    if op == "pow_scalar":  # a negative base has no real power
        x = np.abs(x)
    agrees(op, (x,), SCALAR[op](x, number), op_class=10, scalar=flat_array(number))


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("op", REDUCED)
def test_a_reduction(op, axis):
    function, x = REDUCED[op]
    agrees(op, (x,), function(x, axis=axis), op_class=6, dimensions=[ALL if axis is None else axis])


@pytest.mark.parametrize("op", STATED)
def test_an_op_with_arguments(op):
    expected, inputs, arguments = STATED[op]
    agrees(op, inputs, expected, **arguments)


def test_a_second_number_that_may_be_the_end_or_the_step_is_refused():
    with pytest.raises(UnknownOpError, match="lin_space"):
        value("lin_space", (), "float64", floats=(0, 1), ints=(5,))


@pytest.mark.parametrize(
    "form", [{"floats": (0, 2, 3)}, {"ints": (0, 2, 3)}, {"floats": (0, 2), "ints": (3,), "bools": [True]}]
)
def test_the_forms_of_linspace(form):
    agrees("linspace", (), np.float32([0, 1, 2]), **form)


def test_a_count_that_no_memory_holds_is_not_taken_for_another():
    with pytest.raises(wb.WorkbenchError, match="linspace"):
        value("linspace", (), "float32", floats=(0, 1), ints=(2**40,), bools=[True])


def test_all_of_these_are_rules():
    tables = (UNARY, BINARY, THREE, SCALAR, REDUCED, STATED)
    assert {op for table in tables for op in table} <= set(FLAT_RULES)
