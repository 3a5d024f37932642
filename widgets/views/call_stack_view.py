"""The call stack of frames: where the run stands, or what is looked at, from the outermost frame to the node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.errors import WorkbenchError
from workbench.widgets.esm import script
from workbench.widgets.focus import Focus, Moment
from workbench.widgets.models.callstack_model import callstack_model
from workbench.widgets.views.html_view import HtmlView


class CallStackView(HtmlView):
    """One row per open frame with its iteration, the node in it and the line of source; the innermost comes last.

    A click on a row shows that iteration of that frame in all views of the focus; "Back to now" ends it. While nothing
    is looked at, the stack is that of the place where the session stands.
    """

    title = "Call stack"
    _script = script("call_stack.js")

    def __init__(self, source: Any, *, focus: Focus | None = None) -> None:
        super().__init__(source, focus)

    def model(self, snapshot: Any) -> dict[str, Any]:
        return callstack_model(self.source, snapshot, self.focus.moment, self.focus.node)

    def table(self, model: dict[str, Any]) -> tuple[Sequence[str], Sequence[Sequence[str]], str]:
        rows = [[r["name"], r["where"], r["node"], r["op"], r["source"]] for r in model["rows"]]
        return ("frame", "iteration", "node", "op", "source"), rows, model["headline"]

    def asked(self, kind: str, content: Mapping[str, Any]) -> None:
        if kind == "now":
            self.focus.look_at(None)
        elif kind == "look":
            rows = self.status["rows"]
            number = content.get("row")
            if isinstance(number, int) and 0 <= number < len(rows):
                self.look(number)

    def look(self, row: int) -> None:
        """Show the iteration of a row (0: the outermost) in all views, and select its node. Right on any thread."""
        rows = self.status["rows"]
        if not 0 <= row < len(rows):
            raise WorkbenchError(f"The stack has {len(rows)} rows, there is no row {row}.", slug="no-row")
        chosen = rows[row]
        frame = tuple(chosen["frame"])
        moment = Moment(frame, tuple(chosen["iteration"])) if frame else None
        if chosen["node"]:
            self.focus.look_at(moment, node=chosen["node"])
        else:
            self.focus.look_at(moment)
