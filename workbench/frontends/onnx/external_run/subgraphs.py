"""Divides a graph of a model into control flow, which the driver runs, and stretches of other nodes, which a library
runs.

A stretch becomes a separate model: the values that it reads are inputs, or initializers if they are initializers of the
model, and every value that it computes is an output. Inputs of other dtypes or ranks get a new model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from workbench.frontends.onnx.external_run.engines import Engine, Runner
from workbench.frontends.onnx.library import onnx
from workbench.frontends.onnx.reading.calls import opsets_of
from workbench.frontends.onnx.tensors import NUMBERS
from workbench.ir.types import dtype_name

#: ops whose graphs the driver runs; any other node with a graph is run as a whole by the library
CONTROL = ("Loop", "If", "Scan", "SequenceMap")


def is_driven(node: Any, opsets: Mapping[str, int]) -> bool:
    """True if the driver runs the graphs of a node, body by body."""
    return (
        node.domain in ("", "ai.onnx")
        and node.op_type in CONTROL
        and not (node.op_type == "Scan" and opsets.get("", 1) < 9)
    )


def read_by(node: Any) -> Iterator[str]:
    """Names that a node reads, also inside its graphs."""
    yield from (n for n in node.input if n)
    for attribute in node.attribute:
        for graph in (*([attribute.g] if attribute.HasField("g") else ()), *attribute.graphs):
            yield from free_names(graph)


def free_names(graph: Any) -> Iterator[str]:
    """Names that a graph takes from enclosing graphs."""
    own = {v.name for v in (*graph.input, *graph.initializer)} | {t.values.name for t in graph.sparse_initializer}
    for node in graph.node:
        yield from (n for n in read_by(node) if n not in own)
        own.update(node.output)
    yield from (o.name for o in graph.output if o.name not in own)


class LibrarySegment:
    """Consecutive nodes, run by a library."""

    def __init__(self, nodes: list[Any], opsets: Mapping[str, int], ir_version: int, engine: Engine) -> None:
        self.nodes, self.opsets, self.ir_version, self.engine = nodes, opsets, ir_version, engine
        self.makes = [o for n in nodes for o in n.output if o]
        made = set(self.makes)
        self.reads = [n for n in dict.fromkeys(name for node in nodes for name in read_by(node)) if n not in made]
        self._runners: dict[Any, tuple[list[str], Runner]] = {}

    def run(
        self, values: Mapping[str, Any], initializers: Mapping[str, Any], types: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Run the nodes on ``values``; ``initializers`` are TensorProtos for the other names that they read, ``types``
        the known types of lists and optional values.
        """
        kinds = tuple((n, *_kind(values[n])) for n in self.reads if n in values)
        if kinds not in self._runners:
            self._runners[kinds] = [k[0] for k in kinds], self._compiled(values, initializers, types)
        fed, runner = self._runners[kinds]
        return dict(zip(self.makes, runner({n: values[n] for n in fed}), strict=True))

    def _compiled(self, values: Mapping[str, Any], initializers: Mapping[str, Any], types: Mapping[str, Any]) -> Runner:
        graph = onnx().GraphProto(name="stretch")
        graph.node.extend(self.nodes)
        for name in self.reads:
            if name in values:
                graph.input.append(onnx().helper.make_value_info(name, type_proto(values[name], types.get(name))))
            elif name in initializers:
                tensor = initializers[name]
                (graph.sparse_initializer if hasattr(tensor, "indices") else graph.initializer).append(tensor)
        for name in self.makes:
            graph.output.add().name = name
        model = onnx().ModelProto(ir_version=self.ir_version, graph=graph)
        for domain, version in self.opsets.items():
            model.opset_import.add(domain=domain, version=version)
        return self.engine(model)


def _kind(value: Any) -> tuple[str, int]:
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.name, np.ndim(value)
    first = next(iter(value), None) if isinstance(value, list | tuple) else None
    return (f"list of {_kind(first)[0]}" if first is not None else type(value).__name__), -1


def type_proto(value: Any, declared: Any = None) -> Any:
    """The type of a value with only dtype and rank fixed; an empty list has the type ``declared``."""
    helper = onnx().helper
    if isinstance(value, np.ndarray | np.generic):
        number = NUMBERS[dtype_name(value.dtype)]
        return helper.make_tensor_type_proto(number, [None] * np.ndim(value))
    if isinstance(value, list | tuple):
        if not value and (known := _without_shapes(declared)) is not None:
            return known
        element = helper.make_tensor_type_proto(1, None) if not value else type_proto(value[0])
        if value and not isinstance(value[0], list | tuple):
            element.tensor_type.ClearField("shape")
        return helper.make_sequence_type_proto(element)
    if declared is not None and declared.WhichOneof("value") == "optional_type":
        return declared
    return helper.make_optional_type_proto(helper.make_tensor_type_proto(1, None))


def _without_shapes(declared: Any) -> Any:
    """The type of a list without the shapes of its elements, which may differ; None if none is declared."""
    if declared is not None and declared.WhichOneof("value") == "optional_type":
        declared = declared.optional_type.elem_type
    if declared is None or declared.WhichOneof("value") != "sequence_type":
        return None
    made = type(declared)()
    made.CopyFrom(declared)
    inner = made.sequence_type.elem_type
    while inner.WhichOneof("value") == "sequence_type":
        inner = inner.sequence_type.elem_type
    inner.tensor_type.ClearField("shape")
    return made if inner.tensor_type.elem_type else None


def parts_of(
    nodes: Iterable[Any], opsets: dict[str, int], ir_version: int, engine: Engine
) -> list[LibrarySegment | Any]:
    """The nodes of a graph as stretches, with the nodes of control flow unchanged between them."""
    found: list[LibrarySegment | Any] = []
    current: list[Any] = []
    meant: dict[str, int] = {}

    def close() -> None:
        if current:
            found.append(LibrarySegment(list(current), meant, ir_version, engine))
            current.clear()

    for node in nodes:
        own = opsets_of(node, opsets)
        if is_driven(node, own):
            close()
            found.append(node)
            continue
        if own != meant:  # a function may have been written for other versions
            close()
            meant = own
        current.append(node)
    close()
    return found
