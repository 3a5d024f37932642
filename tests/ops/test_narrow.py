"""Ops that sum many numbers, on 5,000 numbers of each narrow dtype: as exact as the dtype allows.

The result of an op in a narrow dtype is compared with that of the same op on the same numbers in float64 (or int64),
rounded once.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from workbench import ops
from workbench.ir.opspec import REGISTRY
from workbench.ir.types import TensorType, numpy_dtype

N = 5000
FLOATS = ("float16", "bfloat16")
INTEGERS = ("int8", "uint8", "int16", "uint16")
#: families whose ops compute sums, and the exceptions among them
FAMILIES = {
    "reduction": ("max", "min", "any", "all", "argmax", "argmin", "sort", "argsort", "top_k"),
    "linear algebra": ("outer",),
    "segments": (),
    "convolution": (),
    "pooling": ("max_pool", "max_pool_with_argmax", "max_pool_gradient", "extract_patches", "dilation"),
    "normalization": ("bias_add",),
    "losses": ("in_top_k", "histogram_fixed_width"),
    "recurrent": (),
    "gradients": (
        "broadcast_gradient_args",
        "elu_gradient",
        "leaky_relu_gradient",
        "relu6_gradient",
        "relu_gradient",
        "selu_gradient",
        "sigmoid_gradient",
        "softplus_gradient",
        "softsign_gradient",
        "tanh_gradient",
    ),
    "counting": ("bucketize", "invert_permutation", "list_difference", "nth_element", "search_sorted"),
    "sparse": ("ragged_gather", "ragged_range", "ragged_to_dense", "ragged_to_sparse", "sparse_to_dense"),
    "matrices": (
        "matrix_band_part",
        "matrix_diag",
        "matrix_diag_part",
        "matrix_set_diag",
        "tensor_diag",
        "tensor_diag_part",
    ),
}
#: families tested with integers too
WHOLE = ("reduction", "linear algebra", "segments")
#: ops of other families that compute sums
OTHERS = ("put_along_axis", "scatter_nd", "scatter_update", "adjust_contrast", "add_n")

rng = np.random.default_rng(0)
#: no cancellation: errors come from the additions, not from the rounding of the inputs
V = rng.uniform(0.5, 1.5, N)
ROWS = rng.uniform(0.5, 1.5, (2, N))
UP = np.zeros((N, 1), np.int64)
IDS = np.zeros(N, np.int64)
IMAGE = rng.uniform(0.5, 1.5, (1, 50, 100, 1))
CHANNELS = rng.uniform(0.5, 1.5, (1, 2, 2, N))
ONE = np.ones(1)


def i64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


#: op -> (inputs, attrs); float64 inputs are cast to the narrow dtype
CASES: dict[str, list[tuple[list[np.ndarray], dict]]] = {
    **{op: [([V], {}), ([V], {"dtype": "same"}), ([ROWS.T], {"axis": 0})] for op in ("sum", "mean")},
    "prod": [([np.where(V > 1, 1.25, 0.8)], {}), ([np.where(V > 1, 1.25, 0.8)], {"dtype": "same"})],
    **{op: [([V * 8], {}), ([ROWS.T * 8], {"axis": 0})] for op in ("var", "std")},
    "norm": [([ROWS], {"axis": 1}), ([ROWS.T], {"axis": 0, "ord": 1}), ([V], {"ord": np.inf})],
    "logsumexp": [([ROWS], {"axis": 1}), ([ROWS.T * 8], {"axis": 0})],
    "cumsum": [([V], {}), ([ROWS.T], {"axis": 0, "exclusive": True, "dtype": "same"}), ([V], {"reverse": True})],
    "cumprod": [([np.where(V > 1, 1.25, 0.8)], {}), ([np.where(V > 1, 1.25, 0.8)], {"dtype": "same"})],
    "cumlogsumexp": [([V], {}), ([ROWS], {"axis": 1, "reverse": True})],
    **{op: [([ROWS * 8], {"axis": 1}), ([ROWS.T], {"axis": 0})] for op in ("softmax", "log_softmax")},
    "matmul": [([ROWS, ROWS.T], {}), ([ROWS, ROWS], {"transpose_b": True}), ([V, V], {})],
    "gemm": [([ROWS, ROWS.T, ONE], {"alpha": 0.75, "beta": 3.0}), ([ROWS, ROWS], {"transpose_b": True})],
    "dot": [([V, V], {}), ([ROWS, V], {})],
    "tensordot": [([ROWS, ROWS], {"axes": ((1,), (1,))}), ([ROWS, ROWS], {"axes": 2})],
    "einsum": [
        ([ROWS, ROWS], {"equation": "ab,cb->ac"}),
        ([ROWS.T], {"equation": "ab->b"}),
        ([ROWS, ROWS, ROWS], {"equation": "ab,ab,ab->a"}),
    ],
    "segment_reduce": [([V, IDS], {"reduction": r}) for r in ("sum", "mean", "sqrt_n")],
    "unsorted_segment_reduce": [([V, IDS, np.int64(2)], {"reduction": r}) for r in ("sum", "mean", "sqrt_n")],
    "sparse_segment_reduce": [([V, np.arange(N), IDS], {"reduction": r}) for r in ("sum", "mean", "sqrt_n")],
    "conv": [([CHANNELS, np.ones((1, 1, N, 2))], {}), ([IMAGE, np.ones((50, 100, 1, 1)), ONE], {})],
    "conv_transpose": [([CHANNELS, np.ones((1, 1, 2, N))], {})],
    "conv_input_gradient": [([i64(1, 2, 2, 3), np.ones((1, 1, 3, N)), CHANNELS], {})],
    "conv_filter_gradient": [([IMAGE, i64(1, 1, 1, 2), np.ones((1, 50, 100, 2))], {})],
    "average_pool": [([IMAGE], {"window": (50, 100)})],
    "average_pool_gradient": [([i64(1, 99, 199, 1), IMAGE], {"window": (50, 100)})],
    "batch_norm": [([IMAGE, ONE, ONE, ONE, ONE], {})],
    "fused_batch_norm": [([IMAGE, ONE, ONE, ONE, ONE], {})],
    "fused_batch_norm_gradient": [([IMAGE, IMAGE * IMAGE, ONE, ONE, ONE], {})],
    "lrn": [([CHANNELS], {"before": N, "after": N})],
    "softmax_cross_entropy": [([ROWS * 8, ROWS / N], {})],
    "sparse_softmax_cross_entropy": [([ROWS, i64(1, 2)], {})],
    "l2_loss": [([V], {})],
    "lstm_cell": [([ROWS, np.ones((2, 1)), np.ones((2, 1)), np.full((N + 1, 4), 2**-12), *[ONE] * 3, np.ones(4)], {})],
    "lstm_block": [
        (
            [
                np.int64(2),
                np.stack([ROWS, ROWS]),
                np.ones((2, 1)),
                np.ones((2, 1)),
                np.full((N + 1, 4), 2**-12),
                *[ONE] * 3,
                np.ones(4),
            ],
            {},
        )
    ],
    "gru_cell": [
        ([ROWS, np.ones((2, 1)), np.full((N + 1, 2), 2**-12), np.full((N + 1, 1), 2**-12), np.ones(2), ONE], {})
    ],
    "bias_gradient": [([IMAGE], {})],
    "bincount": [([IDS, np.int64(2), V], {"dtype": "float32"})],
    "sparse_dense_add": [([UP, V, i64(2), np.ones(2)], {})],
    "ragged_bincount": [([i64(0, N), IDS, i64(2), V], {})],
    "cross": [([ROWS[:, :3], ROWS[:, 5:8] * i64(1, -1, 1)], {})],
    "adjoint_matmul": [([ROWS, ROWS], {"adjoint_b": True})],
    "scatter_nd": [([UP, V, i64(2)], {})],
    "scatter_update": [([np.ones(2), UP, V], {"reduction": "add"})],
    "put_along_axis": [([np.ones(2), IDS, V], {"axis": 0, "reduction": "add"})],
    "adjust_contrast": [([IMAGE, np.float64(0.5)], {})],
    "add_n": [([*ROWS[:, :9].T, *ROWS[:, :9].T], {})],
}

#: results that are sums of terms of either sign, in which earlier rounding errors are visible. Ulps of the greatest
#: term, not of the result
CANCELS = (
    "fused_batch_norm",
    "fused_batch_norm_gradient",
    "cross",
    "adjust_contrast",
    "sparse_softmax_cross_entropy",
    "softmax_cross_entropy",
    "batch_norm",
)


def run(name, arrays, attrs):
    spec = ops.lookup(name)
    spec.infer([TensorType.of(a) for a in arrays], attrs, arrays)
    with np.errstate(all="ignore"):
        return spec.evaluate(arrays, attrs)


def ulp(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The distance of adjacent numbers at x in a float dtype."""
    found = ml_dtypes.finfo(dtype)
    _, exponent = np.frexp(np.maximum(np.abs(x), float(found.smallest_normal)))
    return np.ldexp(float(found.eps), exponent - 1)


