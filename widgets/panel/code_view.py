"""The user's actions as lines of Python that can be copied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.widgets.base.html_view import HtmlPart
from workbench.widgets.live.selection import Selection


class CodeView(HtmlPart):
    """The lines of a selection, newest last; a button copies them."""

    title = "Code"

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        super().__init__("panel/code_view.js", {"lines": list(selection.lines)}, self._do)
        self._unread = selection.on_did(self._show)

    def _show(self) -> None:
        self.offer({"lines": list(self.selection.lines)})

    def _do(self, kind: str, content: Mapping[str, Any]) -> None:
        if kind == "forget":
            self.selection.forget_lines()

    @property
    def text(self) -> str:
        """All lines as one text."""
        return "\n".join(self.selection.lines)

    def close(self) -> None:
        self._unread()
        super().close()
