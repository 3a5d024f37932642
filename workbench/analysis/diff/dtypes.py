"""The same graph in another precision, and how far its run is from the first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.analysis.diff.result import Diff
from workbench.analysis.diff.runs import diff
from workbench.errors import WorkbenchError
from workbench.execution import Run, prepare_feeds
from workbench.execution.direct import plan_for
from workbench.graph.graph import Graph
from workbench.graph.node import FrozenAttrs, Node
from workbench.graph.types import TensorType, numpy_dtype
from workbench.trace import Trace

#: dtypes that are exchanged for each other
FLOATS = ("float16", "bfloat16", "float32", "float64")
#: bytes that each of the two records may hold
MEMORY = 1 << 30
#: node executions of each run at most
MAX_EVENTS = 10_000_000


def in_dtype(graph: Graph, dtype: str) -> Graph:
    """The graph with every float of it in ``dtype``: inputs, constants, and what its casts make.

    Integers and booleans stay. Raises WorkbenchError (``bad-dtype``), ``foreign-op`` for nodes that another library
    evaluates, whose types cannot be changed, and GraphError where an op does not take the dtype.
    """
    if dtype not in FLOATS:
        raise WorkbenchError(
            f"A graph can be put into one of {', '.join(FLOATS)}, {dtype!r} came.", slug="bad-dtype",
            fix='write in_dtype(graph, "float32").',
        )  # fmt: skip
    foreign = [n.name for n in graph.nodes.values() if ":" in n.op]
    if foreign:
        raise WorkbenchError(
            f"{len(foreign)} nodes are evaluated by another library and keep their dtypes: "
            f"{', '.join(map(repr, foreign[:5]))}.", slug="foreign-op",
            fix="convert the model with its own tools, and compare the two with wb.diff.",
        )  # fmt: skip
    nodes = (_retyped(node, dtype) for node in graph.nodes.values())
    return Graph.from_nodes(
        f"{graph.name} in {dtype}", nodes, inputs=graph.inputs, outputs=graph.outputs, names=graph.names
    )


def diff_dtypes(
    graph: Graph, inputs: Mapping[str, Any] | None = None, dtype: str = "float32", *, memory: int = MEMORY,
    max_events: int = MAX_EVENTS, **tolerance: Any,
) -> Diff:  # fmt: skip
    """Run a graph as it is and in another precision, and compare the two; ``tolerance`` as for :func:`wb.diff`.

    The numbers of distance tell what the precision costs, value by value; with ``ulp=0`` only what is not the correctly
    rounded value differs. Loops that end by a tolerance may run through another number of iterations, or never end:
    each run goes on for ``max_events`` node executions at most, and a note says so.

    >>> print(wb.diff_dtypes(graph, {"a": 2.0}, "float32", rtol=1e-6))
    """
    other = in_dtype(graph, dtype)
    feeds = prepare_feeds(graph, inputs or {})
    narrow = {k: v.astype(numpy_dtype(dtype)) if _is_float(v) else v for k, v in feeds.items()}
    labels = ("as it is", dtype)
    traces = [_traced(g, f, memory, max_events) for g, f in ((graph, feeds), (other, narrow))]
    return diff(*traces, labels=labels, **tolerance)


def _traced(graph: Graph, feeds: Mapping[str, Any], memory: int, max_events: int) -> Trace:
    run = Run(plan_for(graph, dict(feeds), None), dict(feeds), memory)
    while run.event < max_events and run.go(max_events, exact=True) != "halt":
        pass
    return run.trace


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
