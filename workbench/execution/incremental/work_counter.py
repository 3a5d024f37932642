"""Counts the firings that a revision executes, and finds the event at which a row of a loop begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from workbench.execution.incremental.steps import RevisionStep, RevisionSteps
from workbench.execution.run import Run
from workbench.kernels import machine as core
from workbench.kernels.layout import NodeLayout

#: for a store: row, number of activations, init row and parent row of the last activation (kernels: snapshots)
Counts = tuple[int, int, int, int]


class WorkCounter:
    """Counts firings that are executed again: ``total`` in events of the executor, ``nodes`` by name."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.total = self.compared = 0
        self.nodes: Counter[str] = Counter()

    def add(self, node: str, events: int) -> None:
        """Count a node of the outermost level."""
        self.total += events
        self.nodes[node] += events

    def rerun(self, events: int, step: RevisionStep, since: Mapping[int, int]) -> None:
        """Count ``events`` in a loop, from rows ``since`` (by frame of the loop; by default all rows)."""
        self.total += events
        rows = _Rows(self.run)
        for node in self.run.plan.layout.nodes:
            if step.start < node.ip < step.stop:
                fired = rows.count(node, since.get(node.frame, 0), 1 << 62)
                if fired:
                    self.nodes[node.name] += fired

    def to_end(self, run: Run) -> Iterator[None]:
        """Run to the end in slices, and count the firings."""
        if run.finished:
            return
        before, since = self._fired(), run.event
        try:
            while not run.finished and run.go() != "halt":
                yield
        finally:
            self.total += run.event - since
            self.nodes.update({n: k - before[n] for n, k in self._fired().items() if k > before[n]})

    def _fired(self) -> dict[str, int]:
        rows = _Rows(self.run)
        return {n.name: rows.count(n, 0, 1 << 62) for n in self.run.plan.layout.nodes}


class _Rows:
    """Counts firings in rows; nodes with the same guard are counted once."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._known: dict[object, int] = {}

    def count(self, node: NodeLayout, low: int, high: int) -> int:
        """Number of firings of a node in rows ``low`` to ``high`` (exclusive)."""
        partial = node.ip < self.run.view.ip  # True if it has been reached in the row in progress
        inside = (node.frame, node.guard, node.first, low, high, partial)
        if inside not in self._known:
            window = None if node.frame == 0 else (low, high)
            self._known[inside] = len(self.run.trace.reader.rows_of(node, node.guard, window))
        return self._known[inside]


def counts_before(run: Run, steps: RevisionSteps, step: RevisionStep, row: int) -> dict[int, Counts]:
    """The counts of a snapshot before ``row``, by store of a loop."""
    view, layout = run.view, steps.plan.layout
    starts, parents = view.activations(step.frame)
    found: dict[int, Counts] = {step.frame: (row, len(starts), int(starts[-1]), int(parents[-1]))}
    for frame in step.tree:
        if frame == step.frame:
            continue
        parent = layout.frames[frame].parent
        begun = found[parent][0] + (parent != step.frame)  # the row itself has not begun
        starts, parents = view.activations(frame)
        n = int(np.searchsorted(parents, begun, "left"))
        last = int(starts[n]) - 1 if n < len(starts) else view.rows(frame)[1]
        found[frame] = (last, n, int(starts[n - 1]), int(parents[n - 1])) if n else (-1, 0, -1, -1)
    frames = len(layout.frames)
    arrays = {s: (found[f][0], 0, -1, -1) for s, f in enumerate(layout.stores) if s >= frames and f in found}
    return found | arrays


def events_before(
    run: Run, steps: RevisionSteps, step: RevisionStep, row: int, checkpoints: Sequence[core.Snapshot]
) -> int:
    """Number of events before ``row`` of a loop, counted from the checkpoint before it."""
    head, layout = core.head_of(run.machine, step.frame), steps.plan.layout
    begin = int(run.view.activations(step.frame)[0][-1]) + 1
    events, low = core.loop_events(run.machine, step.frame), {f: 0 for f in step.tree} | {step.frame: begin}
    for checkpoint in checkpoints:
        if checkpoint.ip == head and begin < checkpoint.row(step.frame) <= row:
            events = checkpoint.events
            low = {f: checkpoint.row(f) + 1 for f in step.tree} | {step.frame: checkpoint.row(step.frame)}
    high = {f: c[0] + 1 for f, c in counts_before(run, steps, step, row).items()} | {step.frame: row}
    rows = _Rows(run)
    return events + sum(rows.count(n, low[n.frame], high[n.frame]) for n in layout.nodes if n.frame in low)
