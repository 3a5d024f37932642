"""Gradients of activations and pools compared with differences of the ops themselves, dilation with loops."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ops.onnx_reference import ours
from workbench.errors import TypeMismatchError


def real(*shape, seed=6):
    return np.random.default_rng(seed).normal(size=shape)


FROM_RESULT = ("elu", "selu", "sigmoid", "tanh")
ACTIVATIONS = [
    ("relu", {}),
    ("relu6", {}),
    ("leaky_relu", {"alpha": 0.3}),
    ("elu", {}),
    ("selu", {}),
    ("softplus", {}),
    ("softsign", {}),
    ("sigmoid", {}),
    ("tanh", {}),
]


@pytest.mark.parametrize(("name", "attrs"), ACTIVATIONS)
def test_the_slope_of_an_activation(name, attrs):
    x = np.concatenate([real(40) * 3, [6.5, 5.5, 0.01, -0.01]])
    step = 1e-6
    slope = (ours(name, x + step, **attrs) - ours(name, x - step, **attrs)) / (2 * step)
    gradient = real(44, seed=1)
    kept = ours(name, x, **attrs) if name in FROM_RESULT else x
    got = ours(f"{name}_gradient", gradient, kept, **attrs)
    np.testing.assert_allclose(got, gradient * slope, rtol=1e-6, atol=1e-8)


def test_a_slope_of_zero_stops_an_infinite_gradient():
    assert ours("relu_gradient", np.array([np.inf, np.inf]), np.array([-1.0, 1.0])).tolist() == [0, np.inf]


POOLS = [
    {"window": (2, 3), "strides": (2, 1)},
    {"window": (3, 2), "strides": (1, 2), "pads": "same"},
    {"window": (2, 2), "pads": ((1, 1), (0, 1)), "dilations": (2, 1)},
]


@pytest.mark.parametrize("attrs", POOLS)
def test_the_gradient_of_a_maximum(attrs):
    x = real(2, 5, 6, 3)
    y = ours("max_pool", x, **attrs)
    dy = real(*y.shape, seed=1)
    got = ours("max_pool_gradient", x, y, dy, **attrs)
    for at in np.ndindex(*x.shape):
        moved = x.copy()
        moved[at] += 1e-7
        slope = ((ours("max_pool", moved, **attrs) - y) * dy).sum() / 1e-7
        assert got[at] == pytest.approx(slope, rel=1e-6, abs=1e-6)


def test_the_first_of_equals_gets_the_gradient():
    x = np.zeros((1, 2, 2, 1))
    got = ours("max_pool_gradient", x, x[:, :1, :1], np.full((1, 1, 1, 1), 5.0), window=(2, 2))
    assert got.ravel().tolist() == [5, 0, 0, 0]


@pytest.mark.parametrize("include", [False, True])
@pytest.mark.parametrize("attrs", POOLS)
def test_the_gradient_of_an_average_is_the_transposed_map(attrs, include):
    attrs = {**attrs, "count_include_pad": include}
    x = real(2, 5, 6, 3)
    y = ours("average_pool", x, **attrs)
    dy = real(*y.shape, seed=1)
    got = ours("average_pool_gradient", np.array(x.shape), dy, **attrs)
    assert got.shape == x.shape
    assert float((x * got).sum()) == pytest.approx(float((y * dy).sum()), rel=1e-9)
    ahead = {**attrs, "layout": "first"}
    turned = ours("average_pool_gradient", np.array(x.shape)[[0, 3, 1, 2]], np.moveaxis(dy, -1, 1), **ahead)
    np.testing.assert_array_equal(np.moveaxis(turned, 1, -1), got)


@pytest.mark.parametrize(
    "attrs", [{}, {"strides": (2, 1), "pads": "same"}, {"dilations": (1, 2), "pads": ((1, 1), (2, 0))}]
)
def test_dilation(attrs):
    x, w = real(1, 5, 6, 2), real(2, 3, 2, seed=1)
    got = ours("dilation", x, w, **attrs)
    s, d = attrs.get("strides", (1, 1)), attrs.get("dilations", (1, 1))
    pads = attrs.get("pads", ((0, 0), (0, 0)))
    if pads == "same":  # 5 rows in steps of 2 and a window of 2: one row short; 6 columns: two short
        pads = ((0, 1), (1, 1))
    for _, i, j, c in np.ndindex(*got.shape):
        sums = []
        for k, m in np.ndindex(2, 3):
            row, column = i * s[0] + k * d[0] - pads[0][0], j * s[1] + m * d[1] - pads[1][0]
            if 0 <= row < 5 and 0 <= column < 6:
                sums.append(x[0, row, column, c] + w[k, m, c])
        assert got[0, i, j, c] == pytest.approx(max(sums))


@pytest.mark.parametrize("training", [True, False])
def test_the_gradients_of_batch_norm(training):
    x, scale, offset, mean, variance = real(2, 3, 4, 2), real(2), real(2, seed=1), real(2, seed=2), real(2, seed=3) ** 2
    attrs = {"epsilon": 0.1, "training": training}
    y, _, _, own, spread, _ = ours("fused_batch_norm", x, scale, offset, mean, variance, **attrs)
    dy = real(*y.shape, seed=4)
    found = ours("fused_batch_norm_gradient", dy, x, scale, own, spread, **attrs)
    for i, array in enumerate((x, scale, offset)):
        for at in np.ndindex(*array.shape):
            sums = []
            for step in (1e-5, -1e-5):
                moved = [a.copy() for a in (x, scale, offset)]
                moved[i][at] += step
                sums.append((ours("fused_batch_norm", *moved, mean, variance, **attrs)[0] * dy).sum())
            assert found[i][at] == pytest.approx((sums[0] - sums[1]) / 2e-5, rel=1e-5, abs=1e-7)


def test_the_gradient_of_a_bias():
    x = real(2, 3, 4)
    np.testing.assert_allclose(ours("bias_gradient", x), x.sum(axis=(0, 1)))
    np.testing.assert_allclose(ours("bias_gradient", x, axis=1), x.sum(axis=(0, 2)))


@pytest.mark.parametrize(
    ("op", "arrays", "attrs", "words"),
    [
        ("relu_gradient", [real(2), real(3)], {}, "inputs of one shape"),
        ("max_pool_gradient", [real(1, 4, 4, 1), real(1, 3, 3, 1), real(1, 2, 3, 1)], {"window": (2, 2)}, "a gradient"),
        ("average_pool_gradient", [np.array([1, 4, 4]), real(1, 3, 3, 1)], {"window": (2, 2)}, "takes 4 sizes"),
        ("dilation", [real(1, 4, 4, 2), real(2, 2, 3)], {}, "as many channels"),
        ("bias_gradient", [real()], {}, "axis of channels"),
    ],
)
def test_what_does_not_fit(op, arrays, attrs, words):
    with pytest.raises(TypeMismatchError) as caught:
        ours(op, *map(np.asarray, arrays), **attrs)
    assert words in str(caught.value) and caught.value.fix
