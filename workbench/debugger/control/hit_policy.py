"""Hit-count policies: counting during a run, counting during a replay, recounting from the start, and filtering past
hits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from workbench.debugger.breakpoints.breakpoint import Breakpoint
from workbench.debugger.breakpoints.hit_counter import SKIP_ALL


class HitPolicy(Protocol):
    """Counts the hits of breakpoints and decides at which of them the run stops."""

    def count(self, point: Breakpoint, event: int) -> bool:
        """Count one hit, at the firing after ``event`` events; True if the run stops there."""

    def count_skipped(self, point: Breakpoint, count: int, events: np.ndarray) -> None:
        """Count hits at which the executor did not stop; ``events`` are the events of the newest of them."""

    def hits_to_skip(self, point: Breakpoint) -> int:
        """Number of hits before the next one at which the run stops."""


class LiveCount:
    """Each breakpoint counts its own hits: the policy of a forward run."""

    def count(self, point: Breakpoint, event: int) -> bool:
        return point.hit(event)

    def count_skipped(self, point: Breakpoint, count: int, events: np.ndarray) -> None:
        point.count_skipped_hits(count, events)

    def hits_to_skip(self, point: Breakpoint) -> int:
        return point.hits_to_skip(point.hits_seen)


class ReplayCount:
    """Counts in a separate table while the past is replayed, starting with the counts at the event where the replay
    begins."""

    def __init__(self, counts: dict[int, int]) -> None:
        self.counts = counts

    def count(self, point: Breakpoint, event: int) -> bool:
        if event < point.since and point.counted:
            return False
        self.counts[point.number] = self.counts.get(point.number, 0) + 1
        return not point.counted or point.due(self.counts[point.number])

    def count_skipped(self, point: Breakpoint, count: int, events: np.ndarray) -> None:
        self.counts[point.number] = self.counts.get(point.number, 0) + count

    def hits_to_skip(self, point: Breakpoint) -> int:
        return 0 if point.since else point.hits_to_skip(self.counts.get(point.number, 0))


class Recount:
    """Each breakpoint recounts all of its hits; the run never stops."""

    def count(self, point: Breakpoint, event: int) -> bool:
        point.hit(event)
        return False

    def count_skipped(self, point: Breakpoint, count: int, events: np.ndarray) -> None:
        point.count_skipped_hits(count, events)

    def hits_to_skip(self, point: Breakpoint) -> int:
        return SKIP_ALL


class FilterHits:
    """Counts the hits of a single breakpoint and stops at those for whose number ``due`` is True."""

    def __init__(self, due: Callable[[int], bool]) -> None:
        self.due, self.hits = due, 0

    def count(self, point: Breakpoint, event: int) -> bool:
        self.hits += 1
        return self.due(self.hits)

    def count_skipped(self, point: Breakpoint, count: int, events: np.ndarray) -> None:
        self.hits += count

    def hits_to_skip(self, point: Breakpoint) -> int:
        return point.hits_to_skip(self.hits)


LIVE = LiveCount()
