"""``GraphEditor``: a mutable table of nodes, which are checked again when a graph is built from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.errors import SessionError
from workbench.ir.graph import Graph
from workbench.ir.node import FrozenAttrs, Node, Ref
from workbench.trace.aligned_columns import origin


class GraphEditor:
    """The nodes of a graph by name, for editing; :meth:`build` checks and types them again."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.nodes: dict[str, Node] = dict(graph.nodes)
        self.outputs = dict(graph.outputs)

    def build(self) -> Graph:
        """The edited graph; GraphError or a subclass if it breaks a rule."""
        return Graph.from_nodes(
            self.graph.name,
            self.nodes.values(),
            inputs=self.graph.inputs,
            outputs=self.outputs,
            names=self.graph.names,
            notes=self.graph.notes,
            flushes_subnormals=self.graph.flushes_subnormals,
        )

    def add(
        self,
        name: str,
        op: str,
        inputs: Sequence[Ref] = (),
        control: Sequence[str] = (),
        like: Node | None = None,
        **attrs: Any,
    ) -> Ref:
        """Add a node; its name is made unique, its source line and region are those of ``like``."""
        label, count = name, 0
        while label in self.nodes:
            count += 1
            label = f"{name}_{count}"
        self.nodes[label] = Node(
            label,
            op,
            tuple(inputs),
            tuple(control),
            FrozenAttrs(attrs),
            (),
            None if like is None else like.source,
            None if like is None else like.region,
        )
        return Ref(label)

    def rewire(self, node: str, position: int, ref: Ref) -> None:
        """Connect input ``position`` of a node to ``ref``."""
        old = self.nodes[node]
        self.nodes[node] = replace(old, inputs=(*old.inputs[:position], ref, *old.inputs[position + 1 :]))

    def change(self, node: str, **fields: Any) -> None:
        """Change fields of a node: ``op``, ``inputs``, ``attrs``."""
        self.nodes[node] = replace(self.nodes[node], **fields)

    def constant(self, name: str, value: Any, beside: Ref, like: Node | None = None) -> Ref:
        """Add a constant that fires whenever ``beside`` has a value."""
        node = self.nodes[beside.node]
        if node.op != "Switch":
            return self.add(name, "Const", control=[beside.node], like=like, value=np.asarray(value))
        # an output of a Switch may have no value when the node fires: wait for a node that only this output feeds
        pivot = self.add(f"{name}/here", "Identity", [beside], like=like)
        return self.add(name, "Const", control=[pivot.node], like=like, value=np.asarray(value))

    def replaced_source(self, ref: Ref, value: np.ndarray) -> Ref:
        """The value ``ref``, with the constant or input of which it is an alias replaced by ``value``.

        The nodes between (Enter, Switch, Identity) are copied, so that other readers keep the old value.
        """
        node = self.nodes[ref.node]
        if node.op == "Const":
            return self.add(f"{node.name}/fixed", "Const", control=node.control, like=node, value=value)
        if node.op == "Placeholder":
            return self.add(f"{node.name}/fixed", "Const", like=node, value=value)
        inner = self.replaced_source(node.inputs[0], value)
        made = self.add(
            f"{node.name}/fixed", node.op, [inner, *node.inputs[1:]], node.control, like=node, **dict(node.attrs)
        )
        return Ref(made.node, ref.index)


def source_of(graph: Graph, ref: Ref) -> Node | None:
    """The constant or input of which a value is an alias, or None for a computed value."""
    node = origin(graph, ref)
    return node if node.op in ("Const", "Placeholder") else None


def refuse(slug: str, why: str, fix: str, node: str | None = None) -> SessionError:
    """The error for a fix that cannot be applied."""
    return SessionError(f"The fix cannot be applied: {why}", slug=slug, node=node, fix=fix)
