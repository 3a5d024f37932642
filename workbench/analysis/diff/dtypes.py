"""The same graph in another precision."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.frontends.onnx.foreign.widened import computes
from workbench.ir.graph import Graph
from workbench.ir.node import FRAME_OPS, FrozenAttrs, Node, Ref
from workbench.ir.types import ANY, TensorType, numpy_dtype

#: dtypes that are replaced by each other
FLOATS = ("float16", "bfloat16", "float32", "float64")


def in_dtype(graph: Graph, dtype: str) -> Graph:
    """Return a graph with all floats in another dtype: inputs, constants, and results of casts.

    Integers and booleans are not changed. An ONNX node that another library evaluates uses that library's kernel for
    the dtype, or float32 with casts around it.

    Parameters
    ----------
    graph : Graph
        The graph.
    dtype : {"float16", "bfloat16", "float32", "float64"}
        The dtype.

    Returns
    -------
    Graph

    Raises
    ------
    WorkbenchError
        For any other dtype (``bad-dtype``), and for foreign nodes whose types cannot be changed (``foreign-op``:
        conversions, random draws, TensorFlow nodes).
    GraphError
        If an op does not take the dtype.

    Examples
    --------
    >>> narrow = wb.in_dtype(graph, "float32")
    >>> print(narrow.type_of("x"))
    float32[]
    """
    if dtype not in FLOATS:
        raise WorkbenchError(
            f"with_dtype: expected one of {', '.join(FLOATS)}, got {dtype!r}.",
            slug="bad-dtype",
            fix='write in_dtype(graph, "float32").',
        )
    foreign = [n.name for n in graph.nodes.values() if ":" in n.op and not _has_kernels(n)]
    if foreign:
        raise WorkbenchError(
            f"{len(foreign)} nodes are evaluated by another library and keep their dtypes: "
            f"{', '.join(map(repr, foreign[:5]))}.",
            slug="foreign-op",
            fix="convert the model with its own tools, and compare the two with wb.diff.",
        )
    wide = {name for name in graph.nodes if _made_of_integers(graph, name, dtype)}
    narrow = {name: f"{name}/{dtype}" for name in wide}

    def moved(ref: Ref) -> Ref:
        return Ref(narrow[ref.node]) if ref.node in narrow else ref

    nodes: list[Node] = []
    for node in graph.nodes.values():
        nodes.append(replace(_retyped(node, dtype), inputs=tuple(map(moved, node.inputs))))
        if node.name in wide:
            cast = FrozenAttrs({"dtype": dtype})
            nodes.append(
                Node(narrow[node.name], "cast", (node.ref(),), attrs=cast, source=node.source, region=node.region)
            )
    return Graph.from_nodes(
        f"{graph.name} in {dtype}",
        nodes,
        inputs=graph.inputs,
        outputs={name: moved(ref) for name, ref in graph.outputs.items()},
        names=graph.names,
        notes=graph.notes,
        flushes_subnormals=graph.flushes_subnormals,
    )


def _has_kernels(node: Node) -> bool:
    """True if a foreign node has a kernel for another dtype."""
    found = node.attrs.get("node")
    return node.op.startswith("onnx:") and isinstance(found, bytes) and computes(found)


def _made_of_integers(graph: Graph, name: str, dtype: str) -> bool:
    """True for a float64 that an op computes from integers, whatever the dtype of other floats, as in ``i / 2``."""
    node = graph.nodes[name]
    if dtype == "float64" or len(node.types) != 1 or node.types[0].dtype != "float64" or not node.inputs:
        return False
    if node.op in FRAME_OPS or any(_value(v, "") != v for v in node.attrs.values() if isinstance(v, str)):
        return False
    return not any(graph.type_of(r).dtype in (*FLOATS, ANY) for r in node.inputs)


def _is_float(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.name in FLOATS


def _retyped(node: Node, dtype: str) -> Node:
    return replace(node, attrs=FrozenAttrs({k: _value(v, dtype) for k, v in node.attrs.items()}))


def _value(value: Any, dtype: str) -> Any:
    if _is_float(value):
        with np.errstate(over="ignore"):
            return value.astype(numpy_dtype(dtype))
    if isinstance(value, str):
        return dtype if value in FLOATS else value
    if isinstance(value, TensorType):
        return replace(value, dtype=dtype) if value.dtype in FLOATS else value
    if isinstance(value, tuple):
        return tuple(_value(v, dtype) for v in value)
    return value
