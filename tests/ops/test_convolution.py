"""Convolutions compared with loops over every element, their gradients with transposed maps, both with ONNX's own
evaluator.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ops.onnx_reference import onnx_op, ours
from workbench.errors import TypeMismatchError
from workbench.ops.neural import convolution


def by_loops(x, w, strides, dilations, pads, groups):
    """The definition, element by element: channels last, pairs of padding, any number of spatial axes."""
    spatial, kernel, inner, out = x.shape[1:-1], w.shape[:-2], w.shape[-2], w.shape[-1]
    sizes = [
        (n + sum(p) - (k - 1) * d - 1) // s + 1
        for n, k, s, d, p in zip(spatial, kernel, strides, dilations, pads, strict=True)
    ]
    y = np.zeros((x.shape[0], *sizes, out))
    for b, *at, m in np.ndindex(*y.shape):
        group = m // (out // groups)
        for *offset, c in np.ndindex(*kernel, inner):
            place = [i * s + k * d - p[0] for i, s, k, d, p in zip(at, strides, offset, dilations, pads, strict=True)]
            if all(0 <= v < n for v, n in zip(place, spatial, strict=True)):
                y[(b, *at, m)] += float(x[(b, *place, group * inner + c)]) * float(w[(*offset, c, m)])
    return y


@st.composite
def problems(draw):
    """x, w and the attrs of a convolution that fits."""
    n, groups = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    inner, per_group = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    number = st.integers(1, 3)
    kernel, strides, dilations = (tuple(draw(number) for _ in range(n)) for _ in range(3))
    pads = tuple((draw(st.integers(0, 2)), draw(st.integers(0, 2))) for _ in range(n))
    least = [max(1, (k - 1) * d + 1 - sum(p)) for k, d, p in zip(kernel, dilations, pads, strict=True)]
    spatial = [draw(st.integers(v, v + 3)) for v in least]
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    x = rng.normal(size=(draw(st.integers(1, 2)), *spatial, groups * inner))
    w = rng.normal(size=(*kernel, inner, groups * per_group))
    return x, w, {"strides": strides, "dilations": dilations, "pads": pads, "groups": groups}


@settings(max_examples=60, deadline=None)
@given(problems())
def test_convolution_is_its_definition(problem):
    x, w, attrs = problem
    expected = by_loops(x, w, **attrs)
    np.testing.assert_allclose(ours("conv", x, w, **attrs), expected, rtol=1e-12, atol=1e-12)
    first = ours(
        "conv", np.moveaxis(x, -1, 1), np.moveaxis(w, (-1, -2), (0, 1)), **attrs, layout="first", filter_layout="first"
    )
    np.testing.assert_allclose(np.moveaxis(first, 1, -1), expected, rtol=1e-12, atol=1e-12)
    implied = ours("conv", x, w, **{**attrs, "groups": None})
    np.testing.assert_array_equal(implied, ours("conv", x, w, **attrs))


@settings(max_examples=60, deadline=None)
@given(problems(), st.booleans())
def test_gradients_are_the_transposed_maps(problem, same):
    """<conv(x, w), dy> = <x, input gradient of dy> = <w, filter gradient of dy>, for every dy."""
    x, w, attrs = problem
    if same:
        attrs = {**attrs, "pads": "same"}
    y = ours("conv", x, w, **attrs)
    dy = np.random.default_rng(3).normal(size=y.shape)
    dx = ours("conv_input_gradient", np.array(x.shape), w, dy, **attrs)
    dw = ours("conv_filter_gradient", x, np.array(w.shape), dy, **attrs)
    assert dx.shape == x.shape and dw.shape == w.shape
    total = float((y * dy).sum())
    assert float((x * dx).sum()) == pytest.approx(total, rel=1e-9, abs=1e-9)
    assert float((w * dw).sum()) == pytest.approx(total, rel=1e-9, abs=1e-9)


def test_each_element_of_the_gradients_is_a_derivative():
    rng = np.random.default_rng(5)
    x, w = rng.normal(size=(1, 4, 3, 2)), rng.normal(size=(2, 2, 2, 3))
    attrs = {"strides": (2, 1), "pads": "same"}
    dy = rng.normal(size=ours("conv", x, w, **attrs).shape)
    found = (
        ours("conv_input_gradient", np.array(x.shape), w, dy, **attrs),
        ours("conv_filter_gradient", x, np.array(w.shape), dy, **attrs),
    )
    for array, gradient in zip((x, w), found, strict=True):
        for at in np.ndindex(*array.shape):
            unit = np.zeros_like(array)
            unit[at] = 1
            moved = ours("conv", unit, w, **attrs) if array is x else ours("conv", x, unit, **attrs)
            assert gradient[at] == pytest.approx(float((moved * dy).sum()), abs=1e-12)


@pytest.mark.parametrize(
    ("size", "window", "stride", "dilation", "pad", "out"),
    # TensorFlow's notes on padding: out = ceil(n / stride), the odd element at the end
    [
        (13, 6, 5, 1, (1, 2), 3),
        (5, 2, 1, 1, (0, 1), 5),
        (4, 3, 2, 1, (0, 1), 2),
        (5, 3, 2, 2, (2, 2), 3),
        (3, 1, 2, 1, (0, 0), 2),
        (7, 3, 1, 3, (3, 3), 7),
    ],
)
def test_same_padding(size, window, stride, dilation, pad, out):
    x, w = np.arange(1.0, size + 1).reshape(1, size, 1), np.ones((window, 1, 1))
    attrs = {"strides": stride, "dilations": dilation}
    same = ours("conv", x, w, pads="same", **attrs)
    assert same.shape == (1, out, 1)
    np.testing.assert_array_equal(same, ours("conv", x, w, pads=(pad,), **attrs))
    np.testing.assert_array_equal(
        ours("conv", x, w, pads="same_lower", **attrs), ours("conv", x, w, pads=(pad[::-1],), **attrs)
    )


def test_a_depthwise_filter_is_one_group_for_each_channel():
    rng = np.random.default_rng(2)
    x, w = rng.normal(size=(2, 5, 4, 3)), rng.normal(size=(2, 3, 3, 2))
    got = ours("conv", x, w, depthwise=True, strides=2)
    for c, m in itertools.product(range(3), range(2)):
        alone = ours("conv", x[..., c : c + 1], w[:, :, c : c + 1, m : m + 1], strides=2)
        np.testing.assert_allclose(got[..., 2 * c + m], alone[..., 0], rtol=1e-12)


def test_blocks_give_what_one_product_gives(monkeypatch):
    rng = np.random.default_rng(4)
    x, w = rng.normal(size=(3, 9, 8, 4)), rng.normal(size=(3, 3, 2, 6))
    whole = ours("conv", x, w, groups=2)
    for block in (1, 5000, 20000):
        monkeypatch.setattr(convolution, "BLOCK", block)
        np.testing.assert_allclose(ours("conv", x, w, groups=2), whole, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float16", "float32", "int32", "int8"])
def test_other_dtypes(dtype):
    rng = np.random.default_rng(4)
    x, w = (rng.integers(-3, 4, shape).astype(dtype) for shape in ((1, 5, 5, 2), (2, 2, 2, 3)))
    got = ours("conv", x, w)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, by_loops(x, w, (1, 1), (1, 1), ((0, 0), (0, 0)), 1).astype(dtype))


def f32(*shape):
    return np.random.default_rng(6).normal(size=shape).astype(np.float32)


FIRST = {"layout": "first", "filter_layout": "first"}


@pytest.mark.parametrize(
    ("theirs", "attrs"),
    [
        ({}, {}),
        ({"strides": [2, 1], "pads": [1, 0, 2, 1]}, {"strides": (2, 1), "pads": ((1, 2), (0, 1))}),
        ({"dilations": [2, 1]}, {"dilations": (2, 1)}),
        ({"auto_pad": "SAME_UPPER"}, {"pads": "same"}),
        ({"auto_pad": "SAME_LOWER", "strides": [2, 2]}, {"pads": "same_lower", "strides": 2}),
    ],
)
def test_convolution_as_onnx(theirs, attrs):
    x, w, bias = f32(2, 4, 7, 6), f32(6, 2, 3, 2), f32(6)
    expected = onnx_op("Conv", [x, w, bias], group=2, **theirs)
    np.testing.assert_allclose(ours("conv", x, w, bias, groups=2, **attrs, **FIRST), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("theirs", "attrs"),
    [
        ({}, {}),
        ({"strides": [2, 3]}, {"strides": (2, 3)}),
        ({"strides": [2, 2], "pads": [1, 0, 0, 1]}, {"strides": 2, "pads": ((1, 0), (0, 1))}),
        ({"strides": [3, 2], "output_padding": [1, 1]}, {"strides": (3, 2), "output_padding": (1, 1)}),
        ({"dilations": [2, 2]}, {"dilations": 2}),
    ],
)
def test_transposed_convolution_as_onnx(theirs, attrs):
    x, w, bias = f32(1, 3, 4, 5), f32(3, 2, 3, 3), f32(2)
    expected = onnx_op("ConvTranspose", [x, w, bias], **theirs)
    np.testing.assert_allclose(ours("conv_transpose", x, w, bias, **attrs, **FIRST), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("shapes", "attrs", "words"),
    [
        (((1, 5, 5, 3), (3, 3, 2, 4)), {}, "3 channels, but a filter for 2 in each of 1 group"),
        (((1, 5, 5, 4), (3, 3, 2, 3)), {"groups": 2}, "3 output channels among 2 groups"),
        (((1, 2, 5, 3), (3, 3, 3, 4)), {}, "window over 3 elements along an axis of 2"),
        (((1, 5, 5, 3), (3, 3, 3)), {}, "rank 4"),
        (((5, 3), (3, 3)), {}, "spatial axes"),
        (((1, 5, 5, 3), (3, 3, 3, 4)), {"strides": (0, 1)}, "strides (0, 1)"),
        (((1, 5, 5, 3), (3, 3, 3, 4)), {"pads": ((1, 1),)}, "pads ((1, 1),)"),
        (((1, 5, 5, 3), (3, 3, 3, 4)), {"pads": "full"}, "'full'"),
        (((1, 5, 5, 3), (3, 3, 3, 4)), {"layout": "NHWC"}, "'NHWC'"),
        (((1, 5, 5, 3), (3, 3, 2, 4)), {"depthwise": True}, "3 channels and a depthwise filter for 2"),
    ],
)
def test_what_does_not_fit(shapes, attrs, words):
    with pytest.raises(TypeMismatchError) as caught:
        ours("conv", *(np.zeros(s, np.float32) for s in shapes), **attrs)
    assert words in caught.value.message and caught.value.fix


def test_a_gradient_of_the_wrong_shape():
    with pytest.raises(TypeMismatchError, match="float64.1,4,4,4., but got"):
        ours("conv_input_gradient", np.array([1, 5, 5, 3]), np.zeros((2, 2, 3, 4)), np.zeros((1, 5, 5, 4)))
    with pytest.raises(TypeMismatchError, match="rank 4, but got 2 sizes"):
        ours("conv_filter_gradient", np.zeros((1, 5, 5, 3)), np.array([2, 2]), np.zeros((1, 5, 5, 4)))
