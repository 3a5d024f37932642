"""Aligns the firings of two columns by their iteration paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis.diff.side import Column

#: positions in one column: a slice if they are all positions, or all up to some point
Positions = slice | np.ndarray


@dataclass(frozen=True, slots=True)
class Alignment:
    """``a`` and ``b`` are positions of ``count`` firings with the same iteration path; ``only_a`` and ``only_b`` are
    positions without a partner.
    """

    a: Positions
    b: Positions
    count: int
    only_a: np.ndarray
    only_b: np.ndarray


def align(one: Column, other: Column) -> Alignment:
    """Pair the firings of two columns of the same depth, by order if one of them has no iteration paths."""
    n, m = one.length, other.length
    its_a, its_b = one.iterations(), other.iterations()
    if its_a is None or its_b is None:
        return _prefix(n, m)
    both = min(n, m)
    if np.array_equal(its_a[:both], its_b[:both]):
        return _prefix(n, m)
    keys_a, keys_b = _keys(its_a, its_b)
    _, a, b = np.intersect1d(keys_a, keys_b, assume_unique=True, return_indices=True)
    order = np.argsort(a, kind="stable")
    a, b = a[order], b[order]
    only_a, only_b = np.ones(n, bool), np.ones(m, bool)
    only_a[a] = only_b[b] = False
    return Alignment(a, b, len(a), np.flatnonzero(only_a), np.flatnonzero(only_b))


def _prefix(n: int, m: int) -> Alignment:
    both = min(n, m)
    return Alignment(slice(0, both), slice(0, both), both, np.arange(both, n), np.arange(both, m))


def _keys(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Iteration paths as single keys that sort in the same order."""
    high = np.maximum(one.max(axis=0, initial=0), other.max(axis=0, initial=0)) + 1
    if float(np.prod(high.astype(np.float64))) < 2.0**62:
        weights = np.cumprod(np.append(high[1:], 1)[::-1].astype(np.int64))[::-1]
        return one @ weights, other @ weights
    joined = np.concatenate([one, other])
    _, numbers = np.unique(joined, axis=0, return_inverse=True)
    numbers = numbers.reshape(-1)
    return numbers[: len(one)], numbers[len(one) :]


def picked(positions: Positions, start: int, stop: int) -> Any:
    """The positions of the pairs start, start + 1, ... below stop."""
    if isinstance(positions, slice):
        return slice(positions.start + start, positions.start + stop)
    return positions[start:stop]


def position(positions: Positions, index: int) -> int:
    return positions.start + index if isinstance(positions, slice) else int(positions[index])
