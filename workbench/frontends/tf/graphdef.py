"""GraphDef bytes -> :class:`GraphDef`: nodes with their inputs and plain attributes. Needs no TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from workbench.errors import LoadError
from workbench.frontends.sniff import is_text
from workbench.frontends.tf.schema import GRAPHDEF
from workbench.frontends.tf.tensor_proto import Budget, attr_of
from workbench.frontends.wire import Reader, WireError


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
    """One node as TensorFlow wrote it. ``inputs`` are data inputs, ``control`` node names."""

    name: str
    op: str
    inputs: tuple[TensorName, ...]
    control: tuple[str, ...]
    attrs: Mapping[str, Any]
    device: str = ""


@dataclass(frozen=True, slots=True)
class GraphDef:
    """Nodes in file order by name; ``functions`` are the names of the functions of the library."""

    nodes: Mapping[str, NodeDef]
    functions: tuple[str, ...] = ()
    producer: int = 0


def read_graphdef(data: bytes) -> GraphDef:
    """Read a binary GraphDef.

    Raises LoadError with slug ``empty``, ``truncated``, ``not-a-graphdef``, ``text-graphdef``, ``too-large``, or one
    that says what is wrong with a constant.
    """
    if not data:
        raise LoadError("The GraphDef has no bytes.", slug="empty", fix="write the file again; it is empty.")
    if is_text(data):
        raise _text_error(data)
    try:
        message = Reader(data, GRAPHDEF).message("GraphDef")
    except WireError as error:
        if error.slug == "truncated":
            raise LoadError(
                f"The GraphDef is cut off: {error.message}", slug="truncated", fix="fetch or write the file again."
            ) from error
        if error.slug == "too-large":
            raise
        raise _not_a_graphdef(error.message) from error
    if not message.get("node"):
        raise _not_a_graphdef("it holds no nodes.")
    budget = Budget()
    nodes: dict[str, NodeDef] = {}
    for raw in message["node"]:
        node = _node(raw, budget)
        if node.name in nodes:
            raise LoadError(f"Two nodes of the GraphDef are named {node.name!r}.", slug="duplicate-name")
        nodes[node.name] = node
    functions = message.get("library", {}).get("function", ())
    names = tuple(f.get("signature", {}).get("name", "") for f in functions)
    return GraphDef(nodes, names, message.get("versions", {}).get("producer", 0))


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
        f"This is no binary GraphDef: {reason}",
        slug="not-a-graphdef",
        fix="give a frozen graph as TensorFlow's SerializeToString writes it.",
    )


def _text_error(data: bytes) -> LoadError:
    if data.lstrip()[:200].startswith((b"node {", b"node{", b"library {", b"versions {")):
        return LoadError(
            "This is a GraphDef in text form (.pbtxt), which is not read yet.",
            slug="text-graphdef",
            fix="write it in binary form: open(path, 'wb').write(graph_def.SerializeToString()).",
        )
    return _not_a_graphdef("it is text.")
