"""Points of a figure that the user clicks or points at, as reported by a browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: modifier keys of a click
KEYS = ("alt", "ctrl", "meta", "shift")


@dataclass(frozen=True)
class PointEvent:
    """A point of a trace, its position, and the pressed keys (of ``KEYS``).

    The point of a heatmap is its row and column. ``trace`` is a plain dictionary of the newest figure; the browser may
    have shown an earlier one.
    """

    trace: Mapping[str, Any]
    point: int | tuple[int, int]
    x: Any = None
    y: Any = None
    keys: frozenset[str] = frozenset()

    @property
    def customdata(self) -> Any:
        """The entry of the trace's ``customdata`` for this point; None if there is none."""
        data = self.trace.get("customdata")
        if data is None or not isinstance(self.point, int) or self.point >= len(data):
            return None
        return data[self.point]


def read_event(content: Mapping[str, Any], traces: Sequence[Mapping[str, Any]]) -> PointEvent | None:
    """The event of a browser's message about one of these traces; None for an invalid message."""
    number: Any = content.get("trace")
    point: Any = content.get("point")
    keys = content.get("keys")
    if isinstance(point, list) and len(point) == 2 and all(map(_is_index, point)):
        point = tuple(point)
    elif not _is_index(point):
        return None
    if not _is_index(number) or number >= len(traces):
        return None
    held = frozenset(key for key in KEYS if key in keys) if isinstance(keys, list) else frozenset()
    return PointEvent(dict(traces[number]), point, content.get("x"), content.get("y"), held)


def _is_index(number: Any) -> bool:
    return type(number) is int and number >= 0
