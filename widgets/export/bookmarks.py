"""Bookmarks of a panel: moments to be presented one after the other, which are saved in a finding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.widgets.live.selection import Moment

if TYPE_CHECKING:
    from workbench.ir.graph import Graph

#: bookmarks of a panel, and characters of what one says
MOST, LONGEST = 100, 300


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A place in a run: ``words`` are shown there, ``moment`` is None for the newest state."""

    words: str
    moment: Moment | None = None
    node: str | None = None

    def to_data(self) -> dict[str, Any]:
        """The bookmark as plain data for JSON."""
        moment = self.moment
        at = None if moment is None else {"frame": list(moment.frame), "iteration": list(moment.iteration)}
        return {"words": self.words, "moment": at, "node": self.node}


def bookmarks_of_data(data: Any, graph: Graph) -> tuple[Bookmark, ...]:
    """The bookmarks of a file; ValueError for invalid data. Older files have none."""
    if not isinstance(data, list) or len(data) > MOST:
        raise ValueError("the bookmarks are not a list")
    return tuple(_checked(entry, graph) for entry in data)


def _checked(entry: Any, graph: Graph) -> Bookmark:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("words"), str):
        raise ValueError("a bookmark is not an entry")
    moment, node = None, entry.get("node")
    if node is not None and (not isinstance(node, str) or node not in graph.nodes):
        raise ValueError("a bookmark is of a node that the graph does not have")
    if entry.get("moment") is not None:
        place = entry["moment"]
        numbers = place["iteration"]
        if not _whole(numbers):
            raise ValueError("a bookmark is of no iteration")
        moment = Moment(tuple(map(str, place["frame"])), tuple(numbers))
        if moment.frame not in graph.frames:
            raise ValueError("a bookmark is of a loop that the graph does not have")
    return Bookmark(entry["words"][:LONGEST], moment, node)


def _whole(numbers: Any) -> bool:
    return isinstance(numbers, Sequence) and all(isinstance(n, int) and not isinstance(n, bool) for n in numbers)
