"""Values of a trace as columns that belong to the same iterations, for analyses of many nodes at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.trace import Trace
from workbench.trace.tail_reader import Reading

#: maximum number of firings read of one value (the newest ones), and of items in all their arrays together
MAX_FIRINGS = 100_000
MAX_ITEMS = 8_000_000


def trace_of(source: Any) -> Trace:
    """The trace of a session, or the trace itself."""
    found = getattr(source, "trace", source)
    if not isinstance(found, Trace):
        raise WorkbenchError(
            f"Expected a trace or a session, got {type(source).__name__}.",
            slug="no-trace",
            fix="give session.trace, or what Trace.load returns.",
        )
    return found


def origin(graph: Graph, ref: Ref) -> Node:
    """The node that computes ``ref``, which may be its alias through Identity, Switch or the Enter of an invariant."""
    node = graph.nodes[ref.node]
    while node.op in ("Identity", "Switch") or node.op == "Enter" and node.attrs.get("is_constant"):
        node = graph.nodes[node.inputs[0].node]
    return node


class AlignedColumns:
    """Reads each value of a trace once; ``activation`` restricts values of nested loops to that activation."""

    def __init__(self, trace: Trace, activation: tuple[int, ...] | None = None, firings: int = MAX_FIRINGS) -> None:
        self.trace, self.activation, self.firings = trace, activation, firings
        self._read: dict[Ref, tuple[np.ndarray, Any]] = {}
        self._latest: dict[Ref, dict[int, Any]] = {}

    def get(self, ref: Ref) -> tuple[np.ndarray, Any]:
        """(iterations (n, depth), values (n, ...)) of the newest firings; empty for a value that was not recorded."""
        if ref not in self._read:
            self._read[ref] = self._window(ref)
        return self._read[ref]

    def _window(self, ref: Ref) -> tuple[np.ndarray, Any]:
        if ref not in self.trace.layout.values:
            return np.empty((0, 1), np.int64), np.empty(0)
        shape = self.trace.graph.nodes[ref.node].types[ref.index].shape or ()
        size = int(np.prod([d or 1 for d in shape]))
        iterations, values = Reading(self.trace, ref).newest(min(self.firings, max(MAX_ITEMS // max(size, 1), 1)))
        if not len(values):
            return np.empty((0, 1), np.int64), np.empty(0)
        if self.activation is not None and iterations.shape[1] > len(self.activation):
            mine = (iterations[:, : len(self.activation)] == np.array(self.activation)).all(axis=1)
            iterations, values = iterations[mine], values[mine]
        return iterations, values

    def at(self, ref: Ref, iterations: np.ndarray) -> tuple[np.ndarray, Any]:
        """(mask of these iterations that have a value, their values)."""
        everywhere = np.ones(len(iterations), bool)
        graph = self.trace.graph
        source = origin(graph, ref)
        if source.op == "Const":
            value = source.attrs["value"]
            return everywhere, np.broadcast_to(value, (len(iterations), *value.shape))
        own, values = self.get(ref)
        depth = own.shape[1] if own.ndim == 2 else 0
        if len(own) and depth < iterations.shape[1] and source.name != ref.node:
            own, values = self.get(source.ref(0))  # an invariant, under its name outside the loop
            depth = own.shape[1]
        if len(own) == 0:
            return ~everywhere, values
        if own.shape == iterations.shape and np.array_equal(own, iterations):
            return everywhere, values
        if depth == 0:
            return everywhere, np.broadcast_to(values[-1], (len(iterations), *np.shape(values[-1])))
        rows = {tuple(row): i for i, row in enumerate(own.tolist())}
        picked = np.array([rows.get(tuple(row[:depth]), -1) for row in iterations.tolist()], np.int64)
        return picked >= 0, values[picked[picked >= 0]]

    def latest(self, ref: Ref) -> dict[int, Any]:
        """Innermost iteration -> value; callers must not change it."""
        if ref not in self._latest:
            iterations, values = self.get(ref)
            inside = iterations.ndim == 2 and iterations.shape[1] > 0
            self._latest[ref] = dict(zip(iterations[:, -1].tolist(), values, strict=True)) if inside else {}
        return self._latest[ref]
