"""Offsets for arrays whose lifetimes are known: offline dynamic storage allocation.

Arrays that are needed at the same time may not overlap, and the memory used should be minimal. The problem is NP-hard
(Garey & Johnson 1979, problem SR2), but placing large arrays first, each at the lowest free offset among those that
live at the same time, is close to optimal on neural networks: "greedy by size" of Pisarchyk & Lee, "Efficient Memory
Management for Deep Neural Net Inference", 2020, https://arxiv.org/abs/2001.03288. If that leaves gaps, a few more
orders are tried, and the best result is used. No result can be less than the maximum that is needed at one time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.kernels.layout import KEPT
from workbench.plan.memory.storage import ALIGNED, Slot

#: maximum number of arrays for which more than the first order is tried
MOST_TRIED = 4096


@dataclass(slots=True)
class MemoryRange:
    """Slots (or others) that share one address range at different times; needed from ``first`` to ``last``."""

    slots: list[Slot]
    size: int
    phase: int
    first: int
    last: int
    offset: int = -1


_ORDERS: tuple[Callable[[MemoryRange], tuple[int, ...]], ...] = (
    lambda g: (-g.size, g.first, -g.last),
    lambda g: (-g.size, g.first - g.last, g.first),
    lambda g: ((g.first - g.last - 1) * g.size, g.first),
    lambda g: (g.first - g.last, -g.size, g.first),
    lambda g: (g.first, -g.size),
    lambda g: (-g.last, -g.size),
)


def share(
    slots: Sequence[Slot],
    times: Mapping[Slot, tuple[int, int]],
    over: Mapping[Slot, tuple[Slot, int]],
    kept: Collection[Slot] = (),
) -> tuple[list[Slot], int]:
    """Assign offsets to the slots in ``times``, and the instruction up to which they can be read (those in ``kept`` to
    the end); those in ``over`` reuse the place of another (see liveness.in_place).

    Returns the slots without an offset, and the end of the memory used.
    """
    first_of: dict[Slot, MemoryRange] = {}
    groups: list[MemoryRange] = []
    for slot in sorted(times, key=lambda s: times[s]):
        first, last = times[slot]
        if slot in over:
            group = first_of[slot] = first_of[over[slot][0]]
            group.slots.append(slot)
            group.last = max(group.last, last)
        else:
            group = first_of[slot] = MemoryRange([slot], slot.size, slot.phase, first, last)
            groups.append(group)
    top = place(groups)
    for group in groups:
        for slot in group.slots:
            slot.offset, slot.until = group.offset, KEPT if slot in kept else times[slot][1] + 1
    for before, ip in over.values():
        before.until = ip
    return [s for s in slots if s not in times], top


def place(groups: Sequence[MemoryRange]) -> int:
    """Assign offsets to the groups; return the end of the memory that they take."""
    if not groups:
        return 0
    first, last = (np.array([getattr(g, n) for g in groups]) for n in ("first", "last"))
    size = np.array([g.size for g in groups])
    change = np.zeros(int(last.max()) + 2, np.int64)  # of the bytes needed, at each instruction
    np.add.at(change, first, size)
    np.subtract.at(change, last + 1, size)
    least = int(np.cumsum(change).max())
    best: tuple[int, np.ndarray] | None = None
    for order in _ORDERS if len(groups) <= MOST_TRIED else _ORDERS[:1]:
        found = _fit(groups, sorted(range(len(groups)), key=lambda k: order(groups[k])), first, last, size)
        if best is None or found[0] < best[0]:
            best = found
        if best[0] < least + ALIGNED * len(groups):
            break
    assert best is not None
    for group, offset in zip(groups, best[1].tolist(), strict=True):
        group.offset = offset
    return best[0]


def _fit(
    groups: Sequence[MemoryRange], order: Sequence[int], first: np.ndarray, last: np.ndarray, size: np.ndarray
) -> tuple[int, np.ndarray]:
    """Place the groups in order, each into the smallest sufficient gap between those that live at the same time."""
    offset = np.full(len(groups), -1, np.int64)
    top = 0
    for k in order:
        met = np.flatnonzero((offset >= 0) & (first <= last[k]) & (first[k] <= last))
        met = met[np.argsort(offset[met], kind="stable")]
        at, best, smallest = 0, -1, -1
        for start, stop in zip(offset[met].tolist(), (offset[met] + size[met]).tolist(), strict=True):
            begin = at + -(at + groups[k].phase) % ALIGNED
            if begin + groups[k].size <= start and (best < 0 or start - at < smallest):
                best, smallest = begin, start - at
            at = max(at, stop)
        offset[k] = best if best >= 0 else at + -(at + groups[k].phase) % ALIGNED
        top = max(top, int(offset[k]) + groups[k].size)
    return top, offset
