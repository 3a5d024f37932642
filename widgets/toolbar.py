"""Buttons, keys and the status line of a session.

A button only posts a command to the session's worker thread, so it never blocks and is right on any thread. The
status line is the pump's most urgent view: it is shown before any figure.

Keys are those of JupyterLab's debugger, and work while anything inside the panel has the focus; ``keymap`` maps them to
commands and can be changed, in Python or in the list of keys that ``?`` opens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import traitlets

from workbench.errors import WorkbenchError
from workbench.widgets.esm import joined, script
from workbench.widgets.focus import Focus, Moment
from workbench.widgets.models.command_model import COMMANDS, ENABLED, KEYS, crumbs, offered
from workbench.widgets.models.spoken import Spoken
from workbench.widgets.models.status_model import status_model, status_text
from workbench.widgets.status_widget import StatusWidget


class Toolbar(StatusWidget):
    """Toolbar and status line of ``session``. ``keymap`` maps key chords ("Shift+F10") to commands."""

    _script = script("toolbar.js")
    _css = joined("bar.css", "toolbar.css")
    commands: Any = traitlets.List().tag(sync=True)
    keymap: Any = traitlets.Dict().tag(sync=True)
    urgent = True
    ahead = 10  # while the session runs, the browser answers once a second

    def __init__(self, session: Any, *, focus: Focus | None = None) -> None:
        self._version = -1
        self._spoken = Spoken(session.graph)
        self._complaint: tuple[int, str] = (-1, "")
        focus = focus if focus is not None else Focus()
        super().__init__(
            session,
            focus,
            commands=offered(session),
            keymap={key: name for key, name in KEYS.items() if callable(getattr(session, name, None))},
            status=self._status(session.snapshot(), focus),
        )

    @traitlets.validate("keymap")
    def _known_commands(self, proposal: Any) -> dict[str, str]:
        names = {command["name"] for command in self.commands} or {c.name for c in COMMANDS}
        unknown = [f"{key}: {name}" for key, name in proposal["value"].items() if name not in names]
        if unknown:
            raise WorkbenchError(
                f"No such command: {', '.join(unknown)}.", slug="unknown-command",
                fix=f"there are {', '.join(sorted(names))}.",
            )  # fmt: skip
        return dict(proposal["value"])

    def _status(self, snapshot: Any, focus: Focus) -> dict[str, Any]:
        status = status_model(snapshot)
        enabled = set(ENABLED.get(status["state"], ()))
        if focus.node is None:
            enabled.discard("run_to")
        if self._complaint[1] and self._complaint[0] == snapshot.version:
            status["error"] = self._complaint[1]
        place = snapshot.position
        step = "" if not status["next"] or place is None else self._spoken.step(place.node)
        return {
            **status, "step": step, "enabled": sorted(enabled), "crumbs": crumbs(snapshot),
            "selected": focus.node or "", "looking": "" if focus.moment is None else str(focus.moment),
        }  # fmt: skip

    def asked(self, kind: str, content: Mapping[str, Any]) -> None:
        if kind == "command":
            self.press(str(content.get("name")))
        elif kind == "look":
            self.look(content.get("frame"), content.get("iteration"))

    def press(self, name: str) -> None:
        """What a click on a button does: post the command, and return at once. A command that the session cannot take
        now (two clicks in a row) is shown in the status line."""
        if name not in {command["name"] for command in self.commands}:
            return
        arguments: dict[str, Any] = {}
        if name == "run_to":
            if self.focus.node is None:
                return
            arguments = self._place()
        try:
            self.session.post(name, **arguments)
            told = ", ".join(f"{value!r}" for value in arguments.values())
            self.focus.did(f"session.{name}({told})")
            if name != "pause":  # who moves the session wants to see where it goes
                self.focus.look_at(None)
        except WorkbenchError as error:
            self._complain(error.message)
        if self.pump is not None:
            self.pump.wake()

    def _place(self) -> dict[str, Any]:
        """The selected node, in the iteration that is looked at if it is in that frame."""
        node, moment = self.focus.node, self.focus.moment
        place: dict[str, Any] = {"name": node}
        try:
            frame = self.session.trace[node].frame
        except WorkbenchError:
            return place
        if moment is not None and frame and moment.frame[: len(frame)] == frame:
            place["iteration"] = moment.iteration[: len(frame)]
        return place

    def look(self, frame: Any, iteration: Any) -> None:
        """What a click on a breadcrumb does: all views show that iteration."""
        try:
            moment = Moment(tuple(str(f) for f in frame), tuple(int(i) for i in iteration)) if frame else None
        except (WorkbenchError, TypeError, ValueError):
            return
        self.focus.look_at(moment)

    def _complain(self, message: str) -> None:
        snapshot = self.session.snapshot()
        with self._lock:
            self._complaint = (snapshot.version, message)
            self.offer(self._status(snapshot, self.focus))

    def show(self, snapshot: Any) -> None:
        """Show a snapshot, unless a newer one is shown; on the pump's and on the session's thread."""
        with self._lock:
            if snapshot.version < self._version:
                return
            self._version = snapshot.version
            self.offer(self._status(snapshot, self.focus))

    def __repr__(self) -> str:
        return f"<Toolbar: {status_text(status_model(self.session.snapshot()))}>"
