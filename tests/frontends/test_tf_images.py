"""TensorFlow's nodes of images and quantization: the meaning of each version of an op."""

from __future__ import annotations

import numpy as np

from tests.frontends.tf_nodes import f32, outputs
from tests.ops.onnx_reference import ours


def test_versions_of_suppression():
    boxes = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [5, 5, 6, 6], [7, 7, 8, 8]], np.float32)
    scores = np.array([0.6, 0.9, 0.2, 0.5], np.float32)
    count, iou, least = np.int32(3), np.float32(0.5), np.float32(0.3)
    assert [o.tolist() for o in outputs("NonMaxSuppression", boxes, scores, count, iou_threshold=0.5)] == [[1, 3, 2]]
    assert [o.tolist() for o in outputs("NonMaxSuppressionV2", boxes, scores, count, iou)] == [[1, 3, 2]]
    assert [o.tolist() for o in outputs("NonMaxSuppressionV3", boxes, scores, count, iou, least)] == [[1, 3]]
    padded = outputs("NonMaxSuppressionV4", boxes, scores, count, iou, least, pad_to_max_output_size=True)
    assert [o.tolist() for o in padded] == [[1, 3, 0], 2]
    found = outputs("NonMaxSuppressionV5", boxes, scores, count, iou, least, np.float32(0))
    assert found[0].tolist() == [1, 3] and found[2] == 2
    np.testing.assert_array_equal(found[1], scores[[1, 3]])


def test_sizes_of_images():
    image, size = f32(1, 4, 5, 2), np.array([7, 3], np.int32)
    for op, method in (("Bilinear", "bilinear"), ("Bicubic", "bicubic"), ("NearestNeighbor", "nearest")):
        for key in ("align_corners", "half_pixel_centers"):
            expected = ours("resize_image", image, size, method=method, **{key: True})
            np.testing.assert_array_equal(outputs(f"Resize{op}", image, size, **{key: True})[0], expected)


def test_versions_of_quantization_and_back():
    x, low, high = f32(2, 3), np.float32(-1), np.float32(3)
    expected = ours("quantize_round_trip", x, low, high, num_bits=5, signed=True, narrow_range=True)
    attrs = {"signed_input": True, "range_given": True, "narrow_range": True}
    (second,) = outputs("QuantizeAndDequantizeV2", x, low, high, num_bits=5, round_mode="HALF_TO_EVEN", **attrs)
    np.testing.assert_array_equal(second, expected)
    np.testing.assert_array_equal(outputs("QuantizeAndDequantizeV3", x, low, high, np.int32(5), **attrs)[0], expected)
    (free,) = outputs("QuantizeAndDequantizeV4", x, low, high, num_bits=5, signed_input=False)
    np.testing.assert_array_equal(free, ours("quantize_round_trip", x, num_bits=5, signed=False))
