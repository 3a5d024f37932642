"""The static order of one frame: condition, body and exits, with nodes of one guard kept together."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.plan.schedule.graph_order import CyclicFramesError, sources_of
from workbench.plan.schedule.guards import ALIVE, Guard, Guards
from workbench.plan.schedule.nesting import NotNestingError


@dataclass(slots=True, unsafe_hash=True)
class ScheduledItem:
    """One item of a schedule: a node, or a whole child frame (``frame`` is set)."""

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
    header: tuple[ScheduledItem, ...]
    body: tuple[ScheduledItem, ...]
    exits: tuple[ScheduledItem, ...]


def order_block(
    graph: Graph,
    path: FramePath,
    pred: Ref | None,
    start: Guard,
    needed: frozenset[str],
    guards: Guards,
    children: Mapping[FramePath, Guard],
) -> Block:
    """Order the needed nodes of a frame that can fire, and its child frames.

    NotNestingError if the condition is needed before it can be computed; CyclicFramesError for a child frame that waits
    for its own Exits.
    """
    items: dict[str, ScheduledItem] = {}
    unit_of: dict[str, str] = {}  # Exit node of a child -> the child's item
    enters: list[str] = []
    for name in graph.frames[path].nodes:
        node = graph.nodes[name]
        if name not in needed or name in guards.dead:
            continue
        if node.op == "Enter" and not node.attrs.get("is_constant"):
            enters.append(name)
        elif node.op == "Enter":
            items[name] = ScheduledItem(name, guards.value[node.ref()])
        else:
            own_guard = guards.node[name]
            if node.op == "Merge":  # it determines itself whether it fires
                own_guard -= {(node.ref(1), ALIVE)}
            items[name] = ScheduledItem(name, own_guard)
    waits: dict[str, set[str]] = {}
    units: list[str] = []
    for child, guard in children.items():
        unit = "frame " + "/".join(child)
        while unit in graph.nodes:  # nodes may have any name
            unit += "'"
        units.append(unit)
        items[unit] = ScheduledItem(unit, guard, child)
        waits[unit] = set()
        for name in graph.frames[child].nodes:
            node = graph.nodes[name]
            if name in needed and node.op == "Exit":
                unit_of[name] = unit
            elif name in needed and node.op == "Enter":
                waits[unit] |= sources_of(graph, name)
    for unit in units:
        waits[unit] = {u for s in waits[unit] if (u := unit_of.get(s, s)) in items}
    for name, item in items.items():
        if item.frame is None:
            node = graph.nodes[name]
            sources = set() if node.op == "Enter" else sources_of(graph, name)
            plain = not units and items.keys() >= sources
            waits[name] = sources if plain else {u for s in sources if (u := unit_of.get(s, s)) in items}
    own = frozenset() if pred is None else frozenset({(pred, True), (pred, False)})
    guards_of = {item.guard for item in items.values()}
    rest = {guard: guard - own for guard in guards_of}
    part = dict.fromkeys(guards_of, 0)  # 0 header, 1 body, 2 exits
    if pred is not None:
        part = {g: 1 if (pred, True) in g else 2 if (pred, False) in g else 0 for g in guards_of}
    decides = {name: part[item.guard] for name, item in items.items()}
    ordered = _order(items, waits, decides, path)
    sections: list[list[ScheduledItem]] = [[], [], []]
    for item in ordered:
        guard = item.guard
        item.guard = rest[guard]
        sections[part[guard]].append(item)
    # an Exit belongs to the parent's iteration: it comes after all nodes of this frame have fired
    sections[2].sort(key=lambda item: item.frame is None and graph.nodes[item.name].op == "Exit")
    return Block(path, pred, start, tuple(enters), *(tuple(s) for s in sections))


def _order(
    items: Mapping[str, ScheduledItem], waits: Mapping[str, set[str]], decides: Mapping[str, int], path: FramePath
) -> Sequence[ScheduledItem]:
    """Topological order by section; among the ready items, those with the guard of the previous item come first."""
    names = list(items)
    most = len(names)
    # a ready item is one number: its section and its index
    number = {name: decides[name] * most + i for i, name in enumerate(names)}
    # if all items of a section have one guard and come after their sources, their order is kept
    straight = len({item.guard for item in items.values()}) == len(set(decides.values()))
    for name, sources in waits.items():
        mine, place = decides[name], number[name]
        for source in sources:
            theirs = decides[source]
            if theirs > mine or theirs + mine == 3:  # not before it, or one in the body and one after the loop
                raise NotNestingError(f"{name!r} is needed before {source!r} can be decided")
            straight = straight and number[source] < place
    if straight:
        return [items[name] for name in sorted(names, key=number.__getitem__)]
    left = {name: len(sources) for name, sources in waits.items()}
    readers: dict[str, list[str]] = {name: [] for name in items}
    for name, sources in waits.items():
        for source in sources:
            readers[source].append(name)
    ready: dict[Guard, list[int]] = {}
    # all items that were ready, over all guards: entries of ``placed`` are removed when they reach the top, so that the
    # first one is found without a search of all guards
    first: list[int] = []
    placed: set[int] = set()

    def push(name: str) -> None:
        heapq.heappush(ready.setdefault(items[name].guard, []), number[name])
        heapq.heappush(first, number[name])

    for name, count in left.items():
        if count == 0:
            push(name)
    done: list[ScheduledItem] = []
    last: Guard | None = None
    while ready:
        while first[0] in placed:
            heapq.heappop(first)
        if last not in ready or ready[last][0] // most > first[0] // most:
            last = items[names[first[0] % most]].guard
        at = heapq.heappop(ready[last])
        placed.add(at)
        if not ready[last]:
            del ready[last]
        name = names[at % most]
        done.append(items[name])
        for reader in readers[name]:
            left[reader] -= 1
            if left[reader] == 0:
                push(reader)
    if len(done) < len(items):
        stuck = [n for n, c in left.items() if c > 0]
        raise CyclicFramesError(path, [f for n in stuck if (f := items[n].frame) is not None], stuck)
    return done
