"""Which nodes are dead, given what the Switches decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property

from workbench.ir.graph import Graph
from workbench.ir.node import Ref

#: the control output of a node
CONTROL = -1
#: maximum answers kept: those of the whole graph now and before, and one for each closed box with a branch
KEPT = 16


class BranchSides:
    """Which nodes are dead, given what the Switches decided.

    Deadness spreads through every node except Merge, which is dead only if all its inputs are, and does not cross
    NextIteration; an Exit belongs to the side on which the loop ends.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._answers: dict[tuple[tuple[str, bool], ...], frozenset[str]] = {}

    @cached_property
    def _readers(self) -> dict[Ref, list[str]]:
        readers: dict[Ref, list[str]] = {}
        for node in self.graph.nodes.values():
            for ref in node.inputs:
                readers.setdefault(ref, []).append(node.name)
            for control in node.control:
                readers.setdefault(Ref(control, CONTROL), []).append(node.name)
        return readers

    @cached_property
    def _inlets(self) -> dict[str, int]:
        """The inputs of each Merge from the same iteration."""
        nodes = self.graph.nodes
        return {
            n.name: len({r for r in n.inputs if nodes[r.node].op != "NextIteration"})
            for n in nodes.values()
            if n.op == "Merge"
        }

    def dead(self, branches: Mapping[str, bool]) -> frozenset[str]:
        """The nodes that are dead if each Switch in ``branches`` took the given side."""
        key = tuple(branches.items())
        if key in self._answers:
            return self._answers[key]
        nodes, readers = self.graph.nodes, self._readers
        lost: set[str] = set()
        missing: Counter[str] = Counter()
        queue = [Ref(switch, 0 if taken else 1) for switch, taken in branches.items() if switch in nodes]
        seen = set(queue)
        while queue:
            ref = queue.pop()
            for name in readers.get(ref, ()):
                if name in lost:
                    continue
                node = nodes[name]
                if node.op == "Merge":
                    missing[name] += ref.index != CONTROL and nodes[ref.node].op != "NextIteration"
                    if missing[name] < self._inlets[name]:
                        continue
                lost.add(name)
                if node.op in ("NextIteration", "Exit"):
                    continue
                outs = [Ref(name, i) for i in range(CONTROL, max(1, len(node.types)))]
                fresh = [out for out in outs if out not in seen]
                seen.update(fresh)
                queue += fresh
        while len(self._answers) >= KEPT:
            del self._answers[next(iter(self._answers))]
        self._answers[key] = frozenset(lost)
        return self._answers[key]
