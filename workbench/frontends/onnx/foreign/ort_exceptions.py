"""Nodes that onnxruntime accepts but computes differently from the standard's test cases (release 1.31).

Found by running every node case of the standard's test suite through the sessions here; see
https://github.com/onnx/onnx/tree/main/onnx/backend/test/case/node for the cases.
"""

from __future__ import annotations

from typing import Any

from workbench.frontends.onnx.library import onnx

#: ops whose kernels, if one of the first inputs is empty, end the process by a division by zero or an invalid read, or
#: leave their results uninitialized (release 1.32)
_FAULTY = {
    "": ("InstanceNormalization", "MatMulInteger"),
    "ai.onnx.ml": ("FeatureVectorizer",),
    "com.microsoft": ("MultiHeadAttention",),
    "com.microsoft.nchwc": ("MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"),
}


def fails_on_nothing(proto: Any) -> bool:
    """True if onnxruntime must not be given empty arrays as the first inputs of a node."""
    return proto.op_type in _FAULTY.get("" if proto.domain == "ai.onnx" else proto.domain, ())


def distrust(proto: Any, shape: tuple[int | None, ...] | None = None) -> str | None:
    """The reason why a node is left to the reference evaluator although onnxruntime has a kernel for it; None if it is
    not. ``shape``: of its first input, if known.
    """
    if proto.domain not in ("", "ai.onnx"):
        return None
    attrs = {a.name: onnx().helper.get_attribute_value(a) for a in proto.attribute}
    if proto.op_type == "STFT" and shape is not None and len(shape) == 2:
        return None  # a signal without its last axis, which the reference evaluator splits into wrong frames
    if proto.op_type in ("DFT", "STFT"):
        return "its transform is less exact than the test cases ask for"
    if proto.op_type == "Attention" and attrs.get("is_causal"):
        return "its causal mask differs where there are past keys, or in half precision"
    if proto.op_type == "MaxUnpool" and len(proto.input) > 2:
        return "it places values by another shape where the output's shape is given"
    if proto.op_type == "Resize" and attrs.get("coordinate_transformation_mode") == b"align_corners":
        return "it aligns corners by the rounded size"
    return None
