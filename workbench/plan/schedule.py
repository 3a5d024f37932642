"""The static order of one frame: condition, body and exits, with nodes of one guard kept together."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.graph.frames import FramePath
from workbench.graph.graph import Graph
from workbench.graph.node import Ref
from workbench.plan.frames import NotNestingError
from workbench.plan.guards import ALIVE, Guard, Guards
from workbench.plan.order import KnotError, sources_of


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to do: a node, or a whole child frame (``frame`` is set)."""

    name: str
    guard: Guard
    frame: FramePath | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """One frame in order. The outermost level and raw frames have everything in ``header`` and no predicate."""

    path: FramePath
    pred: Ref | None
    start: Guard
    enters: tuple[str, ...]
    header: tuple[Item, ...]
    body: tuple[Item, ...]
    exits: tuple[Item, ...]


def order_block(
    graph: Graph, path: FramePath, pred: Ref | None, start: Guard, needed: frozenset[str], guards: Guards,
    children: Mapping[FramePath, Guard],
) -> Block:  # fmt: skip
    """Order the needed, living nodes of a frame and its child frames.

    NotNestingError where the condition would have to be known before it can be; KnotError for a child frame that waits
    for its own Exits.
    """
    items: dict[str, Item] = {}
    unit_of: dict[str, str] = {}  # Exit node of a child -> the child's item
    enters: list[str] = []
    for name in graph.frames[path].nodes:
        node = graph.nodes[name]
        if name not in needed or name in guards.dead:
            continue
        if node.op == "Enter" and not node.attrs.get("is_constant"):
            enters.append(name)
        elif node.op == "Enter":
            items[name] = Item(name, guards.value[node.ref()])
        else:
            # a Merge decides itself whether it is alive
            items[name] = Item(name, guards.node[name] - {(node.ref(1), ALIVE)})
    waits: dict[str, set[str]] = {name: set() for name in items}
    for child, guard in children.items():
        unit = "frame " + "/".join(child)
        items[unit] = Item(unit, guard, child)
        waits[unit] = set()
        for name in graph.frames[child].nodes:
            node = graph.nodes[name]
            if name in needed and node.op == "Exit":
                unit_of[name] = unit
            elif name in needed and node.op == "Enter":
                waits[unit] |= sources_of(graph, name)
    waits.update({u: {unit_of.get(s, s) for s in w} for u, w in waits.items() if u.startswith("frame ")})
    for name, item in items.items():
        if item.frame is None and graph.nodes[name].op != "Enter":
            waits[name] |= {unit_of.get(s, s) for s in sources_of(graph, name)}
    decides = dict.fromkeys(items, 0)  # 0 header, 1 body, 2 exits
    for name, item in items.items():
        if pred is not None:
            decides[name] = 1 if (pred, True) in item.guard else 2 if (pred, False) in item.guard else 0
    ordered = _order(items, {n: {s for s in w if s in items} for n, w in waits.items()}, decides, path)
    own = frozenset() if pred is None else frozenset({(pred, True), (pred, False)})
    sections: list[list[Item]] = [[], [], []]
    for item in ordered:
        sections[decides[item.name]].append(Item(item.name, item.guard - own, item.frame))
    # an Exit belongs to the parent's iteration: it comes when everything in this one has fired
    sections[2].sort(key=lambda item: item.frame is None and graph.nodes[item.name].op == "Exit")
    return Block(path, pred, start, tuple(enters), *(tuple(s) for s in sections))


def _order(
    items: Mapping[str, Item], waits: Mapping[str, set[str]], decides: Mapping[str, int], path: FramePath
) -> Sequence[Item]:
    """Topological order by section; among the ready ones, those with the guard of the last come first."""
    left = {name: len(sources) for name, sources in waits.items()}
    readers: dict[str, list[str]] = {name: [] for name in items}
    for name, sources in waits.items():
        for source in sources:
            readers[source].append(name)
            if decides[source] > decides[name] or {decides[source], decides[name]} == {1, 2}:
                raise NotNestingError(f"{name!r} is needed before {source!r} can be decided")
    position = {name: i for i, name in enumerate(items)}
    ready: dict[Guard, list[tuple[int, int, str]]] = {}

    def push(name: str) -> None:
        heapq.heappush(ready.setdefault(items[name].guard, []), (decides[name], position[name], name))

    for name, count in left.items():
        if count == 0:
            push(name)
    done: list[Item] = []
    last: Guard | None = None
    while ready:
        lowest = min(queue[0][0] for queue in ready.values())
        if last not in ready or ready[last][0][0] > lowest:
            last = min((g for g in ready if ready[g][0][0] == lowest), key=lambda g: ready[g][0])
        name = heapq.heappop(ready[last])[2]
        if not ready[last]:
            del ready[last]
        done.append(items[name])
        for reader in readers[name]:
            left[reader] -= 1
            if left[reader] == 0:
                push(reader)
    if len(done) < len(items):
        stuck = [n for n, c in left.items() if c > 0]
        raise KnotError(path, [f for n in stuck if (f := items[n].frame) is not None], stuck)
    return done
