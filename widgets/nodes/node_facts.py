"""Facts of a node's newest value: least, largest, how many items are not finite and zero, and its bytes.

Bounded: values are read for at most 0.05 s a look; what a standing run could not give in that time is read at the next
look (``behind``). What was read is kept while nothing changes, and while a run goes on nothing is read.
"""

from __future__ import annotations

import time
from collections.abc import Hashable

from workbench.ir.node import Ref
from workbench.widgets.graph.model.node_values import NOT_THERE
from workbench.widgets.live.view_source import ViewSource
from workbench.widgets.series.series_reader import latest
from workbench.widgets.text.value_facts import ValueFacts, facts_of

SLICE_S = 0.05


class FactReader:
    """Reads the facts of nodes, of a session or a trace."""

    def __init__(self, source: ViewSource) -> None:
        self.source = source
        self.behind = False
        self._mark: Hashable = None
        self._kept: dict[str, ValueFacts | None] = {}

    def begin(self, mark: Hashable, running: bool) -> None:
        """A new look; ``mark`` tells whether anything can have changed since the last one."""
        if running or mark != self._mark:
            self._kept = {}
        self._mark, self._running = mark, running
        self._until = time.perf_counter() + SLICE_S
        self.behind = False

    def of(self, name: str) -> ValueFacts | None:
        """The facts of a node, or None for one without a value that is a number, or that was not read yet."""
        if name not in self._kept:
            if self._running or self.source.trace is None:
                return None
            if time.perf_counter() > self._until:
                self.behind = True
                return None
            self._kept[name] = self._read(name)
        return self._kept[name]

    def _read(self, name: str) -> ValueFacts | None:
        trace = self.source.trace
        try:
            found = None if trace is None else latest(trace, str(Ref(name, 0)), {})
        except NOT_THERE:
            return None
        return None if found is None else facts_of(found[0])
