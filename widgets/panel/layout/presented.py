"""A presented panel: one strip, and bookmarks for Page Down and Page Up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.widgets.export.bookmarks import LONGEST, MOST, Bookmark
from workbench.widgets.live.selection import Moment
from workbench.widgets.text.loop_names import place_words

if TYPE_CHECKING:
    from workbench.widgets.panel.panel import Debugger


class PresentedPanel:
    """The bookmarks of a panel, and its changes while it is presented."""

    def __init__(self, panel: Debugger) -> None:
        self._panel = panel
        self.marks: list[Bookmark] = []
        self._at = -1

    def present(self, on: bool) -> None:
        """Show only the strip of the value shown, or all of them again."""
        self._panel.evolution.present(on, self._panel.inspector.name)
        self._tell()

    def bookmark(self, words: str = "") -> Bookmark:
        """Mark the selected moment, else the run's present one; ``words`` are shown at it."""
        panel = self._panel
        moment, position = panel.selection.moment, getattr(panel.source.session, "position", None)
        if moment is None and position is not None and position.frame and position.node is not None:
            moment = Moment(position.frame, position.iteration)
        if not words:
            graph = panel.source.graph
            words = "newest state" if moment is None else place_words(graph, moment.frame, moment.iteration)
        mark = Bookmark(words[:LONGEST], moment, panel.selection.node)
        self.put([*self.marks, mark][-MOST:])
        return mark

    def put(self, marks: Any) -> None:
        """Replace the bookmarks."""
        self.marks, self._at = list(marks), -1
        self._tell()

    def turn(self, by: int) -> None:
        """Go to the next bookmark, or to the one before."""
        if not self.marks:
            return
        self._at = max(0, min(len(self.marks) - 1, self._at + by))
        mark = self.marks[self._at]
        self._panel.selection.look_at(mark.moment, mark.node)
        self._tell()

    def _tell(self) -> None:
        here = self.marks[self._at] if 0 <= self._at < len(self.marks) else None
        mark = {"words": here.words if here is not None else "", "at": self._at + 1, "count": len(self.marks)}
        self._panel.layout_part.amend(mark=mark)
