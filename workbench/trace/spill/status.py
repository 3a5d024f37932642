"""Progress of the writing: plain data for a progress bar, and the same as one line of text."""

from __future__ import annotations

import sys
import time
from collections import deque
from dataclasses import dataclass
from typing import Any, TextIO

from workbench.text import harmless

#: seconds over which the rate is averaged, and between two lines
WINDOW, EVERY = 5.0, 0.2
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


@dataclass(frozen=True, slots=True)
class SpillStatus:
    """``state`` is "idle" (the queue is empty), "writing", "stopped" (``error`` says why) or "closed".

    ``on_disk`` bytes are in files now, ``written`` were written in total, ``waiting`` are queued in memory; ``rows``
    are on disk, ``rate`` is in bytes per second, ``limit`` is None if there is none.
    """

    state: str
    folder: str
    on_disk: int
    written: int
    waiting: int
    rows: int
    rate: float
    limit: int | None
    error: str = ""

    @property
    def fraction(self) -> float | None:
        """Share of the limit that is used, from 0 to 1; None without a limit."""
        return None if self.limit is None else min(1.0, self.on_disk / max(1, self.limit))

    @harmless
    def __str__(self) -> str:
        used = size_text(self.on_disk)
        if self.limit is not None:
            used += f" of {size_text(self.limit)} ({100 * (self.fraction or 0):.0f} %)"
        parts = [f"trace on disk: {used}", f"{self.rows} rows"]
        if self.state == "writing":
            parts.append(f"{size_text(self.rate)}/s")
        else:
            parts.append(self.state)
        return ", ".join(parts)


def size_text(size: float) -> str:
    """Bytes in readable form: 1.5 GiB."""
    unit = 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:.0f} {_UNITS[unit]}" if unit == 0 or size >= 100 else f"{size:.1f} {_UNITS[unit]}"


class Rate:
    """Bytes per second over the last seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def add(self, total: int, now: float | None = None) -> None:
        """Add a sample of the total bytes written so far."""
        now = time.monotonic() if now is None else now
        self._seen.append((now, total))
        while len(self._seen) > 2 and (now - self._seen[0][0] > WINDOW or len(self._seen) > 4096):
            self._seen.popleft()

    def __call__(self, now: float | None = None) -> float:
        now = time.monotonic() if now is None else now
        seen = list(self._seen)
        if len(seen) < 2 or now - seen[-1][0] > WINDOW:
            return 0.0
        return (seen[-1][1] - seen[0][1]) / max(now - seen[0][0], 1e-6)


class StatusLine:
    """The status as a terminal line that is overwritten; silent if the output is not a terminal."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out if out is not None else sys.stderr
        try:
            self._on = bool(self._out is not None and self._out.isatty())
        except ValueError:  # a closed file
            self._on = False
        self._next, self._width = 0.0, 0

    def show(self, status: Any, last: bool = False) -> None:
        """Print the line, unless the last time was a moment ago; ``last`` ends it."""
        now = time.monotonic()
        if not self._on or (now < self._next and not last) or (last and not self._width):
            return
        self._next = now + EVERY
        text = str(status)
        try:
            self._out.write("\r" + text.ljust(self._width) + ("\n" if last else ""))
            self._out.flush()
        except (OSError, ValueError):
            self._on = False
        self._width = 0 if last else len(text)
