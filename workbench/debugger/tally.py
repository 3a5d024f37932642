"""Who counts hits: the breakpoints themselves, or, where the past is gone through again, somebody beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from workbench.debugger.breakpoint import Breakpoint
from workbench.debugger.hits import ALL_PASS


class Tally(Protocol):
    """Counts hits, one or many that were none to stop at."""

    def one(self, point: Breakpoint, event: int) -> bool:
        """Count a hit, that of the firing after so many events; whether it is one to stop at."""

    def many(self, point: Breakpoint, count: int, events: np.ndarray) -> None:
        """Count hits; ``events`` are those of the newest of them."""

    def left(self, point: Breakpoint) -> int:
        """How many hits come before the next one to stop at."""


class Direct:
    """The breakpoints count."""

    def one(self, point: Breakpoint, event: int) -> bool:
        return point.hit(event)

    def many(self, point: Breakpoint, count: int, events: np.ndarray) -> None:
        point.hit_often(count, events)

    def left(self, point: Breakpoint) -> int:
        return point.passing(point.hits_seen)


class Beside:
    """Counts from what the breakpoints had counted at some event."""

    def __init__(self, counts: dict[int, int]) -> None:
        self.counts = counts

    def one(self, point: Breakpoint, event: int) -> bool:
        if event < point.since and point.counted:
            return False
        self.counts[point.number] = self.counts.get(point.number, 0) + 1
        return not point.counted or point.due(self.counts[point.number])

    def many(self, point: Breakpoint, count: int, events: np.ndarray) -> None:
        self.counts[point.number] = self.counts.get(point.number, 0) + count

    def left(self, point: Breakpoint) -> int:
        return 0 if point.since else point.passing(self.counts.get(point.number, 0))


class Anew:
    """The breakpoints count all there is, and nothing is a stop."""

    def one(self, point: Breakpoint, event: int) -> bool:
        point.hit(event)
        return False

    def many(self, point: Breakpoint, count: int, events: np.ndarray) -> None:
        point.hit_often(count, events)

    def left(self, point: Breakpoint) -> int:
        return ALL_PASS


class Due:
    """Counts the hits of one breakpoint: whether each is ``due``."""

    def __init__(self, due: Callable[[int], bool]) -> None:
        self.due, self.count = due, 0

    def one(self, point: Breakpoint, event: int) -> bool:
        self.count += 1
        return self.due(self.count)

    def many(self, point: Breakpoint, count: int, events: np.ndarray) -> None:
        self.count += count

    def left(self, point: Breakpoint) -> int:
        return point.passing(self.count)


DIRECT = Direct()
