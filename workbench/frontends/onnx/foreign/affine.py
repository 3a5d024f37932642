"""BatchNormalization with constant statistics, as one multiplication and one addition for each channel.

(x - mean) / sqrt(var + epsilon) * scale + bias = x * s + t with s = scale / sqrt(var + epsilon), t = bias - mean * s;
both are computed in double and rounded once. Source: https://onnx.ai/onnx/operators/onnx__BatchNormalization.html.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.frontends.onnx.foreign.nodes import Opsets, node_of
from workbench.frontends.onnx.library import onnx
from workbench.ir.types import TensorType, numpy_dtype


def affine(
    node: bytes, opsets: Opsets, types: Sequence[TensorType], constants: Sequence[np.ndarray | None]
) -> tuple[np.ndarray, np.ndarray] | None:
    """(s, t) in shapes that broadcast to x and in its dtype; None for any other node."""
    proto = node_of(node)
    if proto.op_type != "BatchNormalization" or proto.domain not in ("", "ai.onnx") or dict(opsets)[""] < 7:
        return None
    attrs = {a.name: onnx().helper.get_attribute_value(a) for a in proto.attribute}
    trains = attrs.get("training_mode", 0) or sum(map(bool, proto.output)) != 1
    if len(types) != 5 or trains or not attrs.get("spatial", 1):
        return None
    x, given = types[0], [c for c in constants[1:] if c is not None]
    if len(given) != 4 or x.rank is None or x.rank < 2 or x.dtype not in ("float32", "float64"):
        return None
    if any(c.shape != given[0].shape or c.ndim != 1 for c in given):
        return None
    scale, bias, mean, variance = (c.astype(np.float64) for c in given)
    with np.errstate(all="ignore"):
        s = scale / np.sqrt(variance + attrs.get("epsilon", float(np.float32(1e-5))))
        t = bias - mean * s
        shape = (-1, *(1,) * (x.rank - 2))
        return s.astype(numpy_dtype(x.dtype)).reshape(shape), t.astype(numpy_dtype(x.dtype)).reshape(shape)
