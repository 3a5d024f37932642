"""The static frame tree: the frame of each node, and the loop variables of each frame.

Frames are found from the graph alone: Enter moves into a child frame, Exit moves to the parent, every other node is in
the frame of its inputs. Names of nodes do not matter.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from workbench.errors import FrameError
from workbench.ir.frames.nesting import check_depth
from workbench.ir.node import Node, Ref

FramePath = tuple[str, ...]
K = TypeVar("K", bound=Hashable)
ROOT: FramePath = ()


@dataclass(frozen=True, slots=True)
class LoopVariable:
    """One value carried around a loop: Enter -> Merge -> Switch -> ... -> NextIteration -> Merge, and its Exit.

    ``switch`` and ``exit`` are None if the graph does not have them; ``name`` is the public name.
    """

    name: str
    enter: str
    merge: str
    next_iteration: str
    switch: str | None = None
    exit: str | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """One static frame. ``path`` is () for the root; children are the paths of the frames inside."""

    path: FramePath
    nodes: tuple[str, ...]
    enters: tuple[str, ...] = ()
    merges: tuple[str, ...] = ()
    loop_cond: str | None = None
    switches: tuple[str, ...] = ()
    next_iterations: tuple[str, ...] = ()
    exits: tuple[str, ...] = ()
    variables: tuple[LoopVariable, ...] = ()
    children: tuple[FramePath, ...] = ()

    @property
    def name(self) -> str:
        return self.path[-1] if self.path else ""

    @property
    def parent(self) -> FramePath | None:
        return self.path[:-1] if self.path else None

    @property
    def depth(self) -> int:
        return len(self.path)


def in_order(waiting: Mapping[K, int], readers: Mapping[K, Iterable[K]]) -> list[K]:
    """Kahn's topological order; ties keep the order of ``waiting``, which has the number of sources of each key.

    Keys of a cycle, and keys after it, are left out.
    """
    keys, left = list(waiting), dict(waiting)
    position = {key: i for i, key in enumerate(keys)}
    ready = [position[key] for key, count in left.items() if count == 0]
    heapq.heapify(ready)
    done: list[K] = []
    while ready:
        key = keys[heapq.heappop(ready)]
        done.append(key)
        for reader in readers[key]:
            left[reader] -= 1
            if left[reader] == 0:
                heapq.heappush(ready, position[reader])
    return done


def order_nodes(nodes: Mapping[str, Node]) -> tuple[str, ...]:
    """Topological order that ignores edges from NextIteration to Merge; ties keep the given order.

    Raises FrameError with slug ``cycle`` for a cycle that does not pass through a NextIteration.
    """
    waiting: dict[str, int] = {}
    consumers: dict[str, list[str]] = {name: [] for name in nodes}
    for name, node in nodes.items():
        sources = {r.node for r in node.inputs} | set(node.control)
        if node.op == "Merge":
            sources = {s for s in sources if nodes[s].op != "NextIteration"}
        waiting[name] = len(sources)
        for source in sources:
            consumers[source].append(name)
    order = in_order(waiting, consumers)
    if len(order) < len(nodes):
        raise FrameError(
            f"The graph has a cycle outside of a frame: {_find_cycle(nodes, set(nodes) - set(order))}.",
            slug="cycle",
            fix="close loops with NextIteration into a Merge inside a frame (while_loop does that for you).",
        )
    return tuple(order)


def _find_cycle(nodes: Mapping[str, Node], left: set[str]) -> str:
    """One cycle among the nodes without a topological order, as text."""
    current = next(iter(n for n in nodes if n in left))
    order: dict[str, None] = {}
    while current not in order:
        order[current] = None
        node = nodes[current]
        sources = [r.node for r in node.inputs] + list(node.control)
        current = next(s for s in sources if s in left)
    seen = list(order)
    cycle = [*seen[seen.index(current) :], current]
    shown = cycle if len(cycle) <= 8 else [*cycle[:4], "...", *cycle[-3:]]
    return " <- ".join(shown)


def assign_frames(nodes: Mapping[str, Node], order: tuple[str, ...]) -> dict[str, FramePath]:
    """Frame path of every node's *outputs*, except that an Exit's node belongs to the frame it leaves.

    Raises FrameError naming both inputs and both frames when a node's inputs come from different frames.
    """
    where: dict[str, FramePath] = {}  # frame in which the node itself fires
    paths: dict[FramePath, FramePath] = {ROOT: ROOT}  # one object per path, however many nodes are in the frame
    for name in order:
        node = nodes[name]
        seen: tuple[str, FramePath] | None = None
        for source in (*(r.node for r in node.inputs), *node.control):
            if source not in where:  # a back edge, checked below
                continue
            frame = output_frame(nodes[source], where[source])
            if seen is None:
                seen = (source, frame)
            elif frame != seen[1]:
                raise _different_frames(node, seen, (source, frame))
        frame = seen[1] if seen else ROOT
        if node.op == "Enter":
            frame = (*frame, str(node.attrs["frame_name"]))
            check_depth(len(frame), node)
        elif node.op in ("Exit", "NextIteration", "LoopCond") and not frame:
            raise FrameError(
                f"{node.op} {name!r} stands outside of any frame.",
                slug="frame-not-open",
                node=name,
                source=node.source,
                fix="bring its input into a frame with Enter first.",
            )
        where[name] = paths.setdefault(frame, frame)
    for name in order:
        node = nodes[name]
        if node.op == "Merge":
            for ref in node.inputs:
                if nodes[ref.node].op == "NextIteration" and where[ref.node] != where[name]:
                    raise _different_frames(node, (name, where[name]), (ref.node, where[ref.node]))
    return where


def output_frame(node: Node, fires_in: FramePath) -> FramePath:
    """The frame in which a node's outputs are visible."""
    return fires_in[:-1] if node.op == "Exit" else fires_in


