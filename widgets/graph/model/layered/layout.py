"""Layered drawing of a directed graph behind one small function, so that the engine can be replaced.

Method: Sugiyama's framework (ranks, crossing reduction, coordinates). Ranks, a first order in them and the bends of
long edges come from the fast-sugiyama package (0.2 s at 20,000 nodes). ``order`` improves that order: it considers the
points of a box at which lines start and end, and the lines that lead back. The package treats all nodes as equally
wide, so ``columns`` computes the coordinates: rows by rank, items of a row as near as possible to their neighbours
without overlap. A row that is too wide becomes several. The same input gives the same picture.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.widgets.graph.model.layered.columns import BEND, Point, breadth, columns, squeeze, straighten
from workbench.widgets.graph.model.layered.order import ordered
from workbench.widgets.graph.model.layered.ranks import divided, rank, without_cycles

Edge = tuple[str, str]

GAP_Y = 20.0
#: drawings of at most so many items are made narrower, by dividing at most so many rows
MAX_DIVIDED, MAX_DIVISIONS = 80, 24


@dataclass
class GraphLayout:
    """Centres of the items, top and bottom of the row of each, bends of the edges from source to target, the sides (-1
    left, 1 right) along which edges lead back, and the size of the whole; y grows downwards."""

    centres: dict[str, Point] = field(default_factory=dict)
    rows: dict[str, Point] = field(default_factory=dict)
    bends: dict[Edge, list[Point]] = field(default_factory=dict)
    sides: dict[Edge, int] = field(default_factory=dict)
    width: float = 0.0
    height: float = 0.0


def layered(
    sizes: Mapping[str, Point],
    edges: Iterable[Edge],
    pulls: Iterable[Edge] = (),
    gap: float = GAP_Y,
    room: float = math.inf,
    ports: Mapping[Edge, Sequence[Point]] | None = None,
    backs: Iterable[Edge] = (),
    rough: bool = False,
) -> GraphLayout:
    """Place items of given (width, height), sources above targets.

    ``pulls`` are further edges that count for the ranks but are not drawn and take no room, nor do items without a size
    that have no other edge. Edges that close a cycle, self loops and repeated edges do not influence the layout (and
    get no bends). ``gap`` is the room between rows. If a row is wider than ``room``, some of its items get separate
    rows. ``ports`` holds the distances from the centres of its items at which each line of an edge starts and ends.
    ``backs`` are edges that lead back, out below the source and in above the target. A ``rough`` layout has nearly the
    same size, takes less time and has more crossings.
    """
    names = list(sizes)
    if not names:
        return GraphLayout()
    number = {name: i for i, name in enumerate(names)}
    pairs = dict.fromkeys((number[s], number[t]) for s, t in edges if s != t and s in number and t in number)
    extra = {(number[s], number[t]) for s, t in pulls if s != t and s in number and t in number} - set(pairs)
    forward = without_cycles(len(names), [*pairs, *sorted(extra)])
    widths = {i: sizes[name][0] for name, i in number.items()}
    heights = {i: sizes[name][1] for name, i in number.items()}
    linked = {i for pair in pairs for i in pair}
    loose = {i for name, i in number.items() if i not in linked and not any(sizes[name])}
    for _ in range(MAX_DIVISIONS):
        rows, chains = rank(len(names), forward)
        unseen = loose.union(*(chains.get(edge, ()) for edge in extra))
        rows = [[i for i in row if i not in unseen] for row in rows]
        more = divided(rows, widths, forward, room) if len(names) <= MAX_DIVIDED else set()
        more = more.difference(forward)
        if not more:
            break
        extra |= more
        forward += sorted(more)
    chains = {edge: chain for edge, chain in chains.items() if edge not in extra}
    shifts = {(number[s], number[t]): at for (s, t), at in (ports or {}).items() if s in number and t in number}
    means = {edge: (_mean(p for p, _ in at), _mean(p for _, p in at)) for edge, at in shifts.items()}
    returns = list(dict.fromkeys((number[s], number[t]) for s, t in backs if s in number and t in number))
    lanes: dict[tuple[int, int], list[int]] = {}
    sides: dict[tuple[int, int], int] = {}
    if not rough:
        rows, lanes, sides = _arranged(rows, chains, widths, shifts, returns)
    if lanes and any(breadth(row, widths) > room for row in rows):
        inner = {i for chain in lanes.values() for i in chain}
        rows, lanes = [[i for i in row if i not in inner] for row in rows], {}
    x = columns(rows, chains, widths, room, means, lanes, returns)
    straighten(rows, [*chains.values(), *lanes.values()], widths, x)
    squeeze(widths, x)
    layout = GraphLayout()
    y = 0.0
    middle: dict[int, float] = {}
    span: dict[int, tuple[float, float]] = {}
    for row in rows:
        height = max((heights.get(i, 0.0) for i in row), default=0.0)
        for i in row:
            middle[i], span[i] = y + height / 2, (y, y + height)
        y += height + gap
    layout.height = y - gap
    left = min(x[i] - widths.get(i, BEND) / 2 for row in rows for i in row)
    layout.width = max(x[i] + widths.get(i, BEND) / 2 for row in rows for i in row) - left
    for name, i in number.items():
        if i not in unseen:
            layout.centres[name] = (x[i] - left, middle[i])
            layout.rows[name] = span[i]
    for (s, t), chain in chains.items():
        if chain:
            # straight down through each row, so that the line keeps clear of tall neighbours
            layout.bends[(names[s], names[t])] = [(x[i] - left, at) for i in chain for at in span[i]]
    for (s, t), chain in lanes.items():
        layout.bends[(names[s], names[t])] = [(x[i] - left, at) for i in chain[::-1] for at in span[i][::-1]]
    layout.sides = {(names[s], names[t]): side for (s, t), side in sides.items()}
    return layout


def _arranged(
    rows: list[list[int]],
    chains: Mapping[tuple[int, int], list[int]],
    widths: Mapping[int, float],
    ports: Mapping[tuple[int, int], Sequence[Point]],
    backs: Sequence[tuple[int, int]],
) -> tuple[list[list[int]], dict[tuple[int, int], list[int]], dict[tuple[int, int], int]]:
    """The rows in an order with fewer crossings, the bends of the edges that lead back between items, and the sides of
    those that lead back beside everything."""

    def part(item: int, port: float) -> float:
        width = widths.get(item, 0.0)
        return max(-0.49, min(0.49, port / width)) if width else 0.0

    lines = [
        ((s, *chain, t), *ends)
        for (s, t), chain in chains.items()
        for ends in dict.fromkeys((part(s, p), part(t, q)) for p, q in ports.get((s, t), [(0.0, 0.0)]))
    ]
    at = {i: k for k, row in enumerate(rows, 1) for i in row}
    fresh = max(at, default=0) + 1
    wide = [[], *map(list, rows), []]
    paths: dict[int, tuple[tuple[int, int], list[int]]] = {}
    for s, t in backs:
        if at.get(t, math.inf) <= at.get(s, 0):
            path = list(range(fresh, fresh + at[s] - at[t] + 3))
            fresh += len(path)
            for k, i in enumerate(path, at[t] - 1):
                wide[k].append(i)
            paths[len(lines)] = ((s, t), path)
            lines.append(((t, *path, s), 0.0, 0.0))
    found, beside = ordered(tuple(map(tuple, wide)), tuple(lines), frozenset(paths))
    lanes = {edge: path[1:-1] for k, (edge, path) in paths.items() if k not in beside}
    kept = {*at, *(i for path in lanes.values() for i in path)}
    return [[i for i in row if i in kept] for row in found[1:-1]], lanes, {paths[k][0]: beside[k] for k in beside}


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
