"""Comparisons that determine a condition at one iteration, through its tree of and, or, not, branches and flags."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.analysis.comparisons import NAMES, NEGATED
from workbench.analysis.root_cause.loop_dependencies import LoopDependencies
from workbench.analysis.slicing.clauses import CONNECTIVES, REDUCTIONS, constant_truth, switches_behind
from workbench.ir.node import Node, Ref
from workbench.trace.aligned_columns import AlignedColumns

#: maximum number of nodes followed through one condition
MAX_STEPS = 400


@dataclass(frozen=True)
class BlockingComparison:
    """``left op right`` holds but must be false for the loop to end (or the opposite, for a loop that ended).

    ``op`` is the comparison that holds; ``negated`` says that the graph has the opposite one. ``lag`` counts iterations
    back: 1 for the operands of a flag. ``flag`` names the flag variable on the way. ``right`` is a Ref or a constant.
    """

    node: str
    left: Ref
    op: str
    right: Any
    negated: bool = False
    lag: int = 0
    flag: str | None = None


def responsible(
    loop: LoopDependencies, columns: AlignedColumns, cond: Ref, want: bool, iteration: int
) -> list[BlockingComparison]:
    """The leaves that make ``cond`` equal to ``want`` at an iteration of the columns, in source order."""
    attribution = _Attribution(loop, columns, iteration)
    attribution.visit(cond, want, iteration, None, frozenset())
    return list(attribution.found)


@dataclass(slots=True)
class _Attribution:
    """State of one attribution. It is not a set of nested functions, because mutually recursive ones keep their
    closures alive until the garbage collector runs, and the columns hold the whole record of a run.
    """

    loop: LoopDependencies
    columns: AlignedColumns
    iteration: int
    found: dict[BlockingComparison, None] = field(default_factory=dict)
    steps: int = 0

    def visit(self, ref: Ref, want: bool, k: int, flag: str | None, seen: frozenset[Ref]) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS or ref in seen:
            return
        seen = seen | {ref}
        node = self.loop.graph.nodes[ref.node]
        kind = REDUCTIONS.get(node.op) or CONNECTIVES.get(node.op)
        if node.op in ("Identity", "LoopCond", "Switch", "NextIteration"):
            self.visit(node.inputs[0], want, k, flag, seen)
        elif node.op in REDUCTIONS:
            self.visit(node.inputs[0], want, k, flag, seen)
        elif kind == "not":
            self.visit(node.inputs[0], not want, k, flag, seen)
        elif kind in ("and", "or"):
            # a true "and" needs all its inputs, a false one only the false inputs; "or" is the dual
            whole = want == (kind == "and")
            values = [_truth(self.columns, r, k) for r in node.inputs]
            for r, value in zip(node.inputs, values, strict=True):
                if whole or value is None or value == want:
                    self.visit(r, want, k, flag, seen)
        elif node.name in self.loop.by_merge:
            self._flag(node, want, k, flag, seen)
        elif node.op == "Merge":
            self._branch(node, want, k, flag, seen)
        elif node.op == "Const":
            return
        else:
            self.leaf(node, ref, want, k, flag)

    def leaf(self, node: Node, ref: Ref, want: bool, k: int, flag: str | None) -> None:
        lag = self.iteration - k
        if node.op in NAMES:
            op = NAMES[node.op]
            left, right = node.inputs
            made = BlockingComparison(node.name, left, op if want else NEGATED[op], right, not want, lag, flag)
        elif node.op == "cast":
            made = BlockingComparison(node.name, node.inputs[0], "!=" if want else "==", 0, not want, lag, flag)
        else:
            made = BlockingComparison(node.name, ref, "==", np.bool_(want), False, lag, flag)
        self.found[made] = None

    def _flag(self, node: Node, want: bool, k: int, flag: str | None, seen: frozenset[Ref]) -> None:
        variable = self.loop.by_merge[node.name]
        before = len(self.found)
        if self.loop.updated(variable.name) and self.steps < MAX_STEPS:
            self.visit(self.loop.update(variable.name), want, k - 1, variable.name, seen)
        if len(self.found) == before:
            self.found[
                BlockingComparison(node.name, node.ref(), "==", np.bool_(want), False, self.iteration - k, flag)
            ] = None

    def _branch(self, node: Node, want: bool, k: int, flag: str | None, seen: frozenset[Ref]) -> None:
        alive = [r for r in node.inputs if _present(self.columns, r, k)]
        for ref in alive[:1]:
            self.visit(ref, want, k, flag, seen)
        for other in node.inputs:
            if alive and other not in alive[:1] and constant_truth(self.loop.graph, other) != want:
                decided = decider(self.loop, self.columns, other, k)
                if decided is not None:
                    self.visit(decided[0], decided[1], k, flag, seen)


def _present(columns: AlignedColumns, ref: Ref, k: int) -> bool:
    node = columns.trace.graph.nodes[ref.node]
    if node.op == "Const" and not node.control:
        return True
    return k in columns.latest(ref)


def _truth(columns: AlignedColumns, ref: Ref, k: int) -> bool | None:
    value = columns.latest(ref).get(k)
    if value is None or np.size(value) != 1:
        return None
    return bool(np.asarray(value).reshape(-1)[0])


def decider(loop: LoopDependencies, columns: AlignedColumns, dead: Ref, k: int) -> tuple[Ref, bool] | None:
    """(predicate, its truth) of the nearest Switch because of which ``dead`` has no value at this iteration."""
    for node, index in switches_behind(loop.graph, dead, loop.by_merge):
        truth = _truth(columns, node.inputs[1], k)
        if truth is not None and truth != bool(index):
            return node.inputs[1], truth
    return None
