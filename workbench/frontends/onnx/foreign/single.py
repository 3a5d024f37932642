"""Builds the model of a single node for onnxruntime, with declared inputs and constants inside."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.frontends.onnx.foreign.nodes import Opsets
from workbench.frontends.onnx.foreign.runtime import EVERYTHING, SAME_LAYOUT
from workbench.frontends.onnx.foreign.values import Kind, MapType, packed
from workbench.frontends.onnx.library import onnx
from workbench.frontends.onnx.tensors import NUMBERS, PACKED
from workbench.ir.types import STRING

#: larger constants are passed in place; onnxruntime packs them for its kernels
INLINE_BYTES = 1024
#: a version of the model format that is read by all releases with the C interface used here
_IR_VERSION = 9
#: minimum number of points of an image, measured (see level)
POINTS = 400


def graph_of(proto: Any, inputs: Mapping[str, tuple[Kind, np.ndarray | None]]) -> tuple[Any, dict[str, np.ndarray]]:
    """The graph of a node, and the constants to pass without a copy; ``inputs`` are (type, constant) by name."""
    graph = onnx().GraphProto(name="node")
    graph.node.append(proto)
    large: dict[str, np.ndarray] = {}
    for name, (kind, constant) in inputs.items():
        if constant is None:
            _declare(graph.input.add(), name, kind)
        elif kind.dtype == STRING:
            texts = [t if isinstance(t, bytes) else str(t).encode() for t in constant.ravel().tolist()]
            graph.initializer.add(name=name, data_type=NUMBERS[STRING], dims=constant.shape, string_data=texts)
        else:
            tensor = graph.initializer.add(name=name, data_type=NUMBERS[kind.dtype], dims=constant.shape)
            if kind.dtype in PACKED:
                tensor.raw_data = packed(constant)
            elif constant.nbytes <= INLINE_BYTES:
                tensor.raw_data = constant.tobytes()
            else:
                tensor.data_location = onnx().TensorProto.EXTERNAL
                tensor.external_data.add(key="location", value=name)
                large[name] = constant
    for name in proto.output:
        if name:
            graph.output.add().name = name
    return graph, large


def bytes_of(graph: Any, sets: Opsets) -> bytes:
    """The serialized model of a graph with these operator sets."""
    model = onnx().ModelProto(ir_version=_IR_VERSION, graph=graph)
    for domain, version in sets:
        model.opset_import.add(domain=domain, version=version)
    return bytes(model.SerializeToString())


def versions(proto: Any, opsets: Opsets) -> list[Opsets]:
    """The operator sets to try: those of the model, then those with the version that defined the op, because the
    model's may be newer than onnxruntime supports.
    """
    domain = "" if proto.domain == "ai.onnx" else proto.domain
    try:
        since = onnx().defs.get_schema(proto.op_type, dict(opsets)[domain], domain).since_version
    except Exception:  # an op without a schema
        return [opsets]
    older = tuple((d, max(since, 7) if d == domain == "" else since if d == domain else v) for d, v in opsets)
    return [opsets] if older == opsets or max(since, 7) > dict(opsets)[domain] else [opsets, older]


def level(proto: Any, types: Sequence[Kind]) -> int:
    """The optimization level for a node. Convolutions with a kernel of one point are matrix products, for which packing
    large arrays into blocks of channels and back takes more time than it saves.
    """
    if proto.op_type != "Conv" or len(types) < 2 or any(not t.is_static for t in types[:2]):
        return EVERYTHING
    image, kernel = types[0].shape or (), types[1].shape or ()
    points = math.prod(d or 0 for d in image[2:])
    return SAME_LAYOUT if set(kernel[2:]) == {1} and points >= POINTS else EVERYTHING


def _declare(info: Any, name: str, kind: Kind) -> None:
    info.name = name
    if isinstance(kind, MapType):
        info.type.map_type.key_type = NUMBERS[kind.key]
        info.type.map_type.value_type.tensor_type.elem_type = NUMBERS[kind.value]
        info.type.map_type.value_type.tensor_type.shape.SetInParent()
        return
    info.type.tensor_type.elem_type = NUMBERS[kind.dtype]
    if kind.shape is not None:
        info.type.tensor_type.shape.SetInParent()
        for size in kind.shape:
            dim = info.type.tensor_type.shape.dim.add()
            if size is not None:
                dim.dim_value = size
