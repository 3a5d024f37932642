"""Order of the items in each row of a layered drawing, so that few lines cross.

A line is a path of items, one in each row that it passes; two lines cross between two rows if their orders in the two
are opposite. In turn, each item moves to the position in its row at which its lines cross the fewest others (sifting),
and the bends of each long line move together to the path through all rows with the fewest crossings (a shortest path).
If crossings remain, this is repeated from other initial orders, always the same ones for the same drawing. A line that
leads back is such a path from above the row of its target to below the row of its source, beside all items unless it
crosses fewer lines between them.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

Rows = tuple[tuple[int, ...], ...]
#: items of a line from top to bottom, and the points of the first and of the last one at which it starts and ends:
#: parts of their widths, from -0.5 to 0.5
Line = tuple[tuple[int, ...], float, float]

#: rounds of all moves; drawings with more items and bends than this keep the order of the engine
ROUNDS, MOST = 3, 300
#: number of other initial orders: fewer for more items
MOST_TRIALS, WORK = 20, 400
#: cost, in crossings, of a position between other items for a line that leads back
INSIDE = 1e-3


class Order:
    """Rows of items, and the lines between them."""

    def __init__(self, rows: Rows, lines: Sequence[Line], back: frozenset[int]) -> None:
        self.rows = [list(row) for row in rows]
        self.lines, self.back = lines, back
        self.row = {item: k for k, row in enumerate(rows) for item in row}
        self.at: Any = np.zeros(max((max(row, default=0) for row in rows), default=0) + 1)
        gaps: list[list[tuple[int, int, float, float, int]]] = [[] for _ in rows]
        groups: dict[tuple[int, ...], int] = {}
        for index, (path, first, last) in enumerate(lines):
            number = groups.setdefault(path, index)
            for k, (a, b) in enumerate(pairwise(path)):
                ports = first if k == 0 else 0.0, last if k == len(path) - 2 else 0.0
                if self.row[a] > self.row[b]:  # the ends of a line that leads back
                    a, b, ports = b, a, ports[::-1]
                gaps[self.row[a]].append((a, b, *ports, number))
        #: one line of each group that has the same bends
        self.bent = [number for path, number in groups.items() if len(path) > 2]
        self.gaps = [
            (
                np.array([g[0] for g in gap], int),
                np.array([g[1] for g in gap], int),
                np.array([g[2] for g in gap]),
                np.array([g[3] for g in gap]),
                np.array([g[4] for g in gap], int),
            )
            for gap in gaps
        ]
        for k in range(len(self.rows)):
            self._number(k)

    def _number(self, k: int) -> None:
        row = self.rows[k]
        self.at[row] = np.arange(len(row))

    def crossings(self) -> int:
        """The number of pairs of lines that cross."""
        total = 0
        for a, b, p, q, _ in self.gaps:
            one, two = self.at[a] + p, self.at[b] + q
            total += int(np.count_nonzero((one[:, None] < one) & (two[:, None] > two)))
        return total

    def improve(self) -> None:
        """Move items and lines until no crossing disappears, then try again from other orders."""
        items = sum(map(len, self.rows))
        chance = random.Random(items)
        first = self._rows()
        best, kept = self._settle()
        for trial in range(min(MOST_TRIALS, WORK // items)):
            if not best:
                break
            self._set(first if trial % 4 == 0 else kept)
            if trial % 2:
                self._set([chance.sample(row, len(row)) for row in self.rows])
            for turn in range(2):
                down = (turn + trial // 2) % 2 == 0
                for k in self._order(down):
                    self._centre(k, down)
            now, rows = self._settle()
            if now < best:
                best, kept = now, rows
        self._set(kept)
        for index in sorted(self.back):
            self._lead(index)

    def _settle(self) -> tuple[int, list[list[int]]]:
        """Move items and lines as long as crossings disappear; returns how many are left, and the best rows."""
        best: tuple[int, list[list[int]]] | None = None
        for turn in range(ROUNDS):
            for k in self._order(turn % 2 == 0):
                self._sift(k)
            for index in self.bent:
                self._lead(index)
            now = self.crossings()
            if best is not None and now >= best[0]:
                break
            best = now, self._rows()
        assert best is not None
        return best

    def _order(self, down: bool) -> Sequence[int]:
        return range(len(self.rows)) if down else range(len(self.rows) - 1, -1, -1)

    def _rows(self) -> list[list[int]]:
        return [list(row) for row in self.rows]

    def _set(self, rows: Sequence[Sequence[int]]) -> None:
        self.rows = [list(row) for row in rows]
        for k in range(len(rows)):
            self._number(k)

    def _centre(self, k: int, down: bool) -> None:
        """Sort a row by the mean position of each item's neighbours in the row before."""
        if not 0 <= (k - 1 if down else k) < len(self.rows) - 1:
            return
        a, b, p, q, _ = self.gaps[k - 1 if down else k]
        own, other = (b, self.at[a] + p) if down else (a, self.at[b] + q)
        mean = {item: float(other[own == item].mean()) for item in set(own.tolist())}
        free = [i for i in self.rows[k] if i in mean]
        free.sort(key=mean.__getitem__)
        rest = iter(free)
        self.rows[k] = [next(rest) if i in mean else i for i in self.rows[k]]
        self._number(k)

    def _sift(self, k: int) -> None:
        """Move each item of a row to its best position."""
        row = self.rows[k]
        if len(row) < 2:
            return
        place = {item: n for n, item in enumerate(row)}
        cost = np.zeros((len(row), len(row)))  # crossings if the first one is left of the second
        for gap, down in ((k, True), (k - 1, False)):
            if gap < 0 or not len(self.gaps[gap][0]):
                continue
            a, b, p, q, _ = self.gaps[gap]
            own, other = (a, self.at[b] + q) if down else (b, self.at[a] + p)
            mine = np.zeros((len(own), len(row)))
            mine[np.arange(len(own)), [place[i] for i in own.tolist()]] = 1.0
            cost += mine.T @ (other[:, None] > other).astype(float) @ mine
        if not np.triu(cost, 1).any():
            return
        order = list(range(len(row)))
        for i in range(len(row)):
            was = order.index(i)
            order.pop(was)
            gain = np.concatenate(([0.0], np.cumsum(cost[order, i] - cost[i, order])))
            places = np.flatnonzero(gain == gain.min())
            order.insert(int(places[np.argmin(np.abs(places - was))]), i)
        self.rows[k] = [row[n] for n in order]
        self._number(k)

    def _lead(self, index: int) -> None:
        """Move the bends of a line to the path that crosses the fewest others."""
        path, first, last = self.lines[index]
        back = index in self.back
        bends = path[1:-1]
        was = []
        for item in bends:
            k = self.row[item]
            was.append(self.rows[k].index(item))
            self.rows[k].pop(was[-1])
            self._number(k)
        slots = [len(self.rows[self.row[item]]) + 1 for item in bends]
        total = self._end(index, path[0], bends[0], first, slots[0])
        total = total + self._preferred(slots[0], was[0], back)
        steps = []
        for k, (one, two) in enumerate(pairwise(bends)):
            between = self._between(index, one, two, slots[k], slots[k + 1])
            whole = total[:, None] + between
            steps.append(np.argmin(whole, axis=0))
            total = whole.min(axis=0) + self._preferred(slots[k + 1], was[k + 1], back)
        total = total + self._end(index, path[-1], bends[-1], last, slots[-1])
        slot = int(np.argmin(total))
        found = [slot]
        for step in reversed(steps):
            slot = int(step[slot])
            found.append(slot)
        for item, slot in zip(bends, reversed(found), strict=True):
            k = self.row[item]
            self.rows[k].insert(slot, item)
            self._number(k)

    @staticmethod
    def _preferred(count: int, was: int, back: bool) -> Any:
        """Costs of the positions, besides crossings: the present position is the cheapest, for a line that leads back
        the outermost ones.
        """
        places = np.arange(count)
        if back:
            return INSIDE * np.minimum(1.0, np.minimum(places, count - 1 - places)) + 1e-6 * np.abs(places - was)
        return 1e-6 * np.abs(places - was)

    def _others(self, index: int, gap: int) -> tuple[Any, Any]:
        a, b, p, q, number = self.gaps[gap]
        keep = number != index
        return (self.at[a] + p)[keep], (self.at[b] + q)[keep]

    def _between(self, index: int, one: int, two: int, slots: int, more: int) -> Any:
        """Crossings of the segment from each position of one bend to each position of the next."""
        down = self.row[one] < self.row[two]
        upper, lower = self._others(index, min(self.row[one], self.row[two]))
        near, far = (upper, lower) if down else (lower, upper)
        left = (near[:, None] < np.arange(slots) - 0.5).astype(float)
        other = (far[:, None] < np.arange(more) - 0.5).astype(float)
        return left.T @ (1.0 - other) + (1.0 - left).T @ other

    def _end(self, index: int, item: int, bend: int, port: float, slots: int) -> Any:
        """Crossings of the segment from the item at one end to each position of the nearest bend."""
        upper, lower = self._others(index, min(self.row[item], self.row[bend]))
        own, other = (upper, lower) if self.row[item] < self.row[bend] else (lower, upper)
        here = self.at[item] + port
        left = other[:, None] < np.arange(slots) - 0.5
        return ((own < here)[:, None] & ~left).sum(axis=0) + ((own > here)[:, None] & left).sum(axis=0)

    def sides(self) -> dict[int, int]:
        """The lines that lead back to the left (-1) or right (1) of all items."""
        lanes = {item: index for index in self.back for item in self.lines[index][0][1:-1]}
        found: dict[int, int] = {}
        for side in (-1, 1):
            more = True
            while more:
                more = False
                for index in sorted(self.back - found.keys()):
                    beside: Iterable[int] = (
                        other for item in self.lines[index][0][2:-2] for other in self._beyond(item, side)
                    )
                    if all(found.get(lanes.get(other, -1)) == side for other in beside):
                        found[index] = side
                        more = True
        return found

    def _beyond(self, item: int, side: int) -> list[int]:
        row = self.rows[self.row[item]]
        at = row.index(item)
        return row[:at] if side < 0 else row[at + 1 :]


@lru_cache(maxsize=256)
def ordered(rows: Rows, lines: tuple[Line, ...], back: frozenset[int]) -> tuple[Rows, dict[int, int]]:
    """The rows in a better order, and the sides of the lines that lead back beside all items."""
    order = Order(rows, lines, back)
    if sum(map(len, rows)) <= MOST and order.crossings():
        order.improve()
    return tuple(tuple(row) for row in order.rows), order.sides()
