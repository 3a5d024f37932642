"""Calls of every op that is not element-wise: name -> list of (inputs, attrs). They are small, and each tests a special
case.

The element-wise ops (the ufuncs and the functions) are called on random shapes and dtypes instead.
"""

from __future__ import annotations

import numpy as np

from tests.ops import samples_math, samples_nn, samples_python, samples_text
from tests.ops.state_samples import PLAIN

rng = np.random.default_rng(7)
X = rng.normal(size=(2, 3, 4)).astype(np.float32)
M = rng.normal(size=(3, 4))
V = np.array([3.0, -1.0, 2.0, 2.0], np.float32)
N = np.arange(12, dtype=np.int32).reshape(3, 4) - 5
B = N > 0
S = np.array(["a", "bc", "d"], dtype=object)


def ints(*values, dtype=np.int64):
    return np.array(values, dtype)


def scalar(value, dtype=np.int64):
    return np.array(value, dtype)


REDUCE = [
    ((X,), {}),
    ((X,), {"axis": 1}),
    ((X,), {"axis": (0, -1), "keepdims": True}),
    ((N,), {"axis": ()}),
    ((B,), {"axis": 0}),
    ((X, ints(2, 0)), {}),
    ((X, scalar(-1, np.int32)), {"keepdims": True}),
    ((X, ints()), {"noop_with_empty_axes": False}),
    ((X, ints()), {}),
    ((scalar(3.5, np.float16),), {}),
    ((N,), {"keepdims": True}),
]
OF_NOTHING = [((x[:0],), {"axis": 0, "of_none": "limit"}) for x in (X, N, B)]
DTYPES = [((N,), {"dtype": "same"}), ((N, ints(0)), {"dtype": "float32"})]
ALONG = [((X,), {}), ((X,), {"axis": 1}), ((N,), {"axis": 0}), ((V,), {"axis": -1})]
SCANS = [
    *ALONG,
    ((X, scalar(1)), {}),
    ((N,), {"dtype": "same", "axis": 1, "exclusive": True, "reverse": True}),
    ((B,), {}),
]
ARG = [
    *ALONG,
    ((V, scalar(0)), {"keepdims": True}),
    ((V,), {"select_last": True, "dtype": "int32"}),
    ((N,), {"keepdims": True}),
]

