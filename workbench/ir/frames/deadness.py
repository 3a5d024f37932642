"""The decisions that a node of a frame graph needs to fire, and the triggers that fire independently of them.

A decision is (predicate, side). Switch adds one, Merge removes those in which its inputs differ, other nodes need the
decisions of all their inputs; the values of a loop's Merge and of an Enter are alive in every iteration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.node import Node, Ref

Needs = frozenset[tuple[Ref, bool]]
NONE: Needs = frozenset()
#: attribute of a NoOp that was a ControlTrigger
TRIGGER = "_trigger"


class Deadness:
    """Decisions of each node, within its frame."""

    def __init__(self, nodes: Mapping[str, Node], order: tuple[str, ...], where: Mapping[str, FramePath]) -> None:
        self.nodes, self.where = nodes, where
        self.needs: dict[str, Needs] = {}
        #: the decisions in the parent that a frame needs to start
        self.starts: dict[FramePath, Needs] = {}
        for name in order:
            self.needs[name] = self._of(nodes[name])

    def root(self, ref: Ref) -> Ref:
        """The value of which ``ref`` is an alias."""
        while self.nodes[ref.node].op in ("Identity", "LoopCond", "Switch"):
            ref = self.nodes[ref.node].inputs[0]
        return ref

    def of_value(self, ref: Ref) -> Needs:
        node = self.nodes[ref.node]
        if node.op == "Switch":
            return self.needs[node.name] | {(self.root(node.inputs[1]), bool(ref.index))}
        return self._after(node)

    def _after(self, node: Node) -> Needs:
        if node.op == "Enter":
            return NONE
        if node.op == "Exit":
            return self.starts.get(self.where[node.name], NONE)
        return self.needs.get(node.name, NONE)  # a value not visited yet arrives by a back edge

    def _of(self, node: Node) -> Needs:
        waits = frozenset().union(*(self._after(self.nodes[c]) for c in node.control)) if node.control else NONE
        if node.attrs.get(TRIGGER):
            return NONE
        if node.op == "Merge":
            if any(self.nodes[r.node].op == "NextIteration" for r in node.inputs):
                return NONE
            return frozenset.intersection(*(self.of_value(r) for r in node.inputs)) | waits
        needs = frozenset().union(waits, *(self.of_value(r) for r in node.inputs))
        if node.op == "Enter" and not node.attrs.get("is_constant"):
            self.starts.setdefault(self.where[node.name], needs)
        return needs

    def alive(self, name: str) -> list[str]:
        """Nodes of the same frame on which ``name`` depends and that fire whatever is decided."""
        found: dict[str, None] = {}
        stack, seen = [name], set()
        while stack:
            node = self.nodes[stack.pop()]
            if node.name in seen:
                continue
            seen.add(node.name)
            if not self._after(node):
                found[node.name] = None
            elif node.op == "Exit":
                frame = self.where[node.name]
                enters = (n for n in self.nodes.values() if n.op == "Enter" and self.where[n.name] == frame)
                stack.extend(r.node for e in enters for r in e.inputs)
            else:
                stack.extend((*(r.node for r in node.inputs), *node.control))
        return list(found)


def with_triggers(nodes: Mapping[str, Node], deadness: Deadness) -> dict[str, Node]:
    """The nodes, with every trigger waiting only for nodes that always fire: a trigger fires even if its control inputs
    are dead (https://www.tensorflow.org/api_docs/python/tf/raw_ops/ControlTrigger).
    """
    return {
        name: replace(node, control=tuple(dict.fromkeys(a for c in node.control for a in deadness.alive(c))))
        if node.attrs.get(TRIGGER)
        else node
        for name, node in nodes.items()
    }
