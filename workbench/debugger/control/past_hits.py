"""Finds the past firings at which a breakpoint would have stopped, without moving the run.

If every firing of the breakpoint's values is recorded, and all values are in one frame, its conditions are evaluated on
whole series. Otherwise a copy of the run replays the past with the breakpoint.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from workbench.debugger.breakpoints.breakpoint import Breakpoint
from workbench.debugger.conditions.batch import Batch
from workbench.debugger.control.context import DebugContext
from workbench.debugger.control.hit_policy import FilterHits, HitPolicy
from workbench.debugger.control.hit_recount import HitRecount
from workbench.debugger.iteration_path import short_repr
from workbench.debugger.stop import Stop
from workbench.errors import SessionError, TraceError
from workbench.ir.node import Ref, Tag
from workbench.ops.exact_integers import can_wrap
from workbench.trace.aligned_columns import AlignedColumns

#: creates a copy of the run at its beginning; the policy counts its hits
ReplayFactory = Callable[[HitPolicy], HitRecount]

#: number of items of a series for which a condition is evaluated at once
SLICE = 1 << 20


def past_hits(context: DebugContext, point: Breakpoint, limit: int, replay: ReplayFactory) -> list[Tag]:
    """Tags of the hits up to the present event, oldest first, at most ``limit``."""
    if not isinstance(limit, int) or limit < 1:
        raise SessionError(
            f"recheck: limit must be a positive integer, got {short_repr(limit)}.",
            slug="bad-count",
            fix="pass the number of tags that you want at most.",
        )
    tags = _from_series(context, point)
    if tags is None:
        return _from_replay(context, point, limit, replay)
    due = [point.due(k) for k in range(1, len(tags) + 1)] if point.counted else [True] * len(tags)
    return [tag for tag, is_due in zip(tags, due, strict=True) if is_due][:limit]


def _from_series(context: DebugContext, point: Breakpoint) -> list[Tag] | None:
    """All hits, from the recorded series; None if these are not sufficient."""
    run, trace = context.run, context.run.trace
    known = run.plan.layout.values
    if point.entry or run.edits or any(r not in known or known[r].kind != "slot" for r in point.refs):
        return None
    own = [a for of_node in context.breakpoints.armed().values() for a in of_node if a.point is point]
    armed = [(a.ref, a.health) for a in own] if point.enabled else [(ref, point.health) for ref in point.refs]
    if len({known[ref].frame for ref, _ in armed}) > 1:
        return None
    hits: list[tuple[Any, ...]] = []
    for ref, health in armed:
        if not trace.coverage(ref).whole:
            return None
        node = trace.reader.node[ref.node]
        iterations = _hit_iterations(context, point, ref, health)
        if iterations is None:
            return None
        frame = run.plan.layout.frames[known[ref].frame].path
        hits += [(*row, node.ip, Tag(ref.node, ref.index, frame, tuple(row))) for row in iterations.tolist()]
    return [hit[-1] for hit in sorted(hits, key=lambda hit: hit[:-1])]


def _hit_iterations(context: DebugContext, point: Breakpoint, ref: Ref, health: tuple[str, ...]) -> np.ndarray | None:
    """(n, depth) iterations in which a value is a hit; None if its series cannot be evaluated as a whole."""
    series, reader = context.run.trace[ref], context.run.trace.reader
    if not point.after:  # the node counts, regardless of which outputs are alive
        node = reader.node[ref.node]
        return _selected(point, reader.iterations(node.frame, reader.rows_of(node, node.guard)))
    iterations = series.iterations
    back, hits, at = point.looks_back, [np.empty((0, iterations.shape[1]), np.int64)], 0
    item = series[-1].size if len(iterations) else 1
    length = max(1, SLICE // max(1, item))
    while at < len(iterations):
        low, high = max(0, at - back), min(len(iterations), at + length)
        values = series[low:high]
        if values.dtype == object or len(values) != high - low:
            return None
        around = _OtherValues(context, iterations[low:high], context.run.trace.reader.node[ref.node].ip)
        batch = Batch(values, iterations[low:high], around, context.label_of(ref), partial(around.made, ref))
        try:
            mine = iterations[at:high][point.holds(batch, health)[at - low :]]
        except _NotAligned:
            return None
        hits.append(_selected(point, mine))
        at = high
    return np.concatenate(hits)


def _selected(point: Breakpoint, iterations: np.ndarray) -> np.ndarray:
    """The iterations that match the breakpoint's ``iteration``."""
    mine = np.ones(len(iterations), bool)
    for column, want in enumerate(point.iteration or ()):
        if want is not None:
            mine &= iterations[:, column] == want
    return iterations[mine]


class _NotAligned(Exception):
    """Another value is not recorded in all of these iterations."""


class _OtherValues:
    """Looks up other values in the same iterations, for a condition that names them."""

    def __init__(self, context: DebugContext, iterations: np.ndarray, ip: int) -> None:
        self.context, self.iterations, self.ip = context, iterations, ip

    def __call__(self, name: str, back: int) -> tuple[np.ndarray, np.ndarray]:
        trace = self.context.run.trace
        ref = self.context.breakpoints.ref(name)
        if (
            not back and trace.reader.node[ref.node].ip >= self.ip
        ):  # it fires later in the iteration: no value exists yet
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
        keys, wanted_keys = _keys(theirs), _keys(wanted)
        at = np.minimum(np.searchsorted(keys, wanted_keys), len(keys) - 1)
        there = keys[at] == wanted_keys
        return values[at], there

    def made(self, ref: Ref) -> tuple[str, list[tuple[np.ndarray, np.ndarray]]] | None:
        """The op that computed a value, and its operands."""
        trace = self.context.run.trace
        node, columns, operands = trace.graph.nodes[ref.node], AlignedColumns(trace), []
        if not can_wrap(node):
            return None
        for given in node.inputs:
            there, values = columns.at(given, self.iterations)
            if not there.all():
                raise _NotAligned
            operands.append((values, there))
        return node.op, operands


def _keys(iterations: np.ndarray) -> np.ndarray:
    """One sortable key for each path."""
    return np.ascontiguousarray(iterations.astype(">i8")).view(f"S{8 * iterations.shape[1]}")[:, 0]


def _from_replay(context: DebugContext, point: Breakpoint, limit: int, replay: ReplayFactory) -> list[Tag]:
    """The hits, found by a copy of the run that replays the past."""
    hits = replay(FilterHits(point.due))
    breakpoints = hits.context.breakpoints
    for rule in context.breakpoints.rules:
        breakpoints.ignore(rule.where, op=rule.op, health=rule.health or None)
    breakpoints.load_data([{**point.to_data(), "enabled": True}])
    tags: list[Tag] = []

    def collect(stop: Stop) -> None:
        if stop.fired is not None:
            tags.append(stop.fired)

    for _ in hits.visit_stops(context.run.event, collect):
        if len(tags) >= limit:
            break
    return tags
