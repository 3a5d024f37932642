"""The progress bar of a trace that goes to disk: how much is there, of what limit, and how fast it grows."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from workbench.errors import WorkbenchError
from workbench.widgets.models.spill_model import spill_model
from workbench.widgets.pump import drop, pump_for


class SpillProgress(anywidget.AnyWidget):
    """Bar and line for ``session.trace.spill``. WorkbenchError for a session whose trace does not go to disk."""

    _esm = Path(__file__).parent / "static" / "spill.js"
    _css = Path(__file__).parent / "static" / "spill.css"
    status = traitlets.Dict().tag(sync=True)
    push = traitlets.Int(0).tag(sync=True)
    urgent = False

    def __init__(self, session: Any) -> None:
        if session.trace.spill is None:
            raise WorkbenchError(
                "The trace of this session does not go to disk.", slug="no-view-source",
                fix='make the session with trace=wb.Retention(spill="folder").',
            )  # fmt: skip
        self.session = session
        self.views = 0
        self._acknowledged = 0
        self._sent_at = 0.0
        self._lock = threading.RLock()
        super().__init__(status=self._status())
        self.on_msg(self._browser_says)
        self.pump = pump_for(session)
        self.pump.add(self)

    def _status(self) -> dict[str, Any]:
        return spill_model(self.session.trace.spill.status)

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
    def behind(self) -> bool:
        """Whether the disk still works on what the run left: the bar is shown again then."""
        spill = self.session.trace.spill
        return spill is not None and spill.status.state == "writing"

    @property
    def in_flight(self) -> int:
        return self.push - self._acknowledged

    @property
    def waited(self) -> float:
        return time.monotonic() - self._sent_at

    def show(self, snapshot: Any) -> None:
        """Show how far the writing is; on the pump's thread."""
        with self._lock:
            new = self._status()
            if new != self.status:
                self._sent_at = time.monotonic()
                with self.hold_sync():
                    self.push += 1
                    self.status = new

    def close(self) -> None:
        if self.comm is not None:
            drop(self.pump, self)
            layout = self.layout
            super().close()
            layout.close()

    def __repr__(self) -> str:
        return f"<SpillProgress: {self._status()['spoken']}>"
