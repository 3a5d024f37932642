"""Ranks of the items of a layered drawing, a first order within them, and the division of rows that are too wide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import fast_sugiyama

from workbench.widgets.graph.model.layered.columns import BEND, GAP_X


def without_cycles(count: int, edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The edges except those that close a cycle in a depth-first walk; the engine aborts on cycles."""
    out: list[list[int]] = [[] for _ in range(count)]
    for s, t in edges:
        out[s].append(t)
    state = [0] * count  # 0 new, 1 on the path, 2 done
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


def rank(count: int, edges: list[tuple[int, int]]) -> tuple[list[list[int]], dict[tuple[int, int], list[int]]]:
    """Rows of item indices from top to bottom, left to right, and the indices of the bends of each edge."""
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


def divided(
    rows: Sequence[Sequence[int]], widths: Mapping[int, float], edges: Iterable[tuple[int, int]], room: float
) -> set[tuple[int, int]]:
    """Edges that move items of the first row that is too wide below the others: those with the fewest successors move,
    and not below items without a size. None if all rows are as narrow as possible.
    """
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
