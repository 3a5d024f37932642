"""The order of a whole graph with each frame in one piece: its Enters, its nodes, then the readers of its Exits.

A *unit* is a child frame seen from its parent: it waits for the sources of its Enters, and provides its Exits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from workbench.errors import FrameError
from workbench.ir.frames.frame_tree import FramePath, in_order
from workbench.ir.graph import Graph


class CyclicFramesError(FrameError):
    """Child frames of ``path`` that wait for their own Exits, or for each other's."""

    def __init__(self, path: FramePath, frames: Collection[FramePath], stuck: Collection[str]) -> None:
        where = "/".join(path) or "the graph"
        super().__init__(
            f"A frame inside {where} feeds itself from outside ({', '.join(sorted(stuck)[:4])}).",
            slug="frame-not-nesting",
            fix="give the second loop a frame of its own.",
        )
        self.path, self.frames = path, tuple(frames)


def sources_of(graph: Graph, name: str) -> set[str]:
    """The dependencies of a node in one iteration: inputs and control inputs, without NextIterations."""
    node = graph.nodes[name]
    sources = {*graph.reads[name], *node.control}
    if node.op != "Merge":  # no other node may read one
        return sources
    return {s for s in sources if graph.nodes[s].op != "NextIteration"}


def whole_frames(graph: Graph, nodes: Iterable[str]) -> tuple[str, ...]:
    """``nodes``, given in graph order, with each frame in one piece; CyclicFramesError if that is impossible."""
    members: dict[FramePath, list[str]] = {}
    for name in nodes:
        path = graph.frame_of(name)
        if path not in members:
            for depth in range(len(path) + 1):
                members.setdefault(path[:depth], [])
        members[path].append(name)

    inside: dict[FramePath, list[FramePath]] = {path: [] for path in members}
    for path in members:
        if path:
            inside[path[:-1]].append(path)
    found: list[str] = []
    work: list[str | FramePath] = [()]  # a stack, not a recursion: frames nest deeper than Python's calls may
    while work:
        key = work.pop()
        if isinstance(key, str):
            found.append(key)
            continue
        found += [n for n in members[key] if graph.nodes[n].op == "Enter"]
        own = [n for n in members[key] if graph.nodes[n].op != "Enter"]
        work += reversed(topological(graph, key, own, {p: members[p] for p in inside[key]}))
    return tuple(found)


def topological(
    graph: Graph, path: FramePath, own: Collection[str], units: Mapping[FramePath, Collection[str]]
) -> list[str | FramePath]:
    """Order of nodes and units of one frame; ``units`` lists the nodes directly in each."""
    maker: dict[str, str | FramePath] = {n: n for n in own}
    waits: dict[str | FramePath, set[str]] = {n: sources_of(graph, n) for n in own}
    for unit, nodes in units.items():
        waits[unit] = set()
        for name in nodes:
            if graph.nodes[name].op == "Exit":
                maker[name] = unit
            elif graph.nodes[name].op == "Enter":
                waits[unit] |= sources_of(graph, name)
    readers: dict[str | FramePath, list[str | FramePath]] = {key: [] for key in waits}
    left = dict.fromkeys(waits, 0)
    for key, sources in waits.items():
        for source in {maker[s] for s in sources if s in maker}:
            readers[source].append(key)
            left[key] += 1
    done = in_order(left, readers)
    if len(done) < len(waits):
        placed = set(done)
        stuck = [key for key in waits if key not in placed]
        raise CyclicFramesError(path, [k for k in stuck if isinstance(k, tuple)], [_shown(k) for k in stuck])
    return done


def _shown(key: str | FramePath) -> str:
    return key if isinstance(key, str) else "frame " + "/".join(key)