def narrow(arrays, dtype):
    return [a.astype(dtype) if a.dtype == np.float64 else a for a in arrays]


def test_every_op_that_adds_up_is_here():
    wanted = {n for n in ops.names() if REGISTRY[n].family in FAMILIES} - {n for v in FAMILIES.values() for n in v}
    assert wanted | set(OTHERS) == set(CASES)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", CASES)
def test_floats_are_added_up_in_a_wider_dtype_and_rounded_once(name, dtype):
    """One ulp: half of it by the last rounding, the rest for thousands of roundings of float32."""
    for arrays, attrs in CASES[name]:
        given = narrow(arrays, numpy_dtype(dtype))
        attrs = {**attrs, "dtype": dtype} if name == "bincount" else attrs
        wide = {**attrs, "dtype": "float64"} if name == "bincount" else attrs
        exact = run(name, [a.astype(np.float64) if a.dtype == numpy_dtype(dtype) else a for a in given], wide)
        for got, want in zip(run(name, given, attrs), exact, strict=True):
            if want.dtype != np.float64:
                np.testing.assert_array_equal(got, want)
                continue
            assert got.dtype == numpy_dtype(dtype)
            size = np.max(np.abs(want), initial=1) if name in CANCELS else want
            error = np.abs(got.astype(np.float64) - want)
            rounded_to_inf = np.isinf(want.astype(got.dtype).astype(np.float64)) & (want.astype(got.dtype) == got)
            assert np.all((error <= ulp(size, got.dtype)) | rounded_to_inf), (attrs, got, want)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", [n for n in CASES if REGISTRY[n].family in WHOLE])
