"""A small view whose content is one dictionary: what the toolbar and the progress bars have in common.

The pump shows it a snapshot; it is sent to the browser only when it differs from what is there, and the pump waits for
the browser's answer (see ``pump``).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

import anywidget
import traitlets

from workbench.widgets.pump import drop, pump_for


class StatusWidget(anywidget.AnyWidget):
    """Base of views of ``session`` that show ``status``; a subclass gives ``show``, ``_esm`` and ``_css``."""

    status = traitlets.Dict().tag(sync=True)
    push = traitlets.Int(0).tag(sync=True)

    def __init__(self, session: Any, **state: Any) -> None:
        self.session = session
        self.views = 0
        self._acknowledged = 0
        self._sent_at = 0.0
        self._lock = threading.RLock()
        super().__init__(**state)
        self.on_msg(self._browser_says)
        self.pump = pump_for(session)
        self.pump.add(self)

    def _browser_says(self, _widget: Any, content: Mapping[str, Any], _buffers: Any) -> None:
        kind = content.get("kind")
        if kind == "ack":
            self._acknowledged = max(self._acknowledged, int(content.get("push", 0)))
        elif kind == "view":
            self.views += 1
            self.pump.refresh(self)
        elif kind == "gone":
            self.views = max(0, self.views - 1)

    # -- the pump's side --------------------------------------------------------------------------------------------
    @property
    def in_flight(self) -> int:
        return self.push - self._acknowledged

    @property
    def waited(self) -> float:
        return time.monotonic() - self._sent_at

    def show(self, snapshot: Any) -> None:
        raise NotImplementedError

    def _offer(self, status: dict[str, Any]) -> None:
        """Send a status that differs from the one in the browser; the caller holds the lock."""
        if status != self.status:
            self._sent_at = time.monotonic()
            with self.hold_sync():
                self.push += 1
                self.status = status

    def close(self) -> None:
        if self.comm is not None:
            drop(self.pump, self)
            layout = self.layout
            super().close()
            layout.close()
