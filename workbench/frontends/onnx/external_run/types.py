"""Declared or inferred types of a model, needed for empty lists and missing optional values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.frontends.onnx.library import onnx

#: op -> number of inputs before the carried ones: trip count and condition, in the node and in the body
_CARRIED = {"Loop": 2}


def with_inferred_types(proto: Any) -> Any:
    """The model with the value types that ONNX's rules infer, also in bodies; unchanged if inference fails."""
    try:
        return onnx().shape_inference.infer_shapes(proto)
    except Exception:  # a model of more than 2 GiB, or one that the rules do not accept
        return proto


def typed(graph: Any, around: Mapping[str, Any], node: Any = None) -> dict[str, Any]:
    """The types of lists and optional values by name in a graph. ``around`` are those of the enclosing graph; ``node``
    is the node whose body the graph is: untyped inputs of the body have the types of the node's inputs.
    """
    found = dict(around)
    first = _CARRIED.get(node.op_type) if node is not None else None
    if first is not None:
        pairs = zip(list(graph.input)[first:], list(node.input)[first:], strict=False)
        found.update((i.name, around[name]) for i, name in pairs if name in around)
    for value in (*graph.input, *graph.value_info, *graph.output):
        if value.type.WhichOneof("value") in ("sequence_type", "optional_type"):
            found[value.name] = value.type
    return found
