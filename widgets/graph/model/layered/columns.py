"""Positions of the items of a layered drawing across the flow: as near as possible to their neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

Point = tuple[float, float]

GAP_X = 22.0
BEND = 10.0
SWEEPS = 12
#: weight of a line that meets one that leads back: unless it is upright they cross
STRAIGHT = 4


def columns(
    rows: list[list[int]],
    chains: Mapping[tuple[int, int], list[int]],
    widths: Mapping[int, float],
    room: float,
    ports: Mapping[tuple[int, int], Point],
    lanes: Mapping[tuple[int, int], list[int]],
    backs: Iterable[tuple[int, int]],
) -> dict[int, float]:
    """x of every item: items are repeatedly pulled towards the mean of their neighbours, overlaps are pushed apart in
    row order, and no row extends beyond the widest one.
    """
    room = min(room, max(breadth(row, widths) for row in rows))
    above: dict[int, list[tuple[int, float]]] = {}
    below: dict[int, list[tuple[int, float]]] = {}

    def join(path: Sequence[int], first: float, last: float) -> None:
        for k, (a, b) in enumerate(pairwise(path)):
            further = (first if k == 0 else 0.0) - (last if k == len(path) - 2 else 0.0)
            below.setdefault(a, []).append((b, -further))
            above.setdefault(b, []).append((a, further))

    met = {t for _, t in backs}
    for (s, t), chain in chains.items():
        for _ in range(STRAIGHT if t in met else 1):
            join([s, *chain, t], *ports.get((s, t), (0.0, 0.0)))
    for chain in lanes.values():
        join(chain, 0.0, 0.0)
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


def straighten(
    rows: list[list[int]], chains: Iterable[Sequence[int]], widths: Mapping[int, float], x: dict[int, float]
) -> None:
    """Align all bends of a long edge if no item is in the way."""
    place = {i: (row, n) for row in rows for n, i in enumerate(row)}

    def free(i: int, at: float) -> bool:
        row, n = place[i]
        left, right = row[n - 1 : n] if n else [], row[n + 1 : n + 2]
        return all(at - x[k] >= (widths.get(k, BEND) + BEND) / 2 for k in left) and all(
            x[k] - at >= (widths.get(k, BEND) + BEND) / 2 for k in right
        )

    for chain in chains:
        if len(chain) < 2:
            continue
        places = sorted(x[i] for i in chain)
        for at in (places[len(places) // 2], places[0], places[-1]):
            if all(free(i, at) for i in chain):
                x.update(dict.fromkeys(chain, at))
                break


def squeeze(widths: Mapping[int, float], x: dict[int, float]) -> None:
    """Remove space that no item of any row fills: items beside it move together and keep their order."""
    end: float | None = None
    gone = 0.0
    for i in sorted(x, key=lambda i: x[i] - widths.get(i, BEND) / 2):
        half = widths.get(i, BEND) / 2
        if end is not None:
            gone += max(0.0, x[i] - half - end - GAP_X)
        end = x[i] + half if end is None else max(end, x[i] + half)
        x[i] -= gone


def breadth(row: Sequence[int], widths: Mapping[int, float]) -> float:
    """The minimum width of a row."""
    return sum(widths.get(i, BEND) + GAP_X for i in row) - GAP_X


def _mean(x: Mapping[int, float], items: Iterable[tuple[int, float]], default: float) -> float:
    values = [x[i] + further for i, further in items]
    return sum(values) / len(values) if values else default


def _pack(
    row: list[int], wanted: list[float], widths: Mapping[int, float], x: dict[int, float], room: float = math.inf
) -> None:
    """The positions nearest to the wanted ones that keep the order, the gaps and the limits around 0, if the row fits
    between them (pool adjacent violators, least squares).
    """
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
