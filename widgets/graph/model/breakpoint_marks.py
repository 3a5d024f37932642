"""Positions of a session's breakpoints in the picture of its graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench.widgets.text.labels import shorten

if TYPE_CHECKING:
    from workbench.session import Session

LONGEST = 160
#: maximum marks on one box
MOST = 3
#: maximum boxes marked by one breakpoint on many nodes
WIDEST = 500


class PointMarks:
    """Marks for one view, computed anew only after breakpoints or boxes have changed."""

    def __init__(self, session: Session | None) -> None:
        self._points: Any = getattr(session, "breakpoints", None)
        self._key: Any = None
        self._marks: list[dict[str, Any]] = []

    def key(self) -> tuple[Any, ...]:
        """Changes whenever a breakpoint is added, removed, edited or switched."""
        return () if self._points is None else tuple((p, p.enabled) for p in self._points)

    def on(self, node: str) -> list[Any]:
        """The breakpoints set on this node alone."""
        return [] if self._points is None else [p for p in self._points if set(p.nodes) == {node}]

    def marks(self, picture: Mapping[str, Any]) -> list[dict[str, Any]]:
        """For each mark: ``box`` (its id), ``place`` (0, 1, 2 on the same box), ``kind`` ("break", "conditional",
        "watch" or "log"), ``enabled`` and ``text``."""
        key = (picture, self.key())
        if self._key is None or self._key[0] is not picture or self._key[1] != key[1]:
            self._key, self._marks = key, self._find(picture["home"])
        return self._marks

    def _find(self, home: Mapping[str, str]) -> list[dict[str, Any]]:
        places: dict[str, int] = {}
        found = []
        for point in self._points if self._points is not None else ():
            look = {"kind": point.kind, "enabled": point.enabled, "text": shorten(point.text, LONGEST)}
            for box in list(dict.fromkeys(home[n] for n in point.nodes if n in home))[:WIDEST]:
                place = places[box] = places.get(box, -1) + 1
                if place < MOST:
                    found.append({"box": box, "place": place, **look})
        return found
