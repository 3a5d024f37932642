"""A piece of HTML inside of a figure view: one dictionary goes to the browser, messages come back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import anywidget
import traitlets

from workbench.widgets.esm import STATIC, module


class HtmlPart(anywidget.AnyWidget):
    """Shows ``status`` by the JavaScript of ``static/<script>``; ``asked(kind, content)`` gets its messages.

    The view that it belongs to offers the status; there is no pump and no acknowledgement of its own.
    """

    status = traitlets.Dict().tag(sync=True)
    push = traitlets.Int(0).tag(sync=True)
    _css = STATIC / "flow.css"

    def __init__(self, script: str, status: dict[str, Any], asked: Callable[[str, Mapping[str, Any]], None]) -> None:
        self._asked = asked
        super().__init__(status=status, _esm=module(script))
        self.on_msg(self._browser_says)

    def _browser_says(self, _widget: Any, content: Mapping[str, Any], _buffers: Any) -> None:
        kind = content.get("kind")
        if isinstance(kind, str) and kind not in ("ack", "view", "gone", "sight"):
            self._asked(kind, content)

    def offer(self, status: dict[str, Any]) -> None:
        """Send a status that differs from the one that is there."""
        if self.comm is not None and status != self.status:
            self.status = status
