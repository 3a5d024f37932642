"""``diff``: two runs side by side, aligned by value, frame, iteration and branch, with the first difference first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from workbench.analysis.diff.alignment import align
from workbench.analysis.diff.compare_values import Outcome, Row, blocks, compare
from workbench.analysis.diff.error_source import introduces
from workbench.analysis.diff.external_record import RecordSide
from workbench.analysis.diff.graph_matching import pair_graphs
from workbench.analysis.diff.inputs import side_of
from workbench.analysis.diff.jitted import as_runs
from workbench.analysis.diff.measure import BLOCK_ITEMS, measure
from workbench.analysis.diff.programs.names import named_pairs, shifts
from workbench.analysis.diff.programs.opened import is_file_or_model, is_program, opened
from workbench.analysis.diff.programs.settled import SettledRows, shifted
from workbench.analysis.diff.programs.token_parting import TokenParting, partings
from workbench.analysis.diff.quantised.rows import QuantisedRows
from workbench.analysis.diff.quantised.scales import is_quantised
from workbench.analysis.diff.result import Both, Curve, Diff
from workbench.analysis.diff.side import Column, Key, Path, Side
from workbench.analysis.diff.tolerance import Kind, Tolerance
from workbench.analysis.diff.trace_side import TraceSide
from workbench.analysis.diff.trip_counts import lengths
from workbench.analysis.diff.uncompared import notes
from workbench.errors import TraceError, WorkbenchError
from workbench.ir.node import Ref
from workbench.trace.edited_firings import Edits, edit_text

#: maximum number of rows for which the source of the error is determined
_MAX_SOURCES = 200


def diff(
    a: Any,
    b: Any,
    args: Any = None,
    *,
    rtol: float = 0.0,
    atol: float = 0.0,
    ulp: int | None = None,
    dtypes: bool = False,
    labels: tuple[str, str] = ("a", "b"),
) -> Diff:
    """Compare two runs; see :func:`workbench.diff`."""
    for one, other in ((a, b), (b, a)):
        if hasattr(one, "compare_ops"):  # a watch of ops, which has only statistics of tensors
            found: Any = one.compare_ops(other, rtol or None)
            return found if one is a else found.swapped()
    tolerance = Tolerance(rtol, atol, ulp, dtypes)
    if args is not None or is_file_or_model(a) and is_program(b) or is_program(a) and is_file_or_model(b):
        one, other = opened(a, b, args)
        if is_quantised(one.graph) and not is_quantised(other.graph):
            raise WorkbenchError(
                "The first program is the reference, but it is the quantised one.",
                slug="quantised-reference",
                fix="give the float program first and the quantised one second.",
            )
        sides = TraceSide(one.trace, labels[0]), TraceSide(other.trace, labels[1])
        return _Comparison(*sides, tolerance, (one.failure, other.failure)).run()
    first, second = as_runs(a, b)
    return _Comparison(side_of(first, labels[0]), side_of(second, labels[1]), tolerance).run()


class _Comparison:
    """One comparison; ``pairs`` maps keys of a to keys of b. ``programs``, for programs that should compute the same,
    says how the run of each failed, or "".
    """

    def __init__(self, a: Side, b: Side, tolerance: Tolerance, programs: tuple[str, str] | None = None) -> None:
        self.a, self.b, self.tolerance, self.programs = a, b, tolerance, programs
        self.pairs: dict[Key, Key] = {}
        #: values of b whose iterations have other indices in a -> how much larger those of a are
        self.shifts: dict[Ref, int] = {}
        self.quantised: QuantisedRows | None = None
        self.settled: SettledRows | None = None

    def run(self) -> Diff:
        only_a, only_b = self._pair()
        settled: SettledRows | None = None
        if self.programs is None:
            self.quantised = QuantisedRows.of(self.a, self.b, self.pairs, self.tolerance)
        elif isinstance(self.a, TraceSide) and isinstance(self.b, TraceSide):
            self.settled = settled = SettledRows(self.a, self.b, self.pairs, self.shifts, self.tolerance)
        found: list[Outcome] = []
        within: list[str] = []
        values = firings = 0
        alone = [0, 0]
        for mine in list(self.pairs):
            columns = self._columns(mine)
            if columns is None:
                continue
            outcome = compare(*columns, (self.a, self.b), self.tolerance)
            values += bool(outcome.compared) or outcome.row is not None
            firings += outcome.compared
            if self.pairs[mine] not in self.shifts:  # their first iteration has no partner
                alone = [n + more for n, more in zip(alone, outcome.unpaired, strict=True)]
            if outcome.row is not None:
                found.append(outcome)
            elif outcome.within:
                within.append(columns[0].name)
        rounded: list[str] = []
        if self.quantised is not None:
            found, rounded = self.quantised.settle(found)
        elif settled is not None:
            found, rounded = settled.settle(found, self.pairs)
        # for two programs, values with an own error come before their consequences, which rounding may have moved
        # earlier
        found.sort(key=lambda o: (settled is not None and not (o.row is not None and o.row.introduces), o.order))
        rows = [o.row for o in found if o.row is not None]
        edits = [
            Edits(side.graph, made) if isinstance(side, TraceSide) and (made := side.trace.edits()) else None
            for side in (self.a, self.b)
        ]
        rows = [replace(r, edited=self._edited(r, edits)) if any(edits) else r for r in rows]
        rows = [
            replace(r, introduces=self._introduces(r))
            if k < _MAX_SOURCES and not r.quantised and settled is None
            else r
            for k, r in enumerate(rows)
        ]
        return Diff(
            self.a.label,
            self.b.label,
            self.tolerance,
            tuple(rows),
            lengths(self.a, self.b, self._frames()),
            tuple(only_a),
            tuple(only_b),
            tuple(within),
            values,
            firings,
            (alone[0], alone[1]),
            (*notes(self.a, self.b, self.pairs), *self._more(settled)),
            self._curve,
            self._both,
            tuple(rounded),
            None if settled is None else tuple(settled.made),
            tuple(self.programs or ()),
            self._tokens(found),
        )

    def _tokens(self, found: list[Outcome]) -> tuple[TokenParting, ...]:
        if isinstance(self.a, TraceSide) and isinstance(self.b, TraceSide):
            return partings(self.a, self.b, self.pairs, found, self.shifts)
        return ()

    def _more(self, settled: SettledRows | None) -> list[str]:
        """Sentences on two programs in addition to their differences."""
        failures = zip("ab", self.programs or (), strict=False)
        notes = [
            f"The run of {side} ended early, and what follows was not compared: {why}" for side, why in failures if why
        ]
        return notes if settled is None else [*notes, *settled.notes()]

    # -- pairs ----------------------------------------------------------------------------------------------------
    def _pair(self) -> tuple[list[str], list[str]]:
        """Fill ``pairs``; return the names of values without a partner in a, and in b."""
        a, b = self.a, self.b
        if isinstance(a, TraceSide) and isinstance(b, TraceSide):
            used = a.computed(), b.computed()
            named = None if self.programs is None else list(named_pairs(a.graph, b.graph, *map(frozenset, used)))
            refs, theirs = pair_graphs(a.graph, b.graph, *used, named).refs, set(b.keys())
            self.shifts = {} if named is None else shifts(a.graph, b.graph, refs)
            for key in a.keys():
                match = refs.get(key) if isinstance(key, Ref) else None
                if match is not None and (match in theirs or b.column(match) is not None):
                    self.pairs[key] = match
            left = theirs - set(self.pairs.values())
            alone = [k for k in a.keys() if k not in self.pairs]
            return [_name(a, k) for k in alone], [_name(b, k) for k in b.keys() if k in left]
        if isinstance(b, TraceSide):
            back = {b.find(str(key)): key for key in a.keys()}
            self.pairs = {mine: theirs for theirs, mine in back.items() if theirs is not None}
            return [str(k) for k in a.keys() if k not in self.pairs], []
        taken = set()
        for name in b.keys():
            key = a.find(str(name))
            if key is not None and key not in self.pairs:
                self.pairs[key] = name
                taken.add(name)
        if isinstance(a, TraceSide):
            self.pairs = {k: self.pairs[k] for k in sorted(self.pairs, key=_place(a))}
        alone = [] if isinstance(a, TraceSide) else [k for k in a.keys() if k not in self.pairs]
        return [str(k) for k in alone], [str(n) for n in b.keys() if n not in taken]

    def _columns(self, key: Key) -> tuple[Column, Column] | None:
        a, b = self.a, self.b
        if isinstance(b, RecordSide) and isinstance(a, TraceSide):
            one = a.column(key)
            other = None if one is None else b.like(self.pairs[key], one)
        elif isinstance(a, RecordSide) and isinstance(b, TraceSide):
            other = b.column(self.pairs[key])
            one = None if other is None else a.like(key, other)
        else:
            one, other = a.column(key), shifted(b.column(self.pairs[key]), self.shifts)
        if one is None or other is None:
            return None
        if self.settled is not None:
            return one, self.settled.steps.column(other)
        return (one, other) if self.quantised is None else self.quantised.columns(one, other)

    def _frames(self) -> dict[tuple[str, ...], tuple[str, ...]]:
        """Frame of a -> the frame of b that holds most of its values."""
        a, b = self.a, self.b
        if a.graph is None or b.graph is None:
            return {}
        votes: dict[tuple[str, ...], dict[tuple[str, ...], int]] = {}
        for mine, theirs in self.pairs.items():
            if isinstance(mine, Ref) and isinstance(theirs, Ref):
                one, other = a.graph.frame_of(mine.node), b.graph.frame_of(theirs.node)
                if one and len(one) == len(other):
                    counts = votes.setdefault(one, {})
                    counts[other] = counts.get(other, 0) + 1
        order = {path: k for k, path in enumerate(a.graph.frames)}
        return {f: max(votes[f], key=lambda g: votes[f][g]) for f in sorted(votes, key=lambda f: order.get(f, 0))}

    # -- more about rows --------------------------------------------------------------------------------------------
    def _edited(self, row: Row, edits: list[Edits | None]) -> str:
        """A text such as ``set by hand to 3.0 in b, was 1.4``, for a firing that was edited on one of the sides."""
        sentences = []
        for side, known, key in zip("ab", edits, (row.key, self.pairs.get(row.key)), strict=True):
            if known is not None and isinstance(key, Ref):
                sentences.append(edit_text(known.of(key, row.iteration), side))
        return "; ".join(filter(None, sentences))

    def _introduces(self, row: Row) -> bool | None:
        a, b = self.a, self.b
        if isinstance(a, TraceSide):
            trace, pairs, others = a.trace, self.pairs, b
        elif isinstance(b, TraceSide):
            trace, pairs, others = b.trace, {theirs: mine for mine, theirs in self.pairs.items()}, a
            row = replace(row, key=self.pairs.get(row.key))
        else:
            return None
        if row.kind in (Kind.ONLY_A, Kind.ONLY_B, Kind.LENGTH):
            return False

        def other(ref: Ref, path: Path) -> Any:
            if ref not in pairs:
                raise TraceError(f"{ref} has no partner.", slug="not-recorded")
            key = pairs[ref]
            if isinstance(others, RecordSide):
                return others.at(key, path)
            assert isinstance(others, TraceSide) and isinstance(key, Ref)
            series = others.trace[key]
            return series.at(path) if path else series[-1]

        return introduces(row, trace, other, self.tolerance)

    def _curve(self, row: Row) -> Curve:
        columns = self._columns(row.key)
        assert columns is not None
        one, other = columns
        found = align(one, other)
        parts = [measure(x, y, self.tolerance) for _, x, y in blocks(one, other, found)]
        paths = np.arange(found.count)[:, None]
        for column, positions in ((other, found.b), (one, found.a)):
            its = column.iterations()
            paths = paths if its is None else its[positions]

        def joined(name: str) -> np.ndarray:
            return np.concatenate([getattr(p, name) for p in parts]) if parts else np.empty(0)

        return Curve(
            row.name,
            row.frame,
            paths,
            joined("absolute"),
            joined("relative"),
            joined("ulp"),
            joined("differs").astype(bool),
        )

    def _both(self, row: Row) -> Both:
        columns = self._columns(row.key)
        assert columns is not None
        index = row.index or ()
        return Both(row.name, row.frame, index, *(_firings(column, index) for column in columns))


def _firings(column: Column, index: Path) -> tuple[np.ndarray, np.ndarray]:
    """(iterations, values) of all firings of a column; for arrays one item, NaN if it does not exist."""
    parts, start, length = [], 0, 256
    while start < column.length:
        taken = column.take(slice(start, min(column.length, start + length)))
        parts.append(_items(taken, index))
        items = max(int(getattr(taken[0], "size", 64)), 1)
        start, length = start + length, max(1, BLOCK_ITEMS // items)
    its = column.iterations()
    paths = np.arange(column.length)[:, None] if its is None else its
    return paths, np.concatenate(parts) if parts else np.empty(0)


def _items(taken: Any, index: Path) -> np.ndarray:
    array = taken if isinstance(taken, np.ndarray) and taken.dtype != object else None
    if array is not None and array.dtype.kind in "biufc" and array.ndim == 1 + len(index):
        if all(k < size for k, size in zip(index, array.shape[1:], strict=True)):
            place: Any = (slice(None), *index)
            return np.asarray(array[place])
    return np.array([_item(value, index) for value in taken], np.float64)


def _item(value: Any, index: Path) -> float:
    try:
        return float(np.asarray(value)[index])
    except (IndexError, TypeError, ValueError):
        return float("nan")


def _name(side: TraceSide, key: Key) -> str:
    return side.graph.name_of(key) if isinstance(key, Ref) else key


def _place(side: TraceSide) -> Any:
    order = {node.name: k for k, node in enumerate(side.trace.layout.nodes)}
    return lambda key: (order.get(key.node, len(order)), key.index)
