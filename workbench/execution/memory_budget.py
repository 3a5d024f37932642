"""Splits the memory budget of a run among rows, checkpoints, and the retention backends of evicted rows.

The executor evicts rows according to its own bytes and two figures set here: ``checkpoint_bytes``, and
``reserved_bytes`` (bytes that backends hold or may hold).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from workbench.execution.failure import not_retired
from workbench.kernels.machine import Machine
from workbench.trace.retention import RetentionBackends
from workbench.trace.spill.store import QUEUE

#: budget of runs without a trace: only the newest rows stay, enough for views to read them at full speed
NEWEST_ROWS = 4 << 20
#: ... the part of it for arrays of a loop: the row in progress finds the previous one in the second-level cache
NEWEST_ARRAYS = 1 << 20
#: bytes of the checkpoints of such runs, in addition to the budget
NEWEST_CHECKPOINTS = 4 << 20
#: ... and minimum number of newest rows that stay if loops in machine code may leave rows unwritten
LEAST_ROWS = 512
#: maximum bytes of the newest rows if backends take the evicted ones
NEWEST_KEPT = 8 << 20
#: smallest limit of the bytes of rows that wait for the disk
LEAST_QUEUE = 1 << 16


class BudgetSplit:
    """The shares of a budget. ``checkpoints`` are bytes in addition to the budget, or None for a quarter of it."""

    def __init__(self, machine: Machine, budget: int, checkpoints: int | None) -> None:
        self._machine, self._budget = machine, budget
        self.counted = checkpoints is None  # True if checkpoints count against the budget
        quarter = budget // 4 if budget > 0 else NEWEST_CHECKPOINTS
        self.checkpoints = quarter if checkpoints is None else checkpoints
        self._newest: int | None = None  # bytes of the newest rows if backends take the evicted ones
        self._limit = 0  # maximum bytes of backends
        self._growing: RetentionBackends | None = None  # backends that grow with the run ...
        self._step = 0  # ... and the step by which they grow

    def bytes_for_backends(self, share_of_all: bool) -> int:
        """Maximum bytes of backends. They and the newest rows have fixed shares, equal halves with ``share_of_all``;
        checkpoints get the rest."""
        newest = self._budget // 2 if share_of_all else min(self._budget // 8, NEWEST_KEPT)
        self._newest = max(self._machine.least_bytes, newest)
        self._limit = max(0, self._budget - self._newest - self.checkpoints)
        return self._limit

    def lend_unused(self, backends: RetentionBackends, retire: Callable[..., None]) -> Callable[..., None]:
        """Lend the unused memory of ``backends`` to the rows: nothing is copied from rows while all of them fit.

        Returns the retire hook to use instead of ``retire``. In one call each backend may grow by at most the rows
        passed to it, and all together by an additional eighth of their limit (``ThinnedKeeper``: one block of each
        column)."""
        self._growing = backends
        self._step = self._limit // 8 + len(backends.parts) * self._machine.least_bytes
        self._reserve(0)
        still = weakref.ref(self)  # weakly, because the machine holds the hook, which would make a reference cycle

        def retire_and_account(*evicted: Any) -> None:
            retire(*evicted)
            if (split := still()) is not None:
                split._reserve(split._machine.checkpoint_bytes)

        return retire_and_account

    @property
    def queue(self) -> int:
        """Maximum bytes of rows that wait for the disk."""
        return max(min(QUEUE, self._budget // 8), LEAST_QUEUE)

    def make(self, held: int, more: int) -> None:
        """Evict rows until ``more`` bytes of checkpoints fit in addition to ``held``. ExecutionError if a backend
        refuses the rows."""
        self._reserve(held + more)
        try:
            self._machine.make_room(more if self.counted else 0)
        except Exception as error:
            if not self._machine.retire_failed:
                raise
            raise not_retired(error) from error

    def account(self, held: int) -> None:
        """Set the bytes of checkpoints. If they have grown, rows are evicted when the run continues."""
        if self.counted:
            self._reserve(held)
            self._machine.checkpoint_bytes = held

    def _reserve(self, checkpoints: int) -> None:
        """Reserve everything except the share of the newest rows, including unused memory of checkpoints and backends;
        for backends that grow with the run (:meth:`lend_unused`), only the memory they hold and one step of growth."""
        if self._newest is None:
            return
        reserved = max(0, self._budget - self._newest - checkpoints)
        if self._growing is not None:
            reserved = min(reserved, self._growing.bytes + self._step)
        self._machine.reserved_bytes = reserved
