"""The checkpoints of one run: which of them stay, and when the next one is due.

Any earlier state is one replay from the checkpoint before it, so what counts is the time of running between two of
them. They lie close at first; where there are too many, or they hold too many bytes, those go whose neighbours are
closest, and new ones come as far apart: the gaps stay even, and double at most when the run has doubled.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable

from workbench.kernels.machine import Snapshot

#: checkpoints lie this many events apart at first, later a 64th of the run so far
FIRST_INTERVAL = 4096
#: but not closer than a replay that nobody notices, and not further apart than this, in seconds of running
SECONDS_CLOSEST, SECONDS_APART = 0.001, 0.05
MAX_CHECKPOINTS = 4096
FEW = 16


class Checkpoints:
    """Snapshots by event, oldest first, at most ``allowed`` bytes of them; the first and the last always stay."""

    def __init__(self, first: Snapshot, allowed: int) -> None:
        self.all = [first]
        self.allowed = allowed
        self.held = first.bytes
        self.interval = FIRST_INTERVAL  # events from the last one to the next
        self._seconds, self._bytes = [0.0], [self.held]  # of each: time of running up to it; what it holds
        self._gap = SECONDS_CLOSEST
        self._since = (first.events, 0.0)

    @property
    def due(self) -> int:
        """The event from which on the next one is due."""
        return self.all[-1].events + self.interval

    @property
    def expected(self) -> int:
        """Bytes that the next one will about hold."""
        return self._bytes[-1]

    def add(self, latest: Snapshot, seconds: float) -> None:
        """Keep a state that is later than all so far, after so many seconds of running."""
        self.all.append(latest)
        self._seconds.append(seconds)
        self._bytes.append(latest.bytes)
        self.held += self._bytes[-1]
        if len(self.all) > MAX_CHECKPOINTS or self.held > self.allowed:
            self._thin()

    def pace(self, event: int, seconds: float) -> None:
        """Set the interval by the speed of the run since this was called last."""
        done, took = event - self._since[0], seconds - self._since[1]
        self._since = (event, seconds)
        rate = done / took if took > 1e-6 else 1e9
        wanted = max(FIRST_INTERVAL, event // 64, rate * self._gap)
        self.interval = max(64, int(min(wanted, rate * max(SECONDS_APART, self._gap))))

    def _thin(self) -> None:
        """By twos, until a quarter of the room is free again; of few, only as many as must be."""
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
            [self.all[k] for k in numbers], [self._seconds[k] for k in numbers], [self._bytes[k] for k in numbers]
        )  # fmt: skip
        self.held = sum(self._bytes)

    def last(self, wanted: Callable[[Snapshot], bool]) -> Snapshot:
        """The latest checkpoint of which something is true that is true of all earlier ones too; else the first."""
        found = self.all
        at = bisect.bisect_left(found, True, key=lambda c: not wanted(c))
        return found[max(0, at - 1)]

    def before(self, event: int) -> Snapshot:
        """The latest checkpoint at or before an event."""
        return self.last(lambda c: c.events <= event)

    def forget_after(self, event: int, seconds: float) -> None:
        """Those behind an event: replay makes them again. ``seconds`` is the time of running so far."""
        self._keep([k for k, c in enumerate(self.all) if c.events <= event or k == 0])
        self.interval = max(64, min(self.interval, max(FIRST_INTERVAL, event // 64)))
        self._since = (event, seconds)

    def start_anew(self, checkpoints: list[Snapshot], seconds: float) -> None:
        """Hold these instead, of a state that came about another way; events tell how far apart they lie in time."""
        last = max(1, checkpoints[-1].events)
        self.all = list(checkpoints)
        self._seconds = [seconds * c.events / last for c in checkpoints]
        self._bytes = [c.bytes for c in checkpoints]
        self.held = sum(self._bytes)
        self.interval = max(64, min(self.interval, max(FIRST_INTERVAL, last // 64)))
        self._since = (checkpoints[-1].events, seconds)
