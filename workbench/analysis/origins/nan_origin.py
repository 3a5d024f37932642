"""The first NaN of a run: which op made it, in which iteration, out of which operand."""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from workbench.analysis.columns import origin, trace_of
from workbench.analysis.diff.columns import Column, Path
from workbench.analysis.diff.introduces import value_at
from workbench.analysis.diff.trace_side import HANDS_ON, TraceSide
from workbench.analysis.origins.guilty import Item, blame
from workbench.analysis.origins.scan import Test, bad_firings, floats, is_bad
from workbench.errors import TraceError, WorkbenchError
from workbench.graph.node import Node, Ref, Source, Tag
from workbench.trace import Trace
from workbench.trace.describe import describe, short
from workbench.trace.provenance import sources_of

#: firings of one node that are looked at where the first ones come from what is ignored
_LOOKED = 2000
#: values on the way back to where an infinity came from
_BACK = 20_000
_KINDS = ("nan", "inf")


@dataclass(frozen=True)
class Operand:
    """One input of the guilty node at that firing. ``item`` is the item of it that met the bad item of the result, None
    where many did; ``bad`` whether it holds NaN or infinities itself."""

    name: str
    ref: Ref
    iteration: Path
    value: Any
    item: Any
    bad: bool

    def __str__(self) -> str:
        many = isinstance(self.value, np.ndarray) and self.value.size > 1
        at = f", of which the item {self.item}" if many and self.item is not None else ""
        return f"{self.name} = {short(self.value)}{at}"


@dataclass(frozen=True)
class NanOrigin:
    """``kind`` ("nan" or "inf") first came out of ``node`` at ``iteration``; ``index`` is the first bad item of it.

    ``operands`` are what it was made from, ``guilty`` the one to blame and ``why`` the reason. ``inputs_bad``: an
    operand was not finite already; ``because`` then says where that infinity came from. An input or constant that holds
    NaN is its own origin and has no operands. ``note`` says what is not known.
    """

    kind: str
    node: str
    name: str
    op: str
    source: Source | None
    frame: tuple[str, ...]
    iteration: Path
    index: tuple[int, ...]
    count: int
    value: Any
    operands: tuple[Operand, ...]
    guilty: Operand | None
    why: str
    inputs_bad: bool
    because: NanOrigin | None = None
    note: str = ""

    @property
    def tag(self) -> Tag:
        """The firing that made it."""
        return Tag(self.node, 0, self.frame, self.iteration)

    def text(self) -> str:
        """The finding as sentences."""
        kind = "NaN" if self.kind == "nan" else "an infinity"
        where = ", ".join(f"{f} {i}" for f, i in zip(self.frame, self.iteration, strict=True))
        line = f"The first {'NaN' if self.kind == 'nan' else 'infinity'} comes from {self.name} ({self.op})"
        line += f" in {where}" if where else ""
        line += f", written at {self.source.where}" if self.source is not None else ""
        items = getattr(self.value, "size", 1)
        lines = [line + (f", in {self.count} of {items} items, first at {list(self.index)}." if items > 1 else ".")]
        if not self.operands:
            lines.append(f"It is {'an input' if self.op == 'Placeholder' else 'a constant'} that holds {kind} itself.")
        elif self.guilty is not None:
            lines.append(f"To blame: {self.why}.")
            lines.append("It was made from " + "; ".join(map(str, self.operands)) + ".")
        if self.because is not None:
            lines += ["That infinity in turn:", *(f"  {part}" for part in self.because.text().splitlines())]
        return "\n".join([*lines, *([self.note] if self.note else [])])

    __str__ = text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text())}</pre>"

    def to_data(self) -> dict[str, Any]:
        """Plain data, for JSON: values as text."""
        return {
            "kind": self.kind, "node": self.node, "name": self.name, "op": self.op, "frame": list(self.frame),
            "iteration": list(self.iteration), "index": list(self.index), "count": self.count,
            "value": describe(self.value), "why": self.why, "inputs_bad": self.inputs_bad, "note": self.note,
            "source": None if self.source is None else str(self.source),
            "guilty": None if self.guilty is None else self.guilty.name,
            "operands": [{"name": o.name, "value": short(o.value), "bad": o.bad} for o in self.operands],
            "because": None if self.because is None else self.because.to_data(),
        }  # fmt: skip


def nan_origin(source: Any, *, kind: str | None = None, ignore: str | Iterable[str] = ()) -> NanOrigin | None:
    """Where the first NaN of a run came from; the first infinity if there is no NaN; None if all is finite.

    Parameters
    ----------
    source:
        A session or a trace, at any stop.
    kind:
        ``"nan"`` or ``"inf"``, to look for that alone.
    ignore:
        Names or patterns (``"mask*"``) of nodes, values or ops whose NaN and infinities are expected. What only passes
        theirs on is no origin either.

    Every recorded firing is looked at, a block at a time. Where what came before is no longer kept, a session
    recomputes it: the first iteration in which a loop variable is bad is found by halving, taken that it stays so.

    >>> found = wb.nan_origin(session)
    >>> found.node, found.iteration, found.guilty
    """
    if kind is not None and kind not in _KINDS:
        raise WorkbenchError(
            f"nan_origin looks for 'nan' or 'inf', {kind!r} came.", slug="bad-kind", fix='give kind="nan" or "inf".'
        )
    trace = trace_of(source)
    patterns = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    session = source if hasattr(source, "value") else None
    for wanted in _KINDS if kind is None else (kind,):
        found = _Search(trace, wanted, patterns, session).run()
        if found is not None:
            return found
    return None


class _Search:
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
        search = _Search(self.trace, "inf", self.ignore, self.session)
        ref, path = guilty.ref, guilty.iteration
        for _ in range(_BACK):
            back = [s for s in self._sources(ref, path) if search._bad(*s)]
            if not back:
                return search._origin(ref, path)
            ref, path = back[0]
        return search.run()