SAMPLES: dict[str, list] = {
    **samples_math.SAMPLES,
    **samples_python.SAMPLES,
    "Const": [((), {"value": X}), ((), {"value": S})],
    "Identity": [((X,), {}), ((S,), {})],
    "NoOp": [((), {})],
    **{name: [*REDUCE, *DTYPES] for name in ("sum", "prod", "mean")},
    **{name: [*REDUCE, *OF_NOTHING] for name in ("max", "min")},
    **{name: REDUCE for name in ("any", "all", "var", "std", "logsumexp")},
    "norm": [*REDUCE, ((N,), {"axis": 1, "ord": 1}), ((X,), {"ord": float("inf")}), ((M * 1j,), {"axis": 0})],
    "cumsum": SCANS,
    "cumprod": SCANS,
    "argmax": ARG,
    "argmin": ARG,
    "softmax": ALONG[1:],
    "log_softmax": ALONG[1:],
    "sort": [*ALONG[1:], ((V,), {"descending": True})],
    "argsort": [*ALONG[1:], ((V,), {"descending": True})],
    "top_k": [
        ((X, scalar(2)), {}),
        ((N, ints(2)), {"axis": 0, "largest": False}),
        ((V, scalar(3)), {}),
        ((X,), {"k": 2, "dtype": "int32"}),
    ],
    "clip": [
        ((X, scalar(-0.5, np.float32), scalar(1, np.float32)), {}),
        ((N, scalar(0, np.int32), ints(3, 2, 1, 9)), {}),
    ],
    "where": [((B, N, scalar(0, np.int32)), {}), ((B[:, :1], X, M), {}), ((S == "a", S, S), {})],
    "isclose": [((X, X + 1e-9), {}), ((V, V[:, None]), {"rtol": 0.5})],
    "cast": [
        ((X,), {"dtype": "int32"}),
        ((N,), {"dtype": "bfloat16"}),
        ((M * 1j,), {"dtype": "float32"}),
        ((N,), {"dtype": np.float16}),
        ((N,), {"dtype": "bool"}),
        ((S,), {"dtype": "string"}),
    ],
    "round": [((X * 10,), {}), ((X,), {"decimals": 1}), ((N,), {}), ((B,), {}), ((N * 7,), {"decimals": -1})],
    "matmul": [
        ((X, X), {"transpose_b": True}),
        ((M, V.astype(float)), {}),
        ((V, N.T), {}),
        ((V, V), {}),
        ((N, N), {"transpose_a": True}),
        ((X[:, None], M.T[None]), {}),
    ],
    "gemm": [
        ((M, M), {"transpose_b": True}),
        ((N, N, N[:1, :3]), {"transpose_b": True, "alpha": 2.0, "beta": 0.5}),
        ((M, M.T, V[:3]), {"beta": 0.5}),
    ],
    "dot": [((X, M.T), {}), ((V, V), {}), ((scalar(2.0, float), X), {}), ((X, V), {})],
    "outer": [((V, N), {})],
    "tensordot": [((X, X), {"axes": ((0, 1), (0, 1))}), ((X, M), {"axes": 2}), ((V, V), {"axes": 0})],
    "einsum": [
        ((X, M), {"equation": "bij,ij->b"}),
        ((X,), {"equation": "...i->i..."}),
        ((M, M), {"equation": "ij,kj"}),
        ((M[:3, :3],), {"equation": "ii->i"}),
        ((X, M), {"equation": "...ij,ij->...j"}),
    ],
    "reshape": [
        ((X,), {"shape": (4, -1)}),
        ((X, ints(6, 4)), {}),
        ((X,), {"shape": (0, -1), "copy_zeros": True}),
        ((X, ints(0, 0, 2, -1)), {"copy_zeros": True}),
        ((S,), {"shape": (3, 1)}),
        ((X[:0],), {"shape": (0, 5)}),
        ((X[:0],), {"shape": (6, 0, -1)}),
    ],
    "flatten": [((X,), {}), ((X,), {"axis": 1}), ((X,), {"axis": 3}), ((X,), {"axis": 0}), ((X,), {"axis": -1})],
    "transpose": [((X,), {}), ((X,), {"perm": (1, 2, 0)}), ((X, ints(1, 0, 2)), {}), ((S,), {})],
    "expand_dims": [((X,), {"axis": 0}), ((X,), {"axis": (1, -1)}), ((X, scalar(2)), {}), ((S, ints(0, 1)), {})],
    "squeeze": [((X[:1],), {}), ((X[:1, :, :1],), {"axis": (0, 2)}), ((X[:, :1], ints(1)), {}), ((X,), {})],
    "broadcast_to": [((V,), {"shape": (2, 4)}), ((V[:1], ints(3)), {}), ((X, ints(1, 4)), {"mutual": True})],
    "tile": [((V,), {"repeats": (2, 2)}), ((X, ints(1, 2)), {}), ((N,), {"repeats": (0, 1)}), ((S,), {"repeats": 2})],
    "pad": [
        ((N,), {"pad_width": ((1, 0), (0, 2))}),
        ((V, ints(1, 2).reshape(1, 2), scalar(9, np.float32)), {}),
        ((V,), {"pad_width": ((2, 1),), "mode": "reflect"}),
        ((S,), {"pad_width": ((1, 1),), "value": "?"}),
    ],
    "shape": [((X,), {}), ((X,), {"dtype": "int32", "start": 1}), ((X,), {"start": -2, "end": -1})],
    "size": [((X,), {})],
    "rank": [((X,), {"dtype": "int32"})],
    "concat": [
        ((X, X), {"axis": 1}),
        ((N, N[:1]), {}),
        ((N, N, scalar(-1, np.int32)), {"axis_input": True}),
        ((S, S), {}),
        ((V, V.astype(int)), {}),
    ],
    "stack": [((V, V), {}), ((N, N, N), {"axis": -1}), ((S, S), {"axis": 1})],
    "unstack": [((X,), {}), ((N,), {"axis": 1, "num": 4}), ((S,), {})],
    "split": [
        ((X,), {"axis": -1, "num": 2}),
        ((V,), {"sizes": (1, -1, 2)}),
        ((V, ints(3, 1)), {"num": 2}),
        ((V,), {"num": 3, "uneven": True}),
    ],
    "reverse": [((X,), {}), ((X,), {"axis": 1}), ((N, ints(0, 1)), {})],
    "roll": [
        ((X, scalar(-1), scalar(1)), {}),
        ((X, ints(1, 2), ints(0, -1)), {}),
        ((X,), {"shift": 1, "axis": 0}),
        ((N,), {"shift": -2}),
        ((N,), {"shift": (1, 2), "axis": (0, 1)}),
    ],
    "repeat": [((X,), {"repeats": 2, "axis": 1}), ((N,), {"repeats": 3})],
    "one_hot": [
        ((ints(0, 2, -1), scalar(3)), {}),
        ((N, ints(4)), {"axis": 0, "wrap_negative": True, "dtype": "int32"}),
        ((ints(1), scalar(2), scalar(5.0, float), scalar(-5.0, float)), {"axis": 1}),
    ],
    "fill": [
        ((ints(2, 3), scalar(1.5, np.float32)), {}),
        ((ints(), scalar("s", object)), {}),
        ((ints(0), scalar(1)), {}),
    ],
    "constant_of_shape": [((ints(2, 1),), {}), ((ints(3),), {"value": ints(7)})],
    "zeros_like": [((X,), {}), ((N,), {"dtype": "float16"})],
    "ones_like": [((X,), {}), ((N,), {"dtype": "float16"})],
    "range": [
        ((scalar(2), scalar(11), scalar(3)), {}),
        ((scalar(5), scalar(1), scalar(-2)), {}),
        ((scalar(0), scalar(4)), {}),
        ((scalar(0, np.float32), scalar(4, np.float32), scalar(1.5, np.float32)), {}),
        ((scalar(3), scalar(1)), {}),
    ],
    "linspace": [
        ((scalar(0), scalar(1), scalar(5)), {}),
        ((scalar(0, np.float32), scalar(1, np.float32), scalar(3)), {"endpoint": False}),
    ],
    "eye": [((), {"n": 3}), ((), {"n": 2, "m": 4, "k": 1, "dtype": "int32"})],
    "diagonal": [((N,), {}), ((X,), {"offset": 1, "axis1": 1, "axis2": 2}), ((N,), {"offset": -9})],
    "diag": [((V,), {}), ((V,), {"k": -1})],
    "tril": [((N,), {}), ((X,), {"k": -1})],
    "triu": [((N,), {}), ((X,), {"k": 1})],
    "nonzero": [((N,), {}), ((scalar(1),), {}), ((B[:0],), {})],
    "unique": [
        ((N // 3,), {"axis": 1, "sorted": False, "dtype": "int32"}),
        ((ints(3, 1, 3, 2),), {}),
        ((N // 3,), {"sorted": False}),
    ],
    "getitem": [
        ((X,), {"index": (("int", 0), ("slice", None, None, -2), ("newaxis",), ("int", -1))}),
        ((X, scalar(1)), {"index": (("ellipsis",), ("input", 0))}),
        ((S,), {"index": (("int", 1),)}),
        ((X, scalar(1), scalar(3)), {"index": (("slice", ("input", 0), ("input", 1), None),)}),
        ((X, ints(0, 2, 1)), {"index": (("slice", None, 1, None), ("input", 0))}),
        ((N, B), {"index": (("input", 0),)}),
        ((N, ints(0, 1), ints(1, 2)), {"index": (("input", 0), ("input", 1))}),
    ],
    "setitem": [
        ((N, scalar(9, np.int32)), {"index": (("int", 0),)}),
        ((X, V, scalar(1)), {"index": (("input", 0), ("int", 2))}),
        ((N, scalar(0), B), {"index": (("input", 0),)}),
    ],
    "slice": [
        ((X,), {"starts": (0, 1), "ends": (1, 9)}),
        ((X, ints(-1), ints(-(2**62)), ints(2), ints(-1)), {}),
        ((N, ints(1), ints(3), ints(-1)), {}),
        ((V,), {"starts": (0,), "ends": (4,), "axes": (0,), "steps": (3,)}),
    ],
    "slice_size": [((X, ints(0, 1, 2), ints(-1, 2, 1)), {}), ((V, ints(1), ints(0)), {})],
    "strided_slice": [
        ((X, ints(0, 1), ints(1, 3)), {"shrink_axis_mask": 1}),
        ((X, ints(0, 0), ints(0, 2), ints(1, 1)), {"ellipsis_mask": 1}),
        ((X, ints(0, 0, 1), ints(0, 0, 0), ints(1, 1, -1)), {"new_axis_mask": 1, "begin_mask": 2, "end_mask": 6}),
        ((V, ints(-1), ints(0)), {"shrink_axis_mask": 1}),
    ],
    "gather": [
        ((X, ints(1, 0, 1)), {}),
        ((X, ints(1, -1).reshape(1, 2), scalar(2)), {}),
        ((N, scalar(2)), {"axis": 1}),
        ((S, scalar(0)), {}),
        ((X, ints(1, 0, 3, 3).reshape(2, 2), scalar(2)), {"batch_dims": 1}),
    ],
    "gather_nd": [
        ((X, ints(0, 1, 1, 2).reshape(2, 2)), {}),
        ((X, ints(2, 1).reshape(2, 1)), {"batch_dims": 1}),
        ((S, ints(1)), {}),
        ((X, ints(0, 2, 1, 3).reshape(2, 1, 2)), {"batch_dims": 1}),
    ],
    "take_along_axis": [
        ((N, ints(1, 0, 2).reshape(3, 1)), {"axis": 1}),
        ((X, np.zeros((1, 2, 4), np.int64)), {"axis": 1}),
    ],
    "scatter_update": [
        ((N, ints(0, 2).reshape(2, 1), N[:2] * 0), {}),
        ((V, ints(1, 1).reshape(2, 1), V[:2]), {"reduction": "add"}),
    ],
    "scatter_nd": [
        ((ints(1, 3, 1).reshape(3, 1), V[:3], ints(5)), {}),
        ((ints(0, 2).reshape(2, 1), N[:2], ints(3, 4)), {}),
    ],
    "put_along_axis": [
        ((N, ints(0, 1, 2, 0).reshape(1, 4), N[:1] * 0), {"axis": 0}),
        ((V, ints(1, 1), V[:2]), {"axis": 0, "reduction": "mul"}),
    ],
    "assert": [((scalar(True, bool), X), {})],
    "print": [((V,), {"message": "v"})],
    "check_numerics": [((X,), {})],
    "ensure_shape": [((X,), {"shape": (2, None, 4)})],
    "stop_gradient": [((X,), {})],
    **PLAIN,
    **samples_nn.SAMPLES,
    **samples_text.SAMPLES,
}
