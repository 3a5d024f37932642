"""Opening a large graph does a bounded amount of work for each of its nodes."""

from __future__ import annotations

import workbench as wb
from tests.benchmarks.big_graph import loop
from tests.work import work_of
from workbench.widgets.panel.panel import Debugger

#: calls of functions for each node of a loop until its panel is there: 272 of them were made with Python 3.11
MOST_CALLS = 300


def calls_of_opening(nodes: int) -> int:
    opened: list[Debugger] = []
    graph = loop(nodes)
    try:
        return work_of(lambda: opened.append(wb.debug(graph, {"x": 1.0})))
    finally:
        opened[0].close()


def test_a_panel_that_opens_walks_a_large_loop_a_bounded_number_of_times():
    small, large = 5_200, 6_200  # both are large to the analysis (slicing: LARGE)
    calls_of_opening(small - 1)  # what is imported and looked up the first time
    each = (calls_of_opening(large) - calls_of_opening(small)) / (large - small)
    assert 0 < each < MOST_CALLS, f"{each:.0f} calls a node"
