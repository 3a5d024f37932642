"""Front doors: graphs of other systems become graphs of ours.

::

    file ── load ──┬── kind_of (sniff) ──► "onnx"         ─► onnx/       ─┐
                   │                       "graphdef"     ─► tf/         ─┼─► Graph.from_nodes
                   │                       "saved-model"  ─► tf/         ─┤
                   │                       "graph-text"   ─► parse       ─┘
    bytes, models ─┴── from_onnx, from_graphdef, from_saved_model

    wire         the protobuf format, read with tables and without trust
    textproto    its text form, read with the same tables; texttokens: its tokens
    tf/          schema (the tables for GraphDef), graphdef and tensor_proto (bytes -> plain nodes, attributes, arrays),
                 rules/ (TensorFlow op -> our op), convert (plain nodes -> graph), saved_model, restore and checkpoint/
                 (a SavedModel's graph and the values of its variables)
    onnx/        model -> scopes, table, control flow, foreign ops

Each of these functions imports its framework only when it is used; GraphDefs need none.
"""

from workbench.frontends.load import load
from workbench.frontends.onnx import from_onnx
from workbench.frontends.tf import from_graphdef, from_saved_model

__all__ = ["from_graphdef", "from_onnx", "from_saved_model", "load"]
