"""The immutable graph: types, nodes, frames, builder, checker, text form."""

from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.builder.value import Value
from workbench.ir.frames.frame_tree import Frame, LoopVariable
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref, Source, Tag
from workbench.ir.text import parse
from workbench.ir.types import TensorType

__all__ = [
    "Frame",
    "Graph",
    "GraphBuilder",
    "LoopVariable",
    "Node",
    "Ref",
    "Source",
    "Tag",
    "TensorType",
    "Value",
    "parse",
]
