"""The trace of a run: every value of every firing, addressed by name and tag."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import GraphError, TraceError
from workbench.graph.graph import Graph
from workbench.graph.node import Ref, Tag
from workbench.graph.types import TensorType
from workbench.kernels.layout import Layout, NodeLayout, Place
from workbench.trace.invariants import InvariantSeries
from workbench.trace.retention.coverage import Coverage, coverage
from workbench.trace.retention.source import KeptSource
from workbench.trace.retention.tracks import places_of
from workbench.trace.rows import RowReader, as_array
from workbench.trace.series import Series
from workbench.trace.source import RowSource
from workbench.trace.spill import SpillStore
from workbench.trace.steady import steady
from workbench.trace.tables import BranchTable, EventTable, fired_rows, order_events

if TYPE_CHECKING:
    from workbench.trace.provenance import Explanation


class Trace:
    """What was recorded. Any thread may read it at any time, also while the run goes on at full speed.

    >>> trace["x"].values          # every value of the loop variable, oldest first
    >>> trace["x"][-1]             # the last one
    >>> trace.firings("while/Merge:0")
    """

    def __init__(self, graph: Graph, layout: Layout, source: RowSource) -> None:
        self.graph, self.layout, self.source = graph, layout, source
        self._reader = RowReader(layout, source)

    @property
    def reader(self) -> RowReader:
        """Rows as they lie in memory or in the file; for those who write views."""
        return self._reader

    def ref(self, name: str | Ref) -> Ref:
        """The value that a name stands for, as far as this run computes it; TraceError if it does not."""
        try:
            ref = self.graph.value(name)
        except GraphError as error:
            raise TraceError(error.message, slug=error.slug, fix=error.fix) from None
        if tuple(ref) not in self.layout.values:
            raise TraceError(
                f"{str(name)!r} was not computed in this run: no required output needs it.", slug="not-computed",
                fix="name it among the outputs of the session.",
            )  # fmt: skip
        return ref

    def __getitem__(self, name: str | Ref) -> Series:
        ref = self.ref(name)
        declared = self.graph.nodes[ref.node].types[ref.index]
        place = self.layout.values[tuple(ref)].place
        if place is not None and place.dtype is not None:
            declared = TensorType(place.dtype, place.shape)
        layout = self.layout.values[tuple(ref)]
        node = self.graph.nodes[ref.node]
        if node.op == "Enter" and node.attrs.get("is_constant"):
            waits_for = [self._reader.node.get(c) for c in node.control]
            return InvariantSeries(str(name), self._reader, layout, declared, self[node.inputs[0]], waits_for)
        return Series(str(name), self._reader, layout, declared)

    def __contains__(self, name: object) -> bool:
        try:
            self.ref(name)  # type: ignore[arg-type]
        except TraceError:
            return False
        return True

    def names(self) -> list[str]:
        """Public names of the values that this run computes."""
        known = {self.graph.name_of(Ref(*key)): None for key in self.layout.values}
        return list(known)

    def firings(self, name: str | Ref) -> list[np.ndarray]:
        """Every firing of a value as an array, oldest first."""
        return self[name].firings()

    @steady
    def count(self, node: str) -> int:
        """How often a node fired, in the iterations that are kept (see :meth:`coverages`)."""
        layout = self._node(node)
        return len(self._reader.rows_of(layout, layout.guard))

    @steady
    def coverage(self, name: str | Ref) -> Coverage:
        """How many of the iterations that happened are kept of a value, and which; ``session.value`` and
        ``session.values`` recompute the others."""
        layout = self.layout.values[tuple(self.ref(name))]
        return coverage(self._reader, layout.frame, places_of(layout))

    @steady
    def coverages(self) -> dict[tuple[str, ...], Coverage]:
        """Frame path -> how many of its iterations are kept so far that it is known what fired: those that
        :meth:`events`, :meth:`branches` and :meth:`count` are about."""
        return {f.path: coverage(self._reader, number) for number, f in enumerate(self.layout.frames) if number}

    @steady
    def events(self, silent: bool = True) -> EventTable:
        """Every firing of every node, in order; without ``silent`` constants and loop invariants are left out."""
        table = self._table(list(self.layout.nodes))
        if silent:
            return table
        loud = ~np.array([n.silent for n in self.layout.nodes], bool)[table.code]
        return EventTable(
            table.nodes,
            table.frames,
            table.number[loud],
            table.code[loud],
            table.frame_code[loud],
            table.iteration[loud],
            partial=table.partial,
        )

    @steady
    def branches(self, loops: bool = True) -> BranchTable:
        """Every Switch decision, in order; without ``loops`` only those of branches."""
        nodes = [n for n in self.layout.nodes if n.op == "Switch" and (loops or not self._is_loop_switch(n.name))]
        table = self._table(nodes)
        taken = np.zeros(len(table), bool)
        for index, node in enumerate(nodes):
            mine = table.code == index
            if mine.any():
                pred = self.layout.values[tuple(self.graph.nodes[node.name].inputs[1])]
                rows = fired_rows(self._reader, node)[: int(mine.sum())]
                taken[mine] = np.asarray(self._reader.values(pred, rows), bool)
        return BranchTable(
            table.nodes, table.frames, table.number, table.code, table.frame_code, table.iteration, taken,
            partial=table.partial,
        )  # fmt: skip

    @steady
    def branch_counts(self) -> dict[str, tuple[int, int]]:
        """Switch node -> (times false, times true)."""
        counts = {}
        for node in self.layout.nodes:
            if node.op == "Switch":
                total = self.count(node.name)
                true = len(self._reader.rows_of(node, self.layout.values[node.name, 1].guard))
                counts[node.name] = (total - true, true)
        return counts

    @steady
    def last_branch(self, switch: str) -> bool | None:
        """The last decision of a Switch, or None if it has not fired."""
        node = self._node(switch)
        extent = self.source.extent(node.frame)
        low = max(extent.first, max(extent.stop, extent.partial + 1) - 64)
        rows = self._reader.rows_of(node, node.guard, (low, max(extent.stop, extent.partial + 1)))
        if len(rows) == 0:
            rows = self._reader.rows_of(node, node.guard)
        if len(rows) == 0:
            return None
        pred = self.layout.values[tuple(self.graph.nodes[switch].inputs[1])]
        return bool(np.asarray(self._reader.values(pred, rows[-1:]))[0])

    def explain(
        self, name: str | Ref, iteration: int | tuple[int, ...] | None = None, *, max_links: int = 200
    ) -> Explanation:
        """Where a value came from: the chain of values back to inputs and constants, as text and as data."""
        from workbench.trace.provenance import explain

        return explain(self, name, iteration, max_links=max_links)

    @steady
    def recent(self, frame: tuple[str, ...] = (), count: int = 8) -> list[Tag]:
        """The last firings in a frame, oldest first; constants and loop invariants are left out."""
        number = next((i for i, f in enumerate(self.layout.frames) if f.path == tuple(frame)), 0)
        nodes = [n for n in self.layout.nodes if n.frame == number and not n.silent]
        extent = self.source.extent(number)
        stop, width = max(extent.stop, extent.partial + 1), 2
        while True:
            window = (max(stop - width, extent.first), stop)
            picked = [(n, as_array(self._reader.rows_of(n, n.guard, window))) for n in nodes]
            if sum(len(rows) for _, rows in picked) >= count or window[0] == extent.first:
                break
            width *= 4
        code, _, _, iteration = order_events(self._reader, picked)
        path = self.layout.frames[number].path
        return [
            Tag(nodes[c].name, 0, path, tuple(int(i) for i in its[: len(path)]))
            for c, its in list(zip(code, iteration, strict=True))[-count:]
        ]

    @property
    def spill(self) -> SpillStore | None:
        """Where older rows are on disk, with its ``status``, ``limit`` and ``keep``; None if they are in memory."""
        parts = getattr(getattr(self.source, "keeper", None), "parts", ())
        return next((p for p in parts if isinstance(p, SpillStore)), None)

    @property
    def dropped(self) -> bool:
        """Whether rows were dropped to stay within the memory budget; session.value recomputes what was in them."""
        if isinstance(self.source, KeptSource):
            return self.source.partial
        stores = range(len(self.layout.stores))
        return self.source.partial or any(self.source.first(Place(s + 1, 0, 0, None)) > 0 for s in stores)

    def save(self, path: str | PathLike[str], progress: Callable[[int, int], object] | None = None) -> None:
        """Write the trace to one file (a documented zip without pickle), piece by piece: memory for the whole of it is
        not needed. Of each loop the iterations are written from which on all is kept.

        ``progress(done, total)`` is called on the way, in bytes; by default a terminal shows a line if it takes long.
        TraceError for what would be too large to be loaded again (slug ``too-large``), or if the disk is full
        (``disk-full``) or nothing may be written there (``not-written``): no half file is left.
        """
        from workbench.trace.save import save_trace

        save_trace(self, path, progress)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Trace:
        """Read a trace that :meth:`save` wrote; TraceError for anything else."""
        from workbench.trace.file import load_trace

        return load_trace(path)

    def __repr__(self) -> str:
        loops = [f"{'/'.join(f.path)}" for f in self.layout.frames[1:]]
        return f"<Trace of {self.graph.name!r}: frames {', '.join(loops) or 'none'}>"

    # -- parts --------------------------------------------------------------------------------------------------
    def _node(self, name: str) -> NodeLayout:
        found = self._reader.node.get(name)
        if found is None:
            raise TraceError(f"There is no node {name!r} in this run.", slug="not-computed")
        return found

    def _is_loop_switch(self, name: str) -> bool:
        return self.graph.nodes[self.graph.nodes[name].inputs[1].node].op == "LoopCond"

    def _table(self, nodes: list[NodeLayout]) -> EventTable:
        picked = [(n, fired_rows(self._reader, n)) for n in nodes]
        code, frame_code, _, iteration = order_events(self._reader, picked)
        frames: tuple[Any, ...] = tuple(f.path for f in self.layout.frames)
        number = np.arange(len(code), dtype=np.int64)
        partial = not all(coverage(self._reader, f).whole for f in {n.frame for n in nodes})
        return EventTable(
            tuple(n.name for n in nodes), frames, number, code, frame_code, iteration, partial=partial
        )  # fmt: skip
