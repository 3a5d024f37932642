"""The rows of a record in files of a directory, written as iterations end, so that they survive a killed process.

``NAME-n.ops`` has a frame per iteration, ``NAME-n.sites`` a line of JSON per site. A frame has the number of the
iteration, the counts of rows and of sites so far, and the rows. A truncated frame, or one whose sites are missing, ends
the record.
"""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.kernels.streaming import TENSOR_ROW
from workbench.recorder.eager.sites import SiteTable

OPS, SITES = ".ops", ".sites"
_HEAD = np.dtype([("iteration", np.uint64), ("rows", np.uint64), ("sites", np.uint64)])


class Journal:
    """Writes frames, and reads those that are no longer in memory. A disk error ends it, see ``error``."""

    def __init__(self, folder: str, name: str, number: int) -> None:
        os.makedirs(folder, exist_ok=True)
        self._ops, self.path = _new(folder, name, number)
        self._sites = open(self.path + SITES, "w+b", buffering=0)  # noqa: SIM115  (rows are read as long as it is there)
        for file in (self._ops, self._sites):
            weakref.finalize(self, file.close)
        self._written = 0
        #: iteration -> (offset of its rows, number of rows)
        self.places: dict[int, tuple[int, int]] = {}
        self.error = ""

    def write(self, iteration: int, rows: NDArray[Any], table: SiteTable) -> None:
        """Append an iteration, and the sites that are new."""
        if self.error:
            return
        end = self._ops.seek(0, os.SEEK_END)
        try:
            lines = "".join(json.dumps(list(site)) + "\n" for site in table.sites[self._written :])
            _write(self._sites, lines.encode())
            head = np.array([(iteration, len(rows), len(table))], _HEAD)
            _write(self._ops, head.tobytes() + rows.tobytes())
        except OSError as error:
            self.error = f"the record on disk ends before iteration {iteration}: {error.strerror or error}"
            self._ops.truncate(end)
            return
        self._written = len(table)
        self.places[iteration] = end + _HEAD.itemsize, len(rows)

    def read(self, iteration: int) -> NDArray[Any]:
        """The rows of an iteration that was written."""
        offset, count = self.places[iteration]
        self._ops.seek(offset)
        return np.frombuffer(self._ops.read(count * TENSOR_ROW.itemsize), TENSOR_ROW)


def _new(folder: str, name: str, number: int) -> tuple[Any, str]:
    """A new file, with the first free number from ``number`` on: files of earlier processes are kept."""
    while True:
        path = os.path.join(folder, f"{name}-{number}")
        try:
            return open(path + OPS, "x+b", buffering=0), path  # noqa: SIM115
        except FileExistsError:
            number += 1


def _write(file: Any, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


class Rows(Mapping[int, NDArray[Any]]):
    """Rows by iteration, in memory or in a journal."""

    def __init__(self, journal: Journal | None = None) -> None:
        self.memory: dict[int, NDArray[Any]] = {}
        self.journal = journal

    def __getitem__(self, iteration: int) -> NDArray[Any]:
        found = self.memory.get(iteration)
        if found is None and self.journal is not None:
            return self.journal.read(iteration)
        if found is None:
            raise KeyError(iteration)
        return found

    def __iter__(self) -> Iterator[int]:
        return iter(sorted({*self.memory, *(self.journal.places if self.journal is not None else ())}))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, iteration: object) -> bool:
        return iteration in self.memory or (self.journal is not None and iteration in self.journal.places)


def frames(ops: bytes) -> Iterator[tuple[int, int, NDArray[Any]]]:
    """(iteration, sites, rows) of the whole frames of a file."""
    at = 0
    while at + _HEAD.itemsize <= len(ops):
        head = np.frombuffer(ops, _HEAD, 1, at)[0]
        at += _HEAD.itemsize
        count = int(head["rows"])
        if count * TENSOR_ROW.itemsize > len(ops) - at:
            return
        yield int(head["iteration"]), int(head["sites"]), np.frombuffer(ops, TENSOR_ROW, count, at)
        at += count * TENSOR_ROW.itemsize
