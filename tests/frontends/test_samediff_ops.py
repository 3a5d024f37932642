"""SameDiff's ops compared with NumPy, with arguments as SameDiff stores them, in the op or as inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.frontends.flatbytes import SameDiff, flat_array, prop
from workbench.frontends.samediff.rules import FLAT_RULES

ALL = 2**31 - 1
X = np.array([[1.5, -2.0, 3.0], [0.25, 4.5, -6.0]], np.float32)
Y = np.array([[2.0, 0.5, -1.0], [3.0, 4.5, 1.0]], np.float32)
N, M = np.array([7, -7, 5], np.int32), np.array([2, 2, -3], np.int32)
P = np.array([True, False, True])
IMAGE = np.random.default_rng(3).normal(size=(1, 4, 5, 2)).astype(np.float32)


@dataclass(frozen=True)
class Case:
    """One op: its inputs, expected results, and arguments."""

    op: str
    inputs: tuple[Any, ...]
    expected: Any
    args: Mapping[str, Any] = field(default_factory=dict)
    dtype: str | None = None


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def conv(x: np.ndarray, w: np.ndarray, stride: int = 1) -> np.ndarray:
    """NHWC, without padding."""
    h, v = w.shape[:2]
    rows, cols = (x.shape[1] - h) // stride + 1, (x.shape[2] - v) // stride + 1
    out = np.empty((x.shape[0], rows, cols, w.shape[3]), np.float32)
    for i in range(rows):
        for j in range(cols):
            patch = x[:, i * stride : i * stride + h, j * stride : j * stride + v]
            out[:, i, j] = np.tensordot(patch, w, 3)
    return out


def pool(x: np.ndarray, function: Any, size: int = 2) -> np.ndarray:
    rows, cols = x.shape[1] // size, x.shape[2] // size
    parts = x[:, : rows * size, : cols * size].reshape(x.shape[0], rows, size, cols, size, x.shape[3])
    return function(parts, axis=(2, 4))


def ints(*values: int) -> dict[str, Any]:
    return {"ints": values}


def scalar(value: Any, **more: Any) -> dict[str, Any]:
    return {"op_class": 10, "scalar": flat_array(value), **more}


W = np.random.default_rng(4).normal(size=(2, 2, 2, 3)).astype(np.float32)
Q = 1 / (1 + np.exp(-X))
L = np.array([[1, 0, 1], [0, 1, 0]], np.float32)
ONE = np.float32(1)
LABELS, SPARSE = np.int32([2, 0]), -np.log(softmax(X))[[0, 1], [2, 0]]
HALVES = np.float32([2.5, -2.5, 0.5, 0.49999997, -0.75, 1.6, 0])
PADS = np.int32([[0, 1], [0, 0]])
FIRST = IMAGE.transpose(0, 3, 1, 2)
NCHW, ROWS = (0, 3, 1, 2), np.float32([[0.5], [0.0]])

CASES = [
    Case("add", (X, Y), X + Y),
    Case("subtract", (X, Y), X - Y),
    Case("multiply", (X, Y), X * Y),
    Case("divide", (X, Y), X / Y),
    Case("divide", (N, M), [3, -3, -1]),
    Case("floordiv", (N, M), N // M),
    Case("floormod", (N, M), N % M),
    Case("mod", (N, M), np.fmod(N, M)),
    Case("reversesubtract", (X, Y), Y - X),
    Case("reversedivide", (X, Y), Y / X),
    Case("squaredsubtract", (X, Y), (X - Y) ** 2),
    Case("maximum", (X, Y), np.maximum(X, Y)),
    Case("Pow", (np.abs(X), Y), np.abs(X) ** Y),
    Case("pow", (X,), X**2, scalar(np.float32(2))),
    Case("add_scalar", (X,), X + 2, scalar(np.float32(2))),
    Case("mul_scalar", (N,), N * 3, scalar(np.int32(3))),
    Case("mul_scalar", (N,), N * 0.5, scalar(np.float64(0.5)), "float64"),
    Case("rsub_scalar", (X,), 1 - X, scalar(np.float32(1))),
    Case("rdiv_scalar", (X,), 1 / X, scalar(np.float32(1))),
    Case("div_scalar", (X,), X / 4, scalar(np.float32(4))),
    Case("greaterthan_scalar", (X,), X > 1, scalar(np.float32(1)), "bool"),
    Case("less", (X, Y), X < Y, {}, "bool"),
    Case("gte", (N, M), N >= M, {}, "bool"),
    Case("equals", (X, Y), X == Y, {}, "bool"),
    Case("boolean_and", (P, ~P), P & ~P),
    Case("boolean_not", (P,), ~P),
    Case("neg", (X,), -X),
    Case("square", (N,), N * N),
    Case("cube", (X,), X**3),
    Case("round", (HALVES,), [3, -3, 1, 0, -1, 2, 0]),
    Case("rint", (HALVES,), [2, -2, 0, 0, -1, 2, 0]),
    Case("oneminus", (X,), 1 - X),
    Case("sqrt", (N * N,), np.sqrt(N * N), {"op_class": 0}, "float32"),
    Case("tanh", (X,), np.tanh(X)),
    Case("sigmoid", (X,), 1 / (1 + np.exp(-X))),
    Case("swish", (X,), X / (1 + np.exp(-X))),
    Case("gelu", (X,), X / (1 + np.exp(-1.702 * X))),
    Case("relu", (X,), np.maximum(X, 0), scalar(np.float32(0))),
    Case("relu", (X,), np.where(X > 2, X, 0), scalar(np.float32(2))),
    Case("relu6", (X,), np.clip(X, 0, 6), scalar(np.float32(0))),
    Case("leakyrelu", (X,), np.where(X > 0, X, 0.1 * X), scalar(np.float32(0.1))),
    Case("step", (X,), (X > 1).astype(np.float32), scalar(np.float32(1))),
    Case("prelu", (X, np.float32([0.5, 0.25, 0.125])), np.where(X > 0, X, X * np.float32([0.5, 0.25, 0.125]))),
    Case("crelu", (X,), np.maximum(np.concatenate([X, -X], -1), 0)),
    Case("log_x", (np.abs(X),), np.log2(np.abs(X)), scalar(np.float32(2))),
    Case("ClipByValue", (X,), np.clip(X, -1, 2), {"floats": (-1, 2)}),
    Case("cast", (X,), X.astype(np.int32), ints(9), "int32"),
    Case("cast", (N,), N.astype(np.float64), ints(6), "float64"),
    Case("mergeadd", (X, Y, X), X + Y + X),
    Case("reduce_sum", (X,), X.sum(), {"op_class": 6, "dimensions": [ALL], "bools": [False, True]}),
    Case("reduce_sum", (X,), X.sum(1, keepdims=True), {"op_class": 6, "dimensions": [1], "bools": [True, True]}),
    Case("reduce_mean", (X, np.int32([0])), X.mean(0), {"op_class": 5, "dimensions": [ALL]}),
    Case("reduce_mean", (N,), N.mean(), {"op_class": 5, "dimensions": [ALL]}, "float32"),
    Case("reduce_max", (X,), X.max((0, 1)), {"op_class": 6, "dimensions": [0, 1]}),
    Case("reduce_norm1", (X,), np.abs(X).sum(1), {"op_class": 5, "dimensions": [1]}),
    Case("reduce_norm2", (X,), np.sqrt((X * X).sum(1)), {"op_class": 5, "dimensions": [1]}),
    Case("reduce_sqnorm", (X,), (X * X).sum(), {"op_class": 5, "dimensions": [ALL]}),
    Case("var", (X,), X.var(1, ddof=1), {"op_class": 17, "dimensions": [1], "bools": [False, True]}),
    Case("std", (X,), X.std(1), {"op_class": 17, "dimensions": [1], "bools": [False, False]}),
    Case("countNonZero", (L,), 3, {"op_class": 7, "dimensions": [ALL]}, "int64"),
    Case("all", (P,), False, {"op_class": 8, "dimensions": [ALL]}),
    Case("argmax", (X,), X.argmax(1), {"op_class": 9, "dimensions": [1]}, "int64"),
    Case("argmax", (X,), X.argmax(1)[:, None], {"op_class": 9, "dimensions": [1], "bools": [True]}, "int64"),
    Case("imin", (X,), X.argmin(), {"op_class": 9, "dimensions": [ALL]}, "int64"),
    Case("cumsum", (X,), X.cumsum(1), ints(0, 0, 1)),
    Case("cumprod", (X, np.int32(0)), X.cumprod(0), ints(0, 0)),
    Case("standardize", (X,), (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True), ints(1)),
    Case("reshape", (X,), X.reshape(3, 2), ints(3, 2)),
    Case("reshape", (X,), X.reshape(6), ints(-99, -1)),
    Case("reshape", (X, np.int64([3, -1])), X.reshape(3, 2)),
    Case("permute", (IMAGE,), IMAGE.transpose(NCHW), ints(*NCHW)),
    Case("transpose", (X,), X.T),
    Case("expand_dims", (X,), X[:, None], ints(1)),
    Case("squeeze", (X[None],), X, ints(0)),
    Case("concat", (X, Y), np.concatenate([X, Y], 1), ints(1)),
    Case("concat", (X, Y, np.int32(0)), np.concatenate([X, Y]), {"bools": [True]}),
    Case("stack", (X, Y), np.stack([X, Y], 1), ints(1)),
    Case("gather", (X, np.int32([2, 0])), X[:, [2, 0]], ints(1)),
    Case("gather_nd", (X, np.int32([[1, 2], [0, 0]])), [X[1, 2], X[0, 0]]),
    Case("slice", (X,), X[0:1, 1:3], ints(0, 1, 1, 2)),
    Case("slice", (X, np.int32([0, 1]), np.int32([2, 2])), X[:, 1:]),
    Case("strided_slice", (X,), X[0, ::2], ints(0, 0, 2, 0, 1, 0, 0, 1, 0, 1, 2)),
    Case("tile", (X,), np.tile(X, (2, 1)), ints(2, 1)),
    Case("reverse", (X,), X[:, ::-1], ints(1)),
    Case("pad", (X, np.int32([[1, 0], [0, 2]])), np.pad(X, ((1, 0), (0, 2))), ints(0)),
    Case("pad", (X, np.int32([[0, 0], [1, 1]])), np.pad(X, ((0, 0), (1, 1)), "reflect"), ints(1)),
    Case(
        "pad",
        (X, np.int32([[0, 1], [0, 0]])),
        np.pad(X, ((0, 1), (0, 0)), constant_values=9),
        {"ints": [0], "floats": [9]},
    ),
    Case("onehot", (np.int32([2, 0]),), np.eye(3, dtype=np.float32)[[2, 0]], {"ints": [-1, 3]}, "float32"),
    Case("shape_of", (X,), [2, 3], {}, "int64"),
    Case("size", (X,), 6, {}, "int64"),
    Case("rank", (X,), 2, {}, "int32"),
    Case("range", (), np.arange(1, 7, 2), {"floats": (1, 7, 2)}, "int32"),
    Case("range", (np.int32(1), np.int64(7), np.int32(2)), np.arange(1, 7, 2), {}, "int32"),
    Case("lin_space", (np.float32(0), np.float32(1), np.int32(5)), np.linspace(0, 1, 5), {}, "float32"),
    Case("fill", (np.int64([2, 3]),), np.full((2, 3), 7), {"floats": [7]}, "float32"),
    Case("zeros_as", (X,), np.zeros_like(X)),
    Case("ones_as", (X,), np.ones((2, 3)), {}, "float64"),
    Case("Where", (P, X[0], Y[0]), np.where(P, X[0], Y[0]), {}, "float32"),
    Case("scatter_nd", (np.int32([[1], [3]]), np.float32([5, 6]), np.int32([4])), [0, 5, 0, 6], {}, "float32"),
    Case("mmul", (X, Y), X @ Y.T, ints(0, 1, 0)),
    Case("mmul", (X, Y), (X.T @ Y).T, ints(1, 0, 1)),
    Case("matmul", (X, Y.T), 2 * (X @ Y.T), {"ints": [0, 0, 0], "floats": [2, 0]}),
    Case("xw_plus_b", (X, Y.T, np.float32([1, 2])), X @ Y.T + [1, 2]),
    Case("softmax", (X,), softmax(X), ints(-1)),
    Case("softmax", (X,), softmax(X, 0), ints(0)),
    Case("log_softmax", (X,), np.log(softmax(X)), ints(-1)),
    Case("biasadd", (IMAGE, np.float32([1, 2])), IMAGE + [1, 2]),
    Case("biasadd", (IMAGE.transpose(NCHW), np.float32([1, 2])), (IMAGE + [1, 2]).transpose(NCHW), {"bools": [True]}),
    Case("conv2d", (IMAGE, W), conv(IMAGE, W), ints(2, 2, 1, 1, 0, 0, 1, 1, 0, 1)),
    Case("conv2d", (IMAGE.transpose(NCHW), W), conv(IMAGE, W).transpose(NCHW), ints(2, 2, 1, 1, 0, 0, 1, 1, 0, 0)),
    Case(
        "conv2d",
        (IMAGE, W.transpose(3, 2, 0, 1), np.float32([1, 2, 3])),
        conv(np.pad(IMAGE, ((0, 0), (1, 1), (1, 1), (0, 0))), W, 2) + [1, 2, 3],
        ints(2, 2, 2, 2, 1, 1, 1, 1, 0, 1, 1),
    ),
    Case("maxpool2d", (IMAGE,), pool(IMAGE, np.max), ints(2, 2, 2, 2, 0, 0, 1, 1, 0, 0, 1)),
    Case(
        "avgpool2d",
        (IMAGE.transpose(NCHW),),
        pool(IMAGE, np.mean).transpose(NCHW),
        ints(2, 2, 2, 2, 0, 0, 1, 1, 0, 0, 0),
    ),
    Case(
        "batchnorm",
        (X, np.float32([1, 2, 3]), np.float32([4, 1, 9]), np.float32([2, 2, 2]), np.float32([1, 0, 1])),
        (X - [1, 2, 3]) / np.sqrt(np.float32([4, 1, 9]) + 1e-3) * 2 + [1, 0, 1],
        {"ints": [1, 1, 1], "floats": [1e-3]},
    ),
    Case(
        "layer_norm",
        (X, np.float32([1, 2, 3]), np.float32([1, 0, 1])),
        (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True) * [1, 2, 3] + [1, 0, 1],
        {"ints": [1], "bools": [True]},
    ),
    Case("log_loss", (Q, ONE, L), -(L * np.log(Q) + (1 - L) * np.log(1 - Q)).mean(), {"ints": [3], "floats": [0.0]}),
    Case("mean_sqerr_loss", (X, ONE, Y), ((X - Y) ** 2).sum(), ints(1)),
    Case("mean_sqerr_loss", (X, ROWS, Y), (ROWS * (X - Y) ** 2).sum() / 1.5, ints(2)),
    Case("mean_sqerr_loss", (X, ROWS, Y), (ROWS * (X - Y) ** 2).sum() / 3, ints(3)),
    Case("absolute_difference_loss", (X, ONE * 2, Y), 2 * np.abs(X - Y), ints(0)),
    Case("hinge_loss", (X, ONE, L), np.maximum(0, 1 - (2 * L - 1) * X).mean(), ints(2)),
    Case(
        "huber_loss",
        (X, ONE, Y),
        np.where(np.abs(X - Y) < 2, (X - Y) ** 2 / 2, 2 * np.abs(X - Y) - 2).mean(),
        {"ints": [2], "floats": [2.0]},
    ),
    Case("sigm_cross_entropy_loss", (X, ONE, L), -(L * np.log(Q) + (1 - L) * np.log(1 - Q)).mean(), ints(2)),
    Case("softmax_cross_entropy_loss", (X, ONE, L), -(L * np.log(softmax(X))).sum(-1).mean(), ints(2)),
    Case("softmax_cross_entropy_loss_with_logits", (X, L), -(L * np.log(softmax(X))).sum(-1)),
    Case("sparse_softmax_cross_entropy_loss_with_logits", (LABELS, X), SPARSE, {}, "float32"),
    Case("l2_loss", (X,), (X * X).sum() / 2),
]


def run(case: Case) -> np.ndarray:
    sd = SameDiff()
    names = [sd.constant(f"in{i}", value) for i, value in enumerate(case.inputs)]
    floats = [np.asarray(v).dtype for v in case.inputs]
    dtype = case.dtype or (floats[0].name if floats else "float32")
    sd.op(case.op, "out", names, dtype=dtype, **case.args)
    return wb.load(sd.bytes()).run()["out"]


@pytest.mark.parametrize("case", CASES, ids=[f"{c.op}-{i}" for i, c in enumerate(CASES)])
def test_an_op(case):
    got = run(case)
    expected = np.asarray(case.expected)
    assert got.shape == expected.shape
    assert got.dtype == np.dtype(case.dtype or np.asarray(case.inputs[0]).dtype)
    assert np.allclose(got, expected, rtol=2e-5, atol=1e-6)


def test_ops_of_several_outputs():
    sd = SameDiff()
    sd.constant("x", X)
    sd.op("split", ["a", "b", "c"], ["x"], ints=[3, 1])
    sd.op("unstack", ["u", "v"], ["x"], ints=[0, 2])
    sd.op("top_k", ["t", "k"], ["x"], ints=[2], dtype=["float32", "int32"])
    got = wb.load(sd.bytes()).run()
    assert [got[n].ravel().tolist() for n in "abc"] == X.T.tolist()
    assert got["u"].tolist() == X[0].tolist() and got["v"].tolist() == X[1].tolist()
    assert got["t"].tolist() == [[3, 1.5], [4.5, 0.25]] and got["k"].tolist() == [[2, 0], [1, 0]]


def lstm(x: np.ndarray, w: dict[str, np.ndarray], peephole: bool, clip: float = 0.0) -> tuple[np.ndarray, ...]:
    """The equations of libnd4j, one step after the other; x is [time, batch, inputs]."""
    n = w["r"].shape[0]
    h, c = w["h"], w["c"]
    gate = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
    p = np.split(w["p"], 3) if peephole else [np.zeros(n, np.float32)] * 3
    out = []
    for step in x:
        i, f, z, o = np.split(step @ w["x"] + h @ w["r"] + w["b"], 4, axis=1)
        i, f = gate(i + p[0] * c), gate(f + p[1] * c)
        c = f * c + i * np.tanh(z)
        c = np.clip(c, -clip, clip) if clip else c
        h = gate(o + p[2] * c) * np.tanh(c)
        out.append(h)
    return np.stack(out), h, c


@pytest.mark.parametrize("backward", [0, 1])
@pytest.mark.parametrize("form", [0, 1, 2])
@pytest.mark.parametrize("full", [True, False])
def test_an_lstm_layer(form, backward, full):
    rng = np.random.default_rng(form)
    shapes = {"x": (3, 8), "r": (2, 8), "b": (8,), "h": (4, 2), "c": (4, 2), "p": (6,)}
    w = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    if not full:
        w.update({name: np.zeros_like(w[name]) for name in "bhc"})
    x = rng.normal(size=(5, 4, 3)).astype(np.float32)
    whole, last, state = lstm(x[::-1] if backward else x, w, full, 0.5 if full else 0.0)
    whole = whole[::-1] if backward else whole
    order = {0: (0, 1, 2), 1: (1, 0, 2), 2: (1, 2, 0)}[form]
    sd = SameDiff()
    sd.constant("in", x.transpose(order))
    names = [sd.constant(name, w[name]) for name in ("xrbhcp" if full else "xr")]
    flags = [full, False, full, full, full, True, True, True]
    args = {"ints": [form, backward, 2, 0, 0], "bools": flags, "floats": [0.5 if full else 0.0]}
    sd.op("lstmLayer", ["sequence", "last", "state"], ["in", *names], **args)
    got = wb.load(sd.bytes()).run()
    for name, expected in (("sequence", whole.transpose(order)), ("last", last), ("state", state)):
        assert got[name].shape == expected.shape and np.allclose(got[name], expected, rtol=1e-5, atol=1e-6)


def test_a_convolutional_network():
    """Arguments as sd.cnn writes them: NCHW, biases, windows without padding, a mean loss."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(2, 1, 6, 6)).astype(np.float32)
    w0, b0 = rng.normal(size=(3, 3, 1, 4)).astype(np.float32), rng.normal(size=4).astype(np.float32)
    w1, b1 = rng.normal(size=(16, 3)).astype(np.float32), rng.normal(size=3).astype(np.float32)
    sd = SameDiff()
    sd.placeholder("in", shape=[-1, 36])
    for name, value in (("w0", w0), ("b0", b0), ("w1", w1), ("b1", b1)):
        sd.constant(name, value, 0)
    sd.op("reshape", "in4d", ["in"], ints=[-1, 1, 6, 6])
    sd.op("conv2d", "layer0", ["in4d", "w0", "b0"], ints=[3, 3, 1, 1, 0, 0, 1, 1, 0, 0, 0])
    sd.op("relu", "relu", ["layer0"], op_class=10, scalar=flat_array(np.float32(0)))
    sd.op("maxpool2d", "layer1", ["relu"], ints=[2, 2, 2, 2, 0, 0, 1, 1, 0, 0, 0])
    sd.op("reshape", "flat", ["layer1"], ints=[-1, 16])
    sd.op("xw_plus_b", "linear", ["flat", "w1", "b1"])
    sd.op("softmax", "out", ["linear"], ints=[-1])
    hidden = np.maximum(conv(x.transpose(0, 2, 3, 1), w0) + b0, 0)
    flat = pool(hidden, np.max).transpose(NCHW).reshape(2, 16)
    assert np.allclose(wb.load(sd.bytes()).run({"in": x.reshape(2, 36)})["out"], softmax(flat @ w1 + b1), atol=1e-6)


