"""A raster of a whole graph, however large: from the inputs on the left to the outputs on the right, as bytes.

A column represents a range of depths (longest paths from an input), its cells the nodes there, spread around the
middle. An empty cell is 0, another 1 + the number of loops around its nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.ir.graph import Graph

COLUMNS, ROWS = 512, 40
MAX_LEVEL = 6


class Overview:
    """``cells`` is (rows, columns) of uint8; ``column`` and ``row`` hold the position of each node, by index in
    ``names``.
    """

    def __init__(self, graph: Graph) -> None:
        self.names = list(graph.nodes)
        number = {name: k for k, name in enumerate(self.names)}
        depths: list[int] = []
        for k, name in enumerate(self.names):
            before = [number[s] for s in graph.reads[name] + graph.nodes[name].control]
            depths.append(1 + max([depths[b] for b in before if b < k], default=-1))
        depth = np.array(depths, np.int64)
        self.number = number
        deepest = int(depth.max(initial=0)) + 1
        columns = max(1, min(COLUMNS, deepest))
        self.column = depth * columns // deepest
        self.row = np.full(len(self.names), ROWS // 2, np.int64)
        level = np.array([min(1 + len(graph.frame_of(n)), MAX_LEVEL) for n in self.names], np.uint8)
        self.cells = np.zeros((ROWS, columns), np.uint8)
        counts = np.bincount(self.column, minlength=columns)
        widest = max(1, int(counts.max(initial=1)))
        order = np.argsort(self.column, kind="stable")
        start = 0
        for column, count in enumerate(counts):
            mine = order[start : start + int(count)]
            start += int(count)
            if count:
                # the height grows with the square root of the number of nodes, so that thin places stay visible
                tall = max(1, round(ROWS * (count / widest) ** 0.5))
                self.row[mine] = (ROWS - tall) // 2 + (np.arange(count) * tall) // count
                np.maximum.at(self.cells[:, column], self.row[mine], level[mine])

    def place(self, node: str) -> tuple[int, int] | None:
        """(column, row) of a node."""
        k = self.number.get(node)
        return None if k is None else (int(self.column[k]), int(self.row[k]))

    def nearest(self, column: float, row: float) -> str | None:
        """The node nearest to a position; columns have more weight, because a click aims at them."""
        if not self.names:
            return None
        away = 16.0 * np.abs(self.column - column) + np.abs(self.row - row)
        return self.names[int(np.argmin(away))]

    def span(self, nodes: Any) -> tuple[int, int] | None:
        """First and last column of the given nodes."""
        numbers = [self.number[n] for n in nodes if n in self.number]
        if not numbers:
            return None
        columns = self.column[numbers]
        return int(columns.min()), int(columns.max())
