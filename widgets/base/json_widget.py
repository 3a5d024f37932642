"""A small widget whose content is one dictionary, sent to the browser; actions of the user are sent back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import traitlets

from workbench.widgets.base.addressed import AddressedWidget
from workbench.widgets.base.esm import LOADER, joined, script

#: messages sent by the shared JavaScript itself (``base/dom.js``)
PROTOCOL = ("ack", "view", "gone", "sight")
#: act(name, value): the control, and the value chosen, pressed or entered
Act = Callable[[str, Any], None]


class JsonWidget(AddressedWidget):
    """A widget whose content is one dictionary. A subclass defines ``_script`` and ``_css``, and handles its messages
    in ``handle_message``.
    """

    _esm = LOADER
    _script = traitlets.Unicode().tag(sync=True)
    status = traitlets.Dict().tag(sync=True)
    push = traitlets.Int(0).tag(sync=True)

    def __init__(self, **state: Any) -> None:
        self._lock = threading.RLock()
        super().__init__(**state)
        self.on_msg(self._browser_says)

    def _browser_says(self, _widget: Any, content: Mapping[str, Any], _buffers: Any) -> None:
        kind = content.get("kind")
        if isinstance(kind, str) and kind not in PROTOCOL:
            self.handle_message(kind, content)

    def handle_message(self, kind: str, content: Mapping[str, Any]) -> None:
        """Handle a message from the browser; its content is checked here."""

    def offer(self, status: dict[str, Any]) -> None:
        """Show a status, if it is new. May be called on any thread."""
        with self._lock:
            if self.comm is not None and status != self.status:
                with self.hold_sync():
                    self.push += 1
                    self._sending()
                    self.status = status

    def amend(self, **changes: Any) -> None:
        """Show the status with ``changes``. May be called on any thread: a status that another thread offers meanwhile
        is not lost.
        """
        with self._lock:
            self.offer({**self.status, **changes})

    def _sending(self) -> None:
        """Called before an update is sent."""

    def close(self) -> None:
        """Close the comms. Closing twice is harmless."""
        if self.comm is not None:
            layout = self.layout
            super().close()
            layout.close()


class ActPart(JsonWidget):
    """A part with buttons and fields. ``act`` must not block; its errors are shown in place."""

    def __init__(self, act: Act, **status: Any) -> None:
        self._act = act
        super().__init__(status=status)

    def handle_message(self, kind: str, content: Mapping[str, Any]) -> None:
        if kind != "act":
            return
        error = ""
        try:
            self._act(str(content.get("name")), content.get("value"))
        except Exception as problem:  # a field may contain any text
            error = str(getattr(problem, "message", problem))
        self.amend(error=error)


class Controls(ActPart):
    """A line of controls: ``status["controls"]`` holds one dictionary each.

    ``{"name", "type", "label", "value", "tip"}``, with ``type`` one of "choice" (buttons, one of them pressed), "press"
    (buttons for actions), "select", "checks" (a list that opens), "switch" and "text"; ``options`` are ``{"value",
    "text", "tip"}``. A control whose ``shown`` is false is left out. ``status["headline"]``: in a panel the line is
    shown beside the title of its area.
    """

    _script = script("base/controls.js")
    _css = joined("base/controls.css")
