"""The edits of one history, and which of them a run has come by: replays apply them again on their way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from workbench.execution.edits import Edit
from workbench.kernels.machine import Snapshot

if TYPE_CHECKING:
    from workbench.execution.run import Run


class EditLog:
    """``all`` of them by event; the first ``applied`` lie behind. A run is handed in, never held: it owns its log."""

    def __init__(self) -> None:
        self.all: list[Edit] = []
        self.applied = 0

    @property
    def due(self) -> int | None:
        """The event after which the next one is written; None if there is none ahead."""
        return self.all[self.applied].event if self.applied < len(self.all) else None

    def replace(self, edits: Iterable[Edit]) -> None:
        """Other edits ahead; how many lie behind stays."""
        self.all = list(edits)

    def append(self, run: Run, edit: Edit) -> None:
        """Write a new one, which ends what was planned behind it."""
        self.all = [*self.all[: self.applied], edit]
        self._apply(run, edit)

    def catch_up(self, run: Run) -> None:
        """Write those that were made after just so many events."""
        while (due := self.due) is not None and due <= run.event:
            self._apply(run, self.all[self.applied])

    def after_restore(self, run: Run, checkpoint: Snapshot) -> None:
        """Arrays of the outermost level that stay are not in a checkpoint, so edits of them are done or undone here."""
        layout = run.plan.layout
        outermost = [e for e in self.all if layout.frame_of(e.places[0]) == 0 and e.places[0].until < 0]
        for edit in reversed(outermost):
            if edit.event > checkpoint.events:
                run.put(edit.places[0], edit.before)
        for edit in outermost:
            if edit.event <= checkpoint.events:
                run.put(edit.places[0], edit.value)
        self.applied = sum(e.event <= checkpoint.events for e in self.all)

    def undo(self, run: Run) -> None:
        """Take back those that lie behind, in a run that stands at its beginning; there are none then."""
        for edit in reversed(self.all[: self.applied]):
            _write(run, edit, edit.before)
        self.all, self.applied = [], 0

    def _apply(self, run: Run, edit: Edit) -> None:
        _write(run, edit, edit.value)
        if run.spill is not None:
            for place in edit.places:
                if place.shift < 0:  # it stands in the row before, which may be on disk
                    row = run.view.rows(place.base - 1)[1]
                    run.spill.patches.add(place.base - 1, row - 1, place.offset, edit.value, edit.event)
        self.applied += 1


def _write(run: Run, edit: Edit, value: Any) -> None:
    for place in edit.places:
        run.put(place, value)
