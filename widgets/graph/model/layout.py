"""Layered drawing of a directed graph behind one small function, so that the engine can be exchanged.

Method: Sugiyama's framework (ranks, crossing reduction, coordinates). Ranks, the order within ranks and the bends of
long edges come from the fast-sugiyama package (0.2 s at 20,000 nodes). It treats all nodes as equally wide, so the
final coordinates are set here: rows by rank, and within a row as near as possible to the neighbours without overlap.
A row that is wider than the room becomes several. The same input gives the same picture.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import fast_sugiyama

Point = tuple[float, float]
Edge = tuple[str, str]

GAP_X = 22.0
GAP_Y = 20.0
BEND = 10.0
SWEEPS = 12
#: drawings of so many items are made narrower, by dividing so many rows
MAX_DIVIDED, MAX_DIVISIONS = 80, 24


@dataclass
class GraphLayout:
    """Centres of the items, top and bottom of the row of each, bends of the edges from source to target, and the size
    of the whole; y grows downwards."""

    centres: dict[str, Point] = field(default_factory=dict)
    rows: dict[str, Point] = field(default_factory=dict)
    bends: dict[Edge, list[Point]] = field(default_factory=dict)
    width: float = 0.0
    height: float = 0.0


def layered(
    sizes: Mapping[str, Point],
    edges: Iterable[Edge],
    pulls: Iterable[Edge] = (),
    gap: float = GAP_Y,
    room: float = math.inf,
) -> GraphLayout:
    """Place items of given (width, height), sources above targets.

    ``pulls`` are further edges that count for the ranks but are not drawn and take no room, nor do items without a size
    that have no other edge. Edges that close a
    cycle, self loops and repeated edges do not influence the layout (and get no bends). ``gap`` is the room between
    rows. Where several items of a row together are wider than ``room``, some of them get a row of their own.
    """
    names = list(sizes)
    if not names:
        return GraphLayout()
    number = {name: i for i, name in enumerate(names)}
    pairs = dict.fromkeys((number[s], number[t]) for s, t in edges if s != t and s in number and t in number)
    extra = {(number[s], number[t]) for s, t in pulls if s != t and s in number and t in number} - set(pairs)
    forward = _without_cycles(len(names), [*pairs, *sorted(extra)])
    widths = {i: sizes[name][0] for name, i in number.items()}
    heights = {i: sizes[name][1] for name, i in number.items()}
    linked = {i for pair in pairs for i in pair}
    loose = {i for name, i in number.items() if i not in linked and not any(sizes[name])}
    for _ in range(MAX_DIVISIONS):
        rows, chains = _rank(len(names), forward)
        unseen = loose.union(*(chains.get(edge, ()) for edge in extra))
        rows = [[i for i in row if i not in unseen] for row in rows]
        more = _divided(rows, widths, forward, room) if len(names) <= MAX_DIVIDED else set()
        more = more.difference(forward)
        if not more:
            break
        extra |= more
        forward += sorted(more)
    chains = {edge: chain for edge, chain in chains.items() if edge not in extra}
    x = _columns(rows, chains, widths, room)
    _straighten(rows, chains, widths, x)
    _squeeze(widths, x)
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
    return layout


def _without_cycles(count: int, edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The edges without those that close a cycle in a depth-first walk; the engine aborts on cycles."""
    out: list[list[int]] = [[] for _ in range(count)]
    for s, t in edges:
        out[s].append(t)
    state = [0] * count  # 0 new, 1 on the walk, 2 done
    back: set[tuple[int, int]] = set()
    for start in range(count):
        if state[start]:
            continue
        stack = [(start, iter(out[start]))]
        state[start] = 1
        while stack:
            node, rest = stack[-1]
            for target in rest:
                if state[target] == 1:
                    back.add((node, target))
                elif state[target] == 0:
                    state[target] = 1
                    stack.append((target, iter(out[target])))
                    break
            else:
                state[node] = 2
                stack.pop()
    return [e for e in edges if e not in back]


def _rank(count: int, edges: list[tuple[int, int]]) -> tuple[list[list[int]], dict[tuple[int, int], list[int]]]:
    """Rows of item numbers from top to bottom, left to right, and for each edge the numbers of its bends."""
    rows: dict[float, list[tuple[float, int]]] = {}
    chains: dict[tuple[int, int], list[int]] = {}
    # the engine numbers its bends from the number of its nodes on, so it gets the connected nodes as 0, 1, 2 ...
    real = sorted({i for edge in edges for i in edge})
    dense = {i: k for k, i in enumerate(real)}
    offset = 0.0
    fresh = count
    parts: Any = fast_sugiyama.from_edges([(dense[s], dense[t]) for s, t in edges], transpose=True) if edges else []
    for positions, width, _height, pieces in parts:
        top = max(y for _, (_, y) in positions)
        label: dict[int, int] = {}
        follow: dict[int, list[int]] = {}
        for s, t in pieces or []:
            follow.setdefault(s, []).append(t)
        for k, (px, py) in positions:
            if k < len(real):
                label[k] = real[k]
            else:
                label[k] = fresh
                fresh += 1
            rows.setdefault(round((top - py) / 10.0), []).append((px + offset, label[k]))
        for s in (k for k, _ in positions if k < len(real)):
            for t in follow.get(s, []):
                chain = []
                while t >= len(real):
                    chain.append(label[t])
                    t = follow[t][0]
                chains.setdefault((real[s], real[t]), chain)
        offset += width + 100.0
    placed = {i for row in rows.values() for _, i in row}
    loose = [i for i in range(count) if i not in placed]
    if loose:
        rows.setdefault(min(rows, default=0), []).extend((offset + 100.0 * k, i) for k, i in enumerate(loose))
    return [[i for _, i in sorted(rows[key])] for key in sorted(rows)], chains


