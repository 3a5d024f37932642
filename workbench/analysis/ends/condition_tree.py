"""The condition of a loop as a tree of comparisons, with and, or, not, any, all, short circuits and flags resolved.

A tree is in negation normal form: only comparisons are negated. Comparisons from which a flag of the loop was computed
in the previous iteration are part of the tree, with ``lag`` 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis.comparisons import NAMES, NEGATED
from workbench.analysis.slicing.clauses import CONNECTIVES, REDUCTIONS, constant_truth, switches_behind
from workbench.analysis.slicing.dependencies import constant_step
from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.trace.aligned_columns import origin

#: flags that the conversion of Python functions creates, and the statement that each represents
STATEMENTS = {"break": "break", "returned": "return"}
#: tests of a number for NaN or infinity
CHECKS = frozenset(("isnan", "isfinite", "isinf"))
#: maximum number of nodes of one condition that are followed
MOST = 400


@dataclass(frozen=True)
class ConditionLeaf:
    """``left op right`` in iteration k - ``lag``; for arrays ``over`` is "and" if all items must hold, "or" if any.

    ``negated`` says that the condition holds if the comparison is false. For a truth value that is not a comparison,
    ``op`` is "==" and ``right`` a bool.
    """

    node: str
    left: Ref
    op: str
    right: Any
    negated: bool = False
    lag: int = 0
    over: str = ""


@dataclass(frozen=True)
class Flag:
    """A flag carried by the loop, which must not be set; ``statement`` is "break" or "return".

    ``taken`` is the tree of the condition that sets it, in the previous iteration.
    """

    statement: str
    ref: Ref
    taken: Tree | None


@dataclass(frozen=True)
class Join:
    """``parts`` joined by ``kind``, "and" or "or"; without parts, "and" is True and "or" False."""

    kind: str
    parts: tuple[Tree, ...]


Tree = ConditionLeaf | Flag | Join


class ConditionTree:
    """The tree of one loop's condition, its parts sorted by their purpose.

    Attributes
    ----------
    parts : tuple of Tree
        The comparisons that must all hold for the loop to continue.
    limits : tuple of ConditionLeaf
        The parts that compare a counter with a value that the loop does not change.
    flags : tuple of Flag
        Breaks and returns.
    goals : tuple of Tree
        The other parts that depend on a variable that the loop changes.
    """

    def __init__(self, graph: Graph, path: FramePath) -> None:
        self.graph, self.path = graph, path
        frame = graph.frames[path]
        self.variables = {v.merge: v for v in frame.variables}
        self._left = MOST
        cond = frame.loop_cond
        tree = self._tree(Ref(cond), True, 0, frozenset()) if cond is not None else Join("and", ())
        self.parts: tuple[Tree, ...] = tuple(_flat(tree))
        self.limits = tuple(p for p in self.parts if isinstance(p, ConditionLeaf) and self._is_limit(p))
        self.flags = tuple(p for p in self.parts if isinstance(p, Flag))
        rest = [p for p in self.parts if p not in self.limits and p not in self.flags]
        self.goals = tuple(p for p in rest if self._moves(p))

    # -- construction -----------------------------------------------------------------------------------------------
    def _tree(self, ref: Ref, want: bool, lag: int, seen: frozenset[tuple[Ref, bool]]) -> Tree:
        node = self.graph.nodes[ref.node]
        self._left -= 1
        if self._left < 0 or (ref, want) in seen:
            return ConditionLeaf(node.name, ref, "==", np.bool_(want), False, lag)
        seen = seen | {(ref, want)}
        kind = REDUCTIONS.get(node.op) or CONNECTIVES.get(node.op)
        if node.op in ("Identity", "LoopCond", "Switch") or node.op == "Enter" and node.attrs.get("is_constant"):
            return self._tree(node.inputs[0], want, lag, seen)
        if node.op in REDUCTIONS:
            return self._over(node, want, lag, seen)
        if kind == "not":
            return self._tree(node.inputs[0], not want, lag, seen)
        if kind is not None:
            return _join(kind if want else _OTHER[kind], [self._tree(r, want, lag, seen) for r in node.inputs])
        if node.op == "Const" and node.attrs["value"].size == 1:
            return Join("and" if bool(node.attrs["value"].reshape(-1)[0]) is want else "or", ())
        if node.name in self.variables:
            return self._variable(node, want, lag, seen)
        if node.op == "Merge" and len(node.inputs) == 2:
            return self._branch(node, want, lag, seen)
        if node.op in NAMES:
            left, right = node.inputs
            op = NAMES[node.op]
            return ConditionLeaf(node.name, left, op, right, not want, lag)
        return ConditionLeaf(node.name, ref, "==", np.bool_(want), False, lag)

    def _over(self, node: Node, want: bool, lag: int, seen: frozenset[tuple[Ref, bool]]) -> Tree:
        """The tree of ``any`` or ``all`` over a comparison of arrays."""
        kind = REDUCTIONS[node.op] if want else _OTHER[REDUCTIONS[node.op]]
        inner = self._tree(node.inputs[0], want, lag, seen)
        if isinstance(inner, ConditionLeaf) and not inner.over:
            return ConditionLeaf(inner.node, inner.left, inner.op, inner.right, inner.negated, inner.lag, kind)
        return ConditionLeaf(node.name, node.ref(), "==", np.bool_(want), False, lag)

    def _variable(self, node: Node, want: bool, lag: int, seen: frozenset[tuple[Ref, bool]]) -> Tree:
        """The tree of a flag that the loop carries: of its update in the previous iteration."""
        own = ConditionLeaf(node.name, node.ref(), "==", np.bool_(want), False, lag)
        variable = self.variables[node.name]
        update = self.graph.nodes[variable.next_iteration].inputs[0]
        statement = STATEMENTS.get(variable.name.split("/")[-1].rstrip("'0123456789_"))
        if lag:
            return own
        if statement is not None and not want:
            return Flag(statement, node.ref(), self._tree(update, True, 1, seen))
        if origin(self.graph, update).name == node.name:
            return own
        later = self._tree(update, want, 1, seen)
        if isinstance(later, Join) and not later.parts:  # it never changes, or is set in the first iteration
            return own if (later.kind == "and") is not want else later
        return later

    def _branch(self, node: Node, want: bool, lag: int, seen: frozenset[tuple[Ref, bool]]) -> Tree:
        """The tree of a short circuit: one side is a constant or the predicate itself, which makes it "and" or "or"."""
        for side, other in (node.inputs, node.inputs[::-1]):
            truth = constant_truth(self.graph, side)
            decided = None if truth is None else self._decider(side)
            if truth is None or decided is None:
                continue
            pred, taken = decided
            rest = self._tree(other, want, lag, seen)
            if truth is want:  # this side has the wanted truth: it holds if this side is taken or the other side has it
                return _join("or", [self._tree(pred, taken, lag, seen), rest])
            return _join("and", [self._tree(pred, not taken, lag, seen), rest])
        return ConditionLeaf(node.name, node.ref(), "==", np.bool_(want), False, lag)

    def _decider(self, ref: Ref) -> tuple[Ref, bool] | None:
        """(predicate, its truth) at the nearest Switch of a branch on which a value is computed."""
        for node, index in switches_behind(self.graph, ref, self.variables, self.path):
            if origin(self.graph, node.inputs[1]).op != "LoopCond":
                return node.inputs[1], bool(index)
        return None

    # -- the kinds of parts -----------------------------------------------------------------------------------------
    def _is_limit(self, leaf: ConditionLeaf) -> bool:
        """True if an integer that steps by a constant is compared with a value that the loop does not change."""
        if leaf.lag or leaf.over or not isinstance(leaf.right, Ref):
            return False
        for own, other, way in ((leaf.left, leaf.right, 1), (leaf.right, leaf.left, -1)):
            variable = self.variables.get(origin(self.graph, own).name)
            if variable is None or not self.graph.type_of(own).dtype.lstrip("u").startswith("int"):
                continue
            step = constant_step(self.graph, variable)
            if not step or self._reads(other):
                continue
            op = NEGATED[leaf.op] if leaf.negated else leaf.op
            up = {"<": 1, "<=": 1, ">": -1, ">=": -1, "!=": 0}.get(op)
            if up is not None and (up == 0 or up * way * step > 0):
                return True
        return False

    def _moves(self, tree: Tree) -> bool:
        """True if a part depends on a variable that the loop changes."""
        if isinstance(tree, Join):
            return any(map(self._moves, tree.parts))
        if isinstance(tree, Flag):
            return True
        return any(self._reads(r) for r in (tree.left, tree.right) if isinstance(r, Ref))

    def _reads(self, ref: Ref) -> bool:
        """True if a value depends on a variable that the body updates."""
        waiting, seen = [ref.node], {ref.node}
        while waiting:
            name = waiting.pop()
            if name in self.variables:
                if constant_step(self.graph, self.variables[name]) != 0.0:
                    return True
                continue
            node = self.graph.nodes[name]
            # only the data input of a Switch counts, not the predicate of the branch or the loop's condition
            sources = [r.node for r in (node.inputs[:1] if node.op == "Switch" else node.inputs)]
            for source in sources if self.graph.frame_of(name)[: len(self.path)] == self.path else ():
                if source not in seen:
                    seen.add(source)
                    waiting.append(source)
        return False


_OTHER = {"and": "or", "or": "and"}


def _join(kind: str, parts: list[Tree]) -> Tree:
    """Join parts by ``and`` or ``or``, flat and without the parts that cannot change the result."""
    found: list[Tree] = []
    for part in parts:
        if isinstance(part, Join) and not part.parts:
            if part.kind != kind:
                return part
            continue
        found += part.parts if isinstance(part, Join) and part.kind == kind else [part]
    found = list(dict.fromkeys(found))
    return found[0] if len(found) == 1 else Join(kind, tuple(found))


def _flat(tree: Tree) -> tuple[Tree, ...]:
    return tree.parts if isinstance(tree, Join) and tree.kind == "and" else (tree,)


def leaves(tree: Tree | None) -> list[ConditionLeaf]:
    """The comparisons of a tree, in order."""
    if tree is None:
        return []
    if isinstance(tree, ConditionLeaf):
        return [tree]
    if isinstance(tree, Flag):
        return leaves(tree.taken)
    return [leaf for part in tree.parts for leaf in leaves(part)]
