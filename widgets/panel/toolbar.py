"""Buttons, keys and the status line of a session.

A button only posts a command to the session's worker thread, so it never blocks and works on any thread. The status
line is the pump's most urgent view: it is updated before any figure.

Keys are those of JupyterLab's debugger, and work while anything inside the panel has the focus; ``keymap`` maps them to
commands and can be changed, in Python or in the list of keys that ``?`` opens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets

from workbench.debugger.stop import StopReason
from workbench.errors import WorkbenchError
from workbench.text import harmless
from workbench.widgets.base.esm import joined, script
from workbench.widgets.base.standing_style import STYLE
from workbench.widgets.base.status_widget import StatusWidget
from workbench.widgets.live.selection import Moment, Selection
from workbench.widgets.panel.command_model import COMMANDS, ENABLED, KEYS, crumbs, offered
from workbench.widgets.panel.health_watch import HealthWatch
from workbench.widgets.panel.status_model import status_model, status_text
from workbench.widgets.text.display_names import Spoken
from workbench.widgets.text.loop_names import loop_name, place_words

if TYPE_CHECKING:
    from workbench.session import Session


#: shorter forms of reasons, for the card; "" if its title already contains the reason
SHORT = {
    StopReason.FINISHED.value: "all outputs are computed",
    StopReason.STEP.value: "",
    StopReason.ITERATION.value: "about to begin",
    StopReason.STARTED.value: "nothing has run yet",
    StopReason.FAILED.value: "",
}
#: shown with a verdict about made-up inputs
RANDOM = "with random inputs"


class Toolbar(StatusWidget):
    """The buttons, keys and status line of a session.

    Parameters
    ----------
    session : Session
        The session.
    selection : Selection, optional
        A selection to share; "run to" goes to its node.

    Attributes
    ----------
    keymap : dict of str to str
        Key chord ("Shift+F10") -> command; can be set.

    Examples
    --------
    >>> toolbar = wb.widgets.Toolbar(session)
    >>> toolbar.press("restart")
    >>> session.wait()
    <Stop STARTED: ...>
    >>> "F10" in toolbar.keymap
    True
    """

    _script = script(
        "base/figure/numerals.js", "panel/gone.js", "panel/key_list.js", "panel/toolbar_parts.js", "panel/toolbar.js"
    )
    _css = joined("base/style/bar.css", "base/style/cards.css", "panel/toolbar.css") + STYLE
    commands: Any = traitlets.List().tag(sync=True)
    keymap: Any = traitlets.Dict().tag(sync=True)
    urgent = True
    ahead = 10  # while the session runs, the browser answers once per second

    def __init__(self, session: Session, *, selection: Selection | None = None) -> None:
        self._version, self._debugged = -1, session
        self._spoken = Spoken(session.graph)
        self._complaint: tuple[int, str] = (-1, "")
        self._health = HealthWatch(session, self._healthy)
        self._verdict: dict[str, Any] = {}
        self._random: dict[str, Any] = {}
        self._compared: tuple[dict[str, Any], bool] | None = None
        self._hears: Callable[[Mapping[str, Any], Mapping[str, Any]], None] | None = None
        self._nested = any(len(path) > 1 for path in session.graph.frames)
        self._loop = any(session.graph.frames)
        selection = selection if selection is not None else Selection()
        super().__init__(
            session,
            selection,
            commands=offered(session),
            keymap={key: name for key, name in KEYS.items() if callable(getattr(session, name, None))},
            status=self._status(session.snapshot(), selection),
        )

    @traitlets.validate("keymap")
    def _known_commands(self, proposal: Any) -> dict[str, str]:
        names = {command["name"] for command in self.commands} or {c.name for c in COMMANDS}
        unknown = [f"{key}: {name}" for key, name in proposal["value"].items() if name not in names]
        if unknown:
            raise WorkbenchError(
                f"Unknown command: {', '.join(unknown)}.",
                slug="unknown-command",
                fix=f"use one of {', '.join(sorted(names))}.",
            )
        return dict(proposal["value"])

    def _status(self, snapshot: Any, selection: Selection) -> dict[str, Any]:
        status = status_model(snapshot, self._debugged.graph)
        enabled = set(ENABLED.get(status["state"], ()))
        if selection.node is None:
            enabled.discard("run_to")
        if not self._debugged.can_undo:
            enabled.discard("undo_edit")
        if self._complaint[1] and self._complaint[0] == snapshot.version:
            status["error"] = self._complaint[1]
        place = snapshot.position
        health = {} if status["state"] in ("running", "ready") else self._health.model
        trouble = "" if status["state"] == "running" or health.get("text") else self._verdict.get("trouble", "")
        random = self._has_random_inputs()
        verdict = self._verdict or (health.get("output", {}) if status["state"] == "finished" else {})
        if status["state"] == "failed" and status["error"]:
            verdict = {**verdict, "detail": ""}  # the state contains it
        step = "" if not status["next"] or place is None else self._spoken.step(place.node)
        return {
            **status,
            "step": step,
            "enabled": sorted(enabled),
            "crumbs": crumbs(snapshot, self._debugged.graph),
            "health": health.get("text", ""),
            "health_title": health.get("title", ""),
            "health_why": bool(health.get("chain")),
            "operands": health.get("operands", ""),
            "finite": "" if trouble else health.get("finite", ""),
            "trouble": trouble,
            "random": RANDOM if random else "",
            "tones": self._tones(status["state"], health, trouble, verdict, random),
            "starts": health.get("starts", ""),
            "verdict": {name: verdict.get(name, "") for name in ("tone", "headline", "detail", "node")},
            "at": int(snapshot.iterations.get(verdict.get("frame"), -1)) if snapshot.iterations else -1,
            "end": verdict.get("end"),
            "proved": bool(verdict.get("proved")),
            "nested": self._nested,
            "loop": self._loop,
            "inside": loop_name(self._debugged.graph, place.frame) if place is not None and place.frame else "",
            "reason": SHORT.get(status["reason"], status["reason"]),
            "reason_in_full": status["reason"],
            "selected": selection.node or "",
            "looking": self._place_of(selection.moment),
        }

    def _place_of(self, moment: Moment | None) -> str:
        return "" if moment is None else place_words(self._debugged.graph, moment.frame, moment.iteration)

    def _tones(
        self, state: str, health: Mapping[str, Any], trouble: str, card: Mapping[str, Any], random: bool
    ) -> dict[str, str]:
        """The colours of the cards of health and verdict: no card is green while a NaN lies ahead, and before the first
        step cards on made-up inputs have no colour.
        """
        neutral = random and state == "ready"
        healthy = "bad" if health.get("text") or trouble else "good" if health.get("finite") else "quiet"
        verdict = card.get("tone", "")
        return {
            "health": "quiet" if neutral else healthy,
            "verdict": "quiet" if verdict and (neutral or trouble and verdict == "ends") else verdict,
        }

    def inputs_are_random(self, made: Mapping[str, Any]) -> None:
        """Mark inputs as made up; every answer about a run with any of them mentions it."""
        self._random, self._compared = dict(made), None
        self.show(self.session.snapshot())

    def _has_random_inputs(self) -> bool:
        if not self._random:
            return False
        given = self._debugged.inputs
        known = self._compared  # arrays of a run do not change: other inputs are other arrays
        if known is None or any(given[name] is not array for name, array in known[0].items()):
            same = any(np.array_equal(given[name], made) for name, made in self._random.items())
            self._compared = known = given, same
        return known[1]

    def handle_message(self, kind: str, content: Mapping[str, Any]) -> None:
        if kind == "command":
            self.press(str(content.get("name")))
        elif kind == "look":
            self.look(content.get("frame"), content.get("iteration"))
        elif kind == "health":
            self.look_at_health()
        elif kind == "output" and self._health.model.get("output"):
            self.selection.look_at(None, self._health.model["output"]["node"])

    def press(self, name: str) -> None:
        """Post a command, as a click on its button does, and return at once.

        A command that the session cannot execute now is named in the status line.

        Parameters
        ----------
        name : str
            A command of the session, such as "step".
        """
        if name not in {command["name"] for command in self.commands}:
            return
        arguments: dict[str, Any] = {}
        if name == "run_to":
            if self.selection.node is None:
                return
            arguments = self._place()
        try:
            self.session.post(name, **arguments)
            values = ", ".join(f"{value!r}" for value in arguments.values())
            self.selection.did(f"session.{name}({values})")
            if name != "pause":  # a user who moves the session wants to see its new position
                self.selection.look_at(None)
        except WorkbenchError as error:
            self._complain(error.message)
        if self.pump is not None:
            self.pump.wake()

    def _place(self) -> dict[str, Any]:
        """The selected node, in the selected iteration if it is of the same frame."""
        node, moment = self.selection.node, self.selection.moment
        place: dict[str, Any] = {"name": node}
        try:
            frame = self.session.trace[node].frame
        except WorkbenchError:
            return place
        if moment is not None and frame and moment.frame[: len(frame)] == frame:
            place["iteration"] = moment.iteration[: len(frame)]
        return place

    def look(self, frame: Any, iteration: Any) -> None:
        """Show an iteration in all views, as a click on a breadcrumb does."""
        try:
            moment = Moment(tuple(str(f) for f in frame), tuple(int(i) for i in iteration)) if frame else None
        except (WorkbenchError, TypeError, ValueError):
            return
        self.selection.look_at(moment)

    def look_at_health(self) -> None:
        """Show the value named on the health card in all views, as [Go there] does."""
        model = self._health.model
        if model.get("node"):
            frame, iteration = tuple(model["frame"]), tuple(model["iteration"])
            self.selection.look_at(Moment(frame, iteration) if frame else None, model["node"])

    def _healthy(self, _model: dict[str, Any]) -> None:
        snapshot = self.session.snapshot()
        with self._lock:
            if self.comm is not None and snapshot.version >= self._version:
                self._put(snapshot)

    def verdict_is(self, verdict: dict[str, Any]) -> None:
        """Show the verdict on a loop reported by :meth:`TerminationView.on_verdict`."""
        if verdict == self._verdict:
            return
        self._verdict = verdict
        snapshot = self.session.snapshot()
        with self._lock:
            if self.comm is not None and snapshot.version >= self._version:
                self._put(snapshot)

    def on_status(self, callback: Callable[[Mapping[str, Any], Mapping[str, Any]], None]) -> None:
        """Call ``callback`` now and with each new status, together with the result of :func:`health_model`."""
        self._hears = callback
        callback(self.status, self._health.model)

    def _put(self, snapshot: Any) -> None:
        status = self._status(snapshot, self.selection)
        self.offer(status)
        if self._hears is not None:
            self._hears(status, self._health.model)

    def close(self) -> None:
        self._health.close()
        super().close()

    def _complain(self, message: str) -> None:
        snapshot = self.session.snapshot()
        with self._lock:
            self._complaint = (snapshot.version, message)
            self._put(snapshot)

    def show(self, snapshot: Any) -> None:
        """Show a snapshot, unless a newer one is shown; on the pump's and on the session's thread."""
        with self._lock:
            if snapshot.version < self._version:
                return
            self._version = snapshot.version
            self._put(snapshot)
        if str(getattr(snapshot.state, "value", snapshot.state)) in ("paused", "finished", "failed"):
            self._health.stopped(snapshot.version)

    @harmless
    def __repr__(self) -> str:
        return f"<Toolbar: {status_text(status_model(self.session.snapshot(), self.session.graph))}>"
