"""The pane that slides over the right-hand side of a panel when a card is pressed, with its reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import ipywidgets

from workbench.errors import WorkbenchError
from workbench.widgets.base.esm import joined, script
from workbench.widgets.base.json_widget import JsonWidget
from workbench.widgets.live.background import BackgroundTasks
from workbench.widgets.live.selection import Moment, Selection

if TYPE_CHECKING:
    from workbench.session import Session
    from workbench.widgets.termination.verdict import VerdictPart

#: the cards that can be pressed
CARDS = ("state", "health", "verdict")


class WhyPart(JsonWidget):
    """Title and close button of the pane, and the content for the cards of state and health."""

    _script = script("panel/why/why.js")
    _css = joined("panel/why/why.css")

    def __init__(self, pane: WhyPane) -> None:
        self._pane = pane
        super().__init__(status={"card": "", "opened": 0, "health": {}, "trouble": "", "failure": {}})

    def handle_message(self, kind: str, content: Mapping[str, Any]) -> None:
        self._pane.handle_message(kind, content)


class WhyPane(ipywidgets.VBox):
    """The pane behind a card: for a value that is not finite the chain from its cause, for a verdict the cause with its
    lines, the proof and the fixes, for a failure the full report.

    ``show`` opens it as a press on a card does. Toolbar and verdict supply its content.
    """

    def __init__(self, session: Session, selection: Selection, verdict: VerdictPart) -> None:
        self._session, self._selection = session, selection
        self._aside = BackgroundTasks("workbench-why")
        self.part, self.verdict = WhyPart(self), verdict
        verdict.add_class("workbench-why-verdict")
        super().__init__([self.part, verdict])
        for name in ("workbench-why", "workbench-is-why"):
            self.add_class(name)

    def show(self, card: str) -> None:
        """Open the pane on a card: "state", "health" or "verdict"; "" closes it.

        Raises
        ------
        WorkbenchError
            For an unknown card (``no-card``).
        """
        if card not in ("", *CARDS):
            raise WorkbenchError(f"Unknown card {card!r}.", slug="no-card", fix=f"use one of {', '.join(CARDS)}.")
        self.part.amend(card=card, opened=self.part.status["opened"] + 1)

    def show_status(self, status: Mapping[str, Any], health: Mapping[str, Any]) -> None:
        """Accept the status of the toolbar, which the cards show, and its model of health."""
        sick = status["health"] and health.get("chain")  # an index or an integer that wrapped has no chain
        shown = {}
        if sick:
            shown = {"title": health["title"] or health["text"], "chain": health["chain"], "note": health["note"]}
        failure = {k: status[k] for k in ("error", "report")} if status["state"] == "failed" else {}
        self.part.amend(health=shown, trouble=status["trouble"], failure=failure)

    def handle_message(self, kind: str, content: Mapping[str, Any]) -> None:
        if kind == "go":
            chain, row = self.part.status["health"].get("chain") or (), content.get("row")
            if isinstance(row, int) and 0 <= row < len(chain):
                self._go(chain[row])
        elif kind == "stop":
            self._aside.do(self.stop_at_the_first)

    def _go(self, place: Mapping[str, Any]) -> None:
        moment = Moment(tuple(place["frame"]), tuple(place["iteration"])) if place["frame"] else None
        self._selection.look_at(moment, node=place["node"])

    def stop_at_the_first(self) -> None:
        """Add a breakpoint at which the run stops at the first value that is NaN or infinite."""
        points = self._session.breakpoints
        if not any(set(point.health) == {"nan", "inf"} and point.where == "*" for point in points):
            points.add("*", health=("nan", "inf"))
            self._selection.did("session.breakpoints.add('*', health=('nan', 'inf'))")

    def close(self) -> None:
        self._aside.close()
        super().close()
