"""Series of loop invariants, which also fire in frames that are never started.

A constant Enter is alive in every iteration of its frame. If its input is alive but no loop variable enters (the last
iteration of an outer loop, say), TensorFlow still fires it once, in iteration 0 of a frame in which nothing else
happens. The executor does nothing then; this module derives such firings from the record. They count as firings, not as
events. The same holds for iterations that only other parts of a frame have, if it is scheduled in parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.errors import TraceError
from workbench.ir.node import Tag
from workbench.ir.types import TensorType
from workbench.kernels.layout import NodeLayout, ValueLayout
from workbench.trace.checks import no_such_firing, path_of, position_of, slice_of
from workbench.trace.row_ranges import FOREVER
from workbench.trace.rows import RowReader
from workbench.trace.seqlock import steady
from workbench.trace.series import Series, as_value, stack


class InvariantSeries(Series):
    """All firings of a constant Enter; ``source`` is the series of its input."""

    def __init__(
        self,
        name: str,
        reader: RowReader,
        layout: ValueLayout,
        type_: TensorType,
        source: Series,
        waits_for: Sequence[NodeLayout | None] = (),
    ) -> None:
        """``waits_for`` are its control inputs, None for one that never fires."""
        super().__init__(name, reader, layout, type_)
        self._source, self._waits_for = source, waits_for

    def _arrivals(self) -> tuple[np.ndarray, list[Any]]:
        """(iteration paths, values) of firings in frames that were not started."""
        frame = self._layout.frame
        parent = self._reader.layout.frames[frame].parent
        paths = self._source.iterations
        if len(paths) == 0:
            return np.empty((0, len(self.frame)), np.int64), []
        lengths = self._lengths(parent)
        taken: set[tuple[int, ...]] = set()
        extent = self._reader.source.extent(parent)
        if extent.partial >= 0 and extent.ip < self._reader.layout.frames[frame].stop:
            # the row in progress has not reached this frame yet
            taken.add(tuple(self._reader.iterations(parent, np.array([extent.partial]))[0].tolist()))
        known = self._first_known(parent)  # for dropped activations it is unknown whether they were started
        fresh = [k for k, p in enumerate(paths.tolist()) if tuple(p) not in taken and tuple(p) >= known]
        for node in self._waits_for:
            rows = self._reader.rows_of(node, node.guard) if node is not None else range(0)
            fired = {tuple(p) for p in self._reader.iterations(parent, rows).tolist()}
            fresh = [k for k in fresh if tuple(paths[k].tolist()) in fired]
        values, full, found = self._source.firings(), [], []
        own = {tuple(p) for p in self._reader.iterations(frame, self._rows()).tolist()} if self._parts() > 1 else set()
        for k in fresh:
            path = tuple(paths[k].tolist())
            count = lengths.get(path, 0)
            for step in range(max(count, 1)) if self._parts() > 1 else range(1 if count == 0 else 0):
                if (*path, step) not in own:
                    full.append((*path, step))
                    found.append(values[k])
        return np.array(full, np.int64).reshape(-1, len(self.frame)), found

    def _first_known(self, parent: int) -> tuple[int, ...]:
        """The parent's iteration path of the first activation of this frame that is still known; () if all are known,
        and a path after all others if no known activation has a known path."""
        starts, parents = self._reader.source.activations(self._layout.frame)
        known = self._reader.source.known(self._layout.frame)
        if known == 0:
            return ()
        at = int(np.searchsorted(starts, known))
        paths = self._reader.iterations_known(parent, parents[at:])
        paths = paths[(paths >= 0).all(axis=1)]
        return tuple(paths[0].tolist()) if len(paths) else (FOREVER,)

    def _parts(self) -> int:
        """The number of frames of the layout that make up this frame; several if it is scheduled in parts."""
        frames = self._reader.layout.frames
        mine = frames[self._layout.frame]
        return sum(f.path == mine.path and f.parent == mine.parent for f in frames)

    def _lengths(self, parent: int) -> dict[tuple[int, ...], int]:
        """Iterations of this frame by the parent's iteration path; of the longest part if there are several."""
        found: dict[tuple[int, ...], int] = {}
        mine = self._reader.layout.frames[self._layout.frame]
        for number, frame in enumerate(self._reader.layout.frames):
            if frame.path != mine.path or frame.parent != parent:
                continue
            starts, parents = self._reader.source.activations(number)
            extent = self._reader.source.extent(number)
            ends = np.append(starts[1:], extent.end)
            paths = self._reader.iterations_known(parent, parents)  # forgotten ones are never looked up
            for path, count in zip(paths.tolist(), ends - starts - 1, strict=True):
                found[tuple(path)] = max(found.get(tuple(path), 0), int(count))
        return found

    def _merged(self) -> tuple[np.ndarray, list[Any]]:
        """(iteration paths, values) of all firings in firing order."""
        rows, found = self._reader.read(self._layout, self._rows())
        own = self._reader.iterations(self._layout.frame, rows)
        values = list(found)
        paths, more = self._arrivals()
        if more:
            own, values = np.concatenate([own, paths]), values + more
            order = np.lexsort(own.T[::-1])
            own, values = own[order], [values[k] for k in order]
        return own, [as_value(v) for v in values]

    @steady
    def __len__(self) -> int:
        return len(self._rows()) + len(self._arrivals()[1])

    @property
    @steady
    def values(self) -> np.ndarray:
        return stack(self._merged()[1], self.type)

    @property
    @steady
    def iterations(self) -> np.ndarray:
        return self._merged()[0]

    @steady
    def firings(self) -> list[np.ndarray]:
        return self._merged()[1]

    @steady
    def tag(self, index: int) -> Tag:
        paths = self._merged()[0]
        path = paths[self._place(index, len(paths))]
        return Tag(self._layout.node, self._layout.output, self.frame, tuple(int(i) for i in path))

    def _place(self, index: int, count: int) -> int:
        at = position_of(self.name, index)
        if not -count <= at < count:
            raise no_such_firing(self.name, count, at)
        return at

    @steady
    def at(self, iteration: int | tuple[int, ...]) -> np.ndarray:
        try:
            return super().at(iteration)
        except TraceError:
            path = path_of(self.name, self.frame, iteration)
            for arrived, value in zip(*self._arrivals(), strict=True):
                if tuple(arrived.tolist()) == path:
                    found: np.ndarray = as_value(value)
                    return found
            raise

    @steady
    def __getitem__(self, index: int | slice) -> np.ndarray:
        found = self._merged()[1]
        if isinstance(index, slice):
            return stack(found[slice_of(self.name, index.start, index.stop, index.step)], self.type)
        one: np.ndarray = found[self._place(index, len(found))]
        return one

    @steady
    def window(self, start: int, stop: int, step: int = 1) -> tuple[np.ndarray, np.ndarray]:
        paths, values = self._merged()
        part = slice_of(self.name, start, stop, step)
        return paths[part], stack(values[part], self.type)