def test_integers_are_added_up_whole(name, dtype):
    """Integer results are those of 64-bit integers, truncated to the dtype; floats those of float64 within an ulp."""
    for arrays, attrs in CASES[name]:
        if "alpha" in attrs or attrs.get("reduction") == "sqrt_n":
            continue
        low = 0 if dtype[0] == "u" else -90
        given = [
            np.random.default_rng(1).integers(low, 100, a.shape).astype(dtype) if a.dtype == float else a
            for a in arrays
        ]
        wide = [a.astype(dtype.rstrip("0123456789") + "64") if a.dtype == dtype else a for a in given]
        real = [w.astype(np.float64) if a.dtype == float else w for a, w in zip(arrays, wide, strict=True)]
        exact = run(name, real, {**attrs, **({"dtype": "float64"} if "dtype" in attrs else {})})
        for got, whole, wanted in zip(run(name, given, attrs), run(name, wide, attrs), exact, strict=True):
            if got.dtype.kind in "iu":
                np.testing.assert_array_equal(got, whole.astype(got.dtype))
            else:
                error = np.abs(got.astype(np.float64) - wanted.astype(np.float64))
                # running sums of float32 are added in float32, one after another
                limit = {2: 1, 4: 32}.get(got.dtype.itemsize, 1e4) * ulp(wanted, got.dtype)
                over = np.isinf(wanted.astype(got.dtype)) & (got == wanted.astype(got.dtype))
                assert np.all((error <= limit) | over), (attrs, got, wanted)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint64"])
def test_the_mean_of_integers_is_exact(dtype):
    most, rng = np.iinfo(dtype).max, np.random.default_rng(2)
    for least in (0, np.iinfo(dtype).min, most - 9):
        x = rng.integers(least, most, (7, 3), dtype, endpoint=True)
        got = run("mean", [x], {"axis": 0, "dtype": "same"})[0]
        for found, column in zip(got.tolist(), x.T.tolist(), strict=True):
            total = sum(column)
            assert found == (abs(total) // 7) * (-1 if total < 0 else 1)
