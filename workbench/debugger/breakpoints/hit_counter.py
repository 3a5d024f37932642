"""Hit counts of a breakpoint, which stay valid when the run goes back, and the hits at which it stops."""

from __future__ import annotations

from array import array
from bisect import bisect_left

import numpy as np

#: number of hits whose events are stored, so that a count can be restored when the run goes back
KEPT_HITS = 1 << 16
#: value of ``known_from`` if a replay has to find the count
UNKNOWN = 1 << 62
#: number of hits to skip if the run stops at no further hit
SKIP_ALL = 1 << 62


class HitCounter:
    """Counts hits. ``hits`` is the hit to stop at, ``every`` stops at every k-th hit; with both, stops begin at hit
    ``hits``. The events of the newest hits are stored, so that the count can go back."""

    def __init__(self, hits: int | None = None, every: int | None = None) -> None:
        self.hits, self.every = hits, every
        self.hits_seen = 0
        #: first event that counts; 0 once the run has been before the event at which the breakpoint was set
        self.since = 0
        #: event from which all hits are known
        self.known_from = 0
        self._hits = array("q")

    @property
    def counted(self) -> bool:
        """True if the hit count decides where it stops."""
        return self.hits is not None or self.every is not None

    def hit(self, event: int) -> bool:
        """Count one hit, at the firing after ``event`` events; True if the run stops there."""
        self.hits_seen += 1
        if len(self._hits) >= KEPT_HITS:
            del self._hits[: KEPT_HITS // 2]
            self.known_from = self._hits[0]
        self._hits.append(event)
        return self.due(self.hits_seen)

    def count_skipped_hits(self, count: int, events: np.ndarray) -> None:
        """Count hits at which the run does not stop; ``events`` are the events of the newest of them."""
        known = np.ascontiguousarray(events, np.int64)
        if self._hits and len(known) and known[0] <= self._hits[-1]:  # counted before a node that failed
            known, count = known[1:], count - 1
        self.hits_seen += count
        if count > len(known):
            del self._hits[:]
            self.known_from = int(known[0]) if len(known) else UNKNOWN
        self._hits.frombytes(known.tobytes())
        if len(self._hits) > KEPT_HITS:
            del self._hits[: len(self._hits) - KEPT_HITS // 2]
            self.known_from = self._hits[0]

    def hits_to_skip(self, count: int) -> int:
        """Number of hits between hit ``count`` and the next one at which the run stops."""
        if self.every is None:
            return self.hits - count - 1 if self.hits is not None and count < self.hits else SKIP_ALL
        first = self.every if self.hits is None else self.hits
        if count < first:
            return first - count - 1
        return self.every - 1 - (count - first) % self.every

    def was_last_hit(self, event: int) -> bool:
        """True if the last counted hit is the firing after ``event`` events."""
        return bool(self._hits) and self._hits[-1] == event

    def due(self, count: int) -> bool:
        """True if the run stops at hit ``count``."""
        if self.every is None:
            return self.hits is None or count == self.hits
        first = self.every if self.hits is None else self.hits
        return count >= first and (count - first) % self.every == 0

    def count_before(self, event: int) -> int | None:
        """Number of hits before an event; None if it is no longer known."""
        if event <= self.since:
            return 0
        if event < self.known_from:
            return None
        return self.hits_seen - (len(self._hits) - bisect_left(self._hits, event))

    def rewind_to(self, event: int) -> None:
        """Reset the count to its value after ``event`` events."""
        if event == 0 or event < self.since:
            self.since = 0
            self.restart_count(0, 0 if event == 0 or not self.counted else UNKNOWN)
            return
        count = self.count_before(event)
        del self._hits[bisect_left(self._hits, event) :]
        if count is not None:
            self.hits_seen = count
        elif self.counted:
            self.known_from = UNKNOWN
        else:
            self.hits_seen, self.known_from = len(self._hits), event

    def restart_count(self, count: int, known_from: int) -> None:
        """Continue from this count; hits are known from event ``known_from``."""
        self.hits_seen, self.known_from = count, known_from
        del self._hits[:]
