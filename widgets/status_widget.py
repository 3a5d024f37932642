"""A small view whose content is one dictionary: what the toolbar, the time slider and the progress bars have in common.

The pump shows it a snapshot; it is sent to the browser only when it differs from what is there, and the pump waits for
the browser's answer (see ``pump``). A trace without a session has no pump: the view is then shown when it is asked to.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import anywidget
import traitlets

from workbench.widgets.answers import Answers
from workbench.widgets.focus import Focus
from workbench.widgets.pump import Pump, drop, pump_for
from workbench.widgets.trouble import Fallible, told
from workbench.widgets.views.base import Source


class StatusWidget(Answers, Fallible, anywidget.AnyWidget):
    """Base of views of a session or a trace that show ``status``; a subclass gives ``show``, ``_esm`` and ``_css``."""

    status = traitlets.Dict().tag(sync=True)
    push = traitlets.Int(0).tag(sync=True)
    trouble = traitlets.Unicode(help="why it could not be brought up to date").tag(sync=True)
    urgent = False
    behind = False
    pump: Pump | None = None

    def __init__(self, source: Any, focus: Focus | None = None, **state: Any) -> None:
        self.source = source if isinstance(source, Source) else Source(source)
        self.session: Any = self.source.session
        self.focus = focus if focus is not None else Focus()
        self._lock = threading.RLock()
        super().__init__(**state)
        self.on_msg(self._browser_says)
        self._unfocus = self.focus.subscribe(self._focused)
        if self.session is not None:
            self.pump = pump_for(self.session)
            self.pump.add(self)

    @property
    def sent(self) -> int:
        return self.push

    def _browser_says(self, _widget: Any, content: Mapping[str, Any], _buffers: Any) -> None:
        kind = content.get("kind")
        if not self._heard(content) and isinstance(kind, str):
            self.asked(kind, content)
        if self._has_woken() or kind == "view":
            self.update_now()

    # -- for subclasses ---------------------------------------------------------------------------------------------
    def asked(self, kind: str, content: Mapping[str, Any]) -> None:
        """A message of the view's own came from the browser; what is in it is checked here."""

    def focused(self, focus: Focus) -> None:
        """The selection or the moment has changed."""
        self.update_now()

    def show(self, snapshot: Any) -> None:
        """Show a snapshot (None without a session) by offering a status."""
        raise NotImplementedError

    def troubled(self, error: Exception | None) -> None:
        with self._lock:
            if self.comm is not None:
                self.trouble = "" if error is None else told(error)

    def _focused(self, focus: Focus) -> None:
        try:
            self.focused(focus)
        except Exception as error:  # the other views of the focus go on
            self.troubled(error)

    def update_now(self) -> None:
        """Show the present state again. Right on any thread."""
        if self.pump is not None and self.views:
            self.pump.refresh(self)
        else:
            self.attempt(self.source.snapshot())

    def _offer(self, status: dict[str, Any]) -> None:
        """Send a status that differs from the one in the browser; the caller holds the lock."""
        if self.comm is not None and status != self.status:
            with self.hold_sync():
                self.push += 1
                self._sending()
                self.status = status

    def knock(self) -> None:
        """Send something that a browser answers, if one is there."""
        with self._lock:
            self._offer({**self.status, "knock": not self.status.get("knock", False)})

    def close(self) -> None:
        """Leave the pump and close the comms. Closing twice is harmless."""
        if self.comm is not None:
            if self.pump is not None:
                drop(self.pump, self)
            self._unfocus()
            layout = self.layout
            super().close()
            layout.close()
