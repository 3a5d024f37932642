"""Infers the types of list elements, so that an empty list can be stacked with the right type.

Models need not declare the types of values in a body, and exporters seldom do. The element type of a scan output is
then the type of the values that the body appends, inferred once the whole graph is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.ir.graph import Graph
from workbench.ir.node import FrozenAttrs, Node, Ref
from workbench.ir.types import ANY, OPAQUE, UNKNOWN, TensorType

#: ops that create an array or list elements with the attributes ``dtype`` and ``shape``
_OPS = ("list_stack", "sequence_fill")
#: ops that pass a list on unchanged
_SAME = ("Enter", "Exit", "Switch", "NextIteration", "Identity", "sequence_fill")
#: maximum nesting of lists whose types depend on each other
_LEVELS = 4


def with_element_types(graph: Graph) -> Graph:
    """The graph with the types of elements that were not declared but can be inferred."""
    for _ in range(_LEVELS):
        changed: dict[str, Node] = {}
        for name, node in graph.nodes.items():
            if node.op in _OPS and (attrs := _completed(node, _element(graph.nodes, node.inputs[0], set()))):
                changed[name] = replace(node, attrs=FrozenAttrs(dict(node.attrs) | attrs), types=())
        if not changed:
            return graph
        nodes = [changed.get(name, node) for name, node in graph.nodes.items()]
        graph = Graph.from_nodes(
            graph.name, nodes, inputs=graph.inputs, outputs=graph.outputs, names=graph.names, notes=graph.notes
        )
    return graph


def _completed(node: Node, found: TensorType | None) -> dict[str, object]:
    """The attributes of a node that change with the type of its elements."""
    if found is None or found.dtype == OPAQUE:
        return {}
    known, shape = node.attrs.get("dtype", ANY), node.attrs.get("shape")
    changed: dict[str, object] = {}
    if known == ANY and found.dtype != ANY:
        changed["dtype"] = found.dtype
    if found.shape is not None:
        dims = tuple(-1 if d is None else d for d in found.shape)
        if shape is not None and len(shape) == len(dims):  # each may know sizes that the other does not
            dims = tuple(one if one >= 0 else other for one, other in zip(shape, dims, strict=True))
        if shape is None or tuple(shape) != dims:
            changed["shape"] = dims
    return changed


def _element(nodes: Mapping[str, Node], ref: Ref, seen: set[Ref]) -> TensorType | None:
    """The type of all elements of a list; None for an empty list."""
    if ref in seen:
        return None
    seen.add(ref)
    node = nodes[ref.node]
    if node.op == "list_new":
        return None
    if node.op == "list_append":
        value = node.inputs[1]
        types = nodes[value.node].types
        own = types[value.index] if value.index < len(types) else UNKNOWN
        return _joined(own, _element(nodes, node.inputs[0], seen))
    if node.op in _SAME and node.inputs:
        return _element(nodes, node.inputs[0], seen)
    if node.op == "Merge":
        found: TensorType | None = None
        for part in node.inputs:
            found = _joined(found, _element(nodes, part, seen))
        return found
    return UNKNOWN


def _joined(one: TensorType | None, other: TensorType | None) -> TensorType | None:
    return other if one is None else one if other is None else one.join(other)
