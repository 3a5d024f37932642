"""A small part of a view that is no figure: one dictionary goes to the browser, what people do there comes back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import anywidget
import traitlets

from workbench.widgets.esm import STATIC, module

#: act(name, value): what was chosen, pressed or written
Act = Callable[[str, Any], None]


class Part(anywidget.AnyWidget):
    """Base of such parts. ``act`` is called on any thread and must not block; errors in it are shown in place."""

    status = traitlets.Dict().tag(sync=True)
    push = traitlets.Int(0).tag(sync=True)

    def __init__(self, act: Act, **status: Any) -> None:
        self._act = act
        self._lock = threading.RLock()
        super().__init__(status=status)
        self.on_msg(self._browser_says)

    def _browser_says(self, _widget: Any, content: Mapping[str, Any], _buffers: Any) -> None:
        if content.get("kind") != "act":
            return
        error = ""
        try:
            self._act(str(content.get("name")), content.get("value"))
        except Exception as problem:  # what was written in a field may be anything
            error = str(getattr(problem, "message", problem))
        self.offer({**self.status, "error": error})

    def offer(self, status: dict[str, Any]) -> None:
        """Show a status, if it is another one. Right on any thread."""
        with self._lock:
            if status != self.status and self.comm is not None:
                self.push += 1
                self.status = status

    def close(self) -> None:
        if self.comm is not None:
            layout = self.layout
            super().close()
            layout.close()


class Controls(Part):
    """A line of controls: ``status["controls"]`` holds one dictionary each.

    ``{"name", "type", "label", "value", "tip"}``, with ``type`` one of "choice" (buttons of which one is pressed),
    "press" (buttons that do something), "select", "checks" (a list that opens), "switch" and "text"; ``options`` are
    ``{"value", "text", "tip"}``. A control whose ``shown`` is false is left out.
    """

    _esm = module("controls.js")
    _css = STATIC / "controls.css"
