"""Resizing, colours and boxes compared with loops, the standard library, ONNX's own evaluator and published numbers."""

from __future__ import annotations

import colorsys
import math

import numpy as np
import pytest

from tests.ops.onnx_reference import onnx_op, ours
from workbench.errors import TypeMismatchError


def f32(*shape, seed=6):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def unit(*shape, seed=6):
    return np.random.default_rng(seed).uniform(size=shape).astype(np.float32)


def onnx_resize(x, out, **attrs):
    """ONNX's Resize of an image with the channels last."""
    sizes = np.array([x.shape[0], x.shape[3], *out])
    found = onnx_op("Resize", [np.moveaxis(x, -1, 1), None, None, sizes], **attrs)
    return np.moveaxis(found, 1, -1)


SIZES = [((5, 7), (8, 3)), ((4, 4), (9, 9)), ((6, 5), (6, 5)), ((3, 8), (2, 5))]


@pytest.mark.parametrize(("size", "out"), SIZES)
@pytest.mark.parametrize(
    ("theirs", "attrs", "tolerance"),
    [
        ({"mode": "linear", "coordinate_transformation_mode": "half_pixel"}, {"half_pixel_centers": True}, 1e-5),
        ({"mode": "linear", "coordinate_transformation_mode": "align_corners"}, {"align_corners": True}, 1e-5),
        ({"mode": "linear", "coordinate_transformation_mode": "asymmetric"}, {}, 1e-5),
        (
            {"mode": "cubic", "coordinate_transformation_mode": "asymmetric", "cubic_coeff_a": -0.75},
            {"method": "bicubic"},
            4e-3,
        ),
        (
            {"mode": "cubic", "coordinate_transformation_mode": "align_corners", "cubic_coeff_a": -0.75},
            {"method": "bicubic", "align_corners": True},
            4e-3,
        ),
        (
            {
                "mode": "cubic",
                "coordinate_transformation_mode": "half_pixel",
                "cubic_coeff_a": -0.5,
                "exclude_outside": 1,
            },
            {"method": "bicubic", "half_pixel_centers": True},
            4e-3,
        ),
        (
            {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
            {"method": "nearest"},
            0,
        ),
        (
            {"mode": "nearest", "coordinate_transformation_mode": "align_corners", "nearest_mode": "round_prefer_ceil"},
            {"method": "nearest", "align_corners": True},
            0,
        ),
    ],
)
def test_resizing_as_onnx(size, out, theirs, attrs, tolerance):
    """Cubic weights are those of 1,024 steps between two pixels, as in TensorFlow; ONNX has no such steps."""
    x = f32(2, *size, 3)
    got = ours("resize_image", x, np.array(out), **attrs)
    np.testing.assert_allclose(got, onnx_resize(x, out, **theirs), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("size", "out"), SIZES)
def test_nearest_with_half_pixel_centers(size, out):
    x = f32(1, *size, 1)
    got = ours("resize_image", x, np.array(out), method="nearest", half_pixel_centers=True)
    for i, j in np.ndindex(*out):
        row, column = (min(int((v + 0.5) * n / m), n - 1) for v, n, m in zip((i, j), size, out, strict=True))
        assert got[0, i, j, 0] == x[0, row, column, 0]


def test_area_is_the_average_of_what_a_pixel_covers():
    x = f32(1, 6, 4, 2)
    blocks = x.reshape(1, 3, 2, 2, 2, 2).mean(axis=(2, 4))
    np.testing.assert_allclose(ours("resize_image", x, np.array([3, 2]), method="area"), blocks, rtol=1e-5, atol=1e-6)
    # 3 columns to 2: each covers one and a half
    row = np.array([1.0, 10.0, 100.0], np.float32).reshape(1, 1, 3, 1)
    got = ours("resize_image", row, np.array([1, 2]), method="area").ravel()
    np.testing.assert_allclose(got, [(1 + 5) / 1.5, (5 + 100) / 1.5], rtol=1e-6)


@pytest.mark.parametrize("method", ["nearest", "bilinear"])
def test_crops(method):
    x = f32(2, 5, 6, 2)
    boxes = np.concatenate([unit(4, 4) * 1.4 - 0.2, [[0, 0, 1, 1], [1, 1, 0, 0]]]).astype(np.float32)
    which, size = np.array([0, 1, 1, 0, 1, 0]), (3, 4)
    got = ours("crop_and_resize", x, boxes, which, np.array(size), method=method, extrapolation_value=-7.0)
    for b, i, j in np.ndindex(len(boxes), *size):
        y1, x1, y2, x2 = boxes[b]
        y, q = y1 * 4 + i * (y2 - y1) * 4 / 2, x1 * 5 + j * (x2 - x1) * 5 / 3
        if min(y, q, 4 - y, 5 - q) < -1e-5:
            expected = [-7.0, -7.0]
        elif method == "nearest":
            expected = x[which[b], math.floor(y + 0.5), math.floor(q + 0.5)]
        else:
            y, q = min(max(y, 0), 4 - 1e-6), min(max(q, 0), 5 - 1e-6)
            r, c = int(y), int(q)
            block = x[which[b], r : r + 2, c : c + 2]
            rows = block[0] * (r + 1 - y) + block[1] * (y - r)
            expected = rows[0] * (c + 1 - q) + rows[1] * (q - c)
        np.testing.assert_allclose(got[b, i, j], expected, rtol=1e-3, atol=1e-4)
    middle = ours("crop_and_resize", x, np.array([[0, 0.5, 1, 0.5]], np.float32), np.array([0]), np.array([1, 1]))
    np.testing.assert_allclose(middle[0, 0, 0], (x[0, 2, 2] + x[0, 2, 3]) / 2, rtol=1e-5)


def test_colours_as_the_standard_library():
    colors = np.concatenate([unit(200, 3).astype(np.float64), np.eye(3), 1 - np.eye(3), [[0, 0, 0], [0.5, 0.5, 0.5]]])
    hsv = ours("rgb_to_hsv", colors)
    np.testing.assert_allclose(hsv, [colorsys.rgb_to_hsv(*c) for c in colors], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours("hsv_to_rgb", hsv), colors, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        ours("hsv_to_rgb", colors), [colorsys.hsv_to_rgb(*c) for c in colors], rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("amount", [0.3, 1.0, -0.45, 2.5])
def test_hue_and_saturation_are_changed_in_hsv(amount):
    colors = unit(50, 3).astype(np.float64)
    hsv = np.array([colorsys.rgb_to_hsv(*c) for c in colors])
    turned = [colorsys.hsv_to_rgb((h + amount) % 1, s, v) for h, s, v in hsv]
    np.testing.assert_allclose(ours("adjust_hue", colors, amount), turned, atol=1e-12)
    scaled = [colorsys.hsv_to_rgb(h, min(max(s * amount, 0), 1), v) for h, s, v in hsv]
    np.testing.assert_allclose(ours("adjust_saturation", colors, amount), scaled, atol=1e-12)


def test_contrast():
    x = f32(2, 3, 4, 2)
    got = ours("adjust_contrast", x, np.float32(-1.5))
    for b, c in np.ndindex(2, 2):
        mean = math.fsum(x[b, :, :, c].ravel().tolist()) / 12
        np.testing.assert_allclose(got[b, :, :, c], (x[b, :, :, c] - mean) * -1.5 + mean, rtol=1e-4, atol=1e-5)


# TensorFlow's own test of the op: non_max_suppression_op_test.cc, "three clusters"
CLUSTERS = np.array(
    [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]],
    np.float32,
)
SCORES = np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3], np.float32)


