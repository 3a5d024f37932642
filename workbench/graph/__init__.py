"""The immutable graph: types, nodes, frames, builder, checker, text form."""

from workbench.graph.builder import GraphBuilder
from workbench.graph.frames import Frame, LoopVariable
from workbench.graph.graph import Graph
from workbench.graph.node import Node, Ref, Source, Tag
from workbench.graph.text import parse
from workbench.graph.types import TensorType
from workbench.graph.value import Value

__all__ = [
    "Frame", "Graph", "GraphBuilder", "LoopVariable", "Node", "Ref", "Source", "Tag", "TensorType", "Value", "parse",
]  # fmt: skip
