"""Rows of two programs: values with an own error and values computed from them are differences, all others are
rounding.

A value whose own error is beyond rounding is a *suspect*. Either the candidate errs there, or the pair is wrong because
a tool gave the name to another quantity. A reader of the value decides: evaluated from the values before the suspect,
its result is wrong in the first case and right in the second, in which the pair is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.analysis.diff.alignment import align, position
from workbench.analysis.diff.compare_values import Outcome, Row, compare
from workbench.analysis.diff.programs.own import ROUNDED, OwnError, PartErrors
from workbench.analysis.diff.programs.steps import IntegerSteps
from workbench.analysis.diff.quantised.own_error import tainted
from workbench.analysis.diff.side import Column, Key, Path
from workbench.analysis.diff.tolerance import Kind, Tolerance
from workbench.analysis.diff.trace_side import HANDS_ON, TraceSide
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.text import printable

#: maximum number of firings of a value for which the own error is evaluated, and of rounds of dropping pairs
FIRINGS, _ROUNDS = 24, 8
#: marks a value that is the same in both runs
_RIGHT = object()
#: names that the builder gives to constants
_UNNAMED = re.compile(r"(^|/)Const(_\d+)?$")


class SettledRows:
    """The rows of two traces of programs that should compute the same; ``pairs`` maps values of a to values of b."""

    def __init__(
        self, a: TraceSide, b: TraceSide, pairs: Mapping[Key, Key], shifts: Mapping[Ref, int], tolerance: Tolerance
    ) -> None:
        self.a, self.b, self.shifts, self.tolerance = a, b, shifts, tolerance
        self.back: dict[Ref, Ref] = {
            v: k
            for k, v in pairs.items()
            if isinstance(k, Ref) and isinstance(v, Ref) and self._ends_a_part(k, v, pairs)
        }
        self.steps = IntegerSteps(a, b)
        self.owns = PartErrors(a, b, self.back, shifts, tolerance)
        #: the own error of each value of b that differs; None if it cannot be evaluated
        self.found: dict[Ref, OwnError | None] = {}
        #: rows of all values whose own error is known, and names of those that were evaluated only in some firings
        self.made: list[Row] = []
        self.sampled: dict[str, None] = {}
        self.unknown: list[str] = []

    def _ends_a_part(self, mine: Ref, theirs: Ref, pairs: Mapping[Key, Key]) -> bool:
        """False for nodes that pass on a value of another node on both sides, and for numbers in the code, which are
        part of the op that reads them.
        """
        one, other = self.a.trace.graph.nodes[mine.node], self.b.trace.graph.nodes[theirs.node]
        if one.op == "Const" and (_UNNAMED.search(mine.node) or _UNNAMED.search(theirs.node)):
            return False
        if one.op == other.op == "Const" and one.types[0].shape != other.types[0].shape:
            return False  # a weight in another layout
        if one.op == other.op == "Exit":
            variables = [_variable(g.trace.graph, n) for g, n in ((self.a, one), (self.b, other))]
            return None not in variables and pairs.get(variables[0]) == variables[1]  # type: ignore[arg-type]
        return one.op == other.op == "Merge" or not (one.op in HANDS_ON and other.op in HANDS_ON)

    def settle(self, outcomes: list[Outcome], pairs: Mapping[Key, Key]) -> tuple[list[Outcome], list[str]]:
        """(the outcomes that are differences, names of the values that differ only by rounding)."""
        partners = {o.row.key: pairs[o.row.key] for o in outcomes if o.row is not None}
        for mine, theirs in partners.items():
            if isinstance(mine, Ref) and isinstance(theirs, Ref) and theirs in self.back and not self._leaves(theirs):
                self.found[theirs] = self._largest(mine, theirs)
        wrong = self._drop_wrong_pairs()
        faults = {r.node for r, own in self.found.items() if own is not None and own.fault}
        spread = tainted(self.b, dict.fromkeys(faults))
        kept, rounded = [], []
        for outcome in outcomes:
            row = outcome.row
            if row is None:
                kept.append(outcome)
                continue
            theirs = partners[row.key]
            own = self.found.get(theirs) if isinstance(theirs, Ref) else None
            if theirs in self.found and own is None:
                self.unknown.append(row.name)
            if isinstance(theirs, Ref) and (theirs in wrong or row.op == "Const" and theirs not in self.back):
                continue
            if own is not None:
                self.made.append(replace(row, own=own, introduces=bool(own.fault)))
            if own is not None and own.fault:
                kept.append(self._at(outcome, theirs, own))
            elif isinstance(theirs, Ref) and theirs.node in spread:
                kept.append(replace(outcome, row=replace(row, own=own, introduces=False)))
            elif row.kind in (Kind.ONLY_A, Kind.ONLY_B):
                continue  # the branch is taken on both sides: the names of its two sides were exchanged
            elif own is not None or isinstance(theirs, Ref) and self._leaves(theirs) or self._is_small(row):
                rounded.append(row.name)
            else:
                kept.append(outcome)
        return kept, rounded

    def notes(self) -> list[str]:
        """Sentences on how own errors were judged, and on values that were not judged."""
        notes = []
        if self.found:
            notes.append(self.owns.rule)
        if self.sampled:
            notes.append(
                f"Of {_some(self.sampled)} own errors were evaluated in {FIRINGS} iterations, the first ones and "
                "others evenly spaced."
            )
        if self.unknown:
            notes.append(
                f"Own errors of {_some(self.unknown)} cannot be evaluated; they were compared within {ROUNDED} "
                "roundings."
            )
        return notes

    def _at(self, outcome: Outcome, theirs: Any, own: OwnError) -> Outcome:
        """The row of a fault, at the first firing with an own error beyond rounding."""
        row = outcome.row
        assert row is not None and isinstance(row.key, Ref)
        said = replace(row, own=own, introduces=True)
        if row.frame and own.path != row.iteration:
            columns = self.a.column(row.key), shifted(self.b.column(theirs), self.shifts)
            if columns[0] is not None and columns[1] is not None:
                at = [k for c in columns if (k := _place(c, own.path)) is not None]
                if len(at) == len(columns):
                    one, other = (_only(c, k) for c, k in zip(columns, at, strict=True))
                    again = compare(one, other, (self.a, self.b), self.tolerance).row
                    if again is not None:
                        said = replace(
                            again,
                            own=own,
                            introduces=True,
                            differing=row.differing,
                            compared=row.compared,
                            worst_iteration=row.worst_iteration,
                            worst_abs=row.worst_abs,
                            worst_rel=row.worst_rel,
                            worst_ulp=row.worst_ulp,
                        )
                        return Outcome(said, columns[0].order(said.iteration), *_rest(outcome))
        return replace(outcome, row=said)

    def _is_small(self, row: Row) -> bool:
        """True if a difference is as small as rounding, for values without a known own error."""
        if row.kind is not Kind.VALUE or row.max_abs is None or not isinstance(row.value_a, np.ndarray | np.generic):
            return False
        size = float(np.abs(np.asarray(row.value_a, np.float64)).max(initial=0.0))
        return bool(row.max_abs <= ROUNDED * self.owns.eps * size)

    def _leaves(self, theirs: Ref) -> bool:
        """True for a result of a loop: its error is that of the loop variable, or of the loop's length."""
        return self.b.trace.graph.nodes[theirs.node].op == "Exit"

    # -- own errors -------------------------------------------------------------------------------------------------
    def _largest(self, mine: Ref, theirs: Ref, through: Iterable[Ref] = ()) -> OwnError | None:
        """The own error of the first firing with a fault, else the largest one."""
        best: OwnError | None = None
        for path in self._paths(mine, theirs):
            own = self.owns.of(theirs, path, set(through))
            if own is not None and own.fault:
                return own
            if own is not None and (best is None or (own.share or 0.0) > (best.share or 0.0)):
                best = own
        return best

    def _paths(self, mine: Ref, theirs: Ref) -> list[Path]:
        one, other = self.a.column(mine), shifted(self.b.column(theirs), self.shifts)
        if one is None or other is None:
            return []
        found = align(one, other)
        its = one.iterations()
        if its is None or found.count <= 1:
            at = range(found.count)
        elif found.count <= FIRINGS:
            at = range(found.count)
        else:
            self.sampled[one.name] = None
            half = FIRINGS // 2
            spaced = np.linspace(half, found.count - 1, FIRINGS - half).astype(int)
            return [tuple(its[position(found.a, k)].tolist()) for k in (*range(half), *spaced.tolist())]
        return [() if its is None else tuple(its[position(found.a, k)].tolist()) for k in at]

    # -- wrong pairs --------------------------------------------------------------------------------------------------
    def _drop_wrong_pairs(self) -> set[Ref]:
        """Drop the pairs of suspects that all readers refute, and judge the values again that were judged by them."""
        gone: set[Ref] = set()
        ends = set(self.b.trace.graph.outputs.values())
        for _ in range(_ROUNDS):
            suspects = [r for r, own in self.found.items() if own is not None and own.fault and r not in gone]
            evidence = {r: self._evidence(r, set(suspects), gone) for r in suspects if r not in ends}
            # a reader that errs with and without the suspect's value of a explains later errors by itself
            refuted = {r for r, said in evidence.items() if said == "right"} or {
                r for r, said in evidence.items() if said == "reader"
            }
            if not refuted:
                break
            gone |= refuted
            for ref in refuted:
                self.found.pop(ref)
            unknown = [r for r, own in self.found.items() if own is None]
            for ref in [*(r for r in suspects if r not in refuted), *unknown]:
                self.found[ref] = self._largest(self.back[ref], ref, gone)
        for ref in gone:
            self.back.pop(ref, None)
        return gone

    def _evidence(self, suspect: Ref, suspects: set[Ref], gone: set[Ref]) -> str:
        """ "right" if the readers of a suspect are right when evaluated from the values before it, "wrong" if one of
        them is wrong then, "reader" if all of them err anyway; "" if none can be evaluated.
        """
        seen = set[str]()
        for reader in self._readers(suspect, gone):
            alone = self._largest(self.back[reader], reader, {suspect} | gone)
            owns = (
                [alone]
                if alone is not None and not alone.fault
                else [alone, self._largest(self.back[reader], reader, suspects | gone)]
            )
            known = [own for own in owns if own is not None]
            if not known:
                continue
            if not all(own.fault for own in known):
                seen.add("right")
            elif reader not in suspects and self.found.get(reader, _RIGHT) is not None:
                return "wrong"  # although it is right on the suspect's value of a
            else:
                seen.add("reader")
        return "right" if "right" in seen else "reader" if seen else ""

    def _readers(self, ref: Ref, gone: set[Ref]) -> list[Ref]:
        """The nearest paired values that are computed from a value, beyond those whose pair is wrong."""
        graph, found = self.b.trace.graph, dict[Ref, None]()
        waiting, seen = [ref.node], {ref.node}
        paired: dict[str, list[Ref]] = {}
        for each in self.back.keys() - gone:
            paired.setdefault(each.node, []).append(each)
        while waiting:
            for name in graph.consumers(waiting.pop()):
                if name in seen:
                    continue
                seen.add(name)
                if name in paired:
                    found.update(dict.fromkeys(paired[name]))
                else:
                    waiting.append(name)
        return list(found)


