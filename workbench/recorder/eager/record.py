"""The record of a loop of ops: a site table, and for each iteration the statistics of all tensors in order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.kernels.streaming import TENSOR_ROW
from workbench.recorder.eager.journal import Journal, Rows
from workbench.recorder.eager.sites import SiteTable


class OpRecord:
    """Rows of ``TENSOR_ROW`` by iteration.

    When the rows in memory exceed ``memory`` bytes, the older half is dropped: with a journal it is read from there,
    without one every second of these iterations is lost, except for those in ``keep``. The remaining rows stay exact;
    ``held`` lists the kept iterations, and ``ends`` is the reason if a process or a disk ended the record.
    """

    def __init__(self, memory: int, table: SiteTable | None = None, journal: Journal | None = None) -> None:
        self.memory, self.table = memory, table or SiteTable()
        self.rows = Rows(journal)
        self.iterations = 0
        self.nbytes = 0
        self.keep: set[int] = {0, 1}
        self._ends = ""

    @property
    def ends(self) -> str:
        """Why the record ends early; "" if the loop itself ended."""
        return self._ends or (self.rows.journal.error if self.rows.journal is not None else "")

    @ends.setter
    def ends(self, why: str) -> None:
        self._ends = why

    def add(self, rows: NDArray[Any]) -> None:
        """Append an iteration."""
        if self.rows.journal is not None:
            self.rows.journal.write(self.iterations, rows, self.table)
        self.rows.memory[self.iterations] = rows
        self.iterations += 1
        self.nbytes += rows.nbytes
        while self.nbytes > self.memory and self._thin():
            pass

    def skip(self) -> None:
        """Count an iteration that was not recorded."""
        self.iterations += 1

    def _thin(self) -> bool:
        memory, journal = self.rows.memory, self.rows.journal
        held = [k for k in memory if k not in self.keep]
        old = held[: max(1, len(held) // 2)]
        for k in old if journal is not None and not journal.error else old[::2]:
            self.nbytes -= memory.pop(k).nbytes
        return len(held) > 2

    @property
    def held(self) -> list[int]:
        """The iterations whose rows are kept, in order."""
        return list(self.rows)

    def of(self, iteration: int) -> NDArray[Any]:
        """The rows of an iteration; KeyError if they are no longer kept."""
        return self.rows[iteration]

    def series(self, site: int, field: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """(iterations, values of a field) of a site."""
        held, values = [], []
        for k in self.held:
            rows = self.rows[k]
            found = rows[rows["site"] == site]
            if len(found):
                held.append(k)
                values.append(found[field][0])
        return np.array(held, np.int64), np.array(values, TENSOR_ROW[field])
