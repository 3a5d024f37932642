"""The progress bar of a trace that goes to disk: how much is there, of what limit, and how fast it grows."""

from __future__ import annotations

from typing import Any

from workbench.errors import WorkbenchError
from workbench.widgets.esm import joined, script
from workbench.widgets.models.spill_model import spill_model
from workbench.widgets.status_widget import StatusWidget


class SpillProgress(StatusWidget):
    """Bar and line for ``session.trace.spill``. WorkbenchError for a session whose trace does not go to disk."""

    _script = script("spill.js")
    _css = joined("bar.css", "spill.css")

    def __init__(self, session: Any) -> None:
        if session.trace.spill is None:
            raise WorkbenchError(
                "The trace of this session does not go to disk.", slug="no-view-source",
                fix='make the session with trace=wb.Retention(spill="folder").',
            )  # fmt: skip
        super().__init__(session, status=spill_model(session.trace.spill.status))

    def _status(self) -> dict[str, Any]:
        return spill_model(self.session.trace.spill.status)

    @property
    def behind(self) -> bool:
        """Whether the disk still works on what the run left: the bar is shown again then."""
        spill = self.session.trace.spill
        return spill is not None and spill.status.state == "writing"

    def show(self, snapshot: Any) -> None:
        """Show how far the writing is; on the pump's thread."""
        with self._lock:
            self.offer(self._status())

    def __repr__(self) -> str:
        return f"<SpillProgress: {self._status()['spoken']}>"
