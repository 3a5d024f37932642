"""A clock that only a pump's sleep moves: how often it shows something is counted exactly, on a machine of any load."""

from __future__ import annotations

from collections.abc import Callable


class Clock:
    """Stands for ``time`` in the pump and in what knows how long a browser takes; ``now`` are seconds."""

    def __init__(self) -> None:
        self.now = 1000.0
        #: called in each sleep, on the pump's thread: what the browser and the run do in the meantime
        self.meanwhile: list[Callable[[], object]] = []

    def monotonic(self) -> float:
        return self.now

    def thread_time(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:
        for call in self.meanwhile:
            call()
        self.now += seconds
