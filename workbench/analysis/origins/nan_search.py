"""Looking through a trace for the first firing that is bad while what it was made from is not."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from workbench.analysis.columns import origin
from workbench.analysis.diff.columns import Column, Path
from workbench.analysis.diff.introduces import value_at
from workbench.analysis.diff.trace_side import HANDS_ON, TraceSide
from workbench.analysis.origins.guilty import Item, blame
from workbench.analysis.origins.scan import Test, bad_firings, floats, is_bad
from workbench.analysis.origins.told import NanOrigin, Operand
from workbench.errors import TraceError, WorkbenchError
from workbench.graph.node import Node, Ref
from workbench.trace import Trace
from workbench.trace.provenance import sources_of

#: firings of one node that are looked at where the first ones come from what is ignored
_LOOKED = 2000
#: values on the way back to where an infinity came from
_BACK = 20_000


class Search:
    """One kind ("nan" or "inf"), without what is to be ignored."""

    def __init__(self, trace: Trace, kind: str, ignore: tuple[str, ...], session: Any = None) -> None:
        self.trace, self.kind, self.ignore, self.session = trace, kind, ignore, session
        self.side = TraceSide(trace, "run")
        self.test: Test = np.isnan if kind == "nan" else np.isinf

    def run(self) -> NanOrigin | None:
        candidates: list[tuple[tuple[int, ...], int, Column, int]] = []
        for key in self.side.keys():
            assert isinstance(key, Ref)
            node = self.trace.graph.nodes[key.node]
            if node.op in HANDS_ON or self._ignored(node, key):
                continue
            column = self.side.column(key)
            at = None if column is None else next(bad_firings(column, self.test), None)
            if column is not None and at is not None:
                candidates.append((column.order(self._path(column, at)), len(candidates), column, at))
        best: tuple[tuple[int, ...], Ref, Path] | None = None
        for order, _, column, at in sorted(candidates, key=lambda c: c[:2]):
            if best is not None and best[0] <= order:
                break
            found = self._clean(column, at)
            if found is not None and (best is None or found[0] < best[0]):
                best = found
        if best is not None:
            return self._origin(best[1], best[2])
        if self.ignore:
            return None
        found = self._recomputed() if self.session is not None else None
        if found is not None or not candidates:
            return found
        _, _, column, at = min(candidates, key=lambda c: c[:2])  # what came before is not recorded any more
        assert isinstance(column.key, Ref)
        return self._origin(column.key, self._path(column, at), "The firings that its operands came from are not kept.")

    def _recomputed(self) -> NanOrigin | None:
        """The origin where the record begins behind it: the first bad iteration of a loop variable, and from there back
        to what was made from clean values, all recomputed."""
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
        path = (*path[:-1], high)
        for _ in range(_BACK):
            back = [s for s in self._sources(ref, path) if self._bad(*s)]
            if not back:
                return self._origin(ref, path, "Recomputed: the record does not reach back so far.")
            ref, path = back[0]
        return None

    def _carries(self, ref: Ref) -> bool:
        """Whether a value is the head of a loop variable."""
        nodes = self.trace.graph.nodes
        return nodes[ref.node].op == "Merge" and ref.index == 0 and any(
            nodes[r.node].op == "NextIteration" for r in nodes[ref.node].inputs
        )

    def _sources(self, ref: Ref, path: Path) -> list[tuple[Ref, Path]]:
        try:
            return sources_of(self.trace, ref, path, self._value if self.session is not None else None)
        except WorkbenchError:
            return []

    def _value(self, ref: Ref, path: Path) -> Any:
        """A value that is recorded, or that the session recomputes."""
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
        """The first firing of a value that is bad while what it was made from is not."""
        assert isinstance(column.key, Ref)
        for looked, at in enumerate(bad_firings(column, self.test, first)):
            path = self._path(column, at)
            sources = self._sources(column.key, path)
            if not any(self._bad(ref, p) for ref, p in sources):
                return column.order(path), column.key, path
            if looked >= _LOOKED or not self.ignore:
                break
        return None

    def _bad(self, ref: Ref, path: Path, test: Test | None = None) -> bool:
        try:
            return is_bad(self._value(ref, path), test or self.test)
        except (WorkbenchError, IndexError):
            return False

    def _origin(self, ref: Ref, path: Path, note: str = "") -> NanOrigin:
        graph, value = self.trace.graph, self._value(ref, path)
        node = graph.nodes[ref.node]
        array = floats(value)
        bad = self.test(array) if array is not None else np.zeros(np.shape(value), bool)
        index = tuple(int(i) for i in np.unravel_index(int(bad.argmax()), bad.shape)) if bad.ndim else ()
        operands = tuple(self._operand(r, p, np.shape(value), index) for r, p in self._sources(ref, path))
        told = blame(node.op, self.kind, [Item(o.name, o.value, o.item) for o in operands])
        guilty = None if told is None else operands[told[0]]
        because = self._because(guilty) if guilty is not None and self.kind == "nan" else None
        return NanOrigin(
            self.kind, node.name, graph.name_of(ref), node.op, node.source, graph.frame_of(node.name), path, index,
            int(bad.sum()), value, operands, guilty, "" if told is None else told[1], any(o.bad for o in operands),
            because, note,
        )  # fmt: skip

    def _operand(self, ref: Ref, path: Path, shape: tuple[int, ...], index: tuple[int, ...]) -> Operand:
        try:
            value: Any = self._value(ref, path)
        except (WorkbenchError, IndexError):
            value = None
        item = None
        if isinstance(value, np.ndarray | np.generic):
            try:
                item = np.broadcast_to(np.asarray(value), shape)[index]
            except ValueError:  # a product, a sum: many items met
                item = np.asarray(value)[()] if np.size(value) == 1 else None
        bad = is_bad(value, lambda a: ~np.isfinite(a))
        return Operand(self._name(ref), ref, path, value, item, bad)

    def _name(self, ref: Ref) -> str:
        """The public name of a value, or of the one that it is a copy of."""
        graph = self.trace.graph
        named = ref in graph.names.values() or ref in graph.inputs.values()
        source = origin(graph, ref)
        return graph.name_of(ref if named or source.name == ref.node else source.ref())

    def _because(self, guilty: Operand) -> NanOrigin | None:
        """Where an infinite operand came from: back along what was infinite to what was made from finite values."""
        if not is_bad(guilty.value, np.isinf):
            return None
        search = Search(self.trace, "inf", self.ignore, self.session)
        ref, path = guilty.ref, guilty.iteration
        for _ in range(_BACK):
            back = [s for s in self._sources(ref, path) if search._bad(*s)]
            if not back:
                return search._origin(ref, path)
            ref, path = back[0]
        return search.run()
