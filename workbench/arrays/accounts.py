"""Accounts of arrays: live bytes, peak, and their curve over time; each change is O(1).

``Levels`` is a curve over time in bounded memory: changes are grouped, and each group keeps its highest and its last
level; when there are too many groups, neighbours are merged. So neither the beginning nor a peak is ever lost.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from workbench.text import facts_html, harmless

#: maximum number of groups of changes in a curve, and of separate events
MAX_GROUPS, MAX_EVENTS = 512, 256
#: maximum number of managers in the table of a notebook
MOST_MANAGERS = 20


def arrays_text(count: int) -> str:
    """``1 array``, ``1,000 arrays``."""
    return f"{count:,} array{'' if count == 1 else 's'}"


class Levels:
    """A level over time in bounded memory."""

    __slots__ = ("_count", "_first", "_groups", "_high", "_last", "_stride")

    def __init__(self) -> None:
        #: (time and level of the maximum, time and level of the last change)
        self._groups: list[tuple[float, int, float, int]] = []
        self._first: tuple[float, int] | None = None
        self._stride = 1
        self._count = 0
        self._high = self._last = (0.0, 0)

    def note(self, level: int) -> None:
        """Record the level at this moment."""
        now = time.perf_counter()
        if self._first is None:
            self._first = now, level
        if self._count == 0 or level > self._high[1]:
            self._high = now, level
        self._last = now, level
        self._count += 1
        if self._count >= self._stride:
            group: tuple[float, int, float, int] = (*self._high, *self._last)
            fresh: list[tuple[float, int, float, int]] = []
            self._count = 0
            self._groups.append(group)
            if len(self._groups) >= MAX_GROUPS:
                # allocating pairs may start a garbage collection whose finalizers note levels, in the new list
                groups, self._groups = self._groups, fresh
                pairs, single = zip(groups[::2], groups[1::2], strict=False), groups[len(groups) // 2 * 2 :]
                self._groups[:0] = [(*(a if a[1] >= b[1] else b)[:2], *b[2:]) for a, b in pairs] + single
                self._stride *= 2

    def points(self) -> list[tuple[float, int]]:
        """(seconds, level), oldest first."""
        found = [self._first] if self._first is not None and self._stride > 1 else []
        open_one = [(*self._high, *self._last)] if self._count else []
        for at_high, high, at_last, last in [*self._groups, *open_one]:
            found += [(at_high, high)] if at_high < at_last else []
            found.append((at_last, last))
        return found


class Account:
    """The figures of one owner, or of all owners together. Changed only under the ledger's lock."""

    __slots__ = ("bytes", "collected", "levels", "live", "made", "peak", "released")

    def __init__(self) -> None:
        self.live = self.bytes = self.peak = 0
        self.made = self.released = self.collected = 0
        self.levels = Levels()

    def add(self, nbytes: int) -> None:
        """Count one more array."""
        self.live += 1
        self.change(nbytes)

    def remove(self, nbytes: int) -> None:
        """Count one array fewer."""
        self.live -= 1
        self.change(-nbytes)

    def change(self, by: int) -> None:
        """Change the number of bytes."""
        self.bytes += by
        if self.bytes > self.peak:
            self.peak = self.bytes
        self.levels.note(self.bytes)


class LedgerEvent(NamedTuple):
    """An event that freed arrays: ``kind`` is collected, closed or released; events close in time are merged."""

    seconds: float
    kind: str
    name: str
    arrays: int
    bytes: int


