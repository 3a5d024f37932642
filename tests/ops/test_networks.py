"""Normalization, recurrent cells and losses compared with loops, published numbers and ONNX."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.ops.onnx_reference import onnx_op, ours
from workbench.errors import TypeMismatchError


def f32(*shape, seed=6):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def unit(*shape):
    return np.random.default_rng(8).uniform(size=shape).astype(np.float32)


def close(a, b, tolerance=1e-5):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


# --- normalization ---------------------------------------------------------------------------------------------------


def test_batch_norm_as_onnx():
    x, scale, offset, mean, variance = f32(2, 3, 4, 5), f32(3), f32(3, seed=1), f32(3, seed=2), unit(3)
    expected = onnx_op("BatchNormalization", [x, scale, offset, mean, variance], epsilon=0.01)
    close(ours("batch_norm", x, scale, offset, mean, variance, axis=1, epsilon=0.01), expected)
    fused = ours("fused_batch_norm", x, scale, offset, mean, variance, axis=1, epsilon=0.01, training=False)
    close(fused[0], expected)
    np.testing.assert_array_equal(fused[1], mean)
    np.testing.assert_array_equal(fused[2], variance)


@pytest.mark.parametrize("share", [1.0, 0.25])
def test_batch_norm_by_the_statistics_of_the_batch(share):
    x, scale, offset, mean, variance = f32(2, 4, 5, 3), f32(3), f32(3, seed=1), f32(3, seed=2), unit(3)
    y, moved, spread, own, biased, _ = ours(
        "fused_batch_norm", x, scale, offset, mean, variance, epsilon=0.5, average_factor=share
    )
    for c in range(3):
        values = x[..., c].ravel().tolist()
        average = math.fsum(values) / 40
        square = math.fsum((v - average) ** 2 for v in values)
        close(y[..., c], (x[..., c] - average) / math.sqrt(square / 40 + 0.5) * scale[c] + offset[c])
        close([own[c], biased[c]], [average, square / 40])
        close(moved[c], (1 - share) * mean[c] + share * average)
        close(spread[c], (1 - share) * variance[c] + share * square / 39)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_local_response_as_onnx(size):
    x = f32(6, 6, 3, 2)  # that evaluator iterates over as many channels as there are samples
    expected = onnx_op("LRN", [x], size=size, alpha=0.3, beta=0.6, bias=1.5)
    before, after = (size - 1) // 2, size - 1 - (size - 1) // 2
    close(ours("lrn", x, axis=1, before=before, after=after, alpha=0.3 / size, beta=0.6, bias=1.5), expected)


def test_a_bias_for_each_channel():
    x, bias = f32(2, 3, 4), f32(3)
    np.testing.assert_array_equal(ours("bias_add", x, bias, axis=1), x + bias[:, None])


# --- recurrent cells -------------------------------------------------------------------------------------------------


def onnx_gates(w, inputs, order, own):
    """Our weights as (units of the gates in ONNX's order, inputs) and (..., units)."""
    parts = dict(zip(own, np.split(w, len(own), axis=-1), strict=True))
    whole = np.concatenate([parts[g] for g in order], axis=-1)
    return whole[:inputs].T[None].copy(), whole[inputs:].T[None].copy()


@pytest.mark.parametrize("gates", ["icfo", "ifco"])
def test_lstm_as_onnx(gates):
    steps, batch, inputs, units = 4, 3, 2, 5
    x, h, cs, w = f32(steps, batch, inputs), f32(batch, units), f32(batch, units, seed=1), f32(7, 20)
    b, peepholes = f32(20, seed=2), f32(3, units, seed=3)
    ow, r = onnx_gates(w, inputs, "iofc", gates)
    parts = dict(zip(gates, np.split(b, 4), strict=True))
    bias = np.concatenate([*(parts[g] for g in "iofc"), np.zeros(20, np.float32)])[None]
    p = np.concatenate([peepholes[0], peepholes[2], peepholes[1]])[None]  # ONNX has them in the order i, o, f
    y, last, cell = onnx_op(
        "LSTM", [x, ow, r, bias, None, h[None], cs[None], p], opset=14, outputs=3, hidden_size=units
    )
    found = ours(
        "lstm_block",
        np.int64(steps),
        x,
        cs,
        h,
        w,
        *peepholes,
        b,
        forget_bias=0.0,
        cell_clip=0.0,
        use_peephole=True,
        gates=gates,
    )
    close(found[6], y[:, 0])
    close(found[6][-1], last[0])
    close(found[1][-1], cell[0])
    # one step at a time, the cell gives the same
    for t in range(steps):
        step = ours(
            "lstm_cell", x[t], cs, h, w, *peepholes, b, forget_bias=0.0, cell_clip=0.0, use_peephole=True, gates=gates
        )
        for a, series in zip(step, found, strict=True):
            close(a, series[t])
        cs, h = step[1], step[6]


def test_lstm_forgets_clips_and_stops():
    x, cs, h, w, b = f32(3, 1, 1), f32(1, 1), f32(1, 1, seed=1), f32(2, 4), f32(4)
    none = np.zeros(1, np.float32)
    i, c, f, o, ci, co, out = ours("lstm_cell", x[0], cs, h, w, none, none, none, b, forget_bias=2.0, cell_clip=0.1)
    z = [float(x[0, 0, 0] * w[0, g] + h[0, 0] * w[1, g] + b[g]) for g in range(4)]
    sigmoid = [1 / (1 + math.exp(-v)) for v in (z[0], z[2] + 2, z[3])]
    cell = max(-0.1, min(0.1, math.tanh(z[1]) * sigmoid[0] + float(cs[0, 0]) * sigmoid[1]))
    close([v[0, 0] for v in (i, f, o, ci, c)], [*sigmoid, math.tanh(z[1]), cell])
    close([co[0, 0], out[0, 0]], [math.tanh(cell), math.tanh(cell) * sigmoid[2]])
    found = ours("lstm_block", np.int64(2), x, cs, h, w, none, none, none, b)
    assert all((series[2] == 0).all() and (series[:2] != 0).all() for series in found)


def test_gru_as_onnx():
    x, h, w_ru, w_c, b_ru, b_c = f32(1, 3, 2), f32(3, 4), f32(6, 8), f32(6, 4, seed=1), f32(8), f32(4)
    w = np.concatenate([w_ru[:, 4:], w_ru[:, :4], w_c], axis=1)  # ONNX has the order update, reset, candidate
    bias = np.concatenate([b_ru[4:], b_ru[:4], b_c, np.zeros(12, np.float32)])[None]
    inputs = [x, w[:2].T[None].copy(), w[2:].T[None].copy(), bias, None, h[None]]
    y, _ = onnx_op("GRU", inputs, opset=14, outputs=2, hidden_size=4)
    r, u, c, new = ours("gru_cell", x[0], h, w_ru, w_c, b_ru, b_c)
    close(new, y[0, 0])
    close(new, u * h + (1 - u) * c)


# --- losses ----------------------------------------------------------------------------------------------------------


def test_cross_entropies():
    logits, classes = f32(4, 5) * 3, np.array([0, 4, 2, 2])
    labels = unit(4, 5)
    dense, slope = ours("softmax_cross_entropy", logits, labels)
    sparse, sparse_slope = ours("sparse_softmax_cross_entropy", logits, classes)
    for i, row in enumerate(logits.astype(np.float64)):
        total = math.fsum(math.exp(v) for v in row)
        p = [math.exp(v) / total for v in row]
        close(dense[i], -math.fsum(t * math.log(q) for t, q in zip(labels[i].tolist(), p, strict=True)))
        close(slope[i], np.array(p) - labels[i])
        close(sparse[i], -math.log(p[classes[i]]))
        close(sparse_slope[i], np.array(p) - np.eye(5)[classes[i]])


def test_cross_entropy_of_extreme_logits():
    logits = np.array([[1e4, -1e4, 0], [-np.inf, 0, 0]], np.float32)
    loss, slope = ours("softmax_cross_entropy", logits, np.array([[1, 0, 0], [0, 0.5, 0.5]], np.float32))
    close(loss, [0, math.log(2)])
    assert np.isfinite(slope).all()


def test_half_the_sum_of_squares():
    assert ours("l2_loss", np.array([[3.0, 4.0]])) == 12.5


def test_targets_among_the_best():
    predictions = np.array([[1, 3, 2, 2], [1, 1, 1, 1], [0, np.inf, 0, 0]], np.float32)
    for k, expected in ((1, [False, True, False]), (2, [True, True, False]), (4, [True, True, False])):
        assert ours("in_top_k", predictions, np.array([2, 3, 1]), k=k).tolist() == expected
    assert ours("in_top_k", predictions[:1], np.array([4]), k=9).tolist() == [False]


def test_histogram():
    # the example of TensorFlow's documentation
    values, limits = np.array([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0]), np.array([0.0, 5.0])
    assert ours("histogram_fixed_width", values, limits, bins=5).tolist() == [2, 1, 1, 0, 2]


@pytest.mark.parametrize(
    ("op", "arrays", "attrs", "words"),
    [
        ("batch_norm", [f32(2, 3), f32(4), f32(3), f32(3), f32(3)], {}, "parameter for each of 3 channels"),
        ("bias_add", [f32(2, 3), f32(2)], {}, "bias for each of 3 channels"),
        ("bias_add", [f32(2, 3), np.zeros(3)], {}, "bias of dtype float32"),
        ("lrn", [f32(2, 3)], {"axis": 2}, "no axis 2"),
        ("lstm_cell", [f32(3, 2), f32(3, 4), f32(3, 4), f32(6, 12), f32(4), f32(4), f32(4), f32(16)], {}, "[6,16]"),
        ("gru_cell", [f32(3, 2), f32(3, 4), f32(6, 8), f32(6, 4), f32(8), f32(3)], {}, "biases of the candidate"),
        ("softmax_cross_entropy", [f32(2, 3), f32(2, 4)], {}, "cannot broadcast"),
        ("sparse_softmax_cross_entropy", [f32(2, 3), np.array([0, 3])], {}, "labels from 0 to 3 for 3 classes"),
        ("sparse_softmax_cross_entropy", [f32(2, 3), np.array([0])], {}, "labels of shape [2]"),
        ("in_top_k", [f32(2, 3), np.array([1])], {"k": 1}, "one target for each row"),
        ("histogram_fixed_width", [f32(2), f32(3)], {}, "two limits"),
        ("histogram_fixed_width", [f32(2), np.array([1.0, 1.0])], {}, "limits [1.0, 1.0]"),
    ],
)
def test_what_does_not_fit(op, arrays, attrs, words):
    with pytest.raises(TypeMismatchError) as caught:
        ours(op, *arrays, **attrs)
    assert words in str(caught.value) and caught.value.fix
