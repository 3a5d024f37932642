"""Dependencies inside one loop, from the graph alone: variables that a value depends on, chains of updates, factors."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import cached_property

from workbench.analysis.verdict import ChainLink
from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.trace.aligned_columns import origin

#: maximum number of named nodes in a chain
MAX_CHAIN = 64


class LoopDependencies:
    """The variables of one frame, and the paths between them in one iteration."""

    def __init__(self, graph: Graph, path: FramePath) -> None:
        self.graph, self.path = graph, path
        self.variables = {v.name: v for v in graph.frames[path].variables}
        self.by_merge = {v.merge: v for v in self.variables.values()}
        self._walks: dict[tuple[str, bool], tuple[str, ...]] = {}

    @cached_property
    def _inside(self) -> frozenset[str]:
        """The nodes of this loop and of the loops inside it."""
        frames = self.graph.frames.items()
        return frozenset().union(*(f.nodes for p, f in frames if p[: len(self.path)] == self.path))

    @cached_property
    def _decides(self) -> bool:
        """True if this loop contains decisions: a Switch with the predicate of a branch, or a control edge."""
        inside = map(self.graph.nodes.__getitem__, self._inside)
        return any(
            n.op == "Switch" and self._is_decided(n) or n.control and not all(map(self._says_here, n.control))
            for n in inside
        )

    def _is_decided(self, switch: Node) -> bool:
        return self.graph.nodes[switch.inputs[1].node].op != "LoopCond"

    def reads(self, ref: Ref, decisions: bool = False) -> list[str]:
        """Variables that a value depends on in one iteration, nearest first; ``decisions``: also by predicates."""
        behind = self._behind(ref.node, decisions)
        return list(dict.fromkeys([self.by_merge[n].name for n in behind if n in self.by_merge]))

    def _behind(self, name: str, decisions: bool) -> tuple[str, ...]:
        """All nodes that one depends on, cached because the few values of a condition are looked up many times."""
        key = name, decisions and self._decides
        if key not in self._walks:
            self._walks[key] = tuple(self._back([name], key[1]))
        return self._walks[key]

    def _back(self, start: Iterable[str], decisions: bool = True) -> Iterable[str]:
        """Nodes that ``start`` depends on, nearest first, up to this loop's Merges and the values of outer frames."""
        waiting, seen, inside = deque(start), set(start), self._inside
        nodes, reads = self.graph.nodes, self.graph.reads
        while waiting:
            name = waiting.popleft()
            yield name
            if name in self.by_merge:
                continue
            node = nodes[name]
            sources = reads[name]
            if node.op == "Switch" and not (decisions and self._is_decided(node)):
                sources = sources[:1]
            if decisions and node.control:
                sources += tuple([c for c in node.control if not self._says_here(c)])
            for source in sources:
                if source not in seen and source in inside:
                    seen.add(source)
                    waiting.append(source)

    def _says_here(self, name: str) -> bool:
        """True if a control edge from a node only means "in this loop": from a Merge, or an Identity of its Switch."""
        node = self.graph.nodes[name]
        if name in self.by_merge:
            return True
        if node.op != "Identity":
            return False
        switch = self.graph.nodes[node.inputs[0].node]
        return switch.op == "Switch" and self.graph.nodes[switch.inputs[1].node].op == "LoopCond"

    def always(self, ref: Ref) -> bool:
        """True if a value is computed in every iteration: no node that it depends on in the loop is on a branch."""
        return all(
            self.graph.nodes[n].op != "Switch" and self.graph.frame_of(n) == self.path
            for n in self._back([ref.node])
            if n not in self.by_merge
        )

    def direct(self, ref: Ref) -> str | None:
        """The variable that a value is an alias of; None for other values."""
        node = origin(self.graph, ref)
        found = self.by_merge.get(node.name)
        return None if found is None or ref.index and node.name == ref.node else found.name

    def update(self, name: str) -> Ref:
        """The value that a variable has in the next iteration."""
        return self.graph.nodes[self.variables[name].next_iteration].inputs[0]

    def updated(self, name: str) -> bool:
        """True if the body assigns a variable a value other than itself."""
        return self.direct(self.update(name)) != name

    def closure(self, names: Iterable[str]) -> list[str]:
        """The variables, and all those on which they depend, by value or decision, over any number of iterations."""
        waiting, found = list(names), dict[str, None]()
        while waiting:
            name = waiting.pop()
            if name not in found:
                found[name] = None
                waiting.extend(self.reads(self.update(name), True))
        return list(found)

    def nodes_behind(self, ref: Ref) -> list[Node]:
        """Nodes of one iteration from which a value is computed, nearest first, without decisions."""
        return [self.graph.nodes[n] for n in self._back([ref.node], False) if n not in self.by_merge]

    def copies(self, name: str) -> bool:
        """True if the update of a variable only copies another variable."""
        other = self.direct(self.update(name))
        return other is not None and other != name

    def recursive(self, name: str) -> bool:
        """True if the next value of a variable is computed from its current one."""
        return self.updated(name) and name in self.reads(self.update(name))

    def chain(self, name: str) -> list[ChainLink]:
        """Nodes on the path from the Merge of a variable to its NextIteration, in order; if the new value does not
        depend on the old one, all nodes from which it is computed.
        """
        variable = self.variables[name]
        behind = {variable.next_iteration, *self._behind(self.update(name).node, False)}
        inside = {variable.merge}
        order = [n for n in self.graph.nodes if n in behind]
        for node in order:
            if node not in self.by_merge and not inside.isdisjoint(self.graph.reads[node]):
                inside.add(node)
        kept = [n for n in order if n in inside] if variable.next_iteration in inside else order
        nodes = [n for n in kept if self.graph.nodes[n].op != "Const" and n != variable.merge]
        ends = [variable.merge, *nodes]
        if len(ends) > MAX_CHAIN:
            ends = [*ends[: MAX_CHAIN - 1], variable.next_iteration]
        return [ChainLink(n, self.graph.nodes[n].op, self.graph.nodes[n].source) for n in ends]

    def increment(self, name: str) -> tuple[Node, Ref] | None:
        """(add or subtract node, its other operand) if the next value is the variable plus or minus an operand."""
        for start in self._alternatives(self.update(name)):
            node = self.graph.nodes[start.node]
            if node.op not in ("add", "subtract") or len(node.inputs) != 2:
                continue
            one, two = node.inputs
            if self.direct(one) == name:
                return node, two
            if node.op == "add" and self.direct(two) == name:
                return node, one
        return None

    def _alternatives(self, ref: Ref) -> list[Ref]:
        """The value itself, or the inputs of the branches' Merge that yields it."""
        waiting, found = [ref], list[Ref]()
        while waiting and len(found) < 32:
            at = waiting.pop(0)
            node = self.graph.nodes[at.node]
            if node.op in ("Identity", "Switch") or node.op == "cast":
                waiting.append(node.inputs[0])
            elif node.op == "Merge" and node.name not in self.by_merge:
                waiting.extend(node.inputs)
            else:
                found.append(at)
        return found

    def factor(self, name: str, steps: int = 2) -> Node | None:
        """The constant or input by which the step of a variable is multiplied, such as a learning rate.

        Only steps that depend on the variable count: x - lr * gradient(x), but not i + 2 * k.
        """
        found = self.increment(name)
        if found is None:
            return None
        other = found[1]
        behind = self.direct(other)
        if behind is not None and behind != name and steps > 0:  # momentum: the step is a separate variable
            return self._velocity(behind)
        if name not in self.reads(other):
            return None
        return self._multiplier(other)

    def _velocity(self, name: str) -> Node | None:
        """The factor of the new term in v = m * v - lr * g."""
        for start in self._alternatives(self.update(name)):
            node = self.graph.nodes[start.node]
            if node.op in ("add", "subtract"):
                terms = [r for r in node.inputs if name not in self.reads(r)]
                if terms:
                    return self._multiplier(terms[0])
        return None

    def _multiplier(self, ref: Ref) -> Node | None:
        """The nearest scalar that is the same in every iteration, among the factors of a product."""
        waiting, constants = [ref], []
        terms = True  # sums are searched only up to the first product: x - (m * d + lr * g), not x - f(x) / f'(x)
        while waiting:
            at = waiting.pop(0)
            node = self.graph.nodes[at.node]
            source = origin(self.graph, at)
            if source.op in ("Const", "Placeholder"):
                if source.types[0].shape in ((), None):
                    constants.append(source)
            elif node.op in ("Identity", "Switch", "negative"):
                waiting.append(node.inputs[0])
            elif node.op in ("add", "subtract") and terms:
                waiting.extend(r for r in node.inputs if origin(self.graph, r).op not in ("Const", "Placeholder"))
            elif node.op == "multiply":
                terms = False
                waiting.extend(node.inputs)
            elif node.op == "divide":
                terms = False
                waiting.append(node.inputs[0])
        named = [n for n in constants if n.op == "Placeholder"]
        return next(iter(named or constants), None)


def blocking_order(loop: LoopDependencies, names: list[str]) -> list[str]:
    """The variables behind one operand in order: recursive ones first, then those computed from others, copies, and
    last those that are never updated.
    """

    def rank(name: str) -> int:
        if not loop.updated(name):
            return 3
        return 2 if loop.copies(name) else 0 if loop.recursive(name) else 1

    return sorted(names, key=rank)
