"""The progress bar of a trace written to disk: its size, the limit, and the rate of growth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.text import harmless
from workbench.widgets.base.esm import joined, script
from workbench.widgets.base.status_widget import StatusWidget
from workbench.widgets.panel.spill.spill_model import spill_model

if TYPE_CHECKING:
    from workbench.session import Session


class SpillProgress(StatusWidget):
    """The progress bar of a session whose trace is written to disk.

    Parameters
    ----------
    session : Session
        A session whose retention has a ``spill`` folder.

    Raises
    ------
    WorkbenchError
        For a session whose trace is not written to disk (``no-view-source``).

    Examples
    --------
    >>> with wb.Session(graph, {"a": 2.0}, trace=wb.Retention(spill="rows")) as spilling:
    ...     print(wb.widgets.SpillProgress(spilling))
    <SpillProgress: ...>
    """

    _script = script("panel/spill/spill_progress.js")
    _css = joined("base/style/bar.css", "panel/spill/spill_progress.css")

    def __init__(self, session: Session) -> None:
        if session.trace.spill is None:
            raise WorkbenchError(
                "The trace of this session is not written to disk.",
                slug="no-view-source",
                fix='create the session with trace=wb.Retention(spill="folder").',
            )
        super().__init__(session, status=spill_model(session.trace.spill.status))

    def _status(self) -> dict[str, Any]:
        return spill_model(self.session.trace.spill.status)

    @property
    def behind(self) -> bool:  # type: ignore[override]  # a plain attribute in the base class
        """True while rows of the run are still being written; the bar is then updated again."""
        spill = self.session.trace.spill
        return spill is not None and spill.status.state == "writing"

    def show(self, snapshot: Any) -> None:
        """Show the progress of writing; on the pump's thread."""
        with self._lock:
            self.offer(self._status())

    @harmless
    def __repr__(self) -> str:
        return f"<SpillProgress: {self._status()['spoken']}>"
