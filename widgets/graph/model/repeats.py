"""Repeated blocks in a sequence of items: the same stretch three or more times in succession.

Method: each item has a number for its kind; a stretch of period p repeats where the sequence equals itself shifted by
p. All periods up to 64 are tried (64 vector comparisons at any length). Of overlapping candidates the one that covers
most items is taken, as far as its blocks are wired alike inside.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

LONGEST = 64
#: minimum number of blocks, and of items that they cover
BLOCKS = 3
COVER = 12


class Repeat(NamedTuple):
    """``blocks`` stretches of ``period`` items each, the first of them at ``start``."""

    start: int
    period: int
    blocks: int

    @property
    def stop(self) -> int:
        return self.start + self.period * self.blocks


def find_repeats(kinds: Sequence[Hashable], sources: Sequence[Sequence[int]], weights: Sequence[int]) -> list[Repeat]:
    """Repeats in order, without overlaps.

    ``kinds`` holds the kind of each item (items of equal kind are interchangeable), ``sources`` the positions of the
    items that it reads, ``weights`` the number of its nodes.
    """
    numbers: dict[Hashable, int] = {}
    sequence = np.array([numbers.setdefault(kind, len(numbers)) for kind in kinds], np.int32)
    covered = np.concatenate([[0], np.cumsum(np.asarray(weights, np.int64))])
    found: list[tuple[int, int, Repeat]] = []
    for period in range(1, min(LONGEST, len(sequence) // BLOCKS) + 1):
        for start, length in _runs(sequence[:-period] == sequence[period:], (BLOCKS - 1) * period):
            for repeat in _alike(Repeat(start, period, length // period + 1), sources):
                cover = int(covered[repeat.stop] - covered[repeat.start])
                if cover >= COVER:
                    found.append((-cover, period, repeat))
    taken = np.zeros(len(sequence), bool)
    chosen = []
    for _, _, repeat in sorted(found):
        if not taken[repeat.start : repeat.stop].any():
            taken[repeat.start : repeat.stop] = True
            chosen.append(repeat)
    return sorted(chosen)


def _runs(same: np.ndarray, least: int) -> list[tuple[int, int]]:
    """(start, length) of each stretch of True that is long enough."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]]).astype(np.int8))).reshape(-1, 2)
    edges = edges[edges[:, 1] - edges[:, 0] >= least]
    return [(int(a), int(b - a)) for a, b in edges]


def _alike(repeat: Repeat, sources: Sequence[Sequence[int]]) -> list[Repeat]:
    """The stretches of three or more successive blocks that are wired alike inside."""
    shapes = []
    for block in range(repeat.blocks):
        first = repeat.start + block * repeat.period
        inner = range(first, first + repeat.period)
        shapes.append(tuple(tuple(sorted(s - first for s in sources[i] if s in inner)) for i in inner))
    found = []
    start = 0
    for block in range(1, repeat.blocks + 1):
        if block == repeat.blocks or shapes[block] != shapes[start]:
            if block - start >= BLOCKS:
                found.append(Repeat(repeat.start + start * repeat.period, repeat.period, block - start))
            start = block
    return found
