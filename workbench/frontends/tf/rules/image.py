"""Images: sizes, colours, boxes; simulated quantization."""

from __future__ import annotations

from typing import Any

from workbench.frontends.tf.graphdef import NodeDef
from workbench.frontends.tf.rules.base import Constant, LoweredNode, Rule, attrs, same

_CORNERS = {"align_corners": "align_corners", "half_pixel_centers": "half_pixel_centers"}


def _resize(method: str) -> Rule:
    def rule(node: NodeDef, constant: Constant) -> LoweredNode:
        found = {ours: bool(node.attrs.get(ours, False)) for ours in _CORNERS}
        return LoweredNode("resize_image", node.inputs, {"method": method, **found})

    return rule


def _suppression(outputs: tuple[int, ...], iou: bool = False) -> Rule:
    """A rule for non-max suppression; ``outputs`` are those of this version of the op, the first version has the
    threshold as an attribute.
    """

    def rule(node: NodeDef, constant: Constant) -> LoweredNode:
        found: dict[str, Any] = {}
        if iou:
            found["iou_threshold"] = float(node.attrs.get("iou_threshold", 0.5))
        if node.attrs.get("pad_to_max_output_size", False):
            found["pad"] = True
        return LoweredNode("non_max_suppression", node.inputs, found, outputs=outputs)

    return rule


def _round_trip(node: NodeDef, constant: Constant) -> LoweredNode | None:
    """Quantize and dequantize; the third version has the number of bits as an input, which must be a constant."""
    if int(node.attrs.get("axis", -1)) != -1:
        return None
    inputs, after = node.inputs, ()
    bits: Any = node.attrs.get("num_bits", 8)
    if len(inputs) == 4:
        bits, after = constant(inputs[3]), (inputs[3].node,)
        if bits is None:
            return None
    found = {
        "num_bits": int(bits),
        "signed": bool(node.attrs.get("signed_input", True)),
        "narrow_range": bool(node.attrs.get("narrow_range", False)),
        "rounding": node.attrs.get("round_mode", b"HALF_TO_EVEN").decode().lower(),
    }
    if node.attrs.get("range_given", node.op.endswith("V3")):
        return LoweredNode("quantize_round_trip", inputs[:3], found, after)
    return LoweredNode("quantize_round_trip", inputs[:1], found, (*(t.node for t in inputs[1:]),))


_QUANTIZATION = {"num_bits": "num_bits", "narrow_range": "narrow_range"}

RULES: dict[str, Rule] = {
    "ResizeNearestNeighbor": _resize("nearest"),
    "ResizeBilinear": _resize("bilinear"),
    "ResizeBicubic": _resize("bicubic"),
    "ResizeArea": _resize("area"),
    "CropAndResize": attrs("crop_and_resize", method="method", extrapolation_value="extrapolation_value"),
    "AdjustContrastv2": same("adjust_contrast"),
    "AdjustHue": same("adjust_hue"),
    "AdjustSaturation": same("adjust_saturation"),
    "RGBToHSV": same("rgb_to_hsv"),
    "HSVToRGB": same("hsv_to_rgb"),
    "DrawBoundingBoxes": same("draw_bounding_boxes"),
    "DrawBoundingBoxesV2": same("draw_bounding_boxes"),
    "NonMaxSuppression": _suppression((0,), iou=True),
    "NonMaxSuppressionV2": _suppression((0,)),
    "NonMaxSuppressionV3": _suppression((0,)),
    "NonMaxSuppressionV4": _suppression((0, 2)),
    "NonMaxSuppressionV5": _suppression((0, 1, 2)),
    "FakeQuantWithMinMaxArgs": attrs("fake_quant", min="min", max="max", **_QUANTIZATION),
    "FakeQuantWithMinMaxVars": attrs("fake_quant", **_QUANTIZATION),
    "FakeQuantWithMinMaxVarsPerChannel": attrs("fake_quant", **_QUANTIZATION),
    "QuantizeAndDequantizeV2": _round_trip,
    "QuantizeAndDequantizeV3": _round_trip,
    "QuantizeAndDequantizeV4": _round_trip,
    "HistogramFixedWidth": attrs("histogram_fixed_width", dtype="dtype"),
}
