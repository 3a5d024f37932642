"""The line of a watch in a terminal, overwritten at each update; nothing if standard error is not a terminal."""

from __future__ import annotations

import shutil

from workbench.recorder.outlook import Outlook
from workbench.trace.spill.status import StatusLine


class TerminalLine:
    """Shows each outlook as one line."""

    def __init__(self) -> None:
        self._line = StatusLine()

    def __call__(self, outlook: Outlook | None) -> None:
        if outlook is not None:
            width = max(20, shutil.get_terminal_size((100, 24)).columns - 1)
            self._line.show(outlook.line[:width], last=outlook.over)
