"""GraphDef bytes or text -> :class:`GraphDef`: nodes with their inputs and plain attributes, read without
TensorFlow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.errors import LoadError
from workbench.frontends.files import guarded
from workbench.frontends.tf.functions.function_library import FunctionDef, functions_of
from workbench.frontends.tf.initializers import initializers
from workbench.frontends.tf.message import read_message
from workbench.frontends.tf.pruning import needed_functions, needed_nodes
from workbench.frontends.tf.schema import GRAPHDEF
from workbench.frontends.tf.tensor_name import TensorName
from workbench.frontends.tf.tensor_proto import Budget, attr_of


@dataclass(frozen=True, slots=True)
class NodeDef:
    """One node as TensorFlow wrote it. ``inputs`` are data inputs, ``control`` node names.

    ``region`` names the loop, branch or call of a functional graph that the node comes from.
    """

    name: str
    op: str
    inputs: tuple[TensorName, ...]
    control: tuple[str, ...]
    attrs: Mapping[str, Any]
    device: str = ""
    region: str | None = None


@dataclass(frozen=True, slots=True)
class GraphDef:
    """Nodes in file order by name, and the functions of the library by name. ``fillers`` names the nodes that fill the
    tables of other nodes.
    """

    nodes: Mapping[str, NodeDef]
    functions: Mapping[str, FunctionDef] = field(default_factory=dict)
    producer: int = 0
    fillers: tuple[str, ...] = ()


def read_graphdef(data: bytes, wanted: Iterable[TensorName] | None = None) -> GraphDef:
    """Read a GraphDef in binary or text form; with ``wanted``, only the nodes and functions that these tensors depend
    on.

    Raises LoadError with slug ``empty``, ``truncated``, ``not-a-graphdef``, ``too-large``, or a slug for a defect of a
    constant.
    """
    with guarded("The GraphDef"):
        return graph_of(read_message(data, GRAPHDEF, "GraphDef", "not-a-graphdef"), wanted)


def graph_of(
    message: Mapping[str, Any], wanted: Iterable[TensorName] | None = None, starting: set[str] | None = None
) -> GraphDef:
    """The nodes of a parsed GraphDef message, or those that the tensors ``wanted`` depend on.

    ``starting`` names the nodes that run when the model is initialised, of which those that fill a needed table are
    kept; None if they are not known.
    """
    if not message.get("node"):
        raise _not_a_graphdef("it holds no nodes.")
    budget = Budget()
    nodes: dict[str, NodeDef] = {}
    library = message.get("library", {})
    ends = None if wanted is None else list(wanted)
    found = message["node"] if ends is None else needed_nodes(message["node"], ends)
    fillers = initializers(message["node"], found, starting)
    if fillers and ends is not None:
        found = needed_nodes(message["node"], [*ends, *(TensorName(name, 0) for name in fillers)])
    for raw in found:
        node = _node(raw, budget)
        if node.name in nodes:
            raise LoadError(f"Two nodes of the GraphDef are named {node.name!r}.", slug="duplicate-name")
        nodes[node.name] = node
    functions = functions_of(library if ends is None else needed_functions(library, found), budget)
    return GraphDef(nodes, functions, message.get("versions", {}).get("producer", 0), tuple(fillers))


__all__ = ["GraphDef", "NodeDef", "TensorName", "graph_of", "read_graphdef"]


def _node(raw: Mapping[str, Any], budget: Budget) -> NodeDef:
    name, op = raw.get("name", ""), raw.get("op", "")
    if not name or not op:
        raise _not_a_graphdef(f"a node has the name {name!r} and the op {op!r}.")
    inputs = [TensorName.parse(text) for text in raw.get("input", ())]
    what = f"{op} {name!r}"
    return NodeDef(
        name,
        op,
        tuple(i for i in inputs if i.output >= 0),
        tuple(i.node for i in inputs if i.output < 0),
        {e.get("key", ""): attr_of(e.get("value", {}), budget, what) for e in raw.get("attr", ())},
        raw.get("device", ""),
    )


def _not_a_graphdef(reason: str) -> LoadError:
    return LoadError(
        f"This is no GraphDef: {reason}",
        slug="not-a-graphdef",
        fix="give a frozen graph as TensorFlow's SerializeToString or text_format.MessageToString writes it.",
    )
