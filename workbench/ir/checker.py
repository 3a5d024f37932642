"""The rules that every graph obeys; each broken rule is one clear error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from workbench.errors import GraphError
from workbench.ir.node import Node, Ref
from workbench.ir.opspec import REGISTRY

#: maximum number of nodes; a larger graph is a hostile file or a mistake
MAX_NODES = 1_000_000


def check_nodes(nodes: Iterable[Node]) -> dict[str, Node]:
    """Unique, non-empty names and known ops; raises GraphError or UnknownOpError."""
    table: dict[str, Node] = {}
    for node in nodes:
        if not node.name:
            raise GraphError(f"A {node.op} node has no name.", slug="no-name", source=node.source)
        if node.name in table:
            raise GraphError(
                f"Two nodes are named {node.name!r}.",
                slug="duplicate-name",
                source=node.source,
                fix="rename one of them.",
            )
        try:
            REGISTRY.lookup(node.op, node.attrs)
        except GraphError as error:
            raise type(error)(
                error.message, slug=error.slug, node=node.name, source=node.source, fix=error.fix
            ) from None
        table[node.name] = node
        if len(table) > MAX_NODES:
            raise GraphError(f"The graph has more than {MAX_NODES:,} nodes.", slug="too-large")
    return table


def check_wiring(
    nodes: Mapping[str, Node], inputs: Mapping[str, Ref], outputs: Mapping[str, Ref], names: Mapping[str, Ref]
) -> None:
    """Check that every reference names a node, and that frame ops are wired by the rules of frames."""
    for node in nodes.values():
        for ref in node.inputs:
            if ref.node not in nodes or ref.index < 0:
                raise _missing(f"{node.op} {node.name!r} reads {str(ref)!r}", node)
        for source in node.control:
            if source not in nodes:
                raise _missing(f"{node.op} {node.name!r} waits for {source!r}", node)
        _check_frame_op(node, nodes)
    for kind, table in (("input", inputs), ("output", outputs), ("name", names)):
        for label, ref in table.items():
            if ref.node not in nodes or ref.index < 0:
                raise GraphError(
                    f"The {kind} {label!r} names {str(ref)!r}, which is not in the graph.", slug="no-such-node"
                )
    if not outputs:
        raise GraphError("The graph has no outputs.", slug="no-outputs", fix="name at least one value as output.")
    for label, ref in inputs.items():
        if nodes[ref.node].op != "Placeholder":
            raise GraphError(
                f"The input {label!r} is a {nodes[ref.node].op}, not a Placeholder.", slug="not-a-placeholder"
            )


def _check_frame_op(node: Node, nodes: Mapping[str, Node]) -> None:
    where: dict[str, Any] = {"node": node.name, "source": node.source}
    frame = node.attrs.get("frame_name")
    if node.op == "Enter" and not (isinstance(frame, str) and frame):
        raise GraphError(f"Enter {node.name!r} names no frame.", slug="no-frame-name", **where)
    if node.op == "Enter" and not isinstance(node.attrs.get("is_constant", False), bool):
        raise GraphError(f"Enter {node.name!r}: is_constant is not true or false.", slug="bad-attribute", **where)
    if node.op == "Placeholder":
        shape = node.attrs.get("shape")
        sizes = shape if isinstance(shape, tuple) else (shape,)
        if not all(d is None or type(d) is int and d >= 0 for d in sizes) or isinstance(shape, int):
            raise GraphError(f"Placeholder {node.name!r} has the shape {shape!r}.", slug="bad-attribute", **where)
        dims = node.attrs.get("dims", ())
        if dims and (type(dims) is not tuple or not all(d is None or isinstance(d, str) for d in dims)):
            raise GraphError(f"Placeholder {node.name!r} has the dims {dims!r}.", slug="bad-attribute", **where)
    if node.op == "Merge" and len(node.inputs) < 1:
        raise GraphError(f"Merge {node.name!r} has no inputs.", slug="wrong-arity", **where)
    early = [s for s in node.control if nodes[s].op == "NextIteration"]
    if early or node.op != "Merge":
        for source in (*early, *(r.node for r in node.inputs)):
            if nodes[source].op == "NextIteration":
                raise GraphError(
                    f"{node.op} {node.name!r} reads or waits for NextIteration {source!r}; only a Merge may read one.",
                    slug="next-iteration-not-merged",
                    node=node.name,
                    source=node.source,
                    fix="feed the NextIteration to the Merge of its loop variable.",
                )
    elif len(node.inputs) > 1 and all(nodes[r.node].op == "NextIteration" for r in node.inputs):
        raise GraphError(
            f"Merge {node.name!r} has no Enter: nothing could ever start it.",
            slug="frame-not-open",
            node=node.name,
            source=node.source,
        )


def _missing(what: str, node: Node) -> GraphError:
    return GraphError(f"{what}, which is not in the graph.", slug="no-such-node", node=node.name, source=node.source)
