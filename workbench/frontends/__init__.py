"""Front doors: graphs of other systems become graphs of ours.

::

    file ── load ──┬── kind_of (sniff) ──► "onnx"      ─► onnx/       ─┐
                   │                       "graphdef"  ─► tf/         ─┼─► Graph.from_nodes
                   │                       "graph-text"─► parse       ─┘
    bytes, models ─┴── from_onnx, from_graphdef

    wire         the protobuf format, read with tables and without trust
    tf/          schema (the tables for GraphDef), graphdef and tensor_proto (bytes -> plain nodes, attributes, arrays),
                 rules/ (TensorFlow op -> our op), convert (plain nodes -> graph)
    onnx/        model -> scopes, table, control flow, foreign ops

Each front door imports its framework only when it is used; GraphDefs need none.
"""

from workbench.frontends.load import load
from workbench.frontends.onnx import from_onnx
from workbench.frontends.tf import from_graphdef

__all__ = ["from_graphdef", "from_onnx", "load"]
