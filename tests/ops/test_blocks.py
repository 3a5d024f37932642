"""Spatial blocks in batch and channels, reversed sequences and quantization, compared with published numbers
and ONNX.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.ops.onnx_reference import onnx_op, ours
from workbench.errors import TypeMismatchError


def f32(*shape, seed=6):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


# --- blocks ----------------------------------------------------------------------------------------------------------


def test_space_to_batch():
    # the examples of TensorFlow's documentation
    x = np.arange(1, 17).reshape(1, 4, 4, 1)
    none, two = np.zeros((2, 2), int), np.array([2, 2])
    found = ours("space_to_batch", x, none, two)
    assert found[..., 0].tolist() == [[[1, 3], [9, 11]], [[2, 4], [10, 12]], [[5, 7], [13, 15]], [[6, 8], [14, 16]]]
    np.testing.assert_array_equal(ours("batch_to_space", found, none, two), x)
    halves = ours("space_to_batch", x.reshape(2, 2, 4, 1), np.array([[0, 0], [2, 0]]), two)
    assert halves.shape == (8, 1, 3, 1)
    assert halves[..., 0].tolist() == [
        [[0, 1, 3]],
        [[0, 9, 11]],
        [[0, 2, 4]],
        [[0, 10, 12]],
        [[0, 5, 7]],
        [[0, 13, 15]],
        [[0, 6, 8]],
        [[0, 14, 16]],
    ]
    back = ours("batch_to_space", halves, np.array([[0, 0], [2, 0]]), two)
    np.testing.assert_array_equal(back, x.reshape(2, 2, 4, 1))


def test_space_to_batch_of_any_axes():
    x = f32(2, 5, 3, 4)
    for b, i, j in np.ndindex(2, 2, 3):
        found = ours("space_to_batch", x, np.array([[0, 1], [1, 2]]), np.array([2, 3]))
        wide = np.pad(x, [(0, 0), (0, 1), (1, 2), (0, 0)])
        np.testing.assert_array_equal(found[(i * 3 + j) * 2 + b], wide[b, i::2, j::3])


def test_depth_and_space_as_onnx():
    x = f32(2, 8, 2, 3)
    for mode in ("DCR", "CRD"):
        expected = onnx_op("DepthToSpace", [x], blocksize=2, mode=mode)
        found = ours("depth_to_space", x, block_size=2, layout="first", mode=mode)
        np.testing.assert_array_equal(found, expected)
    wide = f32(2, 3, 4, 6)
    expected = onnx_op("SpaceToDepth", [wide], blocksize=2)
    got = ours("space_to_depth", wide, block_size=2, layout="first")
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(ours("depth_to_space", got, block_size=2, layout="first"), wide)
    last = ours("space_to_depth", np.moveaxis(wide, 1, -1), block_size=2)
    np.testing.assert_array_equal(np.moveaxis(last, -1, 1), expected)


@pytest.mark.parametrize(("axis", "batch"), [(1, 0), (0, 1), (2, 0), (0, 2), (-1, 1)])
def test_reversed_sequences(axis, batch):
    x = f32(3, 4, 5)
    lengths = np.array([0, 2, 3, 1, 3][: x.shape[batch]])
    got, back = ours("reverse_sequence", x, lengths, axis=axis, batch_axis=batch), np.moveaxis
    for i, n in enumerate(lengths):
        own, whole = (back(a, (batch, axis), (0, 1))[i] for a in (got, x))
        np.testing.assert_array_equal(own, np.concatenate([whole[:n][::-1], whole[n:]]))


# --- quantization ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "bits", "narrow", "begin", "end", "step"),
    # TensorFlow's own tests of the op (fake_quant_ops_test.cc): ranges, also shifted ones in which 0 is a step
    [
        (-10.0, 53.75, 8, False, -10.0, 53.75, 0.25),
        (-10.0, 53.5, 8, True, -10.0, 53.5, 0.25),
        (-0.1, 63.65, 8, False, 0.0, 63.75, 0.25),
        (-0.1, 63.4, 8, True, 0.0, 63.5, 0.25),
        (-0.1275, 63.6225, 8, False, -0.25, 63.5, 0.25),
        (-0.1275, 63.3725, 8, True, -0.25, 63.25, 0.25),
        (-63.65, 0.1, 8, False, -63.75, 0.0, 0.25),
        (-6.0, 1.5, 4, False, -6.0, 1.5, 0.5),
        (-6.0, 1.0, 4, True, -6.0, 1.0, 0.5),
        (-0.4, 7.1, 4, False, -0.5, 7.0, 0.5),
        (-0.4, 6.6, 4, True, -0.5, 6.5, 0.5),
        (-7.3, 0.2, 4, False, -7.5, 0.0, 0.5),
        (-1.0, 0.5, 2, False, -1.0, 0.5, 0.5),
        (-1.0, 0.0, 2, True, -1.0, 0.0, 0.5),
    ],
)
def test_simulated_quantization(low, high, bits, narrow, begin, end, step):
    x = np.linspace(begin - 2 * step, end + 2 * step, 173).astype(np.float32)
    attrs = {"num_bits": bits, "narrow_range": narrow}
    got = ours("fake_quant", x, min=low, max=high, **attrs)
    expected = [begin + step * math.floor((min(max(float(v), begin), end) - begin) / step + 0.5) for v in x]
    off = np.abs(np.array(expected) - got) > 1e-4
    # halfway between two steps the last bit decides
    assert all(abs((float(v) - begin) / step % 1 - 0.5) < 1e-3 for v in x[off])
    assert off.sum() < 20
    np.testing.assert_array_equal(ours("fake_quant", x, np.float32(low), np.float32(high), **attrs), got)
    each = np.stack([x, -x], axis=1)
    limits = np.array([low, -high], np.float32), np.array([high, -low], np.float32)
    np.testing.assert_array_equal(ours("fake_quant", each, *limits, **attrs)[:, 0], got)


@pytest.mark.parametrize(
    ("low", "high", "attrs", "step", "begin", "end"),
    # the two ranges of TensorFlow's documentation of QuantizeAndDequantizeV2, and some whose scale is a plain number
    [
        (-10.0, 5.0, {}, 1 / 12.8, -10.0, 9.921875),
        (-10.0, 10.0, {}, 10 / 127, -1280 / 127, 10.0),
        (-10.0, 127.0, {}, 1.0, -128.0, 127.0),
        (-128.0, 64.0, {}, 1.0, -128.0, 127.0),
        (-63.5, 10.0, {"narrow_range": True}, 0.5, -63.5, 63.5),
        (0.0, 51.0, {"signed": False}, 0.2, 0.0, 51.0),
        (-1.0, 1.75, {"num_bits": 4}, 0.25, -2.0, 1.75),
    ],
)
def test_integers_and_back(low, high, attrs, step, begin, end):
    x = np.linspace(begin - 5, end + 5, 211)
    expected = [step * round(min(max(v, begin), end) / step) for v in x.tolist()]
    np.testing.assert_allclose(ours("quantize_round_trip", x, low, high, **attrs), expected, rtol=1e-9, atol=1e-9)
    inside = np.concatenate([np.clip(x, low, high), [low, high]])
    own = ours("quantize_round_trip", inside, **attrs)  # without a range, that of x
    np.testing.assert_array_equal(own, ours("quantize_round_trip", inside, low, high, **attrs))


def test_halves_when_integers_come_back():
    x = np.array([-1.5, -0.5, 0.5, 1.5, 127.0])
    assert ours("quantize_round_trip", x).tolist() == [-2, 0, 0, 2, 127]
    assert ours("quantize_round_trip", x, rounding="half_up").tolist() == [-1, 0, 1, 2, 127]


@pytest.mark.parametrize(
    ("op", "arrays", "attrs", "words"),
    [
        ("space_to_batch", [f32(1, 3, 1), np.zeros((1, 2), int), np.array([2])], {}, "cannot cut 3 elements"),
        ("space_to_batch", [f32(1, 3, 1), np.zeros((1, 2), int)], {}, "needs 'block'"),
        ("batch_to_space", [f32(3, 3, 1), np.zeros((1, 2), int), np.array([2])], {}, "blocks of 2 from a batch of 3"),
        ("space_to_depth", [f32(1, 3, 2, 1)], {"block_size": 2}, "blocks of 2 by 2"),
        ("depth_to_space", [f32(1, 2, 2, 6)], {"block_size": 2}, "cannot spread 6 channels"),
        ("reverse_sequence", [f32(2, 3), np.array([1, 4])], {"axis": 1}, "length 4 for 3 steps"),
        ("reverse_sequence", [f32(2, 3), np.array([1])], {"axis": 1}, "1 lengths for 2 sequences"),
        ("fake_quant", [f32(2)], {"num_bits": 1}, "1 bits"),
        ("quantize_round_trip", [f32(2)], {"rounding": "down"}, "no rounding 'down'"),
        ("quantize_round_trip", [f32(2), f32(2), f32(2)], {}, "scalar as limit"),
        ("fake_quant", [f32(2)], {"min": 2.0, "max": 1.0}, "range 2.0 to 1.0"),
        ("fake_quant", [f32(2), f32(3), f32(3)], {}, "limits for 2 channels"),
    ],
)
def test_what_does_not_fit(op, arrays, attrs, words):
    with pytest.raises(TypeMismatchError) as caught:
        ours(op, *arrays, **attrs)
    assert words in str(caught.value) and caught.value.fix
