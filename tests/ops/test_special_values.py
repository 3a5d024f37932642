"""Element-wise ops on zeros of either sign, infinities, NaN, the smallest and the largest numbers of every float dtype.

Activations are compared with their formula in float64, ufuncs with NumPy bit for bit, both as run in graphs: scalars,
arrays, and inside loops.
"""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

import workbench as wb
from tests.ops.test_narrow import ulp
from workbench import ops
from workbench.ir.types import numpy_dtype

FLOATS = ("float16", "bfloat16", "float32", "float64")
nan, inf = math.nan, math.inf


def special(dtype: str) -> np.ndarray:
    found = ml_dtypes.finfo(numpy_dtype(dtype))
    edges = [float(v) for v in (found.smallest_subnormal, found.smallest_normal, found.max)]
    half = [0.0, inf, *edges, 1e-4, 1e-3, 0.5, 1.0, 1.5, 2.5, 3.0, 5.5, 6.0, 7.25, 10.0, 17.3, 88.0]
    return np.array([nan, *half, *(-v for v in half)]).astype(numpy_dtype(dtype))


def run(op: str, *arrays: np.ndarray, loop: bool = False, **attrs) -> np.ndarray:
    b = wb.GraphBuilder("g")
    inputs = [b.placeholder(f"x{k}", a.dtype, a.shape) for k, a in enumerate(arrays)]
    if not loop:
        out = b.op(op, *inputs, **attrs)
    else:
        first = b.constant(np.zeros_like(ops.lookup(op).evaluate(list(arrays), attrs)[0]))
        _, out = b.while_loop(
            lambda i, y: b.less(i, np.int64(2)),
            lambda i, y: (b.add(i, np.int64(1)), b.op(op, *inputs, **attrs)),
            [b.constant(np.int64(0)), first],
        )
    return b.build({"y": out}).run({f"x{k}": a for k, a in enumerate(arrays)})["y"]


def everywhere(op: str, *arrays: np.ndarray, **attrs) -> list[np.ndarray]:
    """The results of the whole arrays and of their items one by one, alone and in a loop."""
    found = []
    for loop in (False, True):
        found.append(run(op, *arrays, loop=loop, **attrs))
    for k in range(arrays[0].size):
        found.append(run(op, *(a[k] if a.ndim else a for a in arrays), loop=bool(k % 2), **attrs))
    return [*found[:2], np.array(found[2:], found[0].dtype)]


def same(got: np.ndarray, want: np.ndarray, ulps: float = 0.5) -> None:
    """Equal with the signs of zeros; numbers within ``ulps`` of the rounded ones."""
    wide, size = got.astype(np.float64), want.astype(np.float64)
    with np.errstate(all="ignore"):
        limit = ulp(size, got.dtype) * ulps
        rounded = want.astype(got.dtype).astype(np.float64)  # may be an infinity, or a zero
        exact = (wide == rounded) & (np.signbit(wide) == np.signbit(size))
        near = (np.abs(wide - size) <= limit) & ((np.signbit(wide) == np.signbit(size)) | (size == 0) & (ulps > 0.5))
    wrong = ~(exact | near | (np.isnan(wide) & np.isnan(size)))
    assert not wrong.any(), (wide[wrong], size[wrong])


def sigmoid(x):
    return np.where(x >= 0, 1 / (1 + np.exp(-x)), np.exp(x) / (1 + np.exp(x)))


def erfc(x):
    return np.vectorize(math.erfc)(x)


#: op -> (formula, attrs)
FORMULAS = {
    "relu": (lambda x: np.where(x < 0, 0.0, x), {}),
    "relu6": (lambda x: np.where(x < 0, 0.0, np.where(x > 6, 6.0, x)), {}),
    "leaky_relu": (lambda x: np.where(x >= 0, x, 0.25 * x), {"alpha": 0.25}),
    "elu": (lambda x: np.where(x >= 0, x, 2 * np.expm1(x)), {"alpha": 2.0}),
    "celu": (lambda x: np.where(x >= 0, x, 2 * np.expm1(x / 2)), {"alpha": 2.0}),
    "selu": (lambda x: 1.5 * np.where(x > 0, x, 2 * np.expm1(x)), {"alpha": 2.0, "gamma": 1.5}),
    "sigmoid": (sigmoid, {}),
    "softplus": (lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))), {}),
    "softsign": (lambda x: x / (1 + np.abs(x)), {}),
    "hard_sigmoid": (lambda x: np.clip(0.25 * x + 0.5, 0, 1), {"alpha": 0.25}),
    "gelu": (lambda x: 0.5 * x * erfc(-x / math.sqrt(2)), {}),
    "swish": (lambda x: x * sigmoid(2 * x), {"beta": 2.0}),
    "erf": (lambda x: np.vectorize(math.erf)(x), {}),
    "rsqrt": (lambda x: 1 / np.sqrt(x), {}),
    "round": (np.rint, {}),
    "square": (np.square, {}),
}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", FORMULAS)
def test_activations_are_their_formulas(op, dtype):
    """Within an ulp for 16 bits, which are computed in 32 and rounded once; a few where each step is rounded."""
    formula, attrs = FORMULAS[op]
    x = special(dtype)
    with np.errstate(all="ignore"):
        want = formula(x.astype(np.float64))
    for got in everywhere(op, x, **attrs):
        assert got.dtype == x.dtype
        # the argument of erfc is rounded, and its slope is x squared
        same(got, want, 1 if x.dtype.itemsize == 2 else 1000 if op == "gelu" else 8)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("low", "high"), [(0.0, 6.0), (-1.0, 0.0), (-0.0, 1.0), (-1.0, -0.0), (-inf, inf), (nan, 1.0)])
def test_clip_changes_only_what_lies_outside(low, high, dtype):
    x = special(dtype)
    low, high = (np.asarray(v, x.dtype) for v in (low, high))
    wide, least, most = (a.astype(np.float64) for a in (x, low, high))
    want = np.where(wide < least, least, np.where(wide > most, most, wide))
    want = np.where(np.isnan(least), nan, want)
    for got in everywhere("clip", x, low, high):
        same(got, want)
    for got in everywhere("clip", x, np.full_like(x, low), np.full_like(x, high)):
        same(got, want)


UFUNCS = [n for n in ops.names() if ops.lookup(n).family in ("arithmetic", "functions") and ops.lookup(n).ufunc]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", UFUNCS)
def test_ufuncs_are_numpys(op, dtype):
    ufunc, x = getattr(np, ops.lookup(op).ufunc), special(dtype)
    arrays = [x] if ufunc.nin == 1 else [a.ravel() for a in np.meshgrid(x, x)]
    try:
        with np.errstate(all="ignore"):
            want = ufunc(*arrays)
    except TypeError:
        pytest.skip(f"NumPy has no {op} of {dtype}")
    for loop in (False, True):
        got = run(op, *arrays, loop=loop)
        assert got.dtype == want.dtype
        zero = (got == 0) & (want == 0) if op in ("fmax", "fmin") else False  # NumPy's sign depends on the position
        differs = (got != want) | (np.signbit(got.astype(np.float64)) != np.signbit(want.astype(np.float64)))
        wrong = differs & ~zero & ~(np.isnan(got.astype(np.float64)) & np.isnan(want.astype(np.float64)))
        assert not wrong.any(), (got[wrong], want[wrong])
