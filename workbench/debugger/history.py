"""What a run did before a value was edited."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from workbench.execution import Run
from workbench.execution.edits import Edit
from workbench.trace import Trace
from workbench.trace.describe import short


class History:
    """One history that an edit ended: ``event`` says where, ``edit`` what was written there.

    Its values are recomputed exactly when they are asked for, so that it costs nothing until then.
    """

    def __init__(self, run: Run, edits: Sequence[Edit], edit: Edit) -> None:
        self.event, self.edit = edit.event, edit
        self._plan, self._feeds, self._budget, self._window = run.plan, run.feeds, run.budget, run.window
        self._edits = list(edits)

    @cached_property
    def run(self) -> Run:
        """The run as it stood in front of the edit."""
        run = Run(self._plan, self._feeds, self._budget, self._window)
        run.edits = list(self._edits)
        run.to_event(self.event)
        return run

    @property
    def trace(self) -> Trace:
        """Every value up to the edit, as it was without it."""
        return self.run.trace

    def __repr__(self) -> str:
        name = self._plan.graph.name_of(self.edit.ref)
        return f"<History up to event {self.event}: then {name} became {short(self.edit.value)}>"