def suppressed(boxes, scores, count, *settings, **attrs):
    return ours("non_max_suppression", boxes, scores, np.int32(count), *map(np.float32, settings), **attrs)


def test_the_best_of_three_clusters():
    for count, expected in ((3, [3, 0, 5]), (2, [3, 0]), (30, [3, 0, 5]), (0, [])):
        found, scores, valid = suppressed(CLUSTERS, SCORES, count, 0.5)
        assert found.tolist() == expected and valid == len(expected)
        np.testing.assert_array_equal(scores, SCORES[expected])
    turned = CLUSTERS[:, [2, 3, 0, 1]]
    assert suppressed(turned, SCORES, 3, 0.5)[0].tolist() == [3, 0, 5]
    assert suppressed(CLUSTERS, SCORES, 9, 0.5, 0.4)[0].tolist() == [3, 0]
    found, scores, valid = suppressed(CLUSTERS, SCORES, 5, 0.5, pad=True)
    assert (found.tolist(), int(valid), scores[3:].tolist()) == ([3, 0, 5, 0, 0], 3, [0, 0])


def test_soft_suppression_of_three_clusters():
    for iou in (0.5, 1.0):  # has no effect
        found, scores, valid = suppressed(CLUSTERS, SCORES, 6, iou, 0.0, 0.5)
        assert found.tolist() == [3, 0, 1, 5, 4, 2] and valid == 6
        np.testing.assert_allclose(scores, [0.95, 0.9, 0.384, 0.3, 0.256, 0.197], atol=1e-3)


