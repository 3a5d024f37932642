"""The edits of one history, and how many of them the run has passed: a replay applies them again."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.execution.edits import Edit
from workbench.kernels import machine as core
from workbench.kernels.layout import ValueLayout
from workbench.kernels.machine import Snapshot

if TYPE_CHECKING:
    from workbench.execution.run import Run


class EditLog:
    """Edits by event; the first ``applied`` edits are in the past. Methods take the run, which owns its log."""

    def __init__(self) -> None:
        self.all: list[Edit] = []
        self.applied = 0

    @property
    def due(self) -> int | None:
        """The event after which the next edit is written; None if none is left."""
        return self.all[self.applied].event if self.applied < len(self.all) else None

    def replace(self, edits: Iterable[Edit]) -> None:
        """Replace the edits; the number of those in the past stays the same."""
        self.all = list(edits)

    def append(self, run: Run, edit: Edit) -> None:
        """Write a new edit, and drop edits planned after it."""
        self.all = [*self.all[: self.applied], edit]
        self._apply(run, edit)

    def catch_up(self, run: Run) -> None:
        """Write the edits that were made at the present event."""
        while (due := self.due) is not None and due <= run.event:
            self._apply(run, self.all[self.applied])

    def after_restore(self, run: Run, checkpoint: Snapshot) -> None:
        """Apply or undo edits of arrays at the outermost level, which checkpoints do not include."""
        layout = run.plan.layout
        outermost = [e for e in self.all if layout.frame_of(e.places[0]) == 0 and e.places[0].until < 0]
        for edit in reversed(outermost):
            if edit.event > checkpoint.events:
                run.put(edit.places[0], edit.before)
        for edit in outermost:
            if edit.event <= checkpoint.events:
                run.put(edit.places[0], edit.value)
        self.applied = sum(e.event <= checkpoint.events for e in self.all)

    def written(self) -> list[Edit]:
        """The edits in the past, oldest first."""
        return self.all[: self.applied]

    def undo(self, run: Run) -> None:
        """Undo all edits in the past, in a run that is at its beginning, and drop all edits."""
        for edit in reversed(self.all[: self.applied]):
            _write(run, edit, edit.before)
        self.all, self.applied = [], 0

    def _apply(self, run: Run, edit: Edit) -> None:
        _note(run, edit)
        _write(run, edit, edit.value)
        if run.spill is not None:
            for place in edit.places:
                if place.shift < 0:  # it is in the previous row, which may be on disk
                    row = run.view.rows(place.base - 1)[1]
                    run.spill.patches.add(place.base - 1, row - 1, place.offset, edit.value, edit.event)
        self.applied += 1


def _write(run: Run, edit: Edit, value: Any) -> None:
    for place in edit.places:
        run.put(place, value)


def _note(run: Run, edit: Edit) -> None:
    """Report to the machine the memory about to be overwritten, because arrays are recomputed from its old content."""
    opened = run.active_frames()
    for place in edit.places:
        size = 0 if place.dtype is None else np.dtype(place.dtype).itemsize * math.prod(place.shape)
        row = run.view.rows(place.base - 1)[1] + place.shift
        operand = run.plan.layout.operand(place)
        core.note_edit(run.machine, *operand, place.base - 1, row, place.offset, size, opened)


def edited_there(run: Run, value: ValueLayout, row: int, item: Any) -> Any:
    """A recomputed value in a row of its frame: ``item``, or the value of an edit made after it fired."""
    place, frame = value.place, value.frame
    if place is None or place.base == 0 or run.plan.layout.frame_of(place) != frame:
        return item
    for edit in run.edits_behind:
        for where, at in zip(edit.places, edit.rows, strict=True):
            if at == row + place.shift and (where.base, where.offset) == (place.base, place.offset):
                item = edit.value
    return item
