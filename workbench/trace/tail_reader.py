"""Reads single rows and the newest rows of a trace, at a cost independent of the trace's length.

A series of an inner loop with many activations indexes all of its rows for each query; this module reads rows directly,
so that a loop of a billion iterations can be inspected while it runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.ir.node import Ref
from workbench.trace import Trace
from workbench.trace.seqlock import steady
from workbench.trace.series import stack


class Reading:
    """One value of a trace, read by rows of its frame; ``steady`` repeats reads that a step back interrupted."""

    def __init__(self, trace: Trace, ref: Ref) -> None:
        nodes = trace.graph.nodes
        while nodes[ref.node].op == "Enter" and nodes[ref.node].attrs.get("is_constant"):
            ref = nodes[ref.node].inputs[0]  # the series of a loop invariant repeats its value in each iteration
        self._reader, self.ref = trace.reader, trace.ref(ref)
        self._layout = trace.layout.values[self.ref]
        self._node = self._reader.node[self._layout.node]
        self._type = nodes[ref.node].types[ref.index]

    @property
    def frame(self) -> int:
        return self._layout.frame

    @steady
    def extent(self) -> tuple[int, int]:
        """(first, stop) of the frame's rows."""
        extent = self._reader.source.extent(self._layout.frame)
        return extent.first, extent.end

    @steady
    def activation(self, stop: int) -> int:
        """The row of the first iteration of the activation that contains the row before ``stop``."""
        if self._layout.frame == 0:
            return 0
        starts, _ = self._reader.source.activations(self._layout.frame)
        at = int(np.searchsorted(starts, stop - 1, side="right")) - 1
        return int(starts[at]) + 1 if at >= 0 else 0

    @steady
    def rows(self, wanted: range) -> tuple[np.ndarray, np.ndarray]:
        """(iteration paths, values) of the kept rows in which the value fired."""
        kept = self._reader.readable(self._layout, wanted)
        fired = self._reader.fired(self._node, self._layout.guard, kept)
        found, values = self._reader.read(self._layout, fired)
        return self._reader.iterations(self._layout.frame, found), stack(values, self._type)

    def newest(self, count: int, stop: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """(iteration paths, values) of the newest ``count`` firings before row ``stop``."""
        first, end = self.extent()
        end = end if stop is None else min(stop, end)
        # the value may not fire in an init row, or if its branch is not taken
        width = count + 2
        while True:
            low = max(first, end - width)
            paths, values = self.rows(range(low, end))
            if len(paths) >= count or low <= first or width > MAX_ROWS:
                return paths[-count:], values[-count:]
            width *= 4

    def last(self) -> Any:
        """The newest value, or None."""
        values = self.newest(1)[1]
        return values[-1] if len(values) else None

    def happened(self) -> int:
        """Number of iterations of the frame so far in all activations, kept or not."""
        return max(0, self.extent()[1] - self._reader.source.begun(self._layout.frame)) if self._layout.frame else 1


#: rows searched for a value that fires seldom
MAX_ROWS = 1 << 22


def newest_of(trace: Trace, ref: Ref, count: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """(iteration paths, values) of the newest firings of a value."""
    return Reading(trace, ref).newest(count)


__all__ = ["Reading", "newest_of"]
