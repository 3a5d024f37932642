"""The history of a run before a value was edited, or before its inputs changed."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.debugger.replay.full_replay import full_replay
from workbench.errors import ExecutionError
from workbench.execution import Run
from workbench.execution.edits import Edit
from workbench.text import harmless
from workbench.trace import Trace
from workbench.trace.describe import short


class History:
    """A run as it was before an edit or new inputs. ``name`` is its name in all views; ``event`` is the last event that
    the run had ever reached, even if it had gone back since; ``edit`` is the edit that ended the history (None for new
    inputs); ``feeds`` and ``edits`` are its inputs and edits.

    Its values are recomputed exactly on first use; until then it takes no memory, and afterwards at most as much as the
    run may.
    """

    def __init__(self, name: str, run: Run, edits: Sequence[Edit], event: int, edit: Edit | None = None) -> None:
        self.name, self.event, self.edit = name, event, edit
        self.feeds, self.edits, self._effects = dict(run.feeds), list(edits), dict(run.effects)
        self._plan, self._budget, self._window = run.plan, run.budget, run.window
        self._run: Run | None = None

    @property
    def run(self) -> Run:
        """The run at the end of this history."""
        if self._run is None:
            run = Run(self._plan, self.feeds, self._budget, self._window)
            run.edits, run.effects = list(self.edits), dict(self._effects)
            try:
                run.to_event(self.event)
            except ExecutionError:
                pass  # it fails at the same node as the run, after its last event
            self._run = run
        return self._run

    @property
    def trace(self) -> Trace:
        """The values of this history."""
        return self.run.trace

    def whole_trace(self) -> Trace:
        """:attr:`trace`, or if that has dropped rows, the trace of a replay that keeps all of them, if that fits into
        256 MiB."""
        if self.trace.dropped and (found := full_replay(self.run)) is not None:
            return found.trace
        return self.trace

    def release(self) -> None:
        """Free the values; the next use recomputes them."""
        self._run = None

    @harmless
    def __repr__(self) -> str:
        if self.edit is None:
            return f"<History {self.name!r}: {self.event} events, then the inputs changed>"
        name = self._plan.graph.name_of(self.edit.ref)
        return f"<History {self.name!r}: {self.event} events, without {name} = {short(self.edit.value)}>"
