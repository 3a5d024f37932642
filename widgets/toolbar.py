"""Buttons, keys and the status line of a session.

A button only posts a command to the session's worker thread, so it never blocks and is right on any thread. The
status line is the pump's most urgent view: it is shown before any figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import traitlets

from workbench.errors import WorkbenchError
from workbench.widgets.models.status_model import status_model, status_text
from workbench.widgets.status_widget import StatusWidget

#: command, label, tooltip; keys as in JupyterLab's debugger, with step back on the shifted key
COMMANDS = (
    ("step_back", "Step back", "Undo one node execution (Shift+F10)"),
    ("step", "Step", "Execute one node (F10)"),
    ("next_iteration", "Next iteration", "Run to the next iteration of this loop (F8)"),
    ("run", "Run", "Run to a breakpoint or the end (F9)"),
    ("pause", "Pause", "Pause the run (Shift+F9)"),
    ("restart", "Restart", "Go back to the start (Ctrl+Shift+F9)"),
)
KEYS = {
    "F9": "run", "Shift+F9": "pause", "F10": "step", "Shift+F10": "step_back", "F8": "next_iteration",
    "Ctrl+Shift+F9": "restart",
}  # fmt: skip
ENABLED = {
    "ready": ("step", "next_iteration", "run", "restart"),
    "running": ("pause", "step", "step_back", "next_iteration", "restart"),  # all but pause stop the run first
    "paused": ("step_back", "step", "next_iteration", "run", "restart"),
    "finished": ("step_back", "restart"),
    "failed": ("step_back", "restart"),
    "closed": (),
}  # fmt: skip


class Toolbar(StatusWidget):
    """Toolbar and status line of ``session``. ``keymap`` maps key chords to commands and can be changed."""

    _esm = Path(__file__).parent / "static" / "toolbar.js"
    _css = Path(__file__).parent / "static" / "toolbar.css"
    commands: Any = traitlets.List().tag(sync=True)
    keymap = traitlets.Dict().tag(sync=True)
    urgent = True
    behind = False

    def __init__(self, session: Any) -> None:
        self._version = -1
        super().__init__(
            session,
            commands=[{"name": n, "label": label, "tooltip": tip} for n, label, tip in COMMANDS],
            keymap=dict(KEYS),
            status=self._status(session.snapshot()),
        )

    def _status(self, snapshot: Any) -> dict[str, Any]:
        status = status_model(snapshot)
        return {**status, "enabled": list(ENABLED.get(status["state"], ()))}

    def _browser_says(self, _widget: Any, content: Mapping[str, Any], _buffers: Any) -> None:
        if content.get("kind") == "command":
            self.press(str(content.get("name")))
        else:
            super()._browser_says(_widget, content, _buffers)

    def press(self, name: str) -> None:
        """What a click on a button does: post the command, and return at once. A command that the session cannot take
        now (two clicks in a row) is shown in the status line."""
        if name not in {command for command, _, _ in COMMANDS}:
            return
        try:
            self.session.post(name)
        except WorkbenchError as error:
            self.status = {**self._status(self.session.snapshot()), "error": error.message}
        self.pump.wake()

    def show(self, snapshot: Any) -> None:
        """Show a snapshot, unless a newer one is shown; on the pump's and on the session's thread."""
        with self._lock:
            if snapshot.version < self._version:
                return
            self._version = snapshot.version
            self._offer(self._status(snapshot))

    def __repr__(self) -> str:
        return f"<Toolbar: {status_text(status_model(self.session.snapshot()))}>"
