"""From a graph to scheduled blocks: the frames that nest, those that are raw, and the order of all items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.plan.schedule.frame_schedule import Block, order_block
from workbench.plan.schedule.graph_order import CyclicFramesError, whole_frames
from workbench.plan.schedule.guards import Guard, Guards, RawFrame, find_guards, least
from workbench.plan.schedule.nesting import NotNestingError, check_frame, fed_by_invariants
from workbench.plan.schedule.split_frames import split_frames


@dataclass(frozen=True, slots=True)
class Arrangement:
    """``graph`` is the scheduled one: frames that wait for their own Exits are split into several (split_frames).
    ``raw`` maps each frame that does not nest to the reason.
    """

    graph: Graph
    needed: frozenset[str]
    guards: Guards
    blocks: Mapping[FramePath, Block]
    raw: Mapping[FramePath, str]


def arrange(graph: Graph, needed: frozenset[str]) -> Arrangement:
    """Schedule the ``needed`` nodes. FrameError for a frame that waits for its own results."""
    raw: dict[FramePath, str] = {}
    while True:
        try:
            guards = _solve(graph, needed, raw)
            blocks = _blocks(graph, needed, guards, raw)
        except CyclicFramesError as knot:
            graph, needed = split_frames(graph, needed, knot)
            raw.clear()
            continue
        if blocks is not None:
            return Arrangement(graph, needed, guards, blocks, raw)


def _blocks(
    graph: Graph, needed: frozenset[str], guards: Guards, raw: dict[FramePath, str]
) -> dict[FramePath, Block] | None:
    """The blocks of all frames, or None if some do not nest, which are then added to ``raw``."""
    living = [
        path
        for path, frame in graph.frames.items()
        if path and any(n in needed and n not in guards.dead for n in frame.nodes)
    ]
    alive, before = needed - guards.dead, len(raw)
    preds: dict[FramePath, Ref | None] = {(): None}
    starts: dict[FramePath, Guard] = {(): frozenset()}
    for path in living:
        if path in guards.raw:
            preds[path], starts[path] = None, guards.raw[path].start
            continue
        try:
            preds[path], starts[path] = check_frame(graph, graph.frames[path], alive, guards)
        except NotNestingError as why:
            raw[path] = str(why)
    if len(raw) > before:
        return None
    blocks: dict[FramePath, Block] = {}
    for path in [(), *sorted(living, key=lambda p: (len(p), p))]:
        children = {child: starts[child] for child in graph.frames[path].children if child in starts}
        try:
            blocks[path] = order_block(graph, path, preds[path], starts[path], needed, guards, children)
        except NotNestingError as why:
            raw[path] = str(why)
            return None
    return blocks


def _solve(graph: Graph, needed: frozenset[str], raw: Iterable[FramePath]) -> Guards:
    """Guards with these raw frames.

    At first all NextIterations of a frame are assumed to fire together. If that does not follow from the resulting
    guards, fewer are, and finally none; each step is sound by induction over the iterations, because a later iteration
    begins only if one of them has fired.
    """
    order = tuple(n for n in graph.nodes if n in needed)
    frames = {
        p: RawFrame(
            frozenset(n for n in graph.frames[p].next_iterations if n in needed),
            waking=fed_by_invariants(graph, p, needed) is not None,
        )
        for p in raw
    }
    if frames:
        order = whole_frames(graph, order)
    while True:
        guards = find_guards(graph, order, frames)
        settled, dead = True, False
        for path, frame in frames.items():
            inside = [n for n in graph.frames[path].next_iterations if n in needed]
            backs = {n: guards.node[n] for n in inside if n not in guards.dead}
            frame.go = least(list(backs.values()))
            kept = frozenset(n for n, g in backs.items() if n in frame.together and g == frame.go)
            settled &= kept == frame.together - guards.dead
            dead |= len(backs) < len(inside) - len(frame.never)
            frame.together = kept
        if settled and not dead:
            return guards
        if settled:  # nodes that are dead under valid guards are dead; now test again which of the others fire together
            for path, frame in frames.items():
                inside = [n for n in graph.frames[path].next_iterations if n in needed]
                frame.never = frozenset(n for n in inside if n in guards.dead)
                frame.together = frozenset(inside) - frame.never
