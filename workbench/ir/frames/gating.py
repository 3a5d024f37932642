"""Check that every NextIteration depends on the condition of its loop; otherwise the loop could never end.

A value is *gated* in an enclosing frame if a decision of that frame can make it dead, independently in each iteration.
A Switch gates its outputs, unless it decides by a loop invariant; readers of a gated value are gated, too; a Merge is
gated if all its inputs are. A NextIteration that is not gated in its own frame fires in every iteration, or whenever a
loop invariant has a certain value, and each firing starts another iteration.

If a LoopCond decides over a loop variable (as the predicate of a Switch on the variable's Merge), only decisions
related to a LoopCond of the frame gate the variable's NextIteration: the decision is a LoopCond, depends on one, or a
LoopCond depends on it. Otherwise the loop could continue after it has ended. A frame without a LoopCond has no
condition to evaluate; it runs unchanged, until an Exit fires a second time.

One pass over the nodes in order suffices. The frames in which a value is gated are bits, one for each frame of its
path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.errors import FrameError
from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.node import Node, Ref
from workbench.ir.opspec import REGISTRY

#: ops of bools that only combine their inputs
_LOGIC = ("Identity", "LoopCond", "Switch", "logical_and", "logical_not", "logical_or", "logical_xor")


def check_gating(nodes: Mapping[str, Node], order: tuple[str, ...], where: Mapping[str, FramePath]) -> None:
    """Raise FrameError with slug ``endless-next-iteration`` for a NextIteration that does not depend on its loop's
    condition.

    >>> check_gating(table, order_nodes(table), assign_frames(table, order_nodes(table)))
    """
    if any(node.op == "NextIteration" for node in nodes.values()):
        _Gating(nodes, order, where).check()


class _Gating:
    def __init__(self, nodes: Mapping[str, Node], order: tuple[str, ...], where: Mapping[str, FramePath]) -> None:
        self._nodes, self._order, self._where = nodes, order, where
        #: nodes whose value is the same in every iteration of their frame; and bools related to a LoopCond
        self._steady: set[str] = set()
        self._bound = self._made_of(n for n in order if nodes[n].op == "LoopCond")
        #: frames in which a node is gated: by any decision, and by one related to a LoopCond
        self._gated: dict[str, int] = {}
        self._tied: dict[str, int] = {}

    def check(self) -> None:
        conditional = {
            n.inputs[0].node
            for n in self._nodes.values()
            if n.op == "Switch" and self._nodes[n.inputs[1].node].op == "LoopCond"
        }
        merge_of = {
            r.node: n.name
            for n in self._nodes.values()
            if n.op == "Merge"
            for r in n.inputs
            if self._nodes[r.node].op == "NextIteration"
        }
        conditions = {self._where[n] for n in self._order if self._nodes[n].op == "LoopCond"}
        for name in self._order:
            node = self._nodes[name]
            if self._is_steady(node):
                self._steady.add(name)
            if node.op in _LOGIC and any(r.node in self._bound for r in node.inputs):
                self._bound.add(name)
            pred = node.inputs[1].node if node.op == "Switch" else ""
            self._gated[name] = self._bits(node, self._gated, pred not in self._steady)
            self._tied[name] = self._bits(node, self._tied, pred in self._bound)
            if node.op == "NextIteration" and self._where[name] in conditions:
                bits = self._tied if merge_of.get(name) in conditional else self._gated
                if not bits[name] >> len(self._where[name]) & 1:
                    raise self._endless(node)

    def _bits(self, node: Node, gated: Mapping[str, int], decides: bool) -> int:
        """The enclosing frames in which a node is gated; bit k means the first k names of its path."""
        depth = len(self._where[node.name])
        if node.op == "Merge":  # control inputs do not make it dead
            starts = [r.node for r in node.inputs if self._nodes[r.node].op != "NextIteration"]
            bits = -1
            for source in starts:
                bits &= gated[source]
            return bits & ~(1 << depth) if len(starts) < len(node.inputs) else bits
        bits = 0
        for ref in node.inputs:
            bits |= gated[ref.node]
        for source in node.control:
            bits |= gated[source]
        if node.op == "Switch" and decides:
            bits |= 1 << depth
        elif node.op == "Enter" and not node.attrs.get("is_constant"):
            bits |= 1 << depth  # alive only in the first iteration
        elif node.op == "Exit":
            bits &= (1 << depth) - 1
            if not self._leaves_at_the_end(node.inputs[0]):
                bits |= 1 << depth >> 1  # it may never exit
        return bits

    def _is_steady(self, node: Node) -> bool:
        if node.op == "Enter":
            return bool(node.attrs.get("is_constant"))
        if node.op in ("LoopCond", "Exit", "NextIteration"):  # the condition is a decision, whatever it depends on
            return False
        return all(r.node in self._steady for r in node.inputs) and REGISTRY.lookup(node.op, node.attrs).pure

    def _made_of(self, names: Iterable[str]) -> set[str]:
        """These bools, and those of which they are computed."""
        found: set[str] = set()
        stack = list(names)
        while stack:
            name = stack.pop()
            if name not in found:
                found.add(name)
                if self._nodes[name].op in _LOGIC:
                    stack.extend(r.node for r in self._nodes[name].inputs)
        return found

    def _leaves_at_the_end(self, ref: Ref) -> bool:
        """True if an Exit reads the side of a Switch on which a LoopCond ends the loop."""
        switch = self._nodes[ref.node]
        return switch.op == "Switch" and ref.index == 0 and self._nodes[switch.inputs[1].node].op == "LoopCond"

    def _endless(self, node: Node) -> FrameError:
        path = self._where[node.name]
        cond = next(n for n in self._order if self._nodes[n].op == "LoopCond" and self._where[n] == path)
        return FrameError(
            f"NextIteration {node.name!r} of frame {'/'.join(path)!r} does not depend on the condition of its loop, "
            f"LoopCond {cond!r}: it can fire again and again, whatever the condition is.",
            slug="endless-next-iteration",
            node=node.name,
            source=node.source,
            fix=f"take its value from output 1 of a Switch by {cond!r}, or give it a control edge from such a value.",
        )
