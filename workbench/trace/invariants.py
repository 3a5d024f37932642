"""Series of loop invariants, which also arrive at frames that are never started.

A constant Enter is alive in every iteration of its frame. Where its input is alive but no loop variable enters (the
last iteration of an outer loop, say), TensorFlow still fires it once, in iteration 0 of a frame in which nothing
else happens. The executor does nothing then; these firings are derived from the record here. They count as firings,
not as events.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import TraceError
from workbench.graph.node import Tag
from workbench.graph.types import TensorType
from workbench.kernels.layout import ValueLayout
from workbench.trace.rows import RowReader
from workbench.trace.series import Series, as_value, stack
from workbench.trace.steady import steady


class InvariantSeries(Series):
    """All firings of a constant Enter; ``source`` is the series of what it brings in."""

    def __init__(self, name: str, reader: RowReader, layout: ValueLayout, type_: TensorType, source: Series) -> None:
        super().__init__(name, reader, layout, type_)
        self._source = source

    def _arrivals(self) -> tuple[np.ndarray, list[Any]]:
        """(iteration paths, values) of firings at frames that were not started."""
        frame = self._layout.frame
        parent = self._reader.layout.frames[frame].parent
        paths = self._source.iterations
        if len(paths) == 0:
            return np.empty((0, len(self.frame)), np.int64), []
        parents = np.unique(self._reader.source.activations(frame)[1])
        taken = {tuple(p) for p in self._reader.iterations(parent, parents).tolist()} if parent >= 0 else set()
        extent = self._reader.source.extent(parent)
        if extent.partial >= 0 and extent.ip < self._reader.layout.frames[frame].stop:
            # the row in progress has not come to this frame yet
            taken.add(tuple(self._reader.iterations(parent, np.array([extent.partial]))[0].tolist()))
        fresh = [k for k, p in enumerate(paths.tolist()) if tuple(p) not in taken]
        values = self._source.firings()
        full = np.zeros((len(fresh), len(self.frame)), np.int64)
        full[:, :-1] = paths[fresh]
        return full, [values[k] for k in fresh]

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
        path = self._merged()[0][index]
        return Tag(self._layout.node, self._layout.output, self.frame, tuple(int(i) for i in path))

    @steady
    def at(self, iteration: int | tuple[int, ...]) -> np.ndarray:
        try:
            return super().at(iteration)
        except TraceError:
            path = (iteration,) if isinstance(iteration, int | np.integer) else tuple(iteration)
            for arrived, value in zip(*self._arrivals(), strict=True):
                if tuple(arrived.tolist()) == path:
                    return as_value(value)
            raise

    @steady
    def __getitem__(self, index: int | slice) -> np.ndarray:
        found = self._merged()[1]
        return stack(found[index], self.type) if isinstance(index, slice) else found[index]

    @steady
    def window(self, start: int, stop: int, step: int = 1) -> tuple[np.ndarray, np.ndarray]:
        paths, values = self._merged()
        return paths[start:stop:step], stack(values[start:stop:step], self.type)
