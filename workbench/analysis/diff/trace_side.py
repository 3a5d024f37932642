"""A trace as one side of a comparison: reads one column at a time, in blocks of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.analysis.diff.side import Column, Key, Path
from workbench.errors import DeadValueError, WorkbenchError
from workbench.ir.node import Ref
from workbench.ir.types import OPAQUE
from workbench.kernels.layout import Condition
from workbench.trace import Trace
from workbench.trace.row_ranges import Rows
from workbench.trace.saved.source import SavedSource
from workbench.trace.seqlock import consistent_read

#: ops that pass on the value of another node under a separate name
COPIES = ("Switch", "NextIteration", "LoopCond", "Enter", "Identity")
#: ops that pass on their input, so that errors never originate in them
HANDS_ON = (*COPIES, "Merge", "Exit")


class Orders:
    """Sort keys of firings in the order of execution: position and iteration of each enclosing frame in turn."""

    def __init__(self, trace: Trace) -> None:
        self._starts = {f.path: f.start for f in reversed(trace.layout.frames)}

    def __call__(self, frame: tuple[str, ...], ip: int, iteration: Path) -> tuple[int, ...]:
        found: list[int] = []
        for depth, count in enumerate(iteration):
            found += [self._starts.get(frame[: depth + 1], 0), count]
        return (*found, ip)


class TraceSide:
    """The values of a trace, without unnamed copies of other values and without values that are not arrays and grow
    with each trip (the lists behind scan outputs).
    """

    def __init__(self, trace: Trace, label: str) -> None:
        self.trace, self.graph, self.label = trace, trace.graph, label
        self._orders = Orders(trace)
        self._named = set(trace.graph.names.values())
        self._paths: dict[Any, tuple[Rows, np.ndarray]] = {}
        self._deciders = deciders(trace)

    def keys(self) -> list[Key]:
        values = self.trace.layout.values
        outputs = {n.name: len(self.graph.nodes[n.name].types) for n in self.trace.layout.nodes}
        every = (Ref(node, k) for node, count in outputs.items() for k in range(count))
        return [ref for ref in every if ref in values and self._is_of_interest(ref)]

    def _is_of_interest(self, ref: Ref) -> bool:
        node, layout = self.graph.nodes[ref.node], self.trace.layout.values[ref]
        if layout.kind == "slot" and layout.place is None:
            return False
        if node.op == "Enter" and node.attrs.get("is_constant"):
            return False
        named = ref in self._named
        if layout.kind != "slot" or node.op in COPIES:
            return named
        return named or node.types[ref.index].dtype != OPAQUE or not self.graph.frame_of(ref.node)

    def computed(self) -> list[str]:
        """The nodes that the run computes."""
        return [n.name for n in self.trace.layout.nodes]

    def find(self, name: str) -> Key | None:
        try:
            return self.trace.ref(name)
        except WorkbenchError:
            return None

    def column(self, key: Key) -> Column | None:
        assert isinstance(key, Ref)
        layout = self.trace.layout.values.get(key)
        if layout is None or self.is_absent(key):
            return None
        reader, node = self.trace.reader, self.graph.nodes[key.node]
        own = reader.node[layout.node]
        rows: Rows = consistent_read(
            self.trace.source, lambda: reader.rows_of(own, layout.guard, None, layout.place, layout.branches)
        )
        frame = layout.frame
        path = self.trace.layout.frames[frame].path

        def iterations() -> np.ndarray:
            return self._iterations(frame, layout.guard, rows)

        def take(at: Any) -> Any:
            if isinstance(at, slice) or isinstance(rows, np.ndarray):
                picked: Rows = rows[at]
            else:
                picked = rows.start + np.asarray(at, np.int64) * rows.step
            return consistent_read(self.trace.source, lambda: reader.values(layout, picked))

        def order(iteration: Path) -> tuple[int, ...]:
            return self._orders(path, own.ip, iteration)

        return Column(
            key,
            self.graph.name_of(key),
            node.name,
            node.op,
            node.source,
            path,
            len(rows),
            iterations,
            take,
            order,
            once=own.silent,
            guarded=bool(layout.guard),
            decides=self._deciders.get(key, ""),
        )

    def depth(self, ref: Ref) -> int:
        """Number of nested loops around a value."""
        return len(self.trace.layout.frames[self.trace.layout.values[ref].frame].path)

    def is_absent(self, ref: Ref) -> bool:
        """True if a value is not an array and the trace comes from a file, which holds arrays only."""
        declared = self.graph.nodes[ref.node].types[ref.index]
        return isinstance(self.trace.source, SavedSource) and declared.dtype == OPAQUE

    def is_released(self, ref: Ref) -> bool:
        """True if a value of the outermost level fired but was released because it was no longer needed."""
        layout, source = self.trace.layout.values[ref], self.trace.source
        place = layout.place
        return layout.frame == 0 and place is not None and place.until >= 0 and source.first(place) > 0

    def _iterations(self, frame: int, guard: tuple[Condition, ...], rows: Rows) -> np.ndarray:
        """The iteration paths of rows, cached because most values with the same guard share them."""
        known = self._paths.get((frame, guard))
        if known is not None and _same(known[0], rows):
            return known[1]
        if len(self._paths) > 4:
            self._paths.clear()
        found = consistent_read(self.trace.source, lambda: self.trace.reader.iterations(frame, rows))
        self._paths[frame, guard] = rows, found
        return found

    def trips(self, frame: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray] | None:
        numbers = [k for k, f in enumerate(self.trace.layout.frames) if f.path == frame]
        if not numbers or self.trace.source.partial:
            return None
        return consistent_read(self.trace.source, lambda: self._trips(numbers[0]))

    def _trips(self, number: int) -> tuple[np.ndarray, np.ndarray] | None:
        reader, source = self.trace.reader, self.trace.source
        starts, parents = source.activations(number)
        if source.known(number) > 0 or source.begun(number) != len(starts):
            return None
        extent = source.extent(number)
        stop = extent.end
        counts = np.diff(np.append(starts, stop)) - 1
        return reader.iterations(self.trace.layout.frames[number].parent, parents), counts

    def unfinished(self, frame: tuple[str, ...]) -> bool:
        source = self.trace.source
        if not frame:
            last = max((n.ip for n in self.trace.layout.nodes if n.frame == 0), default=-1)
            return source.extent(0).ip <= last
        return any(source.extent(k).partial >= 0 for k, f in enumerate(self.trace.layout.frames) if f.path == frame)

    def missing(self, key: Key, path: Path) -> str:
        assert isinstance(key, Ref)
        series = self.trace[key]
        try:
            series.at(path) if path else series[-1]
        except DeadValueError:
            return "ended" if self.is_last(key, path) else "dead"
        except (WorkbenchError, IndexError):
            return "" if path or self.unfinished(()) else "dead"
        return ""

    def is_last(self, key: Key, path: Path) -> bool:
        assert isinstance(key, Ref)
        frame = self.trace.layout.values[key].frame
        if not path or self.trace.reader.find_row(frame, path) is None:
            return False
        return self.trace.reader.find_row(frame, (*path[:-1], path[-1] + 1)) is None


def _same(one: Rows, other: Rows) -> bool:
    if isinstance(one, range) or isinstance(other, range):
        return isinstance(one, range) and isinstance(other, range) and one == other
    return np.array_equal(one, other)


def deciders(trace: Trace) -> dict[Ref, str]:
    """The predicates of Switches, followed through LoopCond and Identity to their ops -> their decisions in words."""
    nodes, found = trace.graph.nodes, dict[Ref, str]()
    for node in nodes.values():
        if node.op != "Switch":
            continue
        ref, loops = node.inputs[1], False
        while nodes[ref.node].op in ("LoopCond", "Identity"):
            loops = loops or nodes[ref.node].op == "LoopCond"
            found.setdefault(ref, "")
            ref = nodes[ref.node].inputs[0]
        path = trace.graph.frame_of(node.name)
        words = f"the loop {path[-1]}" if loops and path else f"the branch {node.region or node.name}"
        for at in (node.inputs[1], ref):
            found[at] = found.get(at) or words
    return found
