"""Loop variables whose size grows (caches, lists of tokens, sequences): growth per iteration, axis, and final size.

The graph shows growth if the update appends pieces of known length to the variable, or items to a list. The record is
checked against the graph: if they differ, or if the graph shows no growth, only the record is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis.report.formatting import count
from workbench.analysis.verdict import Status, Termination
from workbench.ir.frames.frame_tree import LoopVariable
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.ir.types import Opaque
from workbench.text import harmless
from workbench.trace import Trace
from workbench.trace.tail_reader import Reading

#: number of newest firings whose sizes are compared
NEWEST_FIRINGS = 64
#: ops that return their first input, a list, with one more value
APPENDS = ("list_append", "sequence_insert", "tensor_list_push_back")
#: maximum nesting of the ops that append in one iteration
DEPTH = 8


@dataclass(frozen=True)
class Growth:
    """Growth by ``low`` to ``high`` in each iteration along ``axis`` (None: of a list, by its length); ``length`` is
    that in ``iteration``, ``start`` the first known length. ``sure``: the graph shows it, and the record agrees.
    """

    axis: int | None
    low: int
    high: int
    start: int
    length: int
    sure: bool
    iteration: int = 0

    @harmless
    def sentence(self, condition: str = "", end: Termination | None = None, present: int = 0) -> str:
        """The growth of the variable and, if proved, its length after the loop: ``end`` is the answer about the loop
        with this ``condition`` in iteration ``present``.
        """
        by = f"{self.low:,}" if self.low == self.high else f"{self.low:,} to {self.high:,}"
        if self.axis is None:
            said = f"It is a list that grows by {by} in each iteration and holds {count(self.length, 'value')} now"
        else:
            said = f"It grows by {by} along axis {self.axis} in each iteration and has length {self.length:,} there now"
        if not self.sure:
            said += ", as far as is recorded"
        if end is None or not self.sure or end.status is not Status.PROVED:
            return said + "."
        if end.outcome == "never":
            return said + "; the loop never ends, so that only the memory bounds it."
        if not end.remaining or self.low != self.high:
            return said + "."
        last = self.length + self.low * (end.remaining + max(present - self.iteration, 0))
        why = f" ({condition})" if condition else ""
        left = count(end.remaining, "more iteration")
        return f"{said}; the loop ends after {left}{why}, so that it comes to {last:,}."


def growth_of(trace: Trace, variable: LoopVariable, stop: int | None = None) -> Growth | None:
    """How the variable grows; None if neither the graph nor the record shows that it does.

    The record is read up to row ``stop`` of the variable's frame.
    """
    graph, ref = trace.graph, Ref(variable.merge)
    if graph.type_of(ref).is_static or tuple(ref) not in trace.layout.values:
        return None
    sizes = _sizes(trace, ref, stop)
    shown = _shown(graph, graph.nodes[variable.next_iteration].inputs[0], variable.merge, 0)
    if sizes is None:
        return None
    iterations, found, is_list = sizes
    steps = np.diff(found, axis=0)[np.diff(iterations) == 1]
    for axis in range(found.shape[1]) if len(steps) else ():
        low, high = int(steps[:, axis].min()), int(steps[:, axis].max())
        if high > 0 and low >= 0:
            place = None if is_list else axis
            sure = shown == (place, low) and low == high
            return Growth(place, low, high, int(found[0, axis]), int(found[-1, axis]), sure, int(iterations[-1]))
    if len(steps) or shown is None or (shown[0] is None) != is_list:
        return None
    column = shown[0] or 0
    if column >= found.shape[1]:
        return None
    length = int(found[-1, column])
    return Growth(shown[0], shown[1], shown[1], int(found[0, column]), length, True, int(iterations[-1]))


def _sizes(trace: Trace, ref: Ref, stop: int | None) -> tuple[np.ndarray, np.ndarray, bool] | None:
    """(iterations, shapes or lengths (n, axes), whether they are of lists) of the newest firings of this activation."""
    paths, values = Reading(trace, ref).newest(NEWEST_FIRINGS, stop)
    if not len(paths) or not paths.shape[1]:
        return None
    mine = np.all(paths[:, :-1] == paths[-1, :-1], axis=1)
    kept = [v for v, m in zip(values, mine, strict=True) if m]
    sizes = list(map(_size, kept))
    if any(s is None for s in sizes):
        return None
    known = [s for s in sizes if s is not None]
    if len({(lists, len(s)) for lists, s in known}) != 1 or not known[0][1]:
        return None
    return paths[mine, -1].astype(np.int64), np.array([s for _, s in known], np.int64), known[0][0]


def _size(value: Any) -> tuple[bool, tuple[int, ...]] | None:
    """(whether a value is a list, its length or shape); None for other values."""
    if isinstance(value, np.ndarray | np.generic) and np.asarray(value).dtype != object:
        return False, tuple(np.shape(value))
    lists = isinstance(value, Opaque | Sequence) and not isinstance(value, str | bytes)
    if lists and isinstance(value, Sized):
        return True, (len(value),)
    return None


def _shown(graph: Graph, ref: Ref, merge: str, depth: int) -> tuple[int | None, int] | None:
    """(axis or None, by how much) a value is longer than the variable, by the graph; None if it is not longer."""
    ref = _origin(graph, ref)
    node = graph.nodes[ref.node]
    if depth > DEPTH or not node.inputs:
        return None
    if node.op in APPENDS:
        return _more(graph, node.inputs[0], merge, depth, None, 1)
    if node.op != "concat" or node.attrs.get("axis_input"):
        return None
    rank = next((len(t.shape) for r in node.inputs if (t := graph.type_of(r)).shape), 0)
    axis = node.attrs.get("axis", 0)
    if not isinstance(axis, int) or not -rank <= axis < rank:
        return None
    pieces = [r for r in node.inputs if not _holds(graph, r, merge, depth)]
    if len(pieces) != len(node.inputs) - 1:
        return None
    more = 0
    for piece in pieces:
        shape = graph.type_of(piece).shape
        length = shape[axis % rank] if shape is not None and len(shape) == rank else None
        if length is None:
            return None
        more += length
    base = next(r for r in node.inputs if r not in pieces)
    return _more(graph, base, merge, depth, axis % rank, more)


def _more(graph: Graph, base: Ref, merge: str, depth: int, axis: int | None, by: int) -> tuple[int | None, int] | None:
    """The growth of a value ``by`` longer than ``base``, which is the variable or itself longer along the same axis."""
    if _origin(graph, base).node == merge:
        return (axis, by) if by > 0 else None
    before = _shown(graph, base, merge, depth + 1)
    return (axis, before[1] + by) if before is not None and before[0] == axis else None


def _holds(graph: Graph, ref: Ref, merge: str, depth: int) -> bool:
    return _origin(graph, ref).node == merge or _shown(graph, ref, merge, depth + 1) is not None


def _origin(graph: Graph, ref: Ref) -> Ref:
    """The value of which ``ref`` is an alias in this iteration."""
    node = graph.nodes[ref.node]
    while node.op in ("Identity", "stop_gradient") or node.op == "Switch" and _by_loop(graph, node.inputs):
        ref = node.inputs[0]
        node = graph.nodes[ref.node]
    return ref


def _by_loop(graph: Graph, inputs: Iterable[Ref]) -> bool:
    return graph.nodes[list(inputs)[1].node].op == "LoopCond"
