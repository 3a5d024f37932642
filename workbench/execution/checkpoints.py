"""The checkpoints of one run: their thinning, and the interval to the next one.

Any earlier state is reached by a replay from the checkpoint before it, so the run time between two checkpoints limits
the time of going back. Checkpoints are close together at first. If there are too many, or they are too large, those
with the closest neighbours are dropped, and new ones are made at the same larger distance: the gaps stay even, and at
most double when the run time has doubled.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable

from workbench.kernels.machine import Snapshot

#: initial number of events between checkpoints; later a 64th of the run so far
FIRST_INTERVAL = 4096
#: limits of the interval in seconds of run time: a replay shorter than the first is not noticeable
SECONDS_CLOSEST, SECONDS_APART = 0.001, 0.05
MAX_CHECKPOINTS = 4096
FEW = 16


class Checkpoints:
    """Snapshots by event, oldest first, with at most ``allowed`` bytes; the first and the last are always kept."""

    def __init__(self, first: Snapshot, allowed: int) -> None:
        self.all = [first]
        self.allowed = allowed
        self.held = first.bytes
        self.interval = FIRST_INTERVAL  # events from the last checkpoint to the next
        self._seconds, self._bytes = [0.0], [self.held]  # for each checkpoint, the run time up to it, and its bytes
        self._gap = SECONDS_CLOSEST
        self._since = (first.events, 0.0)

    @property
    def due(self) -> int:
        """The event from which the next checkpoint is due."""
        return self.all[-1].events + self.interval

    @property
    def expected(self) -> int:
        """Estimated bytes of the next checkpoint."""
        return self._bytes[-1]

    def add(self, latest: Snapshot, seconds: float) -> None:
        """Add a state later than all others, reached after ``seconds`` of run time."""
        self.all.append(latest)
        self._seconds.append(seconds)
        self._bytes.append(latest.bytes)
        self.held += self._bytes[-1]
        if len(self.all) > MAX_CHECKPOINTS or self.held > self.allowed:
            self._thin()

    def pace(self, event: int, seconds: float) -> None:
        """Set the interval from the speed of the run since the last call."""
        done, took = event - self._since[0], seconds - self._since[1]
        self._since = (event, seconds)
        rate = done / took if took > 1e-6 else 1e9
        wanted = max(FIRST_INTERVAL, event // 64, rate * self._gap)
        self.interval = max(64, int(min(wanted, rate * max(SECONDS_APART, self._gap))))

    def _thin(self) -> None:
        """Drop about every second checkpoint until a quarter of the limit is free; if there are few, no more than
        necessary."""
        most = MAX_CHECKPOINTS * 3 // 4
        while len(self.all) > 2 and (
            len(self.all) > most or self.held > (self.allowed * 3 // 4 if len(self.all) > FEW else self.allowed)
        ):
            stay = [0]
            for k in range(1, len(self.all) - 1):
                if self._seconds[k + 1] - self._seconds[stay[-1]] > self._gap:
                    stay.append(k)
            stay.append(len(self.all) - 1)
            if len(stay) == len(self.all):
                self._gap *= 2
            self._keep(stay)

    def _keep(self, numbers: list[int]) -> None:
        self.all, self._seconds, self._bytes = (
            [self.all[k] for k in numbers],
            [self._seconds[k] for k in numbers],
            [self._bytes[k] for k in numbers],
        )
        self.held = sum(self._bytes)

    def last(self, wanted: Callable[[Snapshot], bool]) -> Snapshot:
        """The latest checkpoint for which ``wanted`` is True, which must then be True for all earlier ones; otherwise
        the first."""
        found = self.all
        at = bisect.bisect_left(found, True, key=lambda c: not wanted(c))
        return found[max(0, at - 1)]

    def before(self, event: int) -> Snapshot:
        """The latest checkpoint at or before an event."""
        return self.last(lambda c: c.events <= event)

    def forget_after(self, event: int, seconds: float) -> None:
        """Drop the checkpoints after an event; a replay creates them again. ``seconds`` is the run time so far."""
        self._keep([k for k, c in enumerate(self.all) if c.events <= event or k == 0])
        self.interval = max(64, min(self.interval, max(FIRST_INTERVAL, event // 64)))
        self._since = (event, seconds)

    def start_anew(self, checkpoints: list[Snapshot], seconds: float) -> None:
        """Replace all checkpoints by these, after a state that was not reached by running; run times are estimated from
        their events."""
        last = max(1, checkpoints[-1].events)
        self.all = list(checkpoints)
        self._seconds = [seconds * c.events / last for c in checkpoints]
        self._bytes = [c.bytes for c in checkpoints]
        self.held = sum(self._bytes)
        self.interval = max(64, min(self.interval, max(FIRST_INTERVAL, last // 64)))
        self._since = (checkpoints[-1].events, seconds)
