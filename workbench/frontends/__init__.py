"""Importers: graphs of other systems become graphs of the workbench.

::

    file ── load ──┬── kind_of (sniff) ──► "onnx"         ─► onnx/       ─┐
                   │                       "graphdef"     ─► tf/         ─┼─► Graph.from_nodes
                   │                       "saved-model"  ─► tf/         ─┤
                   │                       "stablehlo"    ─► stablehlo/  ─┤
                   │                       "zip"          ─► pytorch/    ─┤
                   │                       "graph-text"   ─► parse       ─┘
    bytes, models ─┼── from_onnx, from_graphdef, from_saved_model, from_samediff
    functions ─────┴── from_jax, from_torch

    wire         the protobuf wire format, read with tables; nothing is trusted
    textproto    its text form, read with the same tables; texttokens: its tokens
    tf/          schema (the tables for GraphDef), graphdef and tensor_proto (bytes -> plain nodes, attributes, arrays),
                 rules/ (TensorFlow op -> workbench op), convert (plain nodes -> graph), saved_model, restore and
                 checkpoint/ (a SavedModel's graph and the values of its variables)
    flatbuffers/ the FlatBuffers format, read with tables; nothing is trusted
    samediff/    SameDiff graphs -> nodes of TensorFlow 1, which tf/ converts; containers/ (.sdnb and .sdz)
    onnx/        model -> scopes, table, control flow, foreign ops
    jax/         a traced function (jaxpr) -> calls, control flow, rules, foreign ops
    pytorch/     .pt2 archives -> calls, views and writes in place, control flow, rules, foreign ops
    stablehlo/   MLIR text, bytecode, jax.export blobs -> calls, control flow, the rules of jax/, foreign ops

Each of these functions imports its framework only when it is called; GraphDefs, SameDiff graphs and .pt2 archives need
no framework.
"""

from workbench.frontends.jax import from_jax
from workbench.frontends.load import load
from workbench.frontends.onnx import from_onnx
from workbench.frontends.pytorch import from_torch
from workbench.frontends.samediff.convert_flatgraph import from_samediff
from workbench.frontends.tf import from_graphdef, from_saved_model

__all__ = ["from_graphdef", "from_jax", "from_onnx", "from_samediff", "from_saved_model", "from_torch", "load"]
