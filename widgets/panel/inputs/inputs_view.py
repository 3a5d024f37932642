"""The inputs of the run: change them, run as a second run, and compare the two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.errors import WorkbenchError
from workbench.ir.graph import Graph
from workbench.widgets.base.esm import script
from workbench.widgets.base.html_view import HtmlView
from workbench.widgets.panel.inputs.inputs_model import changed, inputs_model
from workbench.widgets.series.other_runs import THIS


class InputsView(HtmlView):
    """The inputs of a session with dtype, shape and value; ``run_second`` runs it with other values.

    The earlier run is kept under a name ("earlier inputs 1"), and ``compare`` shows it beside the new one.

    Parameters
    ----------
    panel : Debugger
        The panel of the pane.

    Examples
    --------
    >>> panel = wb.debug(session)
    >>> pane = panel.panes.show("inputs")
    >>> pane.run_second({"a": "3.0"})
    >>> session.wait()
    <Stop FINISHED: ...>
    >>> pane.compare()
    >>> panel.close()
    """

    title = "Inputs"
    _script = script("panel/inputs/inputs.js")

    def __init__(self, panel: Any) -> None:
        self._panel = panel
        self._errors: dict[str, str] = {}
        self._said = ""
        self._known: tuple[dict[str, Any], list[dict[str, Any]]] | None = None
        super().__init__(panel.source, panel.selection)

    def model(self, snapshot: Any) -> dict[str, Any]:
        session = self.source.session
        assert session is not None  # the pane is for sessions
        state = session.state
        before = self._before()
        return {
            "rows": self._rows(session.graph, session.inputs),
            "errors": dict(self._errors),
            "said": self._said,
            "running": state == "running",
            "open": state != "closed",
            "before": "" if before is None else before.name,
        }

    def _rows(self, graph: Graph, feeds: dict[str, Any]) -> list[dict[str, Any]]:
        """The rows of these inputs, made once: the arrays of a run do not change, other inputs are other arrays."""
        known = self._known
        if known is None or len(known[0]) != len(feeds) or any(known[0].get(n) is not a for n, a in feeds.items()):
            self._known = known = feeds, inputs_model(graph, feeds)
        return known[1]

    def _before(self) -> Any:
        """The newest run with other inputs."""
        session = self.source.session
        return next((h for h in reversed(getattr(session, "histories", ())) if h.edit is None), None)

    def table(self, model: dict[str, Any]) -> tuple[Sequence[str], Sequence[Sequence[str]], str]:
        return ("input", "type", "value"), [(r["shown"], r["type"], r["value"]) for r in model["rows"]], ""

    def run_second(self, texts: Mapping[str, str]) -> None:
        """Run with the values of these strings; returns at once. Unreadable values are reported beside their fields.

        Parameters
        ----------
        texts : mapping of str to str
            Input name -> its value as typed.
        """
        session = self.source.session
        assert session is not None
        values, self._errors = changed(session.graph, session.inputs, dict(texts))
        if self._errors:
            self._said = ""
        elif not values:
            self._said = "No input was changed: change a value first."
        else:
            begun = session.position.event > 0
            kept = len(session.histories) + 1  # before the command, which may be executed at once
            try:
                session.post("update", changes=values)
                arguments = ", ".join(f"{name!r}: {value.tolist()!r}" for name, value in values.items())
                self.selection.did(f"session.update({{{arguments}}})")
                self.selection.look_at(None)
                self._said = (
                    f"A run with these inputs has begun. The run before is kept as earlier inputs {kept}."
                    if begun
                    else ""
                )
            except WorkbenchError as error:
                self._said = error.message
        self.update_now()

    def compare(self) -> None:
        """Open Compare with this run and the one before its inputs were changed."""
        before = self._before()
        if before is not None:
            pane = self._panel.panes.show("compare")
            pane.choose(THIS, before.name)

    def handle_message(self, kind: str, content: Mapping[str, Any]) -> None:
        texts = content.get("texts")
        if kind == "run" and isinstance(texts, Mapping):
            self.run_second({str(name): str(words)[:50_000] for name, words in texts.items()})
        elif kind == "compare":
            self.aside.do(self.compare)
