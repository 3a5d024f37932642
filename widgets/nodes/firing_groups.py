"""Nodes that fire in the same rows, and the places of their outputs: computed once for a run.

A graph of 50,000 nodes has few such groups, and the numbers of a group lie in one row: its newest values are found by
one question, and read by one copy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.ir.graph import Graph
from workbench.ir.types import numpy_dtype
from workbench.kernels.layout import KEPT, Condition, NodeLayout, Place, ValueLayout
from workbench.trace import Trace
from workbench.trace.row_ranges import FOREVER

#: rows that are looked at first for the newest firing of a node on a branch, and at most
FEW, MOST = 8, 10_000


class FiringGroup(NamedTuple):
    """``numbers`` of nodes in program order, ``ips`` their places in the program; ``frame`` counts their firings."""

    frame: int
    guard: tuple[Condition, ...]
    nodes: list[NodeLayout]
    numbers: np.ndarray
    ips: np.ndarray

    def newest(self, trace: Trace, node: NodeLayout) -> int:
        """The newest row in which a node of the group has fired, or -1."""
        extent, width = trace.source.extent(node.frame), FEW
        while True:
            rows = trace.reader.rows_of(node, self.guard, (extent.end - width, extent.end))
            if len(rows):
                return int(rows[-1])
            if extent.end - width <= extent.first or width >= MOST:
                return -1
            width *= 8


class RowColumn(NamedTuple):
    """Numbers of one type in the rows of one frame: ``row`` is the place of a whole row, as bytes."""

    row: Place
    dtype: np.dtype


class NodePlaces:
    """The nodes of a graph in the order of the program, and the place of the newest value of each first output.

    ``column`` is, by index of a node, its one of ``columns``, or -1 for arrays, objects and constants; ``offset`` is
    its position in a row, and ``until`` the instruction before which it is there.
    """

    def __init__(self, graph: Graph, trace: Trace | None) -> None:
        layout = None if trace is None else trace.layout
        order = dict.fromkeys(node.name for node in layout.nodes if node.name in graph.nodes) if layout else {}
        self.names = list(order | dict.fromkeys(graph.nodes))
        self.number = {name: k for k, name in enumerate(self.names)}
        count = len(self.names)
        column, offset, until = [-1] * count, [0] * count, [FOREVER] * count
        self.columns: list[RowColumn] = []
        self.values: list[ValueLayout | None] = [None] * count
        self.groups: list[FiringGroup] = []
        known: dict[tuple[int, int, str], int] = {}
        guards: dict[int, tuple[Condition, ...]] = {}  # most nodes share theirs, which takes long to hash
        equal: dict[tuple[Condition, ...], tuple[Condition, ...]] = {}
        together: dict[tuple[int, int, int, bool, bool], list[tuple[int, NodeLayout]]] = {}
        for node in layout.nodes if layout is not None else ():
            assert layout is not None  # else there are no nodes
            value = layout.values.get((node.name, 0))
            number = self.number.get(node.name)
            if value is None or number is None:
                continue
            self.values[number] = value
            guard = guards.get(id(value.guard))
            if guard is None:
                guard = guards[id(value.guard)] = equal.setdefault(value.guard, value.guard)
            fires = (value.frame, id(guard), node.frame, node.first, node.op == "Enter")
            together.setdefault(fires, []).append((number, node))
            place = value.place
            if value.kind != "slot" or place is None or place.dtype is None or place.shape or not place.base:
                continue
            if place.base > len(layout.frames):
                continue
            key = (place.base, place.shift, place.dtype)
            if key not in known:
                width = layout.frames[place.base - 1].row_bytes
                row = Place(place.base, 0, place.shift, "uint8", (width,))
                known[key] = len(self.columns)
                self.columns.append(RowColumn(row, np.dtype(numpy_dtype(place.dtype))))
            column[number], offset[number] = known[key], place.offset
            if 0 <= place.until < KEPT:
                until[number] = place.until
        self.column, self.offset, self.until = (np.array(c, np.int64) for c in (column, offset, until))
        for (frame, guard_id, *_), members in together.items():
            members.sort(key=lambda pair: pair[1].ip)
            numbers = np.array([number for number, _ in members], np.int64)
            ips = np.array([node.ip for _, node in members], np.int64)
            self.groups.append(FiringGroup(frame, guards[guard_id], [n for _, n in members], numbers, ips))