def test_convolution_and_pooling_in_space():
    rng = np.random.default_rng(6)
    x = rng.normal(size=(1, 2, 4, 4, 4)).astype(np.float32)
    w, b = rng.normal(size=(3, 3, 3, 2, 2)).astype(np.float32), np.float32([1, -1])
    sd = SameDiff()
    for name, value in (("x", x), ("w", w), ("b", b)):
        sd.constant(name, value)
    sd.op("conv3dnew", "c", ["x", "w", "b"], ints=[3, 3, 3, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0])
    sd.op("maxpool3dnew", "m", ["c"], ints=[2, 2, 2, 2, 2, 2, 0, 0, 0, 1, 1, 1, 0, 1, 0])
    expected = np.full((1, 2, 1, 1, 1), -np.inf, np.float32)
    for i, j, k in np.ndindex(2, 2, 2):
        patch = x[:, :, i : i + 3, j : j + 3, k : k + 3]
        expected[..., 0, 0, 0] = np.maximum(expected[..., 0, 0, 0], np.einsum("ncijk,ijkco->no", patch, w) + b)
    assert np.allclose(wb.load(sd.bytes()).run()["m"], expected, atol=1e-5)


@pytest.mark.parametrize(
    "op, args",
    [
        ("conv2d", ints(2, 2, 1, 1, 0, 0, 1, 1, 2, 1)),  # causal
        ("reshape", ints(-102, 3, 2)),  # elements in order f
        ("avgpool2d", ints(2, 2, 2, 2, 1, 1, 1, 1, 0, 1, 1)),  # the mean over the padding too
        ("elu", scalar(np.float32(2))),
        ("onehot", ints(-1)),
    ],
)
def test_forms_without_a_counterpart_are_refused(op, args):
    with pytest.raises(wb.WorkbenchError) as caught:
        run(Case(op, (IMAGE, W) if op == "conv2d" else (IMAGE,), None, args))
    assert caught.value.slug == "unknown-op" and f"{op} (this variant)" in caught.value.message


def test_axes_that_contradict_each_other():
    sd = SameDiff()
    sd.constant("x", X)
    sd.constant("axes", np.int32([7]))
    sd.op("reduce_sum", "out", ["x", "axes"], op_class=6, dimensions=[1])
    graph = wb.load(sd.bytes())
    assert np.allclose(graph.run()["out"], X.sum(1)) and "[7]" in " ".join(graph.notes)


def test_properties_stand_in_for_arguments():
    sd = SameDiff()
    sd.constant("x", X)
    sd.op("reduce_sum", "out", ["x"], op_class=6, dimensions=[0], properties=[prop("keepDims", "?", [True])])
    assert wb.load(sd.bytes()).run()["out"].shape == (1, 3)


#: rules that other tests of SameDiff run: frames, TensorArrays, several outputs
ELSEWHERE = {"enter", "exit", "merge", "switch", "next_iteration", "loop_cond", "split", "unstack", "top_k", "identity"}


def test_a_large_part_of_the_rules_is_run():
    """The others are names of a single TensorFlow op each, whose rule has its own tests."""
    run_here = {case.op for case in CASES} | ELSEWHERE
    assert run_here <= set(FLAT_RULES) and len(run_here) > 100
