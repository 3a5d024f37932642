"""Pooling and patches compared with loops over every window, and with ONNX's own evaluator."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ops.onnx_reference import onnx_op, ours
from workbench.errors import TypeMismatchError


def windows(x, window, strides, dilations, pads):
    """(position, elements, places, places with padding) of each window; channels last, two spatial axes."""
    sizes = [
        (n + sum(p) - (k - 1) * d - 1) // s + 1
        for n, k, s, d, p in zip(x.shape[1:3], window, strides, dilations, pads, strict=True)
    ]
    for b, i, j, c in np.ndindex(x.shape[0], *sizes, x.shape[3]):
        rows = [i * strides[0] - pads[0][0] + k * dilations[0] for k in range(window[0])]
        columns = [j * strides[1] - pads[1][0] + k * dilations[1] for k in range(window[1])]
        inside = [(r, q) for r in rows for q in columns if 0 <= r < x.shape[1] and 0 <= q < x.shape[2]]
        yield (b, i, j, c), inside


@st.composite
def problems(draw):
    window, strides, dilations = ((draw(st.integers(1, 3)), draw(st.integers(1, 3))) for _ in range(3))
    pads = tuple((draw(st.integers(0, k - 1)), draw(st.integers(0, k - 1))) for k in window)
    least = [max(1, (k - 1) * d + 1) for k, d in zip(window, dilations, strict=True)]
    sizes = [draw(st.integers(v, v + 4)) for v in least]
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    x = rng.integers(-9, 9, (draw(st.integers(1, 2)), *sizes, 2)).astype(np.float64)
    return x, {"window": window, "strides": strides, "dilations": dilations, "pads": pads}


@settings(max_examples=50, deadline=None)
@given(problems(), st.booleans())
def test_maxima_and_their_places(problem, batch):
    x, attrs = problem
    best, place = ours("max_pool_with_argmax", x, **attrs, include_batch=batch)
    np.testing.assert_array_equal(best, ours("max_pool", x, **attrs))
    seen = 0
    for at, inside in windows(x, **attrs):
        if not inside:
            continue
        b, c = at[0], at[3]
        flat = {(r, q): ((b * batch * x.shape[1] + r) * x.shape[2] + q) * x.shape[3] + c for r, q in inside}
        top = max(x[b, r, q, c] for r, q in inside)
        first = min(flat[rq] for rq in inside if x[b, rq[0], rq[1], c] == top)
        assert (best[at], place[at]) == (top, first)
        seen += 1
    assert seen


@settings(max_examples=50, deadline=None)
@given(problems())
def test_averages_leave_the_padding_out(problem):
    x, attrs = problem
    got, whole = ours("average_pool", x, **attrs), ours("average_pool", x, **attrs, count_include_pad=True)
    for at, inside in windows(x, **attrs):
        total = sum(x[at[0], r, q, at[3]] for r, q in inside)
        assert got[at] == pytest.approx(total / max(len(inside), 1))
        assert whole[at] == pytest.approx(total / np.prod(attrs["window"]))


@settings(max_examples=30, deadline=None)
@given(problems())
def test_patches_lie_in_the_order_of_window_and_channels(problem):
    x, attrs = problem
    wide = np.pad(x, [(0, 0), *attrs["pads"], (0, 0)])
    got = ours("extract_patches", x, **attrs)
    (s, t), (d, e), (k, m) = attrs["strides"], attrs["dilations"], attrs["window"]
    for b, i, j in np.ndindex(*got.shape[:3]):
        block = wide[b, i * s : i * s + (k - 1) * d + 1 : d, j * t : j * t + (m - 1) * e + 1 : e]
        np.testing.assert_array_equal(got[b, i, j], block.reshape(-1))


def f32(*shape):
    return np.random.default_rng(6).normal(size=shape).astype(np.float32)


AS_ONNX = [
    ({"kernel_shape": [3, 2]}, {"window": (3, 2)}),
    (
        {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 1]},
        {"window": (3, 2), "strides": 2, "pads": ((1, 1), (0, 1))},
    ),
    ({"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1}, {"window": (2, 2), "strides": 2, "ceil_mode": True}),
    (
        {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER", "strides": [2, 2]},
        {"window": (3, 3), "strides": 2, "pads": "same"},
    ),
]


@pytest.mark.parametrize(("theirs", "attrs"), AS_ONNX)
def test_maxima_as_onnx(theirs, attrs):
    x = f32(2, 3, 7, 5)
    np.testing.assert_array_equal(ours("max_pool", x, layout="first", **attrs), onnx_op("MaxPool", [x], **theirs))


@pytest.mark.parametrize(("theirs", "attrs"), AS_ONNX)
def test_averages_as_onnx(theirs, attrs):
    x = f32(2, 3, 7, 5)
    expected = onnx_op("AveragePool", [x], **theirs)
    np.testing.assert_allclose(ours("average_pool", x, layout="first", **attrs), expected, rtol=1e-5, atol=1e-6)


def test_places_as_onnx():
    x = f32(2, 3, 7, 5)
    theirs = onnx_op("MaxPool", [x], outputs=2, kernel_shape=[3, 2], strides=[2, 2])
    got = ours("max_pool_with_argmax", x, window=(3, 2), strides=2, layout="first")
    for a, b in zip(got, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_lowest_number_is_found_beside_padding():
    x = np.full((1, 2, 2, 1), np.iinfo(np.int8).min, np.int8)
    best, place = ours("max_pool_with_argmax", x, window=(2, 2), pads=((1, 0), (1, 0)))
    assert (best == -128).all()
    np.testing.assert_array_equal(place.reshape(2, 2), [[0, 0], [0, 0]])


@pytest.mark.parametrize(
    ("op", "shape", "attrs", "words"),
    [
        ("max_pool", (1, 5, 5, 3), {"window": (2,)}, "window over 1 axes"),
        ("max_pool", (1, 5, 5, 3), {"window": (2, 0)}, "window (2, 0)"),
        ("average_pool", (1, 2, 2, 3), {"window": (2, 3)}, "window over 3 elements along an axis of 2"),
        ("max_pool", (1, 5, 5, 3), {}, "needs the attr 'window'"),
    ],
)
def test_what_does_not_fit(op, shape, attrs, words):
    from workbench import ops
    from workbench.ir.types import TensorType

    with pytest.raises(TypeMismatchError) as caught:
        ops.lookup(op).infer([TensorType("float32", shape)], attrs)
    assert words in caught.value.message and caught.value.fix
