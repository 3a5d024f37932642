"""``index_faults``: indices out of range, which JAX silently clamps, drops or fills."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.frontends.jax.foreign import PREFIX
from workbench.frontends.jax.index_bounds import IndexBounds, bounds_of
from workbench.ir.node import Node, Source
from workbench.text import harmless
from workbench.trace.aligned_columns import trace_of

#: number of newest firings of one input that are read
MOST_FIRINGS = 100_000


@dataclass(frozen=True, slots=True)
class IndexFault:
    """One index out of range.

    Attributes
    ----------
    node : str
        The node that uses it.
    frame : tuple of str
        Path of the frame in which the index was computed.
    iteration : tuple of int
        Its iteration.
    index, limit, axis : int
        The index, the greatest valid one, and the axis of the array to which it applies.
    otherwise : {"clamped", "dropped", "filled"}
        JAX's treatment: clamp the index to the array, drop the update, or fill the result.
    source : Source or None
        The source line.

    Examples
    --------
    >>> [str(fault) for fault in wb.index_faults(session)]
    []
    """

    node: str
    frame: tuple[str, ...]
    iteration: tuple[int, ...]
    index: int
    limit: int
    axis: int
    otherwise: str
    source: Source | None

    @harmless
    def __str__(self) -> str:
        where = f" in iteration {', '.join(map(str, self.iteration))}" if self.iteration else ""
        line = "" if self.source is None else f" ({self.source.place})"
        allowed = f"0 to {self.limit}" if self.limit >= 0 else "none"
        return f"{self.node}{where}: index {self.index} on axis {self.axis}, allowed {allowed}; {self.otherwise}{line}"


def index_faults(source: Any, *, most: int = 100) -> list[IndexFault]:
    """Find indices out of range in JAX gathers, scatters and slices, which JAX does not report.

    Recorded values are read: the newest 100,000 firings of each input.

    Parameters
    ----------
    source : Session or Trace
        The run, at any stop.
    most : int, default 100
        Maximum number of faults to return.

    Returns
    -------
    list of IndexFault
        By node, in the order of the graph, and by iteration; empty if all indices are in range.

    Raises
    ------
    WorkbenchError
        For anything but a session or a trace (``no-trace``).

    Examples
    --------
    >>> wb.index_faults(session)
    []
    """
    trace = trace_of(source)
    graph = trace.graph
    found: list[IndexFault] = []
    for node in graph.nodes.values():
        if node.op.startswith(f"{PREFIX}:") and len(found) < most:
            for bounds in bounds_of(node, [graph.type_of(r) for r in node.inputs]):
                found.extend(_faults(trace, node, bounds, most - len(found)))
    return found


def _faults(trace: Any, node: Node, bounds: IndexBounds, most: int) -> list[IndexFault]:
    ref = node.inputs[bounds.place]
    given = trace.graph.nodes[ref.node]
    frame = trace.graph.frame_of(ref.node)
    if given.op == "Const":
        firings: list[tuple[tuple[int, ...], np.ndarray]] = [((), given.attrs["value"])]
    else:
        series = trace[ref]
        skipped = max(0, len(series) - MOST_FIRINGS)
        firings = [
            (tuple(int(i) for i in np.atleast_1d(path)), np.asarray(value))
            for path, value in zip(series.iterations[skipped:], series.values[skipped:], strict=True)
        ]
    limits = np.asarray(bounds.limits)
    found: list[IndexFault] = []
    for path, value in firings:
        numbers = value.reshape(-1, len(limits)).astype(np.int64)
        for row, column in np.argwhere((numbers < 0) | (numbers > limits)):
            if len(found) == most:
                return found
            index, limit = int(numbers[row, column]), bounds.limits[column]
            axis = bounds.axes[column]
            found.append(IndexFault(node.name, frame, path, index, limit, axis, bounds.otherwise, node.source))
    return found
