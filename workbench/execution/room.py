"""How the budget of a run is shared: rows, checkpoints, and keepers of the rows that leave.

The machine drops rows by what it holds itself and by two figures that it is told: ``aside`` (bytes of checkpoints) and
``reserved`` (bytes that keepers have or may come to have).
"""

from __future__ import annotations

from workbench.execution.failure import not_retired
from workbench.kernels.machine import Machine
from workbench.trace.spill.store import QUEUE

#: budget of runs that need no trace: only the newest rows stay, so many that views can still read them at full speed
NEWEST_ROWS = 4 << 20
#: bytes of their checkpoints, beside it
NEWEST_CHECKPOINTS = 4 << 20
#: bytes of the newest rows, at most, where keepers take those that leave
NEWEST_KEPT = 8 << 20
#: bytes of rows that may wait for the disk, at least
LEAST_QUEUE = 1 << 16


class Room:
    """Parameters: the machine, its budget in bytes, and bytes for checkpoints beside it, or None: a quarter of it."""

    def __init__(self, machine: Machine, budget: int, checkpoints: int | None) -> None:
        self._machine, self._budget = machine, budget
        self.counted = checkpoints is None  # whether checkpoints count against the budget
        quarter = budget // 4 if budget > 0 else NEWEST_CHECKPOINTS
        self.checkpoints = quarter if checkpoints is None else checkpoints
        self._newest: int | None = None  # bytes of rows that stay when keepers take those that leave

    def for_keepers(self, share_of_all: bool) -> int:
        """Bytes that keepers may take. They and the newest rows have fixed shares, half and half with
        ``share_of_all``; checkpoints have the rest."""
        newest = self._budget // 2 if share_of_all else min(self._budget // 8, NEWEST_KEPT)
        self._newest = max(self._machine.least_bytes, newest)
        return max(0, self._budget - self._newest - self.checkpoints)

    @property
    def queue(self) -> int:
        """Bytes of rows that may wait for the disk."""
        return max(min(QUEUE, self._budget // 8), LEAST_QUEUE)

    def make(self, held: int, more: int) -> None:
        """Have rows leave so that beside ``held`` bytes of checkpoints there is room for ``more``. ExecutionError if
        somebody who is to keep these rows refuses them."""
        self._reserve(held + more)
        try:
            self._machine.make_room(more if self.counted else 0)
        except Exception as error:
            if not self._machine.retire_failed:
                raise
            raise not_retired(error) from error

    def account(self, held: int) -> None:
        """Say what checkpoints hold now. Where that is more than before, rows leave when the run goes on."""
        if self.counted:
            self._reserve(held)
            self._machine.aside = held

    def _reserve(self, checkpoints: int) -> None:
        """Leave the newest rows their share: what checkpoints and keepers do not use yet stays reserved for them."""
        if self._newest is not None:
            self._machine.reserved = max(0, self._budget - self._newest - checkpoints)
