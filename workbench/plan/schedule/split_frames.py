"""Split of frames that wait for their own Exits: one frame of the graph, scheduled as several.

Two loops may have one frame (the same parent, the same frame name), and the second may start from results of the first.
If they are not connected inside, each becomes a separate frame with a different name in the plan; tags keep the
original name. A loop invariant that several of them read is in each; its firings are those of the first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from workbench.errors import FrameError
from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.graph import Graph
from workbench.ir.node import FrozenAttrs, Node, Ref
from workbench.plan.schedule.graph_order import CyclicFramesError, sources_of, topological

SEPARATOR = "\0part "


def shown(path: FramePath) -> FramePath:
    """A frame's path as in tags."""
    return tuple(name.partition(SEPARATOR)[0] for name in path)


def is_double(node: Node) -> bool:
    """Return whether a node is a clone of a loop invariant in a further part of its frame; it never fires."""
    return "_double" in node.attrs


def split_frames(graph: Graph, needed: frozenset[str], knot: CyclicFramesError) -> tuple[Graph, frozenset[str]]:
    """The graph with the frames of ``knot`` in parts, and its needed nodes; FrameError if one part waits for itself."""
    parts: dict[FramePath, list[str]] = {}
    frame_of_part: dict[FramePath, FramePath] = {}
    tied = [frame for frame in knot.frames if _waits_for_itself(graph, frame, needed)]
    if not tied:
        raise knot
    for frame in tied:
        for k, nodes in enumerate(_components(graph, frame, needed)):
            unit = (*frame, f"{k}")
            parts[unit], frame_of_part[unit] = nodes, frame
    constants = {p: _constants_of(graph, frame_of_part[p], nodes, needed) for p, nodes in parts.items()}
    read = {n for names in constants.values() for n in names}
    for frame in tied:  # loop invariants that no node of the frame reads
        for k, name in enumerate(graph.frames[frame].enters):
            if name in needed and name not in read and _is_invariant(graph, name, frame):
                unit = (*frame, f"invariant {k}")
                parts[unit], constants[unit], frame_of_part[unit] = [], [name], frame
    own = [n for n in graph.frames[knot.path].nodes if n in needed]
    units = {
        p: [n for n in graph.frames[p].nodes if n in needed] for p in graph.frames[knot.path].children if p not in tied
    }
    whole = {
        p: [*(n for n in nodes if graph.frame_of(n) == frame_of_part[p]), *constants[p]] for p, nodes in parts.items()
    }
    try:
        order = topological(graph, knot.path, own, {**units, **whole})
    except CyclicFramesError as still:
        raise _refusal(graph, knot, still, whole) from None
    levels = _levels(graph, order, {**units, **whole}, parts)
    if not any(levels.values()):
        raise knot
    return _rebuilt(graph, needed, parts, frame_of_part, constants, levels)


def _components(graph: Graph, frame: FramePath, needed: frozenset[str]) -> list[list[str]]:
    """Connected components of the nodes in and below a frame; the frame's loop invariants do not connect nodes."""
    inside = [
        n
        for p, f in graph.frames.items()
        if p[: len(frame)] == frame
        for n in f.nodes
        if n in needed and not _is_invariant(graph, n, frame)
    ]
    parent = {n: n for n in inside}

    def root(n: str) -> str:
        while parent[n] != n:
            parent[n] = n = parent[parent[n]]
        return n

    for name in inside:
        node = graph.nodes[name]
        if node.op == "Enter" and graph.frame_of(name) == frame:
            continue
        for source in (*(r.node for r in node.inputs), *node.control):
            left_it = graph.nodes[source].op == "Exit" and graph.frame_of(source) == frame
            if source in parent and not left_it:
                parent[root(name)] = root(source)
    groups: dict[str, list[str]] = defaultdict(list)
    for name in inside:
        groups[root(name)].append(name)
    return list(groups.values())


def _is_invariant(graph: Graph, name: str, frame: FramePath) -> bool:
    node = graph.nodes[name]
    return node.op == "Enter" and graph.frame_of(name) == frame and bool(node.attrs.get("is_constant"))


def _constants_of(graph: Graph, frame: FramePath, nodes: Iterable[str], needed: frozenset[str]) -> list[str]:
    """The loop invariants of the split frame that these nodes read."""
    sources = {s: None for n in nodes for s in (*(r.node for r in graph.nodes[n].inputs), *graph.nodes[n].control)}
    return [s for s in sources if s in needed and _is_invariant(graph, s, frame)]


