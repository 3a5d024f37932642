"""The history of a run before a value was edited, or before its inputs changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from workbench.execution import Run
from workbench.execution.edits import Edit
from workbench.trace import Trace
from workbench.trace.describe import short


class History:
    """A history that ended with an edit or with new inputs: ``event`` is its last event, ``edit`` the value that was
    written then (None for new inputs), ``feeds`` are its inputs.

    Its values are recomputed exactly on first use; until then it takes no memory.
    """

    def __init__(self, run: Run, edits: Sequence[Edit], edit: Edit | None = None) -> None:
        self.event, self.edit = run.event if edit is None else edit.event, edit
        self.feeds = dict(run.feeds)
        self._plan, self._budget, self._window = run.plan, run.budget, run.window
        self._edits = list(edits)

    @cached_property
    def run(self) -> Run:
        """The run at the end of this history."""
        run = Run(self._plan, self.feeds, self._budget, self._window)
        run.edits = list(self._edits)
        run.to_event(self.event)
        return run

    @property
    def trace(self) -> Trace:
        """The values of this history."""
        return self.run.trace

    def __repr__(self) -> str:
        if self.edit is None:
            return f"<History up to event {self.event}: then the inputs changed>"
        name = self._plan.graph.name_of(self.edit.ref)
        return f"<History up to event {self.event}: then {name} became {short(self.edit.value)}>"
