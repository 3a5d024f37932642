"""A small view whose content is one dictionary: the common part of the toolbar, the time slider and the progress bars.

The pump passes it a snapshot; a status is sent to the browser only if it differs from the last one, and the pump waits
for the browser's answer (see ``pump``). A trace without a session has no pump: the view is then updated on request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import traitlets

from workbench.widgets.base.json_widget import JsonWidget
from workbench.widgets.live.acknowledgement import Acknowledgement
from workbench.widgets.live.error_display import error_text
from workbench.widgets.live.live_view import LiveView
from workbench.widgets.live.selection import Selection


class StatusWidget(Acknowledgement, LiveView, JsonWidget):
    """Base of views of a session or a trace that show ``status``; subclasses define ``show``, ``_script``, ``_css``."""

    trouble = traitlets.Unicode(help="why it could not be brought up to date").tag(sync=True)
    behind = False

    def __init__(self, source: Any, selection: Selection | None = None, **state: Any) -> None:
        self._looks_at(source, selection)
        self.session: Any = self.source.session
        super().__init__(**state)
        self._join()

    @property
    def sent(self) -> int:
        return self.push

    def _browser_says(self, _widget: Any, content: Mapping[str, Any], _buffers: Any) -> None:
        kind = content.get("kind")
        if not self._heard(content) and isinstance(kind, str):
            self.handle_message(kind, content)
        if self._has_woken() or kind in ("view", "again"):
            self.update_now()

    def show(self, snapshot: Any) -> None:
        """Show a snapshot (None without a session) by offering a status."""
        raise NotImplementedError

    def troubled(self, error: Exception | None) -> None:
        with self._lock:
            if self.comm is not None:
                self.trouble = "" if error is None else error_text(error)

    def knock(self) -> None:
        """Send a message that a browser answers, if there is one."""
        with self._lock:
            self.amend(knock=not self.status.get("knock", False))

    def close(self) -> None:
        """Unsubscribe from updates and close the comms. Closing twice is harmless."""
        self._leave()
        super().close()