@pytest.mark.parametrize("seed", range(8))
def test_suppression_as_onnx(seed):
    boxes, scores = unit(30, 4, seed=seed), unit(30, seed=seed + 99)
    boxes = np.sort(boxes.reshape(30, 2, 2), axis=1).reshape(30, 4)
    for iou, least, count in ((0.3, 0.2, 30), (0.6, 0.0, 7), (0.0, 0.5, 12)):
        theirs = onnx_op(
            "NonMaxSuppression",
            [boxes[None], scores[None, None], np.array([count]), np.float32([iou]), np.float32([least])],
        )
        assert suppressed(boxes, scores, count, iou, least)[0].tolist() == theirs[:, 2].tolist()


def test_boxes_are_drawn_one_pixel_thick():
    image, colors = np.zeros((1, 5, 6, 1), np.float32), np.array([[1.0], [2.0]], np.float32)
    boxes = np.array([[[0.25, 0.2, 0.75, 0.8], [-1.0, 0.6, 0.5, 2.0], [0.9, 0, 0.1, 1]]], np.float32)
    drawn = ours("draw_bounding_boxes", image, boxes, colors)[0, :, :, 0]
    np.testing.assert_array_equal(
        drawn, [[0, 0, 0, 2, 0, 0], [0, 1, 1, 2, 1, 0], [0, 1, 0, 2, 2, 2], [0, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0]]
    )
    alone = ours("draw_bounding_boxes", np.zeros((1, 3, 3, 3), np.float32), boxes[:, :1] * 0)
    np.testing.assert_array_equal(alone[0, 0, 0], [1, 1, 0])  # yellow comes first
    assert np.count_nonzero(alone) == 2


@pytest.mark.parametrize(
    ("op", "arrays", "attrs", "words"),
    [
        ("resize_image", [f32(1, 4, 4)], {"size": (2, 2)}, "rank 4"),
        ("resize_image", [f32(1, 4, 4, 1)], {"size": (0, 2)}, "size (0, 2)"),
        ("resize_image", [f32(1, 4, 4, 1)], {}, "needs 'size'"),
        ("resize_image", [f32(1, 4, 4, 1)], {"size": (2, 2), "method": "lanczos"}, "no method 'lanczos'"),
        ("resize_image", [f32(1, 0, 4, 1)], {"size": (2, 2)}, "cannot resize"),
        ("crop_and_resize", [f32(1, 4, 4, 1), f32(2, 4), np.array([0, 1])], {"size": (2, 2)}, "image 1 of 1"),
        ("crop_and_resize", [f32(1, 4, 4, 1), f32(2, 3), np.array([0, 0])], {"size": (2, 2)}, "[?,4]"),
        ("rgb_to_hsv", [f32(2, 4)], {}, "three colours"),
        ("adjust_hue", [f32(2, 3), f32(1)], {}, "scalar as factor"),
        ("adjust_contrast", [f32(2, 3), np.float32(1)], {}, "height, width and channels"),
        ("non_max_suppression", [CLUSTERS, SCORES[:3], np.int32(1)], {}, "float32[3]"),
        ("non_max_suppression", [CLUSTERS, SCORES, np.int32(1), np.float32(2)], {}, "iou_threshold 2"),
        ("draw_bounding_boxes", [f32(1, 4, 4, 3), f32(2, 1, 4)], {}, "boxes for 2 images of 1"),
        ("draw_bounding_boxes", [f32(1, 4, 4, 3), f32(1, 1, 4), f32(1, 2)], {}, "colours of 2 numbers"),
    ],
)
def test_what_does_not_fit(op, arrays, attrs, words):
    with pytest.raises(TypeMismatchError) as caught:
        ours(op, *arrays, **attrs)
    assert words in caught.value.message and caught.value.fix
