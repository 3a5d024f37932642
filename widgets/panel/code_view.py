"""The user's actions as lines of Python that can be copied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.widgets.base.html_view import HtmlPart
from workbench.widgets.live.selection import Focus


class CodeView(HtmlPart):
    """The lines of a focus, newest last; a button copies them."""

    title = "Code"

    def __init__(self, focus: Focus) -> None:
        self.focus = focus
        super().__init__("panel/code_view.js", {"lines": list(focus.lines)}, self._do)
        self._unread = focus.on_did(self._show)

    def _show(self) -> None:
        self.offer({"lines": list(self.focus.lines)})

    def _do(self, kind: str, content: Mapping[str, Any]) -> None:
        if kind == "forget":
            self.focus.forget_lines()

    @property
    def text(self) -> str:
        """All lines as one text."""
        return "\n".join(self.focus.lines)

    def close(self) -> None:
        self._unread()
        super().close()
