"""The layout of a recorded loop: the places of the columns of its variables and of its computed columns.

The row of a frame holds no bytes. Its columns are computed on demand: ``CALLED`` (the row is of a call), ``GOING`` (the
loop continued after it) and the comparisons of ``until``. Each variable is a separate store.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.graph import Graph
from workbench.kernels.layout import Condition, FrameLayout, Layout, NodeLayout, Place, ValueLayout
from workbench.kernels.recorder import LoopRecorder, VariableRows
from workbench.recorder.graph import LoopShape, usable

#: offsets of the columns of a frame's own rows; comparison k of ``until`` is at CLAUSES + k, "either" k at EITHER + k
CALLED, GOING, CLAUSES, EITHER = 0, 1, 2, 1 << 20


class StoredColumn(NamedTuple):
    """A store of the layout: the column, and its frame."""

    frame: int
    rows: VariableRows


class Recorded(NamedTuple):
    """A layout with the meaning of its places."""

    layout: Layout
    stores: tuple[StoredColumn, ...]
    recorders: tuple[LoopRecorder, ...]
    shapes: tuple[LoopShape, ...]
    pool: tuple[float, ...]


def lay_out(graph: Graph, root: LoopShape, recorders: dict[FramePath, LoopRecorder]) -> Recorded:
    """The layout of a graph of :func:`workbench.recorder.graph.build_graph`."""
    return _Making(graph, root, recorders).made()


class _Making:
    def __init__(self, graph: Graph, root: LoopShape, recorders: dict[FramePath, LoopRecorder]) -> None:
        self.graph, self.root = graph, root
        self.shapes = root.all()
        self.recorders = [recorders[s.path] for s in self.shapes]
        self.number = {s.path: k + 1 for k, s in enumerate(self.shapes)}
        self.frames: list[FrameLayout] = []
        self.nodes: list[NodeLayout] = []
        self.values: dict[tuple[str, int], ValueLayout] = {}
        self.stores: list[StoredColumn] = []
        self.pool: list[float] = []
        self.ip = 0

    def made(self) -> Recorded:
        spans: dict[FramePath, tuple[int, int]] = {}
        self._frame(self.root, spans)
        frames = [FrameLayout((), 0, 0, 0, self.ip, None)]
        for shape in self.shapes:
            number = self.number[shape.path]
            parent = self.number.get(shape.path[:-1], 0)
            cond = Condition(self._own(number, GOING), 1)
            frames.append(FrameLayout(shape.path, parent, EITHER * 2, *spans[shape.path], cond))
        stores = (*range(len(frames)), *(s.frame for s in self.stores))
        layout = Layout(tuple(frames), tuple(self.nodes), self.values, stores)
        return Recorded(layout, tuple(self.stores), tuple(self.recorders), tuple(self.shapes), tuple(self.pool))

    def _own(self, frame: int, offset: int) -> Place:
        return Place(frame + 1, offset, 0, "bool")

    def _store(self, frame: int, rows: VariableRows) -> Place:
        self.stores.append(StoredColumn(frame, rows))
        base = len(self.shapes) + 1 + len(self.stores)
        return Place(base, 0, 0, None if rows.dtype is None else rows.dtype.name, rows.shape)

    def _add(
        self, name: str, frame: int, place: Place, guard: tuple[Condition, ...] = (), statistics: Place | None = None
    ) -> None:
        op = self.graph.nodes[name].op
        self.ip += 1
        self.nodes.append(NodeLayout(name, op, frame, self.ip, guard, silent=frame == 0))
        self.values[name, 0] = ValueLayout(name, 0, frame, "slot", place, guard, (), statistics)

    def _frame(self, shape: LoopShape, spans: dict[FramePath, tuple[int, int]]) -> None:
        number, start = self.number[shape.path], self.ip
        recorder = self.recorders[number - 1]
        self._constants(shape)
        start = self.ip if number == 1 else start
        called = Condition(self._own(number, CALLED), 1)
        given: dict[str, tuple[Condition, ...]] = {}
        wanted = {name for name, _ in shape.variables}
        for rows in recorder.variables:
            if rows.name not in wanted:
                continue
            place = self._store(number, rows)
            numbers = self._store(number, rows.statistics) if rows.statistics is not None else None
            missing = rows.missing
            given[rows.name] = (called,) if missing is None else (Condition(self._store(number, missing), 0),)
            self._add(shape.merge(rows.name), number, place, given[rows.name], numbers)
        for name in self._conditions(shape):
            self._add(name, number, self._own(number, self._offset(shape, name)), (called,))
        for inner in shape.inner:
            self._frame(inner, spans)
        self.ip += 1
        spans[shape.path] = (start, self.ip)

    def _constants(self, shape: LoopShape) -> None:
        if not usable(shape.clauses, dict(shape.variables)):
            return
        for k, clause in enumerate(shape.clauses):
            if not isinstance(clause.bound, str):
                self.pool.append(clause.bound)
                place = Place(0, len(self.pool) - 1, 0, "float64")
                self._add(f"{shape.label}/bound_{k}", 0, place)
                for depth in range(len(shape.path)):
                    self._add(f"{shape.label}/bound_{k}/Enter_{depth}", self.number[shape.path[: depth + 1]], place)

    def _conditions(self, shape: LoopShape) -> Iterator[str]:
        if usable(shape.clauses, dict(shape.variables)):
            yield from (shape.comparison(k) for k in range(len(shape.clauses)))
            yield from (f"{shape.label}/either_{k}" for k in range(1, len(shape.clauses)))
        else:
            yield f"{shape.label}/going"
        yield shape.cond

    def _offset(self, shape: LoopShape, name: str) -> int:
        kind, _, number = name.removeprefix(f"{shape.label}/").partition("_")
        return {"until": CLAUSES, "either": EITHER}[kind] + int(number) if number else GOING
