"""Faults of an export, planted into an ONNX model by the name of a value or an initializer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from onnx import helper, numpy_helper


def graphs(graph: Any) -> Iterator[Any]:
    """A graph and those inside of its loops and branches."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from graphs(attribute.g)


def node_of(model: Any, output: str) -> tuple[Any, Any]:
    """(graph, node) of the node that makes a value."""
    for graph in graphs(model.graph):
        for node in graph.node:
            if output in node.output:
                return graph, node
    raise KeyError(output)


def change(model: Any, name: str, to: Callable[[np.ndarray], Any]) -> None:
    """Replace the numbers of an initializer, or of a Constant."""
    for graph in graphs(model.graph):
        for tensor in graph.initializer:
            if tensor.name == name:
                old = numpy_helper.to_array(tensor)
                tensor.CopyFrom(numpy_helper.from_array(np.asarray(to(old)).astype(old.dtype), name))
                return
        for node in graph.node:
            if name in node.output and node.op_type == "Constant":
                old = numpy_helper.to_array(node.attribute[0].t)
                node.attribute[0].t.CopyFrom(numpy_helper.from_array(np.asarray(to(old)).astype(old.dtype)))
                return
    raise KeyError(name)


def own_constant(model: Any, output: str, place: int, to: Callable[[np.ndarray], Any]) -> None:
    """Give one node a constant of its own in place of the one that others read, too."""
    _, node = node_of(model, output)
    old = next(t for t in model.graph.initializer if t.name == node.input[place])
    value = numpy_helper.to_array(old)
    name = f"{node.input[place]}_of_{output}"
    model.graph.initializer.append(numpy_helper.from_array(np.asarray(to(value)).astype(value.dtype), name))
    node.input[place] = name


def set_attribute(model: Any, output: str, name: str, value: Any) -> None:
    _, node = node_of(model, output)
    kept = [a for a in node.attribute if a.name != name]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute(name, value)])


def set_op(model: Any, output: str, op: str) -> None:
    node_of(model, output)[1].op_type = op


def bypass(model: Any, output: str) -> None:
    """Leave a node out: its result is its first input. What was declared of values no longer holds then."""
    _, node = node_of(model, output)
    for graph in graphs(model.graph):
        del graph.value_info[:]
    node.op_type = "Identity"
    del node.input[1:], node.attribute[:]


def swap_inputs(model: Any, output: str) -> None:
    _, node = node_of(model, output)
    first, second = node.input[0], node.input[1]
    node.input[0], node.input[1] = second, first
