"""The runs of a panel as a row of chips above its strips: the runs drawn beside it, and a menu that adds one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.errors import WorkbenchError
from workbench.trace import Trace
from workbench.widgets.base.esm import joined, script
from workbench.widgets.base.status_widget import StatusWidget
from workbench.widgets.live.background import BackgroundTasks
from workbench.widgets.live.selection import Selection
from workbench.widgets.live.view_source import ViewSource
from workbench.widgets.series.other_runs import THIS, OtherRuns
from workbench.widgets.text.labels import shorten

#: maximum characters of a chip
ROOM = 28


class RunChips(StatusWidget):
    """One chip for this run and one for each other: copies, the runs before an edit or other inputs, and added runs
    (``runs.add("yesterday", trace)``). A press switches the drawing of a run on or off.

    Parameters
    ----------
    source : Session or Trace
        The run.
    runs : OtherRuns
        The others.
    selection : Selection, optional
        A selection to share.
    """

    _script = script("panel/runs/run_chips.js")
    _css = joined("base/style/bar.css", "panel/runs/run_chips.css")

    def __init__(self, source: ViewSource, runs: OtherRuns, *, selection: Selection | None = None) -> None:
        self.runs = runs
        self._said = ""
        self._aside = BackgroundTasks("workbench-runs")
        super().__init__(source, selection)
        runs.on_change(self.update_now)
        self.show(self.source.snapshot())

    def show(self, snapshot: Any) -> None:
        """Update the chips."""
        drawn = {run.label for run in self.runs.drawn()}
        chips = [
            {
                "label": run.label,
                "words": shorten(run.words, ROOM),
                "tip": run.label if run.words == run.label else f"{run.label}: {run.words}",
                "slot": run.slot,
                "on": run.label in drawn,
                "added": run.added,
            }
            for run in self.runs.all()
        ]
        with self._lock:
            self.offer(
                {
                    "this": THIS,
                    "runs": chips,
                    "difference": self.runs.difference,
                    "live": self.source.session is not None,
                    "said": self._said,
                }
            )

    def handle_message(self, kind: str, content: Mapping[str, Any]) -> None:
        label, on = content.get("label"), bool(content.get("on"))
        if kind == "draw" and isinstance(label, str):
            self.runs.choose(label, on)
            self.selection.did(f"panel.runs.choose({label!r}, {on})")
        elif kind == "remove" and isinstance(label, str):
            self.runs.remove(label)
        elif kind == "difference":
            self.runs.differ(on)
        elif kind == "copy":
            self._aside.do(self.copy)
        elif kind == "load" and isinstance(content.get("path"), str):
            path = content["path"][:4000].strip()
            self._aside.do(lambda: self.load(path))

    def copy(self) -> None:
        """Copy the session at its present position, as one more run."""
        if self.source.session is not None:
            self._attempt(self.source.session.fork, "fork = session.fork()")

    def load(self, path: str) -> None:
        """Draw a saved trace beside this run; errors are shown below the chips."""
        name = Path(path).stem
        code = f"panel.runs.add({name!r}, wb.Trace.load({path!r}))"
        self._attempt(lambda: self.runs.add(name, Trace.load(path)), code)

    def _attempt(self, what: Any, code: str) -> None:
        try:
            what()
            self._said = ""
            self.selection.did(code)
        except (WorkbenchError, OSError, ValueError) as error:
            self._said = str(getattr(error, "message", error))
        self.update_now()

    def close(self) -> None:
        """Unsubscribe from updates and close the comms. Closing twice is harmless."""
        super().close()
        self._aside.close()
