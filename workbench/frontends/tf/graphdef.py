"""GraphDef bytes or text -> :class:`GraphDef`: nodes with their inputs and plain attributes. Needs no TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from workbench.errors import LoadError
from workbench.frontends.files import guarded
from workbench.frontends.tf.functions import FunctionDef, functions_of
from workbench.frontends.tf.message import read_message
from workbench.frontends.tf.schema import GRAPHDEF
from workbench.frontends.tf.tensor_proto import Budget, attr_of


class TensorName(NamedTuple):
    """An input of a NodeDef: ``node``, ``node:output`` or ``^node`` (control; output -1)."""

    node: str
    output: int

    @classmethod
    def parse(cls, text: str) -> TensorName:
        if text.startswith("^"):
            return cls(text[1:], -1)
        node, colon, index = text.rpartition(":")
        if colon and index.isascii() and index.isdigit() and len(index) < 7:
            return cls(node, int(index))
        return cls(text, 0)


@dataclass(frozen=True, slots=True)
class NodeDef:
    """One node as TensorFlow wrote it. ``inputs`` are data inputs, ``control`` node names.

    ``region`` names the loop, branch or call of a functional graph that the node was taken from.
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
    """Nodes in file order by name, and the functions of the library by name."""

    nodes: Mapping[str, NodeDef]
    functions: Mapping[str, FunctionDef] = field(default_factory=dict)
    producer: int = 0


def read_graphdef(data: bytes) -> GraphDef:
    """Read a GraphDef in binary or text form.

    Raises LoadError with slug ``empty``, ``truncated``, ``not-a-graphdef``, ``too-large``, or one that says what is
    wrong with a constant.
    """
    with guarded("The GraphDef"):
        return graph_of(read_message(data, GRAPHDEF, "GraphDef", "not-a-graphdef"))


def graph_of(message: Mapping[str, Any]) -> GraphDef:
    """The nodes of a GraphDef message as the readers give it."""
    if not message.get("node"):
        raise _not_a_graphdef("it holds no nodes.")
    budget = Budget()
    nodes: dict[str, NodeDef] = {}
    for raw in message["node"]:
        node = _node(raw, budget)
        if node.name in nodes:
            raise LoadError(f"Two nodes of the GraphDef are named {node.name!r}.", slug="duplicate-name")
        nodes[node.name] = node
    functions = functions_of(message.get("library", {}), budget)
    return GraphDef(nodes, functions, message.get("versions", {}).get("producer", 0))


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
