"""Calls of the ops of mathematics on whole arrays: matrices, segments, counting, partitions, bits, random draws."""

from __future__ import annotations

import numpy as np

rng = np.random.default_rng(11)
#: well away from singular, and not symmetric
A = (rng.normal(size=(2, 3, 3)) + 3 * np.eye(3)).astype(np.float32)
#: symmetric and positive definite
P = A @ np.swapaxes(A, -1, -2) + np.eye(3, dtype=np.float32)
W = rng.normal(size=(2, 4, 3)).astype(np.float32)
C = W[0] + 1j * W[1]
R = rng.normal(size=(6, 2)).astype(np.float32)
IDS = np.array([0, 0, 1, 3, 3, 3], np.int32)
K = np.arange(6, dtype=np.int32).reshape(2, 3)


def ints(*values, dtype=np.int32):
    return np.array(values, dtype)


def scalar(value, dtype=np.int32):
    return np.array(value, dtype)


BAND = np.arange(1.0, 10.0, dtype=np.float32).reshape(3, 3)
SEGMENTS = [((R, IDS), {"reduction": r}) for r in ("sum", "mean", "sqrt_n", "prod", "max", "min")]
FOURIER = rng.normal(size=(2, 4, 6)).astype(np.float32)


def fourier(axes: int, *, real: bool) -> list:
    x = FOURIER if real else (FOURIER + 1j * FOURIER[::-1]).astype(np.complex64)
    lengths = ints(4, 3, 5)[-axes:]
    return [
        ((x,), {}),
        ((x.astype(np.float64 if real else np.complex128),), {}),
        ((x, lengths), {}),
        ((x[:0] if axes < 3 else x[None][:0],), {"length": tuple(int(n) for n in lengths)}),
    ]


SHAPES = [
    ((ints(2, 3),), {}),
    ((ints(3, dtype=np.int64),), {"dtype": "float64", "seed": 1, "seed2": 2}),
    ((ints(),), {"dtype": "float16", "seed": -1}),
    ((ints(0, 2),), {"dtype": "bfloat16"}),
]
STATELESS = [
    ((ints(2, 3), ints(1, 2)), {}),
    ((ints(3), ints(-1, 2**40, dtype=np.int64)), {"dtype": "float64"}),
    ((ints(5), ints(0, 0)), {"dtype": "float16"}),
]

