"""Abstract evaluation of a slice: its formulas over one interval state, each value once, branches by predicate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from workbench.analysis.intervals.interval import Interval, box, hull, top, truth
from workbench.analysis.intervals.transfer import RULES, needs_size, reduced
from workbench.analysis.slicing import work
from workbench.ir.node import Node, Ref

if TYPE_CHECKING:
    from workbench.analysis.slicing.formulas import SliceProgram

Env = Mapping[str, "Interval | None"]
#: maximum depth of nested branches and choices that are evaluated under their own predicates
DEPTH = 6


class Overdue(Exception):
    """The evaluation of the formulas has exceeded its deadline."""


class Evaluation:
    """One evaluation for one state, with the results so far."""

    def __init__(self, program: SliceProgram, env: Env, pieces: int, depth: int = 0) -> None:
        self.program, self.env, self.pieces, self.depth = program, env, pieces, depth
        self.found: dict[Ref, Interval | None] = {}

    def at(self, ref: Ref) -> Interval | None:
        """Bounds of a value. The evaluation is iterative, because graphs may be deep."""
        todo = [ref]
        while todo:
            now = todo[-1]
            if now in self.found:
                todo.pop()
                continue
            missing = [r for r in self._needs(now) if r not in self.found]
            if missing:
                todo += missing
            else:
                self.found[now] = self._compute(now)
                todo.pop()
        return self.found[ref]

    def _stops(self, ref: Ref) -> bool:
        program, node = self.program, self.program.graph.nodes[ref.node]
        inside = program.graph.frame_of(ref.node) == program.frame
        if not inside or node.op in ("Const", "Enter", "Exit") or ref.node in program.merges:
            return True
        # variables that the loop carries but that are not in the slice may have any value
        return node.op == "Merge" and any(program.graph.nodes[r.node].op == "NextIteration" for r in node.inputs)

    def _needs(self, ref: Ref) -> list[Ref]:
        if self._stops(ref):
            return []
        node = self.program.graph.nodes[ref.node]
        if node.op == "Switch" and self.program.by_loop(node):
            return [node.inputs[0]]
        if node.op == "where":
            return [node.inputs[0]]
        return list(node.inputs)

    def _compute(self, ref: Ref) -> Interval | None:
        program = self.program
        work.charge(work.FORMULA + self.pieces * work.PIECE)
        if work.now() > program.deadline:
            raise Overdue
        node = program.graph.nodes[ref.node]
        if ref.node in program.merges:
            return self.env.get(program.merges[ref.node]) if ref.index == 0 else None
        if self._stops(ref):
            known = program.invariant(ref)
            return known if known is not None else self._any(ref)
        if node.op == "Switch":
            return self._branch(node, ref)
        if node.op == "Merge":
            return self._merge(node, ref)
        if node.op in ("Identity", "LoopCond"):
            return self.found[node.inputs[0]]
        if node.op == "where":
            return self._choice(node)
        if ref.index != 0 or len(node.types) != 1:
            return self._any(ref)
        boxes = [self.found[r] for r in node.inputs]
        dtype = node.types[0].dtype
        if needs_size(node.op) and boxes and boxes[0] is not None:
            out = reduced(boxes[0], node.op, program.count(node.inputs[0], ref), dtype)
        elif node.op == "to_bool" and boxes[0] is not None and program.graph.type_of(node.inputs[0]).shape == ():
            out = truth(boxes[0])
        elif node.op in RULES and not any(b is None for b in boxes):
            out = RULES[node.op]([b for b in boxes if b is not None], {**node.attrs, "_op": node.op}, dtype)
        else:
            out = None
        return out if out is not None else self._any(ref)

    def _any(self, ref: Ref) -> Interval | None:
        """The box of any value; dead only if an input certainly is."""
        node = self.program.graph.nodes[ref.node]
        dead = np.zeros(1, bool)
        if not self._stops(ref):
            for r in node.inputs:
                known = self.found.get(r)
                dead = dead if known is None else dead | known.dead
        return top(node.types[ref.index].dtype, dead)

    def _under(self, predicate: Ref, truth: bool) -> Evaluation:
        if self.depth >= DEPTH:
            return self
        env = self.program.assuming(self.env, predicate, truth)
        return self if env is self.env else Evaluation(self.program, env, self.pieces, self.depth + 1)

    def _branch(self, node: Node, ref: Ref) -> Interval | None:
        """One side of a Switch: dead in pieces whose predicate certainly selects the other side."""
        if self.program.by_loop(node):
            return self.found[node.inputs[0]]
        x, predicate = self.found[node.inputs[0]], self.found[node.inputs[1]]
        name = self.program.variable(node.inputs[0])
        if name is not None and x is not None:
            x = self._under(node.inputs[1], bool(ref.index)).env.get(name)
        if x is None:
            return None
        if predicate is None or predicate.dtype != "bool":
            return x
        gone = np.asarray(predicate.hi == 0 if ref.index else predicate.lo == 1, bool)
        return box(x.dtype, x.lo, x.hi, x.nan, x.dead | predicate.dead | gone)

    def _merge(self, node: Node, ref: Ref) -> Interval | None:
        if ref.index:
            return top("int32")
        out: Interval | None = None
        for r in node.inputs:
            x = self.found[r]
            x = None if x is None else self._controlled(r, x)
            if x is None or out is not None and out.dtype != x.dtype:
                return None
            out = x if out is None else hull(out, x)
        return out

    def _controlled(self, ref: Ref, x: Interval) -> Interval:
        """A constant on a branch, dead with the Identity of the Switch that controls it."""
        for name in self.program.graph.nodes[ref.node].control:
            waits = self.program.graph.nodes[name]
            if waits.op == "Identity" and self.program.graph.nodes[waits.inputs[0].node].op == "Switch":
                known = self.at(Ref(name))
                if known is not None and known.dead.any():
                    x = box(x.dtype, x.lo, x.hi, x.nan, x.dead | known.dead)
        return x

    def _choice(self, node: Node) -> Interval | None:
        """where(c, x, y): x assuming c and y assuming not c, if c is a scalar."""
        c, dtype = self.found[node.inputs[0]], node.types[0].dtype
        sides = []
        for r, side in ((node.inputs[1], True), (node.inputs[2], False)):
            single = self.program.graph.type_of(node.inputs[0]).shape == ()
            sides.append((self._under(node.inputs[0], side) if single else self).at(r))
        if c is None or any(s is None for s in sides):
            return top(dtype)
        return RULES["where"]([c, *(s for s in sides if s is not None)], {"_op": "where"}, dtype)
