"""Search along the update of a variable that keeps its value for the node at which the change is lost.

::

    variable <- NextIteration <- Merge of a branch     the old value is passed through: a guard
                              <- where(c, new, old)    the same, for a mask
                              <- x + d == x, d != 0    rounding
                              <- x + 0, x * 1          neutral, with the reason for the 0
                              <- min(x + 1, bound)     saturation
                              <- int(x + 0.3)          truncation
                              <- another variable      the same search for that variable
                              <- anything else         a fixed point of the update

Every step follows a firing of the last iteration that ran; the claims are then checked in all iterations of the period.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.analysis.claims import lost
from workbench.analysis.claims.claim import Claim, checked
from workbench.analysis.claims.recompute import item_of, line_of, same
from workbench.analysis.comparisons import NAMES
from workbench.analysis.root_cause.attribution import BlockingComparison, decider, responsible
from workbench.analysis.root_cause.expressions import expression, turned
from workbench.analysis.root_cause.firings import Firings
from workbench.analysis.root_cause.source_text import nan_compared, node_text, predicate_text, source_parts
from workbench.ir.node import Node, Ref
from workbench.trace.aligned_columns import origin

#: maximum depth of nested guards, and maximum number of nodes of one search
DEEPEST, MOST_NODES = 3, 64
TRUNCATING = frozenset("cast floor ceil trunc round rint floor_divide".split())
BOUNDING = frozenset("minimum maximum fmin fmax clip".split())
#: kinds of claims, most specific first: for several variables behind an operand, the first of these is stated
TELLING = (
    "absorbed",
    "neutral",
    "zero",
    "truncated",
    "saturated",
    "nan",
    "guard",
    "flag-guard",
    "fixed-point",
    "not-updated",
)


class LostValue:
    """One search; ``closed`` says that the window is a whole period of all variables behind the value."""

    def __init__(self, firings: Firings, closed: bool, item: tuple[int, ...] | None = None) -> None:
        self.firings, self.loop, self.graph = firings, firings.loop, firings.graph
        self.closed, self.item = closed, item
        self.its = firings.window
        self.k = self.its[-1]
        self._seen: set[str] = set()
        self._steps = 0

    def of_variables(self, names: Sequence[str], depth: int = 0) -> list[Claim]:
        """The claims about the resting variable whose update has the most specific one."""
        found = [claims for name in names if (claims := self.of_variable(name, depth))]
        updated = [c for c in found if c[0].kind != "not-updated"] or found
        return min(updated, key=lambda claims: TELLING.index(claims[0].kind), default=[])

    def of_variable(self, name: str, depth: int = 0) -> list[Claim]:
        if name in self._seen or depth > DEEPEST:
            return []
        self._seen.add(name)
        if not self.loop.updated(name):
            return checked([lost.NotUpdated(variable=name, evidence=self.firings)])
        before = self.item
        try:
            whole = np.ndim(self.firings.value(self.firings.merge(name), self.k))
            if self.item is None or len(self.item) != whole:
                self.item = (0,) * whole if whole else None  # any item represents the others, which rest as well
            carrier = self._value(self.firings.merge(name))
            return self.still(self.loop.update(name), name, carrier, depth) or self._at_fixed_point(name, depth)
        except (KeyError, IndexError, ValueError, TypeError):
            return self._at_fixed_point(name, depth)
        finally:
            self.item = before

    def _at_fixed_point(self, name: str, depth: int) -> list[Claim]:
        """Claims that the update yields the same value again, and why other variables that it reads rest."""
        found = checked([self._fixed_point(name)])
        if found:
            reads = [n for n in self.loop.reads(self.loop.update(name)) if n != name]
            behind = [n for n in reads if self.loop.updated(n) and self._rests(n)]
            found += self.of_variables(behind, depth + 1)
        return found

    def _fixed_point(self, name: str) -> Claim:
        update = self.loop.update(name)
        value = self._value(self.firings.merge(name))
        facts: dict[str, Any] = {"variable": name, "text": expression(self.loop, update), **self._span}
        if np.ndim(value) == 0:
            facts |= {"value": value, "item": self.item}
        facts |= {"line": line_of(origin(self.graph, update).source), "recursive": self.loop.recursive(name)}
        return lost.FixedPoint(**{"value": None, **facts}, evidence=self.firings)

    @property
    def _span(self) -> dict[str, Any]:
        return {"first": self.its[0], "last": self.k}

    def _value(self, ref: Any) -> Any:
        return item_of(self.firings.value(ref, self.k), self.item)

    def still(self, ref: Ref, name: str, carrier: Any, depth: int) -> list[Claim]:
        """Claims why a value that the update of ``name`` uses is the old one."""
        self._steps += 1
        if self._steps > MOST_NODES:
            return []
        node = self.graph.nodes[ref.node]
        if node.name in self.loop.by_merge:
            other = self.loop.by_merge[node.name].name
            return [] if other == name else self.of_variable(other, depth)
        if node.op in ("Identity", "Switch", "NextIteration"):
            return self.still(node.inputs[0], name, carrier, depth)
        if self.graph.frame_of(node.name) != self.loop.path:
            return []
        if node.op == "Merge":
            return self._branch(node, name, carrier, depth)
        if node.op == "where":
            return self._where(node, name, carrier, depth)
        if len(node.inputs) in (1, 2, 3) and node.op in (*TRUNCATING, *BOUNDING, *ARITHMETIC):
            return self._arithmetic(node, name, carrier, depth)
        return []

    def of_value(self, refs: Sequence[Any], names: Sequence[str]) -> list[Claim]:
        """Claims why a value rests that is computed, in one iteration, from variables that move."""
        for ref in refs:
            for name in names:
                if isinstance(ref, Ref) and self.loop.direct(ref) is None:
                    try:
                        found = self.still(ref, name, self._value(ref), 0)
                    except (KeyError, IndexError, ValueError, TypeError):
                        found = []
                    if found:
                        return found
        return []

    # -- guards ------------------------------------------------------------------------------------------------
    def _branch(self, node: Node, name: str, carrier: Any, depth: int) -> list[Claim]:
        alive = [r for r in node.inputs if self.firings.has(r, self.k)]
        if not alive:
            return []
        if not self._hands_on(alive[0], name):
            return self.still(alive[0], name, carrier, depth)
        return self._not_taken(node, alive, name, depth)

    def _not_taken(self, node: Node, alive: list[Ref], name: str, depth: int) -> list[Claim]:
        """Claims about the guard because of which the other side of a branch is not taken."""
        columns, offset = self._columns()
        for dead in node.inputs:
            found = None if dead in alive else decider(self.loop, columns, dead, self.k - offset)
            if found is not None:
                return self._guard(found[0], found[1], name, origin(self.graph, dead), depth)
        return []

    def _where(self, node: Node, name: str, carrier: Any, depth: int) -> list[Claim]:
        mask, new, old = node.inputs
        truth = bool(np.all(self._value(mask)))
        if not truth and bool(np.any(self._value(mask))):
            return []
        chosen, other = (new, old) if truth else (old, new)
        same_anyway = same(self._value(chosen), self._value(other))
        if self._hands_on(chosen, name) and not same_anyway:
            return self._guard(mask, truth, name, self._line_node(node, other), depth)
        if not self._reads(chosen, name) and self._reads(other, name) and not same_anyway:
            bound, offered = self._value(chosen), self._value(other)
            return checked([lost.Saturated(**self._common(node, name), bound=bound, offered=offered)])
        return self.still(chosen, name, carrier, depth)

    def _line_node(self, node: Node, ref: Ref) -> Node:
        source = origin(self.graph, ref)
        return node if source.op in ("Const", "Placeholder") else source

    def _hands_on(self, ref: Ref, name: str) -> bool:
        return self.loop.direct(ref) == name

    def _columns(self) -> tuple[Any, int]:
        found = self.firings.found
        columns = found.late or found.early or found.record
        return columns, found.base_of(columns)

    def _guard(self, predicate: Ref, truth: bool, name: str, update: Node, depth: int) -> list[Claim]:
        columns, offset = self._columns()
        at = self.k - offset
        leaves = responsible(self.loop, columns, predicate, truth, at)
        for leaf in leaves:
            if self.graph.nodes[leaf.node].op not in NAMES or leaf.lag or not isinstance(leaf.right, Ref):
                continue
            claims = self._compared(leaf, name, update, depth)
            if claims:
                return claims
        flag = self.graph.nodes[leaves[0].node if leaves else predicate.node]
        text = expression(self.loop, leaves[0].left if leaves else predicate)
        return checked([lost.BranchGuard(ref=predicate, **self._guarded(name, text, flag, update, truth))])

    def _guarded(self, name: str, text: str, node: Node, update: Node, truth: bool) -> dict[str, Any]:
        """The fields of every guard: the variable, the predicate with its truth, both lines, and the iterations."""
        lines = {"line": line_of(node.source), "update_line": line_of(update.source)}
        facts = {"variable": name, "predicate": text, "holds": truth, "closed": self.closed, "evidence": self.firings}
        return {**facts, **lines, **self._span}

    def _compared(self, leaf: BlockingComparison, name: str, update: Node, depth: int) -> list[Claim]:
        node = self.graph.nodes[leaf.node]
        # as in the source, with the truth that it has there
        op, truth = turned(leaf.op, False, leaf.negated), not leaf.negated
        item = self.item
        left, right = (item_of(v, item) for v in self.firings.operands(node.name, self.k))
        if np.ndim(left) or np.ndim(right):
            return []
        text = predicate_text(self.firings, node, op)
        facts = {"node": node.name, "op": op, "left": left, "right": right, "item": item}
        since = self.firings.since(node.name, op, truth, item)
        claims = checked([lost.Guard(**facts, since=since, **self._guarded(name, text, node, update, truth))])
        return [*claims, *self._why_it_stays(node, op, truth, name, text, depth)] if claims else []

    def _why_it_stays(self, node: Node, op: str, truth: bool, name: str, text: str, depth: int) -> list[Claim]:
        """Claims why the predicate keeps its value, if it does not depend on the variable that it guards itself."""
        nan = nan_compared(self.firings, node.name, op, truth, self.k, self.item, text)
        if nan is not None:
            return checked([nan])
        names = [n for ref in node.inputs for n in self.loop.reads(ref)]
        others = [n for n in dict.fromkeys(names) if n != name and self.loop.updated(n) and self._rests(n)]
        return self.of_variables(others, depth + 1) if name not in names else []

    def _rests(self, name: str) -> bool:
        ref = self.firings.merge(name)
        try:
            values = self.firings.values(ref, self.its)
            return all(same(v, values[-1]) for v in values)
        except KeyError:
            return False

    # -- arithmetic --------------------------------------------------------------------------------------------
    def _arithmetic(self, node: Node, name: str, carrier: Any, depth: int) -> list[Claim]:
        operands = [self._value(r) for r in node.inputs]
        result = self._value(node.ref())
        if any(np.ndim(v) for v in (*operands, result)):
            return []
        common = self._common(node, name)
        if node.op in BOUNDING:
            if not any(self._reads(r, name) and same(v, result) for r, v in zip(node.inputs, operands, strict=True)):
                offered = [v for v in operands if not same(v, result)]
                if offered:
                    return checked([lost.Saturated(**common, bound=result, offered=offered[0])])
            return self._first(node, name, carrier, operands, result, depth)
        if node.op in TRUNCATING and not (node.op == "floor_divide" and operands[0] == 0):
            whole = node.op == "floor_divide"
            gained = float(operands[0]) / float(operands[1]) if whole and operands[1] else float(operands[0])
            if gained != float(result):
                return checked([lost.Truncated(**common, operand=gained, result=result)])
            if not whole:
                return self.still(node.inputs[0], name, carrier, depth)
        return self._sum_or_product(node, name, carrier, operands, result, depth)

    def _first(self, node: Node, name: str, carrier: Any, operands: list[Any], result: Any, depth: int) -> list[Claim]:
        for ref, value in zip(node.inputs, operands, strict=True):
            if same(value, result) and self._reads(ref, name):
                return self.still(ref, name, carrier, depth)
        return []

    def _sum_or_product(
        self, node: Node, name: str, carrier: Any, operands: list[Any], result: Any, depth: int
    ) -> list[Claim]:
        if len(operands) != 2:
            return []
        common, sums = self._common(node, name), node.op in ("add", "subtract")
        sides = [0] if node.op not in ("add", "multiply") else [0, 1]
        sides.sort(key=lambda i: not self._reads(node.inputs[i], name))
        for i in sides:
            other, position = operands[1 - i], 1 - i
            if not (result == operands[i]) or not self._reads(node.inputs[i], name):
                continue
            if other == (0 if sums else 1):
                if not self._hands_on(node.inputs[i], name):  # the loss, if any, is further back
                    return self.still(node.inputs[i], name, carrier, depth)
                part = node.inputs[position]
                text = (source_parts(node)[1] or [expression(self.loop, r) for r in node.inputs])[position]
                facts: dict[str, Any] = {"part": text, "part_line": line_of(origin(self.graph, part).source)}
                claim = lost.Neutral(**common, **facts, neutral=other, position=position)
                deeper = self.why_zero(part, name, depth)
                mine = deeper and getattr(deeper[0], "variable", "") == name
                return deeper if mine else [*checked([claim]), *deeper]
            if not sums and operands[i] == 0:
                reached = not bool(np.all(self.firings.first_value(name, self.item) == 0))
                part = expression(self.loop, node.inputs[i])
                return checked([lost.Zero(**common, position=i, part=part, reached=reached)])
            if np.asarray(result).dtype.kind == "f":
                dtype = str(np.asarray(result).dtype)
                whole = bool(float(other).is_integer()) and not np.asarray(other).dtype.kind == "c"
                return checked([lost.Absorbed(**common, operand=operands[i], step=other, dtype=dtype, whole=whole)])
        return []

    def why_zero(self, ref: Ref, name: str, depth: int) -> list[Claim]:
        """Claims why a step is 0 or a factor 1: a guard that chooses it, a factor 0, a truncating conversion."""
        node = self.graph.nodes[ref.node]
        while node.op in ("Identity", "Switch"):
            ref = node.inputs[0]
            node = self.graph.nodes[ref.node]
        self._steps += 1
        if self._steps > MOST_NODES or node.op == "Const" or self.graph.frame_of(node.name) != self.loop.path:
            return []
        if node.name in self.loop.by_merge:
            other = self.loop.by_merge[node.name].name
            return self.of_variable(other, depth + 1) if self._rests(other) and self.loop.updated(other) else []
        if node.op == "where":
            mask, new, old = (self._value(r) for r in node.inputs)
            if same(new, old):
                return []
            return self._guard(node.inputs[0], bool(np.all(mask)), name, node, depth)
        if node.op == "Merge":
            alive = [r for r in node.inputs if self.firings.has(r, self.k)]
            return self._not_taken(node, alive, name, depth) if alive else []
        operands = [self._value(r) for r in node.inputs]
        result = self._value(node.ref())
        if any(np.ndim(v) for v in (*operands, result)):
            return []
        common = self._common(node, name)
        if node.op in TRUNCATING:
            gained = lost.untruncated(node.op, operands)
            if gained != float(result):
                return checked([lost.Truncated(**common, operand=gained, result=result)])
            return self.why_zero(node.inputs[0], name, depth)
        if node.op in ("multiply", "divide") and result == 0:
            for i, value in enumerate(operands[: 1 if node.op == "divide" else 2]):
                if value == 0:
                    return self.why_zero(node.inputs[i], name, depth)
        return []

    def _common(self, node: Node, name: str) -> dict[str, Any]:
        return {
            "node": node.name,
            "op": node.op,
            "variable": name,
            "text": node_text(self.firings, node),
            "line": line_of(node.source),
            "item": self.item,
            "evidence": self.firings,
            **self._span,
        }

    def _reads(self, ref: Ref, name: str) -> bool:
        return name in self.loop.reads(ref)


ARITHMETIC = frozenset("add subtract multiply divide power".split())


__all__ = ["LostValue"]