SAMPLES: dict[str, list] = {
    "matrix_diag": [
        ((R,), {}),
        ((BAND, ints(-1, 1)), {}),
        ((R[:, :1], scalar(1)), {}),
        ((BAND, ints(0, 2), scalar(3), scalar(4), scalar(9, np.float32)), {"align": "LEFT_RIGHT"}),
        ((K[:, :2], scalar(-1), scalar(3), scalar(2)), {"align": "LEFT_LEFT"}),
    ],
    "matrix_diag_part": [
        ((A,), {}),
        ((W, ints(-2, 1)), {}),
        ((W, scalar(-1)), {}),
        ((K, ints(0, 2), scalar(7)), {}),
        ((W, ints(-3, 2), scalar(1, np.float32)), {"align": "RIGHT_RIGHT"}),
    ],
    "matrix_set_diag": [
        ((A, R[:2, :1] + np.zeros((2, 3), np.float32)), {}),
        ((K, ints(7, 8)), {}),
        ((np.zeros((3, 3), np.float32), BAND, ints(-1, 1)), {}),
        ((np.zeros((3, 4), np.float32), BAND, ints(0, 2)), {"align": "LEFT_LEFT"}),
    ],
    "matrix_band_part": [
        ((A, scalar(1), scalar(0)), {}),
        ((K, scalar(-1), scalar(1)), {}),
        ((W, scalar(0, np.int64), scalar(-1, np.int64)), {}),
    ],
    "tensor_diag": [((R[0],), {}), ((K,), {})],
    "tensor_diag_part": [((A[0],), {}), ((np.arange(36).reshape(2, 3, 2, 3),), {})],
    "cross": [((A, A[::-1]), {}), ((K, K[::-1]), {}), ((C, C[::-1]), {}), ((A[0], A), {})],
    "adjoint_matmul": [((C, C), {"adjoint_a": True}), ((W, W), {"adjoint_b": True}), ((A, W), {"adjoint_b": True})],
    "cholesky": [((P,), {}), ((P[0].astype(complex),), {}), ((P[:0],), {})],
    "matrix_inverse": [((A,), {}), ((A[0] * 1j,), {"adjoint": True}), ((A[:0],), {})],
    "determinant": [((A,), {}), ((A[0] * 1j,), {}), ((A[:0],), {})],
    "log_determinant": [((A,), {}), ((-A[0],), {})],
    "svd": [
        ((W,), {}),
        ((W,), {"full_matrices": True}),
        ((C,), {}),
        ((W[0].T,), {"compute_uv": False}),
        ((W[:0],), {"full_matrices": True}),
    ],
    "qr": [((W,), {}), ((W,), {"full_matrices": True}), ((C,), {}), ((W[0].T,), {})],
    "eigh": [((P,), {}), ((P[0].astype(complex),), {}), ((P,), {"compute_v": False})],
    "lu": [((A,), {}), ((A[0] * 1j,), {"dtype": "int64"}), ((A[:0],), {}), ((A[:, ::-1],), {})],
    "solve": [
        ((A, W[:, :3]), {}),
        ((A, W[:, :3]), {"adjoint": True}),
        ((A[0], W[:, :3]), {}),
        ((A[0] * 1j, C[:3]), {"adjoint": True}),
    ],
    "triangular_solve": [
        ((A, W[:, :3]), {}),
        ((A, W[:, :3]), {"lower": False}),
        ((A[0], W[:, :3]), {"adjoint": True}),
        ((A[:0], W[:0, :3]), {}),
    ],
    "lstsq": [
        ((W, W[:, :, :1]), {}),
        ((W[0].T, A[0]), {}),
        ((W, W, scalar(0.5, np.float64)), {}),
        ((W[0].T, A[0], scalar(0.1, np.float64)), {}),
    ],
    "segment_reduce": [
        *SEGMENTS,
        ((K[0], ints(0, 2, 2)), {"reduction": "mean"}),
        ((R[:0], IDS[:0]), {"reduction": "sum"}),
    ],
    "unsorted_segment_reduce": [
        ((R, ints(2, 0, -1, 2, 0, 2), scalar(4)), {"reduction": r}) for r in ("sum", "mean", "prod", "max", "min")
    ]
    + [
        ((K, ints(1, 1, 0, 0, 2, 2).reshape(2, 3), scalar(3)), {"reduction": "max"}),
        ((K, scalar(1), scalar(2)), {"reduction": "sum"}),
    ],
    "sparse_segment_reduce": [((R, ints(5, 0, 0), ints(0, 0, 2)), {"reduction": r}) for r in ("sum", "mean", "sqrt_n")]
    + [((R, ints(1, 2), ints(0, 1), scalar(4)), {"reduction": "sum"})],
    "bincount": [
        ((ints(1, 3, 1, 9), scalar(5)), {}),
        ((ints(1, 3, 1), scalar(4), R[:3, 0]), {"dtype": "float32"}),
        ((K, scalar(4)), {"rows": True, "dtype": "int64"}),
        ((K, scalar(9)), {"rows": True, "binary": True}),
        ((K, scalar(4)), {}),
    ],
    "bucketize": [((K,), {"boundaries": (1.0, 3.0, 3.0)}), ((R,), {"boundaries": ()})],
    "search_sorted": [((np.sort(K), K[:, ::-1]), {}), ((np.sort(R.T), R.T[:, :3]), {"right": True, "dtype": "int64"})],
    "cumlogsumexp": [((R,), {}), ((R, scalar(1)), {"exclusive": True}), ((K,), {"axis": -1, "reverse": True})],
    "nth_element": [((R, scalar(0)), {}), ((K, scalar(1)), {"reverse": True})],
    "invert_permutation": [((ints(2, 0, 3, 1),), {}), ((ints(dtype=np.int64),), {})],
    "list_difference": [((ints(3, 1, 3, 2), ints(1, 5)), {}), ((R[0], R[0, :1]), {"dtype": "int64"})],
    "dynamic_partition": [
        ((R, ints(1, 0, 1, 1, 0, 1)), {"num": 3}),
        ((K, ints(0, 1, 0, 1, 0, 1).reshape(2, 3)), {"num": 2}),
    ],
    "dynamic_stitch": [((ints(0, 3), ints(2, 0), R[:2], R[2:4]), {}), ((scalar(1), ints(0, 2), R[0], R[1:3]), {})],
    "add_n": [((R, R, R), {}), ((K,), {})],
    "identity_n": [((R, K), {})],
    "shape_n": [((R, K, scalar(1)), {}), ((A,), {"dtype": "int32"})],
    "broadcast_args": [((ints(2, 1), ints(3)), {}), ((ints(), ints(4, dtype=np.int64)), {})],
    "select_rows": [((np.array([True, False]), K, -K), {}), ((np.array(False), R, -R), {}), ((K > 2, K, -K), {})],
    "bitcast": [
        ((R,), {"dtype": "uint8"}),
        ((R.T,), {"dtype": "int8"}),
        ((K,), {"dtype": "float32"}),
        ((K[:, :2],), {"dtype": "int64"}),
        ((K[:0, :2],), {"dtype": "float64"}),
        ((R.astype(np.float64),), {"dtype": "complex128"}),
        ((K.T,), {"dtype": "bfloat16"}),
        ((K[0] > 2,), {"dtype": "bool"}),
    ],
    "complex": [((R, R[0]), {}), ((R.astype(np.float64), scalar(1)), {})],
    "angle": [((C,), {}), ((R,), {}), ((K - 3,), {})],
    **{
        f"{name}{'' if axes == 1 else f'{axes}d'}": fourier(axes, real=name == "rfft")
        for name in ("fft", "ifft", "rfft", "irfft")
        for axes in (1, 2, 3)
    },
    "random_uniform": SHAPES,
    "random_normal": SHAPES,
    "random_truncated_normal": SHAPES,
    "stateless_uniform": STATELESS,
    "stateless_normal": STATELESS,
    "stateless_truncated_normal": STATELESS,
    "stateless_key": [((ints(1, -2),), {})],
    **{
        f"keyed_{name}": [
            ((ints(2, 3), np.array([5], np.uint64), np.array([1, 2], np.uint64), scalar(1)), {}),
            ((ints(3), np.array([5], np.uint64), np.array([1, 2], np.uint64), scalar(3)), {"dtype": "float64"}),
        ]
        for name in ("uniform", "normal", "truncated_normal")
    },
    "random_integers": [
        ((ints(2, 3), scalar(-4), scalar(4)), {}),
        ((ints(5), scalar(0, np.int64), scalar(2**40, np.int64)), {"seed": 3}),
    ],
    "stateless_integers": [((ints(2, 3), ints(1, 2), scalar(-4), scalar(4)), {})],
    "keyed_integers": [
        ((ints(2, 3), np.array([5], np.uint64), np.array([1, 2], np.uint64), scalar(1), scalar(-4), scalar(4)), {})
    ],
    "random_gamma": [
        ((ints(2, 3), np.array([0.5, 1.0, 4.0], np.float32)), {}),
        ((ints(4), scalar(2.0, np.float64)), {"seed": 1}),
    ],
    "random_poisson": [
        ((ints(2, 3), np.array([0.5, 20.0], np.float32)), {"dtype": "int32"}),
        ((ints(4), scalar(2.0, np.float64)), {"seed": 1}),
    ],
    "random_categorical": [
        ((np.log([[0.5, 0.5, 1e-9], [0.1, 0.2, 0.7]]), scalar(5)), {}),
        ((R[:2], scalar(0)), {"dtype": "int32"}),
    ],
    "random_shuffle": [((R,), {"seed": 5}), ((scalar(3),), {}), ((K[:0],), {})],
}
