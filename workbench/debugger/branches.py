"""To the next or the previous place where a branch goes the other way, or to a side of a branch.

A Switch *flips* where its decision differs from the last one in the same activation of its loop; the end of a loop is
one, as its condition turns false there. Switches that follow one predicate are one branch: the run stops in front of
the first of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from workbench.debugger.backward import Backward
from workbench.debugger.pursuing import Goal
from workbench.debugger.stop import Stop, StopReason
from workbench.errors import SessionError
from workbench.execution import Position
from workbench.graph.node import Ref

#: so many rows are looked back for the decision before, at first
FIRST_LOOK = 4


class Branches(Backward):
    """Commands about decisions."""

    def _do_next_branch(self, name: str | None = None) -> Iterator[Stop | None]:
        """On to the next flip of any branch, or of the Switch ``name``."""
        yield from self._to_probe(self._switches(name), self._flip, flips=True)

    def _do_run_to_branch(self, name: str | None = None, side: bool | None = None) -> Iterator[Stop | None]:
        """On to the next firing of a branch, or of the Switch ``name``, that goes to this ``side``, or to any."""
        if side not in (True, False, None):
            raise SessionError(f"A side is True or False, {side!r:.40} came.", slug="bad-side", fix="give one of them.")

        def goes(position: Position) -> str:
            now = self._decision(position)
            return f"{position.node} goes to its {_word(now)} side." if side is None or now == side else ""

        yield from self._to_probe(self._switches(name), goes)

    def _do_previous_branch(self, name: str | None = None) -> Iterator[Stop | None]:
        """Back to the last flip of any branch, or of the Switch ``name``; breakpoints are passed over."""
        point = self.breakpoints.probe(self._switches(name), self._flip, flips=True)
        try:
            yield from self._last_stop([point])
        finally:
            self.breakpoints.remove(point)

    # -- parts -----------------------------------------------------------------------------------------------------
    def _to_probe(
        self, refs: tuple[Ref, ...], asks: Callable[[Position], str], flips: bool = False
    ) -> Iterator[Stop | None]:
        point = self.breakpoints.probe(refs, asks, flips)
        try:
            yield from self._pursue(Goal(StopReason.NOT_REACHED))
        finally:
            self.breakpoints.remove(point)

    def _switches(self, name: str | None) -> tuple[Ref, ...]:
        """One Switch of each branch, or of the one that a Switch or a predicate names."""
        graph, found = self.run.plan.graph, dict[Any, Ref]()
        wanted = None if name is None else self._root(self.breakpoints.ref(name))
        if name is not None and graph.nodes[self.breakpoints.ref(name).node].op == "Switch":
            wanted = self._root(graph.nodes[self.breakpoints.ref(name).node].inputs[1])
        for node in self.run.plan.layout.nodes:
            if node.op != "Switch" or node.silent:
                continue
            root = self._root(graph.nodes[node.name].inputs[1])
            if wanted in (None, root):
                found.setdefault((root, node.frame, node.guard), Ref(node.name))
        if not found:
            what = "This run has no branches" if name is None else f"{str(name)[:200]!r} decides no branch"
            raise SessionError(f"{what}.", slug="no-branch", fix="session.trace.branch_counts() lists every Switch.")
        return tuple(found.values())

    def _root(self, ref: Ref) -> Ref:
        """The value that a predicate is another name of."""
        graph = self.run.plan.graph
        while graph.nodes[ref.node].op in ("LoopCond", "Identity"):
            ref = graph.nodes[ref.node].inputs[0]
        return ref

    def _predicate(self, switch: str) -> Ref:
        return self.run.plan.graph.nodes[switch].inputs[1]

    def _decision(self, position: Position) -> bool:
        """Where the Switch in front goes; its predicate has fired."""
        assert position.node is not None
        return bool(np.asarray(self.run.value_now(self._predicate(position.node))))

    def _flip(self, position: Position) -> str:
        """How the Switch in front goes another way than last time; nothing if it does not."""
        assert position.node is not None
        if not position.iteration or position.iteration[-1] == 0:
            return ""
        now, before = self._decision(position), self._decision_before(position)
        if before is None or before == now:
            return ""
        return f"{position.node} goes to its {_word(now)} side; last time it went to the other."

    def _decision_before(self, position: Position) -> bool | None:
        """The last decision in the same activation, as far back as rows are kept; None if there was none."""
        reader, run = self.run.trace.reader, self.run
        node = reader.node[position.node or ""]
        layout = run.plan.layout.values[tuple(self._predicate(node.name))]
        stop, look = run.view.rows(node.frame)[1], FIRST_LOOK
        first = stop - position.iteration[-1]
        while True:
            rows = reader.readable(layout, range(max(first, stop - look), stop))
            fired = reader.fired(node, node.guard, rows)
            if len(fired):
                return bool(np.asarray(reader.values(layout, fired[-1:]))[0])
            if stop - look <= first:
                return None
            look *= 8


def _word(side: bool) -> str:
    return "true" if side else "false"
