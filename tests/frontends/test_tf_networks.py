"""TensorFlow's nodes of neural networks: the meaning of layouts, paddings and versions of an op."""

from __future__ import annotations

import numpy as np
import pytest

from tests.frontends.protobytes import data, node, placeholder
from tests.frontends.tf_nodes import attr_of, f32, first, held, imported, outputs
from tests.ops.onnx_reference import ours
from workbench.errors import UnknownOpError
from workbench.frontends import from_graphdef

X, W = f32(2, 6, 5, 4), f32(3, 2, 4, 6)
FLAT = {"strides": [1, 1, 1, 1], "padding": "VALID"}


def test_a_convolution_in_both_layouts_with_padding_for_each_side():
    expected = ours("conv", X, W, strides=(2, 1), dilations=(1, 2), pads=((1, 0), (2, 1)))
    (last,) = outputs(
        "Conv2D",
        X,
        W,
        strides=[1, 2, 1, 1],
        dilations=[1, 1, 2, 1],
        padding="EXPLICIT",
        explicit_paddings=[0, 0, 1, 0, 2, 1, 0, 0],
    )
    np.testing.assert_array_equal(last, expected)
    (ahead,) = outputs(
        "Conv2D",
        first(X),
        W,
        strides=[1, 1, 2, 1],
        dilations=[1, 1, 1, 2],
        padding="EXPLICIT",
        explicit_paddings=[0, 0, 0, 0, 1, 0, 2, 1],
        data_format="NCHW",
    )
    np.testing.assert_array_equal(ahead, first(expected))


def test_groups_follow_from_the_filter():
    (got,) = outputs("Conv2D", X, W[:, :, :2], **FLAT)
    np.testing.assert_array_equal(got, ours("conv", X, W[:, :, :2], groups=2))


