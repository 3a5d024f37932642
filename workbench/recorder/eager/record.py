"""The record of a loop of ops: a site table, and for each iteration the statistics of all tensors in order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.kernels.streaming import TENSOR_ROW
from workbench.recorder.eager.sites import SiteTable


class OpRecord:
    """Rows of ``TENSOR_ROW`` by iteration.

    When all rows together pass ``memory`` bytes, every second of the older half of the iterations goes, but for those
    in ``keep``. What is left stays exact; ``held`` names the iterations that are there.
    """

    def __init__(self, memory: int, table: SiteTable | None = None) -> None:
        self.memory, self.table = memory, table or SiteTable()
        self.rows: dict[int, NDArray[Any]] = {}
        self.iterations = 0
        self.nbytes = 0
        self.keep: set[int] = {0, 1}

    def add(self, rows: NDArray[Any]) -> None:
        """Append an iteration."""
        self.rows[self.iterations] = rows
        self.iterations += 1
        self.nbytes += rows.nbytes
        while self.nbytes > self.memory and self._thin():
            pass

    def _thin(self) -> bool:
        held = [k for k in self.rows if k not in self.keep]
        old = held[: max(1, len(held) // 2)]
        for k in old[::2]:
            self.nbytes -= self.rows.pop(k).nbytes
        return len(held) > 2

    @property
    def held(self) -> list[int]:
        """The iterations whose rows are there, in order."""
        return sorted(self.rows)

    def of(self, iteration: int) -> NDArray[Any]:
        """The rows of an iteration; KeyError where they are gone."""
        return self.rows[iteration]

    def series(self, site: int, field: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """(iterations, values of a field) of a site."""
        held, values = [], []
        for k in self.held:
            found = self.rows[k][self.rows[k]["site"] == site]
            if len(found):
                held.append(k)
                values.append(found[field][0])
        return np.array(held, np.int64), np.array(values, TENSOR_ROW[field])
