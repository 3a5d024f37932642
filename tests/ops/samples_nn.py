"""Calls of the ops of neural networks and images: name -> list of (inputs, attrs), as in ``samples``."""

from __future__ import annotations

import numpy as np

rng = np.random.default_rng(11)


def real(*shape):
    return rng.normal(size=shape).astype(np.float32)


def unit(*shape):
    return rng.uniform(size=shape).astype(np.float32)


def ints(*values, dtype=np.int64):
    return np.array(values, dtype)


def scalar(value, dtype=np.float32):
    return np.array(value, dtype)


IMAGE, FIRST = real(2, 5, 6, 4), real(2, 4, 5, 6)
LINE, VOLUME = real(2, 7, 3), real(1, 3, 4, 3, 2)
KERNEL, KERNEL_FIRST = real(3, 2, 4, 6), real(6, 2, 3, 2)
SAME, ODD = {"pads": "same", "strides": (2, 1)}, {"pads": ((1, 0), (2, 1)), "dilations": (1, 2)}
GROUPS = {"groups": 2, "layout": "first", "filter_layout": "first", "pads": "same_lower"}
WINDOW = {"window": (2, 3), "strides": (2, 1)}
POOL = [
    ((IMAGE,), WINDOW),
    ((IMAGE,), {**WINDOW, "pads": "same"}),
    ((FIRST,), {**WINDOW, "layout": "first"}),
    ((IMAGE,), {"window": (2, 2), "pads": ((1, 1), (0, 1)), "dilations": (2, 1)}),
    ((LINE,), {"window": (3,), "strides": 2}),
    ((VOLUME,), {"window": (2, 2, 2), "pads": "same"}),
]
CEIL = ((IMAGE,), {"window": (2, 3), "strides": (2, 2), "ceil_mode": True})
LSTM = [real(3, 2), real(3, 4), real(3, 4), real(6, 16), real(4), real(4), real(4), real(16)]
COLORS = [((unit(2, 3, 3),), {}), ((real(4, 3),), {}), ((np.zeros((2, 3), np.float32),), {}), ((real(0, 3),), {})]
BOXES = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0.5, 0.5, 2, 2], [1, 1, 0, 0], [3, 3, 3, 4]], np.float32)
SCORES = np.array([0.9, 0.75, 0.6, 0.95, 0.3], np.float32)
THREE = scalar(3, np.int32)
ACTIVATIONS = ("relu", "relu6", "leaky_relu", "elu", "selu", "softplus", "softsign", "sigmoid", "tanh")
METHODS = ("nearest", "bilinear", "bicubic", "area")
VARIANTS = [{"method": m, "align_corners": a} for m in METHODS for a in (False, True)]
HALF = [{"method": m, "half_pixel_centers": True} for m in METHODS[:3]]

