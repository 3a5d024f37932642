"""The call stack of frames: the run's position, or what is looked at, from the outermost frame to the node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.widgets.base.esm import script
from workbench.widgets.base.html_view import HtmlView
from workbench.widgets.control_flow.call_stack_model import callstack_model
from workbench.widgets.live.selection import Moment, Selection

if TYPE_CHECKING:
    from workbench.widgets.live.view_source import Viewable, ViewSource


class CallStackView(HtmlView):
    """The stack of open frames, one row per frame: iteration, node and line of source; the innermost comes last.

    The stack is that of the moment in the selection, or else of the position of the session.

    Parameters
    ----------
    source : Session or Trace
        The run.
    selection : Selection, optional
        A selection to share: a click on a row shows that iteration of that frame in all views, "Back to now" ends it.

    Examples
    --------
    >>> session.run_to("while/abs", iteration=2)
    <Stop TARGET: ...>
    >>> stack = wb.widgets.CallStackView(session)
    >>> len(stack.status["rows"])
    2
    >>> stack.look(1)
    >>> stack.selection
    Selection('while/abs', 'while 2')
    """

    title = "Call stack"
    _script = script("control_flow/call_stack.js")

    def __init__(self, source: ViewSource | Viewable, *, selection: Selection | None = None) -> None:
        super().__init__(source, selection)

    def model(self, snapshot: Any) -> dict[str, Any]:
        return callstack_model(self.source, snapshot, self.selection.moment, self.selection.node)

    def table(self, model: dict[str, Any]) -> tuple[Sequence[str], Sequence[Sequence[str]], str]:
        rows = [[r["name"], r["where"], r["step"], r["node"], r["source"]] for r in model["rows"]]
        return ("frame", "iteration", "step", "node", "source"), rows, model["headline"]

    def handle_message(self, kind: str, content: Mapping[str, Any]) -> None:
        if kind == "now":
            self.selection.look_at(None)
        elif kind == "look":
            rows = self.status["rows"]
            number = content.get("row")
            if isinstance(number, int) and 0 <= number < len(rows):
                self.look(number)

    def look(self, row: int) -> None:
        """Show the iteration of a row (0 is the outermost) in all views, and select its node; from any thread.

        Raises
        ------
        WorkbenchError
            For a row that does not exist (``no-row``).
        """
        rows = self.status["rows"]
        if not 0 <= row < len(rows):
            raise WorkbenchError(f"Row {row} is out of range: the call stack has {len(rows)} rows.", slug="no-row")
        chosen = rows[row]
        frame = tuple(chosen["frame"])
        moment = Moment(frame, tuple(chosen["iteration"])) if frame else None
        if chosen["node"]:
            self.selection.look_at(moment, node=chosen["node"])
        else:
            self.selection.look_at(moment)
