"""Search of a trace for the first firing that is bad although its operands are not."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from workbench.analysis.diff.error_source import value_at
from workbench.analysis.diff.side import Column, Path
from workbench.analysis.diff.trace_side import HANDS_ON, Orders, TraceSide
from workbench.analysis.precision.block_scan import Test, bad_firings, is_bad, parts
from workbench.analysis.precision.operand_rules import Item, are_whole, blame, by_place
from workbench.analysis.precision.result import NanOrigin, Operand
from workbench.errors import TraceError, WorkbenchError
from workbench.ir.node import Node, Ref
from workbench.trace import Trace
from workbench.trace.aligned_columns import origin
from workbench.trace.edited_firings import Edits, Written
from workbench.trace.provenance import sources_of

#: maximum number of firings of one node that are tested if the first ones come from ignored values
_LOOKED = 2000
#: maximum number of values on the way back to the origin of one
_BACK = 20_000
#: maximum number of values behind a finite operand that are searched for the infinity from which it was computed
_BEHIND = 12


class NanSearch:
    """The search for one kind ("nan" or "inf"), without ignored names."""

    def __init__(self, trace: Trace, kind: str, ignore: tuple[str, ...], session: Any = None) -> None:
        self.trace, self.kind, self.ignore, self.session = trace, kind, ignore, session
        self.side = TraceSide(trace, "run")
        self.edits, self.orders = Edits(trace.graph, trace.edits()), Orders(trace)
        self.test: Test = np.isnan if kind == "nan" else np.isinf

    def run(self) -> NanOrigin | None:
        candidates: list[tuple[tuple[int, ...], int, Column, int]] = []
        for key in self.side.keys():
            assert isinstance(key, Ref)
            node = self.trace.graph.nodes[key.node]
            if node.op in HANDS_ON or self._ignored(node, key):
                continue
            column = self.side.column(key)
            at = None if column is None else self._first(column)
            if column is not None and at is not None:
                candidates.append((column.order(self._path(column, at)), len(candidates), column, at))
        candidates.sort(key=lambda c: c[:2])
        edit = self._edit()
        if edit is not None and not any(c[0] < self._when(edit) for c in candidates):
            return self._written(edit)
        best: tuple[tuple[int, ...], Ref, Path] | None = None
        for order, _, column, at in candidates:
            if best is not None and best[0] <= order:
                break
            found = self._clean(column, at)
            if found is not None and (best is None or found[0] < best[0]):
                best = found
        if edit is not None and best is not None and self._when(edit) <= best[0]:
            return self._written(edit)
        if best is not None:
            return self._origin(best[1], best[2])
        if self.ignore:
            return None
        found = self._recomputed() if self.session is not None else None
        if found is not None or not candidates:
            return found
        _, _, column, at = candidates[0]  # earlier rows are not recorded any more
        assert isinstance(column.key, Ref)
        return self._origin(column.key, self._path(column, at), "The firings of its operands are not kept.")

    def _first(self, column: Column) -> int | None:
        """The first bad firing that is not due to an edit."""
        assert isinstance(column.key, Ref)
        for at in bad_firings(column, self.test):
            if not self.edits.of(column.key, self._path(column, at)):
                return at
        return None

    # -- edits ----------------------------------------------------------------------------------------------------
    def _when(self, edit: Written) -> tuple[int, ...]:
        """Position of an edit in the order of firings: before the next node."""
        frame, ip, iteration = edit.stand
        return self.orders(frame, ip, iteration)

    def _edit(self) -> Written | None:
        """The first edit that wrote a bad value and was not overwritten at once."""
        bad = (e for e in self.edits.all if is_bad(e.value, self.test) and self.edits.stays(e))
        return next((e for e in bad if not self._ignored(self.trace.graph.nodes[e.ref.node], e.ref)), None)

    def _written(self, edit: Written) -> NanOrigin:
        """The origin for an edit, which is not the result of an op."""
        graph, node = self.trace.graph, self.trace.graph.nodes[edit.ref.node]
        bad, index = self._items(edit.value)
        path = next(p for r, p in edit.tags if r == edit.ref)
        return NanOrigin(
            self.kind,
            node.name,
            self._name(edit.ref),
            node.op,
            node.source,
            graph.frame_of(node.name),
            path,
            index,
            bad,
            edit.value,
            (),
            None,
            "",
            False,
            edited=True,
        )

    def _items(self, value: Any) -> tuple[int, tuple[int, ...]]:
        """(number of bad items, index of the first of them; in a list, the element's index comes first)."""
        count = 0
        first: tuple[int, ...] | None = None
        for place, array in parts(value):
            bad = self.test(array)
            count += int(bad.sum())
            if first is None and bad.any():
                first = (*place, *(int(i) for i in np.unravel_index(int(bad.argmax()), bad.shape)))
        return count, first or ()

    def _recomputed(self) -> NanOrigin | None:
        """The origin if the record begins after it: from the first bad iteration of a loop variable back to a value
        computed from clean ones, all recomputed.
        """
        first: tuple[tuple[int, ...], Ref, Path] | None = None
        for key in self.side.keys():
            column = self.side.column(key) if isinstance(key, Ref) and self._carries(key) else None
            at = None if column is None else next(bad_firings(column, self.test), None)
            if column is not None and at is not None and isinstance(key, Ref):
                path = self._path(column, at)
                if first is None or column.order(path) < first[0]:
                    first = column.order(path), key, path
        if first is None:
            return None
        _, ref, path = first
        low, high = 0, path[-1]
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._bad(ref, (*path[:-1], middle)) else (middle + 1, high)
        return self.behind(ref, (*path[:-1], high), "Recomputed: the record does not reach back that far.")

    # -- one value --------------------------------------------------------------------------------------------------
    def newest(self, ref: Ref) -> NanOrigin | None:
        """The origin of one value if it is bad in its newest firing, else None."""
        column = self.side.column(ref)
        if column is None or not column.length or next(bad_firings(column, self.test, column.length - 1), None) is None:
            return None
        return self.behind(ref, self._path(column, column.length - 1))

    def behind(self, ref: Ref, path: Path, note: str = "") -> NanOrigin | None:
        """The origin of one bad value, found by going back along bad values to the node whose operands were clean."""
        for _ in range(_BACK):
            path = self._since(ref, path)
            if edits := self.edits.of(ref, path):
                return self._written(edits[-1])
            back = [s for s in self._sources(ref, path) if self._bad(*s)]
            if not back:
                lost = self.trace.graph.nodes[ref.node].op in HANDS_ON
                return self._origin(ref, path, note or ("The firings of its operands are not kept." if lost else ""))
            ref, path = back[0]
        return None

    def _since(self, ref: Ref, path: Path) -> Path:
        """The iteration from which on a loop variable is bad until that of ``path``, as far as it is recorded."""
        column = self.side.column(ref) if path and self._carries(ref) else None
        its = None if column is None else column.iterations()
        if column is None or its is None:
            return path
        bad = its[np.fromiter(bad_firings(column, self.test), np.int64)]
        bad = bad[(bad[:, :-1] == path[:-1]).all(axis=1), -1]
        bad = bad[bad <= path[-1]]
        if not len(bad) or bad[-1] != path[-1]:
            return path  # recomputed: the row is not kept
        gaps = np.flatnonzero(np.diff(bad) != 1)
        return (*path[:-1], int(bad[gaps[-1] + 1 if len(gaps) else 0]))

    def _carries(self, ref: Ref) -> bool:
        """True if a value is the Merge of a loop variable."""
        nodes = self.trace.graph.nodes
        return (
            nodes[ref.node].op == "Merge"
            and ref.index == 0
            and any(nodes[r.node].op == "NextIteration" for r in nodes[ref.node].inputs)
        )

    def _sources(self, ref: Ref, path: Path) -> list[tuple[Ref, Path]]:
        try:
            return sources_of(self.trace, ref, path, self._value if self.session is not None else None)
        except WorkbenchError:
            return []

    def _value(self, ref: Ref, path: Path) -> Any:
        """A value from the record, or recomputed by the session."""
        try:
            return value_at(self.trace, ref, path)
        except (TraceError, IndexError):
            if self.session is None:
                raise
            return self.session.value(ref, path or None)

    @staticmethod
    def _path(column: Column, at: int) -> Path:
        its = column.iterations()
        return () if its is None else tuple(its[at].tolist())

    def _ignored(self, node: Node, ref: Ref) -> bool:
        names = (node.name, self.trace.graph.name_of(ref), str(ref), node.op)
        return any(fnmatchcase(name, pattern) for pattern in self.ignore for name in names)

    def _clean(self, column: Column, first: int) -> tuple[tuple[int, ...], Ref, Path] | None:
        """The first bad firing of a value whose operands are not bad."""
        assert isinstance(column.key, Ref)
        for looked, at in enumerate(bad_firings(column, self.test, first)):
            path = self._path(column, at)
            if self.edits.of(column.key, path):
                continue
            order = column.order(path)
            if not any(self._bad(ref, p, order) for ref, p in self._sources(column.key, path)):
                return order, column.key, path
            if looked >= _LOOKED or not self.ignore:
                break
        return None

    def _bad(self, ref: Ref, path: Path, order: tuple[int, ...] | None = None) -> bool:
        """True if a value is bad, or was when a firing of that ``order`` read it: an edit may have changed it since."""
        try:
            for edit in self.edits.of(ref, path) if order is not None else ():
                if order is not None and self._when(edit) > order:
                    return is_bad(edit.before, self.test)
            return is_bad(self._value(ref, path), self.test)
        except (WorkbenchError, IndexError):
            return False

    def _origin(self, ref: Ref, path: Path, note: str = "") -> NanOrigin:
        graph, value = self.trace.graph, self._value(ref, path)
        node = graph.nodes[ref.node]
        bad, index = self._items(value)
        sources = self._sources(ref, path)
        whole = are_whole(node.op, node.attrs.get("call", ""), [graph.type_of(r).shape for r, _ in sources])
        at_place = index if whole and by_place(node.op) else None
        operands = tuple(self._operand(r, p, np.shape(value), at_place) for r, p in sources)
        culprit = blame(node.op if whole else "", self.kind, [Item(o.name, o.value, o.item) for o in operands])
        responsible = None if culprit is None else operands[culprit[0]]
        because = None if responsible is None else self._because(responsible, index)
        return NanOrigin(
            self.kind,
            node.name,
            graph.name_of(ref),
            node.op,
            node.source,
            graph.frame_of(node.name),
            path,
            index,
            bad,
            value,
            operands,
            responsible,
            "" if culprit is None else culprit[1],
            any(o.bad for o in operands),
            because,
            note,
        )

    def _operand(self, ref: Ref, path: Path, shape: tuple[int, ...], index: tuple[int, ...] | None) -> Operand:
        """One operand with its item at ``index`` of the result; the item is None if many items contribute."""
        try:
            value: Any = self._value(ref, path)
        except (WorkbenchError, IndexError):
            value = None
        item = None
        if isinstance(value, np.ndarray | np.generic):
            item = np.asarray(value).reshape(-1)[0] if np.size(value) == 1 else None
            if index is not None:
                try:
                    item = np.broadcast_to(np.asarray(value), shape)[index]
                except ValueError:  # shapes that do not broadcast: many items contribute
                    pass
        bad = is_bad(value, lambda a: ~np.isfinite(a))
        return Operand(self._name(ref), ref, path, value, item, bad)

    def _name(self, ref: Ref) -> str:
        """The public name of a value, or of the value that it copies."""
        graph = self.trace.graph
        named = ref in graph.names.values() or ref in graph.inputs.values()
        source = origin(graph, ref)
        return graph.name_of(ref if named or source.name == ref.node else source.ref())

    def _because(self, responsible: Operand, index: tuple[int, ...]) -> NanOrigin | None:
        """Origin of an infinite operand, back along infinite values to the node whose operands were finite; or of an
        infinity from which a finite operand was computed at this ``index``, such as the 0 of 1 / inf.
        """
        search = NanSearch(self.trace, "inf", self.ignore, self.session)
        ref, path = responsible.ref, responsible.iteration
        if not is_bad(responsible.value, np.isinf):
            behind = self._infinity_behind(ref, path, index if responsible.item is not None else None)
            if behind is None:
                return None
            ref, path = behind
        elif self.kind == "inf":
            return None  # the infinity is passed on, and the node itself is the origin
        return search.behind(ref, path) or search.run()

    def _infinity_behind(self, ref: Ref, path: Path, index: tuple[int, ...] | None) -> tuple[Ref, Path] | None:
        """The infinite value, a few nodes back, from which elementwise ops computed a finite one."""
        waiting = [(ref, path)]
        for _ in range(_BEHIND):
            if not waiting:
                return None
            at, where = waiting.pop(0)
            node = self.trace.graph.nodes[at.node]
            if node.op not in HANDS_ON and not by_place(node.op):
                continue
            for source, there in self._sources(at, where):
                try:
                    value = self._value(source, there)
                except (WorkbenchError, IndexError):
                    continue
                if is_bad(_item(value, index), np.isinf):
                    return source, there
                waiting.append((source, there))
        return None


def _item(value: Any, index: tuple[int, ...] | None) -> Any:
    """The item of an operand at the index of a result's item; the whole value if that is unknown."""
    if index is None or not isinstance(value, np.ndarray) or value.ndim == 0 or value.ndim > len(index):
        return value
    place = tuple(0 if n == 1 else i for n, i in zip(value.shape, index[len(index) - value.ndim :], strict=True))
    try:
        return value[place]
    except IndexError:
        return value