class EventLog:
    """Log of the events that freed arrays, in bounded memory: events of one kind and manager within a time window are
    merged, and the window doubles when there are too many. No event is lost."""

    def __init__(self) -> None:
        self._window = 0.05
        #: (kind, manager, index of the window) -> (seconds of the first, arrays, bytes)
        self._groups: dict[tuple[str, str, int], tuple[float, int, int]] = {}

    def note(self, kind: str, name: str, nbytes: int) -> None:
        """Record that one array was freed."""
        self._add(self._groups, kind, name, time.perf_counter(), 1, nbytes)
        names = True
        while len(self._groups) > (MAX_EVENTS if names else MAX_EVENTS // 2):
            self._window *= 2
            groups: dict[tuple[str, str, int], tuple[float, int, int]] = {}
            for (k, n, _), (seconds, arrays, size) in self._groups.items():
                self._add(groups, k, n if names else "several managers", seconds, arrays, size)
            names = len(groups) <= MAX_EVENTS // 2
            self._groups = groups

    def _add(self, groups: Any, kind: str, name: str, seconds: float, arrays: int, size: int) -> None:
        key = kind, name, int(seconds / self._window)
        found = groups.get(key)
        groups[key] = (seconds, arrays, size) if found is None else (found[0], found[1] + arrays, found[2] + size)

    def all(self) -> tuple[LedgerEvent, ...]:
        """All events, oldest first."""
        found = [LedgerEvent(at, k, n, arrays, size) for (k, n, _), (at, arrays, size) in self._groups.items()]
        return tuple(sorted(found))


class ManagerFigures(NamedTuple):
    """Figures of one manager: its arrays and bytes now, the peak, and counts of arrays made and released."""

    name: str  #: preceded by the names of the managers above it, such as ``base/step 3``
    live: int
    bytes: int
    peak: int
    made: int
    released: int
    collected: int
    limit: int | None
    levels: tuple[tuple[float, int], ...]  #: (time.perf_counter() seconds, bytes), oldest first; only on request


class Memory(NamedTuple):
    """The result of ``wb.memory()``.

    ``live`` and ``bytes`` count arrays that are not freed; ``unused`` and ``unused_bytes`` those without a handle,
    which collection would free. ``made``, ``released`` and ``collected`` count since the start (``collected`` are part
    of ``released``), ``peak`` is the maximum of ``bytes``.
    """

    live: int
    bytes: int
    peak: int
    unused: int
    unused_bytes: int
    made: int
    released: int
    collected: int
    collecting: bool
    managers: tuple[ManagerFigures, ...]
    levels: tuple[tuple[float, int], ...]
    events: tuple[LedgerEvent, ...]

    @harmless
    def __str__(self) -> str:
        lines = [
            f"{arrays_text(self.live)}, {self.bytes:,} bytes (peak {self.peak:,}); {self.unused:,} of them unused, "
            f"{self.unused_bytes:,} bytes",
            f"{self.made:,} made, {self.released:,} released, {self.collected:,} of these collected; "
            f"collection is {'on' if self.collecting else 'off'}",
        ]
        lines += [f"  {m.name}: {arrays_text(m.live)}, {m.bytes:,} bytes (peak {m.peak:,})" for m in self.managers]
        return "\n".join(lines)

    @harmless
    def _repr_html_(self) -> str:
        facts = [
            ("peak", f"{self.peak:,} bytes"),
            ("unused", f"{arrays_text(self.unused)}, {self.unused_bytes:,} bytes"),
            (
                "since the start",
                f"{self.made:,} made, {self.released:,} released, {self.collected:,} of these collected",
            ),
            ("collection of unused arrays", "on" if self.collecting else "off"),
        ]
        facts += [
            (f"manager {m.name}", f"{arrays_text(m.live)}, {m.bytes:,} bytes (peak {m.peak:,})")
            for m in self.managers[:MOST_MANAGERS]
        ]
        if len(self.managers) > MOST_MANAGERS:
            facts.append(("", f"{len(self.managers) - MOST_MANAGERS:,} more managers"))
        return facts_html(f"{arrays_text(self.live)}, {self.bytes:,} bytes", facts)

    @harmless
    def __repr__(self) -> str:
        return f"<Memory: {self}>"


def figures_of(name: str, account: Account, limit: int | None, levels: bool) -> ManagerFigures:
    """The current figures of an account."""
    a = account
    points = tuple(a.levels.points()) if levels else ()
    return ManagerFigures(name, a.live, a.bytes, a.peak, a.made, a.released, a.collected, limit, points)