def _levels(
    graph: Graph, order: list[str | FramePath], units: dict[FramePath, list[str]], parts: dict[FramePath, list[str]]
) -> dict[FramePath, int]:
    """The number of successive parts for which each part waits."""
    reached: dict[str, int] = {}  # node -> number of parts before its results
    levels: dict[FramePath, int] = {}
    for key in order:
        if isinstance(key, str):
            readers: Iterable[str] = (key,)
        else:
            readers = (n for n in units[key] if graph.nodes[n].op == "Enter")
        sources = (s for n in readers for s in (*(r.node for r in graph.nodes[n].inputs), *graph.nodes[n].control))
        level = max((reached.get(s, 0) for s in sources), default=0)
        if isinstance(key, str):
            reached[key] = level
            continue
        if key in parts:
            levels[key] = level
            level += 1
        reached.update((n, level) for n in units[key] if graph.nodes[n].op == "Exit")
    return levels


def _rebuilt(
    graph: Graph,
    needed: frozenset[str],
    parts: dict[FramePath, list[str]],
    frame_of_part: dict[FramePath, FramePath],
    constants: dict[FramePath, list[str]],
    levels: dict[FramePath, int],
) -> tuple[Graph, frozenset[str]]:
    nodes: dict[str, Node] = {n: node for n, node in graph.nodes.items() if n in needed}
    extra: dict[str, Node] = {}
    home: dict[str, int] = {}  # loop invariant -> the part that keeps it
    for part in sorted(parts, key=lambda p: levels[p]):
        frame, level = frame_of_part[part], levels[part]
        renamed: dict[str, str] = {}
        for name in constants[part]:
            if home.setdefault(name, level) == level:
                nodes[name] = _moved(graph.nodes[name], frame[-1], level)
            else:
                renamed[name] = f"{name}{SEPARATOR}{level}"
                double = replace(
                    graph.nodes[name],
                    name=renamed[name],
                    attrs=FrozenAttrs({**graph.nodes[name].attrs, "_double": True}),
                )
                extra[renamed[name]] = _moved(double, frame[-1], level)
        for name in parts[part]:
            node = graph.nodes[name]
            if node.op == "Enter" and graph.frame_of(name) == frame:
                nodes[name] = _moved(node, frame[-1], level)
            elif renamed:
                inputs = tuple(Ref(renamed.get(r.node, r.node), r.index) for r in node.inputs)
                nodes[name] = replace(node, inputs=inputs, control=tuple(renamed.get(c, c) for c in node.control))
    inputs = {n: ref for n, ref in graph.inputs.items() if ref.node in nodes}
    some = {"": Ref(next(iter(nodes)))}  # the outputs of this graph are not used
    made = Graph.from_nodes(
        graph.name,
        [*nodes.values(), *extra.values()],
        inputs=inputs,
        outputs=some,
        flushes_subnormals=graph.flushes_subnormals,
    )
    return made, needed | set(extra)


def _moved(node: Node, name: str, level: int) -> Node:
    if level == 0:
        return node
    return replace(node, attrs=FrozenAttrs({**node.attrs, "frame_name": f"{name}{SEPARATOR}{level}"}))


def _refusal(
    graph: Graph, knot: CyclicFramesError, still: CyclicFramesError, parts: dict[FramePath, list[str]]
) -> FrameError:
    """The Enter of a part that waits for an Exit of the same part."""
    for part in still.frames:
        if part not in parts:
            continue
        exits = {n for n in parts[part] if graph.nodes[n].op == "Exit" and graph.frame_of(n)[:-1] == knot.path}
        for name in parts[part]:
            node = graph.nodes[name]
            if node.op == "Enter" and graph.frame_of(name)[:-1] == knot.path:
                behind = _upstream(graph, name)
                for found in sorted(exits & behind):
                    return FrameError(
                        f"The frame {'/'.join(shown((*knot.path, part[-2])))!r} cannot be scheduled: {name!r} enters "
                        f"it with a value that comes from its own Exit {found!r}, and what both belong to hangs "
                        f"together inside.",
                        slug="frame-not-nesting",
                        node=name,
                        source=node.source,
                        fix="give what starts with that Enter a frame of its own.",
                    )
    return still


def _waits_for_itself(graph: Graph, frame: FramePath, needed: frozenset[str]) -> bool:
    """Return whether a frame, or another one for which it waits, waits for one of its Exits in the same activation."""
    mine = [n for n in graph.frames[frame].nodes if n in needed]
    behind = _upstream(graph, *(n for n in mine if graph.nodes[n].op == "Enter"))
    return any(graph.nodes[n].op == "Exit" and n in behind for n in mine)


def _upstream(graph: Graph, *names: str) -> set[str]:
    """The dependencies of nodes in one iteration of their frames; an Exit waits for all Enters of its frame."""
    seen: set[str] = set()
    stack = list(names)
    while stack:
        name = stack.pop()
        sources = sources_of(graph, name)
        if graph.nodes[name].op == "Exit":
            sources = sources.union(graph.frames[graph.frame_of(name)].enters)
        stack.extend(sources - seen)
        seen |= sources
    return seen
