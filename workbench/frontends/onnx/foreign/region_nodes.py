"""Builds the ONNX graph for the steps of a region.

Foreign nodes are copied. Of our own ops only those with the same result in every library are used (exact_ops).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.frontends.onnx.foreign import extensions
from workbench.frontends.onnx.foreign.exact_ops import exact_node
from workbench.frontends.onnx.foreign.nodes import Opsets, draws, node_of, present
from workbench.frontends.onnx.foreign.ort_exceptions import fails_on_nothing
from workbench.frontends.onnx.foreign.runtime import EVERYTHING
from workbench.frontends.onnx.foreign.session import NodeSession
from workbench.frontends.onnx.foreign.single import INLINE_BYTES, bytes_of
from workbench.frontends.onnx.library import onnx
from workbench.frontends.onnx.tensors import NUMBERS, SAME
from workbench.ir.node import Ref
from workbench.ir.types import TensorType
from workbench.ops.foreign import RegionStep

__all__ = ["Opsets", "RegionGraph", "bytes_of", "graph_of", "sets_of", "takes", "version_of"]

#: nodes with different results in the layout of convolutions: they are preceded by a Reshape to a shape that
#: onnxruntime does not know beforehand, so that the layout ends there
_LAYOUT_MATTERS = frozenset(("GlobalAveragePool", "AveragePool", "BatchNormalization"))
#: larger constants are packed for one session only, that of the single node
MOST_CONSTANT_BYTES = 4 << 20
#: operator set of a region without foreign nodes of the standard
_NEWEST = (("", 17),)


def version_of(steps: Sequence[RegionStep]) -> int:
    """The lowest operator set of the standard among the foreign nodes."""
    found = [dict(s.bound.joins.opened_with) for s in steps if s.bound and isinstance(s.bound.joins, NodeSession)]
    return min((sets[""] for sets in found if "" in sets), default=dict(_NEWEST)[""])


def takes(step: RegionStep, version: int) -> bool:
    """Return whether a node can be part of a region with this operator set."""
    types = [t for t, c in zip(step.takes, step.constants, strict=True) if c is None]
    if any(t.dtype not in SAME or t.shape is None or 0 in t.shape for t in (*types, *step.gives)):
        return False
    if any(t.dtype not in SAME for t in step.takes):
        return False
    if any(c is not None and c.nbytes > MOST_CONSTANT_BYTES for c in step.constants):
        return False
    if step.bound is None:
        return ":" not in step.op and exact_node(step, version) is not None
    session = step.bound.joins
    if not isinstance(session, NodeSession):
        return session is not None
    proto = node_of(session.node)
    if _ends_layout(proto.op_type, step.takes[0]) and sum(d is None for d in step.takes[0].shape or ()) > 1:
        return False
    alone = draws(session.node) or fails_on_nothing(proto) or extensions.library_of(proto.domain) is not None
    return not alone


def sets_of(steps: Sequence[RegionStep]) -> Opsets | None:
    """The operator sets of all foreign nodes; None if they differ or lack one of our ops."""
    found: dict[str, int] = {}
    for step in steps:
        if step.bound is not None and isinstance(step.bound.joins, NodeSession):
            for domain, version in step.bound.joins.opened_with:
                if found.setdefault(domain, version) != version:
                    return None
    found.setdefault("", dict(_NEWEST)[""])
    if any(step.bound is None and exact_node(step, found[""]) is None for step in steps):
        return None
    return tuple(sorted(found.items()))


@dataclass
class RegionGraph:
    """A graph under construction: the names of its inputs and outputs in order, the outputs followed by results that
    are requested only to be computed; its external initializers; and arrays that are fed in every call.
    """

    proto: Any
    version: int
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    initializers: dict[str, np.ndarray] = field(default_factory=dict)
    fed: dict[str, np.ndarray] = field(default_factory=dict)
    names: dict[Any, str] = field(default_factory=dict)
    constants: dict[int, np.ndarray] = field(default_factory=dict)

    def name(self, ref: Ref) -> str:
        """The name of a value."""
        return self.names.setdefault(ref, f"v{len(self.names)}")

    def constant(self, value: np.ndarray, feed: bool = False) -> str:
        """The name of a constant, which is added only once; with ``feed`` it becomes an input."""
        key = ("fed" if feed else "constant", id(value))
        if key in self.names:
            return self.names[key]
        name = self.names[key] = f"c{len(self.names)}"
        self.constants[id(value)] = value  # kept alive, so that its identity is not reused
        dense = np.ascontiguousarray(value).reshape(value.shape)
        if feed:
            self.declare(name, TensorType.of(dense))
            self.fed[name] = dense
            return name
        tensor = self.proto.initializer.add(name=name, data_type=NUMBERS[TensorType.of(dense).dtype], dims=dense.shape)
        if dense.nbytes <= INLINE_BYTES:
            tensor.raw_data = dense.tobytes()
        else:
            tensor.data_location = onnx().TensorProto.EXTERNAL
            tensor.external_data.add(key="location", value=name)
            self.initializers[name] = dense
        return name

    def declare(self, name: str, type_: TensorType) -> None:
        """Add an input to the graph."""
        info = self.proto.input.add()
        info.name = name
        info.type.tensor_type.elem_type = NUMBERS[type_.dtype]
        info.type.tensor_type.shape.SetInParent()
        for size in type_.shape or ():
            dim = info.type.tensor_type.shape.dim.add()
            if size is not None:
                dim.dim_value = size


def graph_of(
    steps: Sequence[RegionStep], sets: Opsets, inputs: Mapping[Ref, TensorType], outputs: Sequence[Ref]
) -> RegionGraph:
    """The graph of a region."""
    graph = RegionGraph(onnx().GraphProto(name="region"), dict(sets)[""])
    for ref, type_ in inputs.items():
        graph.inputs.append(graph.name(ref))
        graph.declare(graph.inputs[-1], type_)
    for step in steps:
        _ADD[_kind(step)](graph, step)
    sums = {r for s in steps if _adds(s) for r in s.inputs}
    kept = [s.outputs[0] for s in steps if s.outputs[0] in sums and s.op == "onnx:Conv" and s.outputs[0] not in outputs]
    for ref in (*outputs, *kept):
        graph.outputs.append(graph.name(ref))
        graph.proto.output.add().name = graph.outputs[-1]
    return graph


def _ends_layout(op: str, type_: TensorType) -> bool:
    """Return whether a node must not be computed in blocks of channels, because the single node is not."""
    if op not in _LAYOUT_MATTERS:
        return False
    channels = (type_.shape or ())[1:2]
    return op == "BatchNormalization" or channels == () or channels[0] is None or channels[0] % _block() != 0


@functools.cache
def _block() -> int:
    """Number of channels in a block of that layout, 8 or 16, detected from the sums of a pooling with 8 channels."""
    plane = np.random.default_rng(0).standard_normal((1, 8, 13, 13)).astype(np.float32)
    node = onnx().NodeProto(op_type="GlobalAveragePool", input=["i0"], output=["o0"]).SerializeToString()
    type_ = TensorType.of(plane)
    alone = NodeSession(node, _NEWEST, ["i0"], [type_], [None]).run([plane])[0]
    unknown = TensorType(type_.dtype, (None,) * 4)  # no blocks of channels for an unknown shape
    return (
        16 if alone.tobytes() == NodeSession(node, _NEWEST, ["i0"], [unknown], [None]).run([plane])[0].tobytes() else 8
    )


def _adds(step: RegionStep) -> bool:
    """Return whether onnxruntime would fuse this addition into a convolution unless the result of the convolution is
    requested.
    """
    return step.op in ("add", "onnx:Add", "onnx:Sum") and step.takes[0].shape == step.takes[-1].shape


def _kind(step: RegionStep) -> str:
    if step.bound is None:
        return "ours"
    return "foreign" if isinstance(step.bound.joins, NodeSession) else "affine"


def _foreign(graph: RegionGraph, step: RegionStep) -> None:
    assert step.bound is not None
    session: NodeSession = step.bound.joins
    node = node_of(session.node)
    places = dict(zip(reversed(present(session.node)), reversed(range(len(step.inputs))), strict=True))
    plain_layout = session.level != EVERYTHING  # pass weights as inputs, so that their layout is kept
    for place, name in enumerate(node.input):
        if name:
            k = places[name]
            value = step.constants[k]
            node.input[place] = (
                graph.name(step.inputs[k]) if value is None else graph.constant(value, plain_layout and place == 1)
            )
    if _ends_layout(node.op_type, step.takes[0]):
        plain = f"{graph.name(step.outputs[0])}_plain"
        shape = np.array([-1 if d is None else d for d in step.takes[0].shape or ()], np.int64)
        fed = graph.constant(shape, feed=True)
        graph.proto.node.add(op_type="Reshape", input=[node.input[0], fed], output=[plain])
        node.input[0] = plain
    elif node.op_type == "GlobalAveragePool":  # computed in blocks as a single node, but not after nodes that are not
        rank = len(step.takes[0].shape or ()) - 2
        one = onnx().helper.make_node("AveragePool", [node.input[0]], [f"{graph.name(step.outputs[0])}_blocks"])
        one.attribute.append(onnx().helper.make_attribute("kernel_shape", [1] * rank))
        graph.proto.node.append(one)
        node.input[0] = one.output[0]
    given = iter(step.outputs)
    for place, name in enumerate(node.output):
        if name:
            node.output[place] = graph.name(next(given))
    graph.proto.node.append(node)


def _affine(graph: RegionGraph, step: RegionStep) -> None:
    assert step.bound is not None
    (scale, shift), out = step.bound.joins, graph.name(step.outputs[0])
    x = graph.name(step.inputs[step.bound.takes[0]])
    graph.proto.node.add(op_type="Mul", input=[x, graph.constant(scale)], output=[f"{out}_scaled"])
    graph.proto.node.add(op_type="Add", input=[f"{out}_scaled", graph.constant(shift)], output=[out])


def _ours(graph: RegionGraph, step: RegionStep) -> None:
    made = exact_node(step, graph.version)
    assert made is not None
    op, given, attrs = made
    names = []
    for operand in given:
        value = step.constants[operand] if isinstance(operand, int) else operand
        names.append(graph.constant(value) if value is not None else graph.name(step.inputs[operand]))
    outputs = [graph.name(r) for r in step.outputs]
    graph.proto.node.append(onnx().helper.make_node(op, names, outputs, **attrs))


_ADD: dict[str, Callable[[RegionGraph, RegionStep], None]] = {"foreign": _foreign, "affine": _affine, "ours": _ours}