def test_three_spatial_axes_with_channels_first():
    x, w = f32(1, 4, 5, 3, 2), f32(2, 2, 2, 2, 3)
    attrs = {"strides": [1, 1, 2, 1, 1], "padding": "SAME", "data_format": "NCDHW"}
    (got,) = outputs("Conv3D", first(x), w, **attrs)
    expected = ours("conv", x, w, strides=(2, 1, 1), pads="same")
    np.testing.assert_array_equal(got, first(expected))
    sizes = np.array(first(x).shape, np.int32)
    (back,) = outputs("Conv3DBackpropInputV2", sizes, w, got, **attrs)
    same = ours("conv_input_gradient", np.array(x.shape), w, expected, strides=(2, 1, 1), pads="same")
    np.testing.assert_allclose(back, first(same), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("op", ["Conv2D", "DepthwiseConv2dNative"])
def test_gradients_of_a_convolution(op):
    attrs = {"strides": [1, 2, 1, 1], "padding": "SAME"}
    w = W if op == "Conv2D" else W[..., :2]
    (y,) = outputs(op, X, w, **attrs)
    dy = f32(*y.shape, seed=1)
    (dx,) = outputs(f"{op}BackpropInput", np.array(X.shape, np.int32), w, dy, **attrs)
    (dw,) = outputs(f"{op}BackpropFilter", X, np.array(w.shape, np.int32), dy, **attrs)
    total = float((y * dy).sum())
    assert float((X * dx).sum()) == pytest.approx(total, rel=1e-3)
    assert float((w * dw).sum()) == pytest.approx(total, rel=1e-3)


def test_pools():
    window = {"ksize": [1, 2, 3, 1], "strides": [1, 2, 1, 1], "padding": "SAME"}
    expected = ours("max_pool", X, window=(2, 3), strides=(2, 1), pads="same")
    np.testing.assert_array_equal(outputs("MaxPool", X, **window)[0], expected)
    turned = {"ksize": [1, 1, 2, 3], "strides": [1, 1, 2, 1], "padding": "SAME", "data_format": "NCHW"}
    np.testing.assert_array_equal(outputs("MaxPool", first(X), **turned)[0], first(expected))
    lists = np.array([1, 2, 3, 1], np.int32), np.array([1, 2, 1, 1], np.int32)
    np.testing.assert_array_equal(outputs("MaxPoolV2", X, *lists, padding="SAME")[0], expected)
    average = ours("average_pool", X, window=(2, 3), strides=(2, 1), pads="same")
    np.testing.assert_array_equal(outputs("AvgPool", X, **window)[0], average)
    best, place = outputs("MaxPoolWithArgmax", X, **window, include_batch_in_index=False)
    np.testing.assert_array_equal(best, expected)
    own = X.reshape(2, -1)
    np.testing.assert_array_equal(np.take_along_axis(own, place.reshape(2, -1), 1), expected.reshape(2, -1))
    patches = outputs(
        "ExtractImagePatches", X, ksizes=[1, 2, 2, 1], strides=[1, 1, 1, 1], rates=[1, 2, 1, 1], padding="VALID"
    )[0]
    np.testing.assert_array_equal(patches, ours("extract_patches", X, window=(2, 2), dilations=(2, 1)))


@pytest.mark.parametrize(
    ("op", "attrs"),
    [
        ("Conv2D", {"strides": [2, 1, 1, 1], "padding": "VALID"}),
        ("Conv2D", {"strides": [1, 1, 1, 1], "padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 1, 1, 1, 0, 1]}),
        ("MaxPool", {"ksize": [1, 1, 1, 2], "strides": [1, 1, 1, 2], "padding": "VALID"}),
        ("SpaceToDepth", {"block_size": 2, "data_format": "NCHW_VECT_C"}),
    ],
)
def test_what_works_on_batch_or_channels_is_refused_by_name(op, attrs):
    with pytest.raises(UnknownOpError, match=rf"{op} \(this variant\) at 'x'"):
        imported(op, X, *([W] if op == "Conv2D" else []), **attrs)


def test_a_window_that_is_not_constant_is_refused():
    made = (
        placeholder("size", 3, 4) + held("a", X) + node("x", "MaxPoolV2", "a", "size", "size", padding=data(2, "SAME"))
    )
    with pytest.raises(UnknownOpError, match=r"MaxPoolV2 \(this variant\)"):
        from_graphdef(made)


def test_biases_and_batch_norm():
    bias = f32(4)
    np.testing.assert_array_equal(outputs("BiasAdd", X, bias)[0], X + bias)
    np.testing.assert_array_equal(outputs("BiasAdd", first(X), bias, data_format="NCHW")[0], first(X + bias))
    given = [f32(4, seed=i) for i in range(3)] + [np.abs(f32(4, seed=9))]
    for op, count in (("FusedBatchNorm", 5), ("FusedBatchNormV2", 5), ("FusedBatchNormV3", 6)):
        found = outputs(op, first(X), *given, data_format="NCHW", is_training=False, epsilon=0.25)
        assert len(found) == count
        expected = (X - given[2]) / np.sqrt(given[3] + 0.25) * given[0] + given[1]
        np.testing.assert_allclose(found[0], first(expected), rtol=1e-4, atol=1e-5)


def test_local_response():
    got = outputs("LRN", X, depth_radius=1, bias=1.5, alpha=0.5, beta=0.75)[0]
    square = np.pad(X * X, [(0, 0)] * 3 + [(1, 1)])
    near = square[..., :-2] + square[..., 1:-1] + square[..., 2:]
    np.testing.assert_allclose(got, X / (1.5 + 0.5 * near) ** 0.75, rtol=1e-5)


def test_blocks_in_both_forms():
    image, pads, block = f32(1, 4, 6, 1), np.zeros((2, 2), np.int32), np.array([2, 2], np.int32)
    (nd,) = outputs("SpaceToBatchND", image, block, pads)
    np.testing.assert_array_equal(nd, outputs("SpaceToBatch", image, pads, block_size=2)[0])
    np.testing.assert_array_equal(outputs("BatchToSpaceND", nd, block, pads)[0], image)
    np.testing.assert_array_equal(outputs("BatchToSpace", nd, pads, block_size=2)[0], image)
    (deep,) = outputs("SpaceToDepth", first(image), block_size=2, data_format="NCHW")
    np.testing.assert_array_equal(outputs("DepthToSpace", deep, block_size=2, data_format="NCHW")[0], first(image))


def test_the_best_k_in_both_forms():
    x = f32(3, 6)
    values, places = outputs("TopKV2", x, np.int32(2), sorted=True)
    assert places.dtype == np.int32
    np.testing.assert_array_equal(values, np.sort(x, axis=1)[:, :-3:-1])
    np.testing.assert_array_equal(np.take_along_axis(x, places.astype(int), 1), values)
    for a, b in zip(outputs("TopK", x, k=2), (values, places), strict=True):
        np.testing.assert_array_equal(a, b)


def test_sequences_of_the_second_version_have_their_gates_in_another_order():
    x, state, w, b = f32(3, 2, 2), f32(2, 3), f32(5, 12), f32(12)
    peepholes = [f32(3, seed=i) for i in range(3)]
    old = outputs(
        "BlockLSTM", np.int64(3), x, state, state, w, *peepholes, b, forget_bias=0.0, cell_clip=-1.0, use_peephole=True
    )
    swap = np.concatenate([np.arange(3), np.arange(6, 9), np.arange(3, 6), np.arange(9, 12)])
    new = outputs(
        "BlockLSTMV2", np.int64(3), x, state, state, w[:, swap], *peepholes, b[swap], cell_clip=0.0, use_peephole=True
    )
    assert len(old) == len(new) == 7
    for a, c in zip(old, new, strict=True):
        np.testing.assert_allclose(a, c, rtol=1e-6)


def test_gradients_of_activations_and_pools():
    x, gradient = f32(2, 3), f32(2, 3, seed=1)
    for name in ("Relu", "Relu6", "Elu", "Selu", "Softplus", "Softsign"):
        got = outputs(f"{name}Grad", gradient, x)[0]
        np.testing.assert_array_equal(got, ours(f"{name.lower()}_gradient", gradient, x))
    got = outputs("LeakyReluGrad", gradient, x, alpha=0.5)[0]
    np.testing.assert_allclose(got, np.where(x > 0, gradient, gradient / 2))
    np.testing.assert_allclose(outputs("TanhGrad", x, gradient)[0], gradient * (1 - x * x), rtol=1e-5)
    np.testing.assert_allclose(outputs("SigmoidGrad", x, gradient)[0], gradient * x * (1 - x), rtol=1e-5)
    np.testing.assert_allclose(
        outputs("BiasAddGrad", first(X), data_format="NCHW")[0], X.sum(axis=(0, 1, 2)), rtol=1e-4
    )
    window = {"ksize": [1, 2, 2, 1], "strides": [1, 1, 1, 1], "padding": "SAME"}
    (y,) = outputs("MaxPool", X, **window)
    (back,) = outputs("MaxPoolGrad", X, y, y, **window)
    assert float(back.sum()) == pytest.approx(float(y.sum()), rel=1e-4)
    (back,) = outputs("AvgPoolGrad", np.array(X.shape, np.int32), X, **window)
    assert float(back.sum()) == pytest.approx(float(X.sum()), rel=1e-3)
    grown = outputs("Dilation2D", X, f32(2, 2, 4), strides=[1, 1, 1, 1], rates=[1, 2, 1, 1], padding="VALID")[0]
    np.testing.assert_array_equal(grown, ours("dilation", X, f32(2, 2, 4), dilations=(2, 1)))


def test_gradients_of_batch_norm():
    given = [first(f32(2, 3, 4, 5, seed=1)), first(f32(2, 3, 4, 5)), f32(5), f32(5, seed=2), np.abs(f32(5, seed=3))]
    expected = ours("fused_batch_norm_gradient", *given, axis=1, epsilon=0.5)
    got = outputs("FusedBatchNormGradV3", *given, np.float32(0), epsilon=0.5, data_format="NCHW")
    assert len(got) == 3
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_shapes_stay_partly_known():
    made = placeholder("a", 1, -1, 6, 5, 4) + held("w", W)
    graph = from_graphdef(made + node("x", "Conv2D", "a", "w", **{k: attr_of(v) for k, v in FLAT.items()}))
    assert str(graph.type_of("x:0")) == "float32[?,4,4,6]"
    assert graph.run({"a:0": X})["x:0"].shape == (2, 4, 4, 6)