def _different_frames(node: Node, one: tuple[str, FramePath], two: tuple[str, FramePath]) -> FrameError:
    def shown(path: FramePath) -> str:
        return "/".join(path) or "the outermost level"

    return FrameError(
        f"The inputs of {node.op} {node.name!r} come from different frames: "
        f"{one[0]!r} is in {shown(one[1])}, {two[0]!r} is in {shown(two[1])}.",
        node=node.name,
        source=node.source,
        fix="bring outer values in through Enter(is_constant=True), and inner values out through Exit.",
    )


def build_frames(
    nodes: Mapping[str, Node], order: tuple[str, ...], where: Mapping[str, FramePath], public: Mapping[Ref, str]
) -> dict[FramePath, Frame]:
    """The frame tree, parents before children."""
    members: dict[FramePath, list[str]] = {ROOT: []}
    for name in order:
        path = where[name]
        if path not in members:
            for depth in range(len(path) + 1):
                members.setdefault(path[:depth], [])
        members[path].append(name)
    frames: dict[FramePath, Frame] = {}
    inside: dict[FramePath, list[FramePath]] = {path: [] for path in members}
    for path in members:
        if path:
            inside[path[:-1]].append(path)
    for path in sorted(members, key=lambda p: (len(p), p)):
        names = tuple(members[path])

        def of(op: str, names: tuple[str, ...] = names) -> tuple[str, ...]:
            return tuple(n for n in names if nodes[n].op == op)

        conds = of("LoopCond")
        frames[path] = Frame(
            path=path,
            nodes=names,
            enters=of("Enter"),
            merges=of("Merge"),
            loop_cond=conds[0] if len(conds) == 1 else None,
            switches=of("Switch"),
            next_iterations=of("NextIteration"),
            exits=of("Exit"),
            variables=_variables(nodes, names, public) if path else (),
            children=tuple(sorted(inside[path])),
        )
    return frames


def _variables(
    nodes: Mapping[str, Node], names: tuple[str, ...], public: Mapping[Ref, str]
) -> tuple[LoopVariable, ...]:
    switch_of: dict[str, str] = {}
    exit_of: dict[str, str] = {}
    for name in names:
        node = nodes[name]
        if node.op == "Switch" and nodes[node.inputs[1].node].op == "LoopCond":
            switch_of.setdefault(node.inputs[0].node, name)
        elif node.op == "Exit":
            exit_of.setdefault(node.inputs[0].node, name)
    found = []
    for name in names:
        node = nodes[name]
        if node.op != "Merge" or len(node.inputs) != 2:
            continue
        kinds = {nodes[r.node].op: r.node for r in node.inputs}
        if set(kinds) == {"Enter", "NextIteration"}:
            switch = switch_of.get(name)
            found.append(
                LoopVariable(
                    name=public.get(Ref(name, 0), name),
                    enter=kinds["Enter"],
                    merge=name,
                    next_iteration=kinds["NextIteration"],
                    switch=switch,
                    exit=exit_of.get(switch) if switch else None,
                )
            )
    return tuple(found)