def _divided(
    rows: Sequence[Sequence[int]], widths: Mapping[int, float], edges: Iterable[tuple[int, int]], room: float
) -> set[tuple[int, int]]:
    """Pulls that move what the first row that is too wide has no room for below what stays in it: what has the least
    below itself moves, and not below items without a size. None, if all rows are as narrow as they can be."""
    below: dict[int, list[int]] = {}
    for s, t in edges:
        below.setdefault(s, []).append(t)
    at = {i: k for k, row in enumerate(rows) for i in row}
    depth: dict[int, int] = {}
    for i in sorted((i for i in at if i in widths), key=lambda i: -at[i]):
        depth[i] = 1 + max((depth.get(t, 0) for t in below.get(i, ())), default=0)
    for number, row in enumerate(rows):
        left = room + GAP_X - sum(BEND + GAP_X for i in row if i not in widths)
        stays: list[int] = []
        items = sorted((i for i in row if widths.get(i)), key=lambda i: -depth[i])
        for i in items:
            left -= widths[i] + GAP_X
            if left >= 0.0 or not stays:
                stays.append(i)
        if len(stays) < len(items):
            moved = [i for i in items if i not in stays]
            ends = [i for i, k in at.items() if k > number and widths.get(i) == 0.0]
            return {(i, k) for i in stays for k in moved} | {(i, k) for i in moved for k in ends}
    return set()


def _columns(
    rows: list[list[int]], chains: Mapping[tuple[int, int], list[int]], widths: Mapping[int, float], room: float
) -> dict[int, float]:
    """x of every item: repeated pull towards the mean of the neighbours, overlaps pushed apart in row order."""
    above: dict[int, list[int]] = {}
    below: dict[int, list[int]] = {}
    for (s, t), chain in chains.items():
        path = [s, *chain, t]
        for a, b in zip(path, path[1:], strict=False):
            below.setdefault(a, []).append(b)
            above.setdefault(b, []).append(a)
    x: dict[int, float] = {}
    for row in rows:
        _pack(row, [0.0] * len(row), widths, x)
    for sweep in range(SWEEPS):
        order = rows if sweep % 2 == 0 else rows[::-1]
        for row in order:
            near = above if sweep % 2 == 0 else below
            if sweep >= SWEEPS - 4:
                wanted = [_mean(x, [*above.get(i, ()), *below.get(i, ())], x[i]) for i in row]
            else:
                wanted = [_mean(x, near.get(i, ()), x[i]) for i in row]
            _pack(row, wanted, widths, x, room)
    return x


def _straighten(
    rows: list[list[int]], chains: Mapping[tuple[int, int], list[int]], widths: Mapping[int, float], x: dict[int, float]
) -> None:
    """Put all bends of a long edge below each other where no item is in the way."""
    row_of = {i: row for row in rows for i in row}
    for chain in chains.values():
        if len(chain) < 2:
            continue
        places = sorted(x[i] for i in chain)
        for at in (places[len(places) // 2], places[0], places[-1]):
            if all(
                abs(x[other] - at) >= (widths.get(other, BEND) + BEND) / 2
                for i in chain
                for other in row_of[i]
                if other != i
            ):
                x.update(dict.fromkeys(chain, at))
                break


def _squeeze(widths: Mapping[int, float], x: dict[int, float]) -> None:
    """Take out room that no item of any row fills: what is beside it moves together, in its order."""
    end: float | None = None
    gone = 0.0
    for i in sorted(x, key=lambda i: x[i] - widths.get(i, BEND) / 2):
        half = widths.get(i, BEND) / 2
        if end is not None:
            gone += max(0.0, x[i] - half - end - GAP_X)
        end = x[i] + half if end is None else max(end, x[i] + half)
        x[i] -= gone


def _mean(x: Mapping[int, float], items: Iterable[int], default: float) -> float:
    values = [x[i] for i in items]
    return sum(values) / len(values) if values else default


def _pack(
    row: list[int], wanted: list[float], widths: Mapping[int, float], x: dict[int, float], room: float = math.inf
) -> None:
    """Positions nearest to the wanted ones that keep order, gaps and the room around 0, if the row has room in it (pool
    adjacent violators, least squares)."""
    starts: list[float] = []  # distance of each item from the first if packed tightly
    at = 0.0
    for k, i in enumerate(row):
        if k:
            before = row[k - 1]
            at += (widths.get(before, BEND) + widths.get(i, BEND)) / 2 + GAP_X
        starts.append(at)
    wide = at + (widths.get(row[0], BEND) + widths.get(row[-1], BEND)) / 2 if row else 0.0
    low = min(-room / 2, -wide / 2) + (widths.get(row[0], BEND) / 2 if row else 0.0)
    high = low + max(room, wide) - wide
    groups: list[list[float]] = []  # sum of (wanted - start), count
    for want, start in zip(wanted, starts, strict=True):
        groups.append([want - start, 1.0])
        while len(groups) > 1 and groups[-2][0] / groups[-2][1] > groups[-1][0] / groups[-1][1]:
            total, count = groups.pop()
            groups[-1][0] += total
            groups[-1][1] += count
    k = 0
    for total, count in groups:
        for _ in range(int(count)):
            x[row[k]] = min(max(total / count, low), high) + starts[k]
            k += 1
