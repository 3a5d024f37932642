"""The live view of watches in workers: one part for each run, newest first, and a line with their number."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import ipywidgets

from workbench.recorder import WatchReports
from workbench.recorder.remote.message import OPEN
from workbench.text import harmless
from workbench.widgets.base.figure.figure_view import close_parts
from workbench.widgets.base.spec import text
from workbench.widgets.base.stage.stage import Staged
from workbench.widgets.watch.run_part import RunPart, check_source

#: maximum runs shown, running ones first; all are counted
SHOWN = 12


class ReportsView(Staged, ipywidgets.VBox):
    """The runs that workers report: state, when each loop will end, its strips, and a button that asks it to stop.

    Parameters
    ----------
    reports : WatchReports
        The reports.

    Raises
    ------
    WatchError
        For anything but reports (``no-view-source``).

    Examples
    --------
    >>> reports = wb.WatchReports()
    >>> view = wb.widgets.ReportsView(reports)
    >>> loop = wb.watch("fit", report=reports, show=False)
    >>> for k in range(5):
    ...     _ = loop(error=0.5**k)
    >>> loop.finish()
    >>> _ = reports.wait()
    >>> view
    <ReportsView: 1 runs, 1 finished>
    >>> view.close()
    >>> reports.close()
    """

    _reports: Any = None

    def __init__(self, reports: WatchReports) -> None:
        fix = "write ReportsView(wb.WatchReports())."
        check_source("ReportsView", reports, WatchReports, "reports of watches", fix)
        self._reports = reports
        self._telling = threading.RLock()
        self._parts: dict[int, RunPart] = {}
        self._words = ipywidgets.HTML()
        self._rows = ipywidgets.VBox()
        super().__init__([self._words, self._rows])
        for entry in reports.runs:
            self._show(entry)
        self._tell()
        reports.listeners.append(self._show)
        reports.count_listeners.append(self._count)

    def _show(self, entry: dict[str, Any]) -> None:
        """Handle a report of a run, on its thread of the reports."""
        with self._telling:
            self._tell_run(entry)

    def _count(self) -> None:
        """Handle dropped reports, on the thread of the reports."""
        with self._telling:
            self._tell()

    def _tell_run(self, entry: dict[str, Any]) -> None:
        key = entry["key"]
        status = {**entry, "name": f"{entry['name']} · {entry['host']}, process {entry['pid']}"}
        part = self._parts.get(key)
        if part is not None:
            stopping = bool(part.status.get("stopping")) and entry["state"] in OPEN
            part.offer({**status, "stopping": stopping})
        elif self._room():
            self._parts[key] = RunPart(partial(self._pressed, key), **status)
            self._rows.children = [*self._parts.values()][::-1]
        self._tell()

    def _room(self) -> bool:
        """Make room for another run by removing the oldest finished one."""
        over = [key for key, part in self._parts.items() if part.status.get("state") not in OPEN]
        if len(self._parts) >= SHOWN and over:
            gone = self._parts.pop(over[0])
            self._rows.children = [*self._parts.values()][::-1]
            gone.close()
        return len(self._parts) < SHOWN

    def _tell(self) -> None:
        summary = text(repr(self._reports).strip("<>"))
        self._words.value = f'<div class="workbench-words">{summary}</div>'

    def _pressed(self, key: int, name: str, _value: Any) -> None:
        if name == "stop":
            self._reports.request_stop(key)
            with self._telling:
                self._parts[key].amend(stopping=True)

    def close(self) -> None:
        """Unsubscribe from the reports, which continue, and close the comms. Closing twice is harmless."""
        if self.comm is None:
            return
        for listeners, own in ((self._reports.listeners, self._show), (self._reports.count_listeners, self._count)):
            if own in listeners:
                listeners.remove(own)
        close_parts(self)
        super().close()

    @harmless
    def __repr__(self) -> str:
        return (
            repr(self._reports).replace("WatchReports", "ReportsView") if self._reports else "<ReportsView of nothing>"
        )