def _variable(graph: Graph, leaves: Node) -> Ref | None:
    """The Merge of the loop variable that an Exit returns."""
    switch = graph.nodes[leaves.inputs[0].node]
    return switch.inputs[0] if switch.op == "Switch" else None


def shifted(column: Column | None, by: Mapping[Ref, int]) -> Column | None:
    """A column with the iteration indices of the other side."""
    more = 0 if column is None or not isinstance(column.key, Ref) else by.get(column.key, 0)
    if column is None or not more:
        return column

    def iterations() -> Any:
        its = column.iterations()
        return None if its is None else its + np.array([0] * (its.shape[1] - 1) + [more])

    return replace(column, iterations=iterations)


def _some(names: Iterable[str], most: int = 4) -> str:
    given = list(names)
    more = f" and {len(given) - most:,} more" if len(given) > most else ""
    return ", ".join(map(printable, given[:most])) + more


def _place(column: Any, path: Path) -> int | None:
    its = column.iterations()
    if its is None:
        return None
    at = np.flatnonzero((its == np.asarray(path)).all(axis=1))
    return int(at[0]) if len(at) else None


def _only(column: Any, k: int) -> Any:
    """The column reduced to one of its firings."""
    its = column.iterations()[k : k + 1]
    return replace(column, length=1, iterations=lambda: its, take=lambda at: column.take(slice(k, k + 1)))


def _rest(outcome: Outcome) -> tuple[int, bool, tuple[int, int]]:
    return outcome.compared, outcome.within, outcome.unpaired


__all__ = ["FIRINGS", "SettledRows", "shifted"]
