"""How often a breakpoint was hit, also after going back, and at which hits it stops."""

from __future__ import annotations

from array import array
from bisect import bisect_left

import numpy as np

#: events of so many hits are remembered, so that a count is right again after going back
REMEMBERED = 1 << 16
#: ``known_from`` of a count that has to be found again
UNKNOWN = 1 << 62
#: hits that pass where none is one to stop at any more
ALL_PASS = 1 << 62


class Hits:
    """Counts hits. ``hits`` is the number of the one to stop at, ``every`` stops at every so manieth; with both, from
    that one on. The newest hits are remembered by their events, so that the count can go back."""

    def __init__(self, hits: int | None = None, every: int | None = None) -> None:
        self.hits, self.every = hits, every
        self.hits_seen = 0
        #: event from which on it counts; 0 once the run has been before it
        self.since = 0
        #: event from which on its hits are remembered
        self.known_from = 0
        self._hits = array("q")

    @property
    def counted(self) -> bool:
        """Whether where it stops depends on how often it was hit."""
        return self.hits is not None or self.every is not None

    def hit(self, event: int) -> bool:
        """Count a hit, that of the firing after so many events; whether it is one to stop at."""
        self.hits_seen += 1
        if len(self._hits) >= REMEMBERED:
            del self._hits[: REMEMBERED // 2]
            self.known_from = self._hits[0]
        self._hits.append(event)
        return self.due(self.hits_seen)

    def hit_often(self, count: int, events: np.ndarray) -> None:
        """Count hits that are none to stop at; ``events`` are those of the newest of them."""
        known = np.ascontiguousarray(events, np.int64)
        if self._hits and len(known) and known[0] <= self._hits[-1]:  # in front of a node that failed it was counted
            known, count = known[1:], count - 1
        self.hits_seen += count
        if count > len(known):
            del self._hits[:]
            self.known_from = int(known[0]) if len(known) else UNKNOWN
        self._hits.frombytes(known.tobytes())
        if len(self._hits) > REMEMBERED:
            del self._hits[: len(self._hits) - REMEMBERED // 2]
            self.known_from = self._hits[0]

    def passing(self, count: int) -> int:
        """How many hits come before the next one to stop at, after so many."""
        if self.every is None:
            return self.hits - count - 1 if self.hits is not None and count < self.hits else ALL_PASS
        first = self.every if self.hits is None else self.hits
        if count < first:
            return first - count - 1
        return self.every - 1 - (count - first) % self.every

    def was_hit(self, event: int) -> bool:
        """Whether the firing after so many events is the last hit that was counted."""
        return bool(self._hits) and self._hits[-1] == event

    def due(self, count: int) -> bool:
        """Whether hit number ``count`` is one to stop at."""
        if self.every is None:
            return self.hits is None or count == self.hits
        first = self.every if self.hits is None else self.hits
        return count >= first and (count - first) % self.every == 0

    def count_before(self, event: int) -> int | None:
        """Hits in front of an event; None where that is not known any more."""
        if event <= self.since:
            return 0
        if event < self.known_from:
            return None
        return self.hits_seen - (len(self._hits) - bisect_left(self._hits, event))

    def back_to(self, event: int) -> None:
        """Count as it was when so many events had fired."""
        if event == 0 or event < self.since:
            self.since = 0
            self.count_anew(0, 0 if event == 0 or not self.counted else UNKNOWN)
            return
        count = self.count_before(event)
        del self._hits[bisect_left(self._hits, event) :]
        if count is not None:
            self.hits_seen = count
        elif self.counted:
            self.known_from = UNKNOWN
        else:
            self.hits_seen, self.known_from = len(self._hits), event

    def count_anew(self, count: int, known_from: int) -> None:
        """Count on from here."""
        self.hits_seen, self.known_from = count, known_from
        del self._hits[:]
