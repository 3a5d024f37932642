"""Which past firings a breakpoint would have stopped at: asked of the record, without moving the run.

Where every firing of what it looks at is kept, and all is in one frame, the conditions are asked of whole series at
once. Else a run beside this one goes through the past once more, with the breakpoint set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.debugger.batch import Batch
from workbench.debugger.breakpoint import Breakpoint
from workbench.debugger.tally import Due
from workbench.errors import SessionError, TraceError
from workbench.graph.node import Ref, Tag

if TYPE_CHECKING:
    from workbench.debugger.debugger import Debugger

#: items that are asked at once
SLICE = 1 << 20


def past_hits(debugger: Debugger, point: Breakpoint, limit: int) -> list[Tag]:
    """Tags of the hits up to here, oldest first, at most ``limit``."""
    if not isinstance(limit, int) or limit < 1:
        raise SessionError(f"limit counts from 1; {limit!r} came.", slug="bad-count")
    found = _from_series(debugger, point)
    if found is None:
        return _gone_through(debugger, point, limit)
    due = [point.due(k) for k in range(1, len(found) + 1)] if point.counted else [True] * len(found)
    return [tag for tag, is_due in zip(found, due, strict=True) if is_due][:limit]


def _from_series(debugger: Debugger, point: Breakpoint) -> list[Tag] | None:
    """All hits from what is recorded; None where that is not enough."""
    run, trace = debugger.run, debugger.run.trace
    known = run.plan.layout.values
    if point.entry or run.edits or any(tuple(r) not in known or known[tuple(r)].kind != "slot" for r in point.refs):
        return None
    asked = [a for of_node in debugger.breakpoints.armed().values() for a in of_node if a.point is point]
    armed = [(a.ref, a.health) for a in asked] if point.enabled else [(ref, point.health) for ref in point.refs]
    if len({known[tuple(ref)].frame for ref, _ in armed}) > 1:
        return None
    hits: list[tuple[Any, ...]] = []
    for ref, health in armed:
        if not trace.coverage(ref).whole:
            return None
        node = trace.reader.node[ref.node]
        iterations = _asked(debugger, point, ref, health)
        if iterations is None:
            return None
        frame = run.plan.layout.frames[known[tuple(ref)].frame].path
        hits += [(*row, node.ip, Tag(ref.node, ref.index, frame, tuple(row))) for row in iterations.tolist()]
    return [hit[-1] for hit in sorted(hits, key=lambda hit: hit[:-1])]


def _asked(debugger: Debugger, point: Breakpoint, ref: Ref, health: tuple[str, ...]) -> np.ndarray | None:
    """(n, depth) iterations of a value that are hits; None where they cannot be asked in one go."""
    series, reader = debugger.run.trace[ref], debugger.run.trace.reader
    if not point.after:  # the node counts, whichever of its outputs are alive
        node = reader.node[ref.node]
        return _meant(point, reader.iterations(node.frame, reader.rows_of(node, node.guard)))
    iterations = series.iterations
    back, found, at = point.looks_back, [np.empty((0, iterations.shape[1]), np.int64)], 0
    item = series[-1].size if len(iterations) else 1
    length = max(1, SLICE // max(1, item))
    while at < len(iterations):
        low, high = max(0, at - back), min(len(iterations), at + length)
        values = series[low:high]
        if values.dtype == object or len(values) != high - low:
            return None
        around = _Beside(debugger, iterations[low:high], debugger.run.trace.reader.node[ref.node].ip)
        batch = Batch(values, iterations[low:high], around, debugger.classify)
        try:
            mine = iterations[at:high][point.holds(batch, health)[at - low :]]
        except _NotAligned:
            return None
        found.append(_meant(point, mine))
        at = high
    return np.concatenate(found)


def _meant(point: Breakpoint, iterations: np.ndarray) -> np.ndarray:
    """Those of the iterations that the breakpoint names."""
    mine = np.ones(len(iterations), bool)
    for column, want in enumerate(point.iteration or ()):
        if want is not None:
            mine &= iterations[:, column] == want
    return iterations[mine]


class _NotAligned(Exception):
    """Another value is not kept in all of these iterations."""


class _Beside:
    """Other values in the same iterations."""

    def __init__(self, debugger: Debugger, iterations: np.ndarray, ip: int) -> None:
        self.debugger, self.iterations, self.ip = debugger, iterations, ip

    def __call__(self, name: str, back: int) -> tuple[np.ndarray, np.ndarray]:
        trace = self.debugger.run.trace
        ref = self.debugger.breakpoints.ref(name)
        if not back and trace.reader.node[ref.node].ip >= self.ip:  # it fires later: there was no value yet
            return np.full(1, np.nan), np.zeros(1, bool)
        try:
            whole, theirs, values = trace.coverage(ref).whole, trace[ref].iterations, trace[ref].values
        except TraceError:
            raise _NotAligned from None
        if not whole or values.dtype == object or len(values) != len(theirs):
            raise _NotAligned
        wanted = self.iterations[:, : theirs.shape[1]].copy()
        if back and wanted.shape[1]:
            wanted[:, -1] -= 1
        if back and not wanted.shape[1]:
            return values[:1], np.zeros(1, bool)
        if len(theirs) == 0:
            return np.full(1, np.nan), np.zeros(1, bool)
        if wanted.shape[1] == 0:
            return values[:1], np.ones(1, bool)
        keys, asked = _keys(theirs), _keys(wanted)
        at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        there = keys[at] == asked
        return values[at], there


def _keys(iterations: np.ndarray) -> np.ndarray:
    """One sortable key for each path."""
    return np.ascontiguousarray(iterations.astype(">i8")).view(f"S{8 * iterations.shape[1]}")[:, 0]


def _gone_through(debugger: Debugger, point: Breakpoint, limit: int) -> list[Tag]:
    """The same from a run beside this one."""
    from workbench.debugger.debugger import Debugger

    run, end = debugger.run, debugger.run.event
    beside = Debugger(run.fork(run.checkpoints[0]), debugger.lean)
    beside.classify = debugger.classify
    for rule in debugger.breakpoints.rules:
        beside.breakpoints.ignore(rule.where, op=rule.op, health=rule.health or None)
    (copy,) = beside.breakpoints.load_data([{**point.to_data(), "enabled": True}])
    found: list[Tag] = []
    beside._tally = Due(copy.due)
    for stop in beside._stops(end):
        if stop is not None and stop.fired is not None:
            found.append(stop.fired)
            if len(found) >= limit:
                break
    return found