SAMPLES = {
    "conv": [
        ((IMAGE, KERNEL), {}),
        ((IMAGE, KERNEL, real(6)), SAME),
        ((IMAGE, KERNEL), ODD),
        ((FIRST, KERNEL_FIRST), GROUPS),
        ((FIRST, KERNEL), {"layout": "first", "strides": 2}),
        ((IMAGE, real(2, 2, 4, 3)), {"depthwise": True, "pads": "same"}),
        ((IMAGE, real(2, 2, 2, 6)), {"groups": None}),
        ((LINE, real(3, 3, 2)), {"dilations": (2,)}),
        ((VOLUME, real(2, 2, 2, 2, 3)), {"pads": "same"}),
        ((real(0, 5, 6, 4), KERNEL), {}),
    ],
    "conv_input_gradient": [
        ((ints(2, 5, 6, 4), KERNEL, real(2, 3, 5, 6)), {}),
        ((ints(2, 5, 6, 4, dtype=np.int32), KERNEL, real(2, 3, 6, 6)), SAME),
        ((ints(2, 4, 5, 6), KERNEL_FIRST, real(2, 6, 5, 6)), GROUPS),
        ((ints(2, 5, 6, 4), real(2, 2, 4, 3), real(2, 4, 5, 12)), {"depthwise": True}),
    ],
    "conv_filter_gradient": [
        ((IMAGE, ints(3, 2, 4, 6), real(2, 3, 5, 6)), {}),
        ((IMAGE, ints(3, 2, 4, 6), real(2, 3, 6, 6)), SAME),
        ((FIRST, ints(6, 2, 3, 2), real(2, 6, 5, 6)), GROUPS),
        ((IMAGE, ints(2, 2, 4, 3), real(2, 4, 5, 12)), {"depthwise": True}),
    ],
    "conv_transpose": [
        ((real(2, 3, 5, 6), KERNEL), {}),
        ((real(2, 3, 5, 6), KERNEL, real(4)), {"strides": 2, "output_padding": (1, 0)}),
        ((real(2, 6, 3, 2), KERNEL_FIRST), {**GROUPS, "strides": 2}),
        ((real(2, 3, 5, 6), KERNEL), {"pads": ((1, 0), (0, 1))}),
        ((real(1, 3, 2), real(4, 5, 2)), {"strides": (3,), "dilations": (2,)}),
    ],
    "max_pool": [*POOL, CEIL],
    "max_pool_with_argmax": [*POOL, CEIL, ((IMAGE,), {**WINDOW, "include_batch": False})],
    "average_pool": [*POOL, CEIL, ((IMAGE,), {**WINDOW, "pads": "same", "count_include_pad": True})],
    "extract_patches": POOL,
    "max_pool_gradient": [
        ((IMAGE, real(2, 2, 4, 4), real(2, 2, 4, 4)), WINDOW),
        ((FIRST, real(2, 4, 3, 6), real(2, 4, 3, 6)), {**WINDOW, "pads": "same", "layout": "first"}),
    ],
    "average_pool_gradient": [
        ((ints(2, 5, 6, 4), real(2, 2, 4, 4)), WINDOW),
        ((ints(2, 4, 5, 6), real(2, 4, 3, 6)), {**WINDOW, "pads": "same", "layout": "first"}),
    ],
    "dilation": [((IMAGE, real(2, 3, 4)), SAME), ((FIRST, real(2, 3, 4)), {"layout": "first", "dilations": 2})],
    "bias_gradient": [((IMAGE,), {}), ((FIRST,), {"axis": 1})],
    **{f"{name}_gradient": [((real(2, 3), real(2, 3)), {})] for name in ACTIVATIONS},
    "bias_add": [((IMAGE, real(4)), {}), ((FIRST, real(4)), {"axis": 1}), ((real(3), real(3)), {})],
    "batch_norm": [((IMAGE, real(4), real(4), real(4), unit(4)), {}), ((FIRST, *real(3, 4), unit(4)), {"axis": 1})],
    "fused_batch_norm": [
        ((IMAGE, real(4), real(4), real(4), unit(4)), {"training": False}),
        ((FIRST, *real(4, 4)), {"axis": 1}),
        ((IMAGE, real(4), real(4), real(0), real(0)), {}),
        ((IMAGE, *real(3, 4), unit(4)), {"average_factor": 0.25}),
    ],
    "fused_batch_norm_gradient": [
        ((IMAGE, IMAGE, real(4), real(4), unit(4)), {}),
        ((FIRST, FIRST, real(4), real(4), unit(4), scalar(0)), {"axis": 1, "training": False}),
    ],
    "lrn": [
        ((IMAGE,), {"before": 1, "after": 1}),
        ((FIRST,), {"axis": 1, "before": 1, "after": 2, "alpha": 0.25}),
        ((IMAGE,), {"before": 9, "after": 9, "beta": 0.75}),
    ],
    "space_to_batch": [
        ((real(1, 4, 6, 2), ints(0, 0, 0, 0).reshape(2, 2), ints(2, 3)), {}),
        ((real(2, 3, 4), ints(1, 0).reshape(1, 2), ints(2)), {}),
        ((real(1, 3, 4, 1), ints(1, 0, 0, 0).reshape(2, 2)), {"block": 2}),
    ],
    "batch_to_space": [
        ((real(6, 2, 3, 2), ints(0, 0, 1, 0).reshape(2, 2), ints(2, 3)), {}),
        ((real(4, 2, 4), ints(1, 0).reshape(1, 2), ints(2)), {}),
        ((real(8, 3, 4, 1), ints(1, 0, 0, 2).reshape(2, 2)), {"block": 2}),
    ],
    "space_to_depth": [
        ((real(1, 4, 6, 2),), {"block_size": 2}),
        ((real(1, 2, 4, 6),), {"block_size": 2, "layout": "first"}),
    ],
    "depth_to_space": [
        ((real(1, 2, 3, 8),), {"block_size": 2}),
        ((real(1, 2, 3, 8),), {"block_size": 2, "mode": "CRD"}),
        ((real(1, 8, 2, 3),), {"block_size": 2, "layout": "first"}),
    ],
    "reverse_sequence": [
        ((real(3, 4, 2), ints(4, 0, 2)), {"axis": 1}),
        ((real(4, 3), ints(1, 2, 3, dtype=np.int32)), {"axis": 0, "batch_axis": 1}),
    ],
    "resize_image": [((IMAGE, ints(3, 9, dtype=np.int32)), v) for v in (*VARIANTS, *HALF)]
    + [((real(1, 2, 2, 1),), {"size": (1, 1)}), ((real(1, 4, 4, 1),), {"size": (4, 4), "method": "bicubic"})],
    "crop_and_resize": [
        ((IMAGE, unit(3, 4), ints(0, 1, 1)), {"size": (2, 3)}),
        (
            (IMAGE, 2 * unit(2, 4), ints(1, 0, dtype=np.int32), ints(1, 4)),
            {"method": "nearest", "extrapolation_value": 7.0},
        ),
    ],
    "adjust_contrast": [((real(2, 3, 4, 3), scalar(1.5)), {}), ((real(0, 3, 4), scalar(1.5)), {})],
    "adjust_hue": [((unit(2, 3, 3), scalar(0.3)), {}), ((real(2, 3), scalar(-1.6)), {})],
    "adjust_saturation": [((unit(2, 3, 3), scalar(0.3)), {}), ((real(2, 3), scalar(1.6)), {})],
    "rgb_to_hsv": COLORS,
    "hsv_to_rgb": COLORS,
    "non_max_suppression": [
        ((BOXES, SCORES, THREE), {}),
        ((BOXES, SCORES, THREE), {"pad": True, "iou_threshold": 0.2}),
        ((BOXES, SCORES, THREE, scalar(0.5), scalar(0.5), scalar(0.3)), {}),
        ((BOXES[:0], SCORES[:0], THREE), {}),
    ],
    "draw_bounding_boxes": [
        ((real(2, 6, 7, 3), real(2, 2, 4)), {}),
        ((real(1, 6, 7, 1), unit(1, 3, 4), real(2, 1)), {}),
        ((real(1, 6, 7, 4), np.array([[[0, 0, 1, 1], [-0.5, 0.25, 0.5, 2]]], np.float32)), {}),
    ],
    "fake_quant": [
        ((real(3, 4),), {}),
        ((real(3, 4), scalar(-0.3), scalar(1.7)), {"num_bits": 4, "narrow_range": True}),
        ((real(2, 3), -unit(3) / 2, unit(3) + 0.5), {}),
        ((real(3), scalar(0), scalar(0)), {}),
    ],
    "quantize_round_trip": [
        ((real(3, 4),), {}),
        ((real(3), scalar(0), scalar(0)), {"signed": False}),
        ((real(3, 4), scalar(0.3), scalar(1.5)), {"num_bits": 4, "rounding": "half_up"}),
    ],
    "lstm_cell": [(LSTM, {}), (LSTM, {"use_peephole": True, "cell_clip": 0.3, "gates": "ifco"})],
    "lstm_block": [
        ([scalar(2, np.int64), real(4, 3, 2), *LSTM[1:]], {"forget_bias": 0.5}),
        ([scalar(4, np.int64), real(4, 3, 2), *LSTM[1:]], {"use_peephole": True, "cell_clip": -1.0}),
    ],
    "gru_cell": [((real(3, 2), real(3, 4), real(6, 8), real(6, 4), real(8), real(4)), {})],
    "softmax_cross_entropy": [
        ((real(3, 4), unit(3, 4)), {}),
        ((real(3, 4), unit(1, 4)), {}),
        ((real(2, 3, 4), unit(4)), {}),
    ],
    "sparse_softmax_cross_entropy": [((real(3, 4), ints(0, 3, 1)), {}), ((real(4), scalar(2, np.int32)), {})],
    "l2_loss": [((real(2, 3),), {}), ((scalar(3),), {}), ((real(0),), {})],
    "in_top_k": [((real(3, 4), ints(0, 9, 2), scalar(2, np.int64)), {}), ((real(3, 4), ints(0, -1, 2)), {"k": 1})],
    "histogram_fixed_width": [
        ((real(3, 4), scalar([0, 2]), scalar(5, np.int32)), {}),
        ((scalar(0.5), scalar([0, 1])), {"bins": 4, "dtype": "int64"}),
    ],
}
