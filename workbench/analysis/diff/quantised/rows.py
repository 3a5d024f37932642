"""Rows of a quantised run compared with its float run: distinguishes rounding from faults and their consequences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.analysis.diff.compare_values import Outcome, compare
from workbench.analysis.diff.quantised.own_error import Own, OwnErrors, tainted
from workbench.analysis.diff.quantised.scales import DEQUANTIZE, QUANTIZE, given, is_quantised, kind
from workbench.analysis.diff.side import Column, Key, Side
from workbench.analysis.diff.tolerance import Kind, Tolerance
from workbench.analysis.diff.trace_side import TraceSide
from workbench.ir.node import Ref
from workbench.text import number


class QuantisedRows:
    """The rows of two traces, one of them quantised; ``pairs`` maps values of a to values of b."""

    def __init__(self, a: TraceSide, b: TraceSide, pairs: Mapping[Key, Key], tolerance: Tolerance) -> None:
        self.sides, self.tolerance = (a, b), tolerance
        self.swapped = is_quantised(a.trace.graph)
        self.exact, self.side = (b, a) if self.swapped else (a, b)
        self.pairs = {k: v for k, v in pairs.items() if isinstance(k, Ref) and isinstance(v, Ref)}
        self.owns = OwnErrors(self.exact, self.side, tolerance)
        self.back = {(k if self.swapped else v): (v if self.swapped else k) for k, v in self.pairs.items()}

    @staticmethod
    def of(a: Side, b: Side, pairs: Mapping[Key, Key], tolerance: Tolerance) -> QuantisedRows | None:
        """The rows of two traces; None unless exactly one of them is quantised."""
        if not isinstance(a, TraceSide) or not isinstance(b, TraceSide):
            return None
        if is_quantised(a.trace.graph) == is_quantised(b.trace.graph):
            return None
        return QuantisedRows(a, b, pairs, tolerance)

    def columns(self, one: Column, other: Column) -> tuple[Column, Column]:
        """Both columns as real numbers."""
        return (self.owns.column(one), other) if self.swapped else (one, self.owns.column(other))

    def settle(self, found: list[Outcome]) -> tuple[list[Outcome], list[str]]:
        """(the outcomes that rounding does not explain, sentences on the values of the others)."""
        owns: dict[Ref, Own | None] = {}
        faults: dict[str, Own] = {}
        for outcome in found:
            mine = outcome.row.key if outcome.row is not None and outcome.row.kind is Kind.VALUE else None
            if mine in self.pairs:
                theirs = self.pairs[mine]
                quantised, exact = (mine, theirs) if self.swapped else (theirs, mine)
                column = self.side.column(quantised)
                owns[mine] = own = self.owns.of(exact, quantised, None if column is None else column.iterations())
                if own is not None and own.fault:
                    faults[quantised.node] = own
        more = self._roundings({self.pairs[m] if not self.swapped else m for m, o in owns.items() if o and o.fault})
        faults.update({name: own for name, own, _ in more})
        spread = tainted(self.side, faults)
        kept, rounded = [], []
        for outcome in found:
            row = outcome.row
            own = None if row is None else owns.get(row.key)
            if row is None or own is None:
                kept.append(outcome)
                continue
            node = (row.key if self.swapped else self.pairs[row.key]).node
            if own.fault or node in spread:
                said = replace(row, quantised=str(own), introduces=own.fault and node not in spread)
                kept.append(replace(outcome, row=said))
            else:
                what = "weight " if row.op == "Const" else ""
                step = f" (step {number(own.step)})" if own.step else ""
                rounded.append(f"{what}{row.name}{step}")
        for name, own, outcome in more:
            if outcome.row is not None:
                said = replace(outcome.row, quantised=str(own), introduces=name not in spread)
                kept.append(replace(outcome, row=said))
        return kept, rounded

    def _roundings(self, reported: set[Ref]) -> list[tuple[str, Own, Outcome]]:
        """The nodes that quantise or dequantise with more than rounding, without those whose result is reported."""
        found = []
        for name in self.side.computed():
            node = self.side.graph.nodes[name]
            if kind(node) not in (QUANTIZE, DEQUANTIZE) or self._explained_by(node.name, reported):
                continue
            theirs: Ref | None = node.ref()
            while theirs is not None and theirs not in self.back:
                made = self.side.graph.nodes[theirs.node]
                theirs = given(made, 0) if kind(made) in (QUANTIZE, DEQUANTIZE) else None
            column = self.side.column(node.ref())
            mine = None if theirs is None else self.exact.column(self.back[theirs])
            if theirs is None or column is None or mine is None:
                continue
            own = self.owns.rounding(name, self.back[theirs], column.iterations())
            if own is not None and own.fault:
                real = self.owns.column(column)
                columns = (real, mine) if self.swapped else (mine, real)
                found.append((name, own, compare(*columns, self.sides, self.tolerance)))
        return found

    def _explained_by(self, name: str, reported: set[Ref]) -> bool:
        names, waiting = {r.node for r in reported}, [name]
        while waiting:
            at = waiting.pop()
            if at in names:
                return True
            readers = self.side.graph.consumers(at)
            waiting += [n for n in readers if kind(self.side.graph.nodes[n]) in (QUANTIZE, DEQUANTIZE)]
        return False


__all__ = ["QuantisedRows"]
