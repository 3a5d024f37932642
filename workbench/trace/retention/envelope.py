"""Statistics of blocks of firings: the envelope of a series, however long it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.kernels import typed

NUMBERS = ("size", "nan", "inf", "min", "max", "sum", "sumsq")
#: the block's first and last firing are in rows ``first`` and ``last``
BLOCK = np.dtype([("first", np.int64), ("last", np.int64), ("count", np.int64)] + [(n, np.float64) for n in NUMBERS])


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """Blocks of consecutive firings of one series, oldest first.

    ``first`` and ``last`` are the iterations (n, depth) of each block's first and last firing (-1 if unknown because
    there were too many activations of inner loops), ``count`` is its number of firings; ``numbers`` are (n,) records:
    ``size``, ``nan`` and ``inf`` count items, ``min`` and ``max`` leave out NaN, ``sum`` and ``sumsq`` also infinities.
    """

    first: np.ndarray
    last: np.ndarray
    count: np.ndarray
    numbers: np.ndarray

    def __len__(self) -> int:
        return len(self.count)

    @property
    def mean(self) -> np.ndarray:
        """Mean of the finite items of each block; NaN if there are none."""
        finite = self.numbers["size"] - self.numbers["nan"] - self.numbers["inf"]
        with np.errstate(all="ignore"):
            return np.asarray(np.where(finite > 0, self.numbers["sum"] / finite, np.nan))


def block_bounds(rows: np.ndarray, length: int) -> np.ndarray:
    """Start positions of the blocks in the ascending ``rows``; a block has the rows with one quotient by ``length``."""
    if len(rows) == 0:
        return np.empty(0, np.int64)
    if rows[-1] - rows[0] == len(rows) - 1:  # no row is missing
        first = -int(rows[0]) % length or length
        return np.concatenate([[0], np.arange(first, len(rows), length)])
    edges = np.arange(rows[0] // length + 1, rows[-1] // length + 1) * length
    return np.unique(np.concatenate([[0], np.searchsorted(rows, edges)]))


def blocks_of(rows: np.ndarray, values: np.ndarray, length: int) -> np.ndarray:
    """(k,) BLOCK records of (n, ...) numbers that fired in these ascending rows."""
    starts = block_bounds(rows, length)
    found = _headed(rows, starts)
    for k, (start, end) in enumerate(zip(starts.tolist(), [*starts[1:].tolist(), len(rows)], strict=False)):
        for name, number in zip(NUMBERS, typed.stats(values[start:end]), strict=True):
            found[name][k] = number
    return found


def blocks_of_numbers(rows: np.ndarray, numbers: np.ndarray, length: int) -> np.ndarray:
    """The same from (n, 7) statistics of arrays that fired in these rows."""
    starts = block_bounds(rows, length)
    found = _headed(rows, starts)
    if len(starts):
        for k, name in enumerate(NUMBERS):
            found[name] = _reduction(name).reduceat(numbers[:, k], starts)
    return found


def _headed(rows: np.ndarray, starts: np.ndarray) -> np.ndarray:
    found = np.zeros(len(starts), BLOCK)
    if len(starts):
        ends = np.append(starts[1:], len(rows))
        found["first"], found["last"], found["count"] = rows[starts], rows[ends - 1], ends - starts
    return found


def _reduction(name: str) -> Any:
    return {"first": np.minimum, "min": np.minimum, "last": np.maximum, "max": np.maximum}.get(name, np.add)


def merged(blocks: np.ndarray, length: int) -> np.ndarray:
    """Merge blocks whose first rows have the same quotient by ``length``."""
    starts = block_bounds(blocks["first"], length)
    out = np.zeros(len(starts), BLOCK)
    if len(starts):
        with np.errstate(over="ignore", invalid="ignore"):
            for name in BLOCK.names or ():
                out[name] = _reduction(name).reduceat(blocks[name], starts)
    return out
