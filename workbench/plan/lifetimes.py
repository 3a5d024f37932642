"""Which large arrays of the outermost level share memory, in runs that keep statistics of arrays instead of them all.

An array is needed from the first instruction that writes it to the last that reads it. The outermost level runs once
from top to bottom (jumps go forwards, loops are one step here), so arrays whose times do not meet can stand in one
place. Outputs, inputs and what loops read stay. A value that gave its place up is recomputed like any other that is no
longer kept.
"""

from __future__ import annotations

import bisect
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from workbench.plan.places import ALIGNED, Slot, Spot

#: smaller arrays stay, and all of them where they come to less than this
LEAST_BYTES, LEAST_TOTAL = 4096, 1 << 20
#: instructions that the hot loop may run block by block, so that one does not end before the next begins (kernels:
#: arrays.h)
_CHAINED = ("flat", "stats", "rows")


Uses = dict[Slot, tuple[int, int]]


def lifetimes(
    code: Sequence[Mapping[str, Any]], calls: Sequence[tuple[Any, ...]], loops: Sequence[tuple[int, int]],
    values: Sequence[tuple[Slot, int]], array: int, call: int,
) -> tuple[Uses, Uses]:  # fmt: skip
    """First and last instruction of each slot that instructions name: while it is needed, and the very ones.

    ``loops`` are the outermost loops' instructions, ``values`` the slots of values with the instruction at which their
    nodes fire (of views, which are no work), ``array`` and ``call`` the numbers of these two.
    """
    events = [ip for ip, row in enumerate(code) if row.get("event")] + [len(code)]
    until = [bisect.bisect_right(events, ip) for ip in range(len(code))]
    ends = [events[k] - 1 for k in until]  # what follows a node without being one belongs to it
    begins = list(range(len(code)))
    for first, last in _chains(code, array):
        ends[first : last + 1] = [max(ends[last], last)] * (last + 1 - first)
    for start, stop in loops:
        begins[start:stop], ends[start:stop] = [start] * (stop - start), [max(ends[stop - 1], stop)] * (stop - start)
    needed: Uses = {}
    uses: Uses = {}
    named: list[tuple[Slot, int]] = []
    for ip, row in enumerate(code):
        spots = [v for v in row.values() if isinstance(v, Spot)]
        if row["op"] == call:
            spots += [*calls[row["x0"]][1], *calls[row["x0"]][2]]
        named += [(s.slot, ip) for s in spots]
    for slot, ip in (*named, *values):
        first, last = needed.get(slot, (begins[ip], ends[ip]))
        needed[slot] = (min(first, begins[ip]), max(last, ends[ip]))
        first, last = uses.get(slot, (ip, ip))
        uses[slot] = (min(first, ip), max(last, ip))
    return needed, uses


def movable(slots: Sequence[Slot], stay: Collection[Slot], times: Uses) -> Uses:
    """The times of those that are large and need not stay; none where they do not come to much."""
    found = {s: times[s] for s in slots if s not in stay and s in times and s.size >= LEAST_BYTES}
    return found if sum(s.size for s in found) >= LEAST_TOTAL else {}


def _chains(code: Sequence[Mapping[str, Any]], array: int) -> list[tuple[int, int]]:
    """(first, last) of consecutive instructions that may run as one."""
    found: list[tuple[int, int]] = []
    length = None
    for ip, row in enumerate(code):
        linked = row["op"] == array and row["array"]["kind"] in _CHAINED
        if linked and length == row["array"]["n"]:
            found[-1] = (found[-1][0], ip)
        elif linked:
            found.append((ip, ip))
        if row["op"] != 0:  # what only renames is no instruction of the hot loop
            length = row["array"]["n"] if linked else None
    return found


def in_place(
    code: Sequence[Mapping[str, Any]], times: Mapping[Slot, tuple[int, int]], uses: Mapping[Slot, tuple[int, int]],
    array: int,
) -> dict[Slot, tuple[Slot, int]]:  # fmt: skip
    """Slots of results that can stand where an operand of theirs did: result -> (operand, instruction).

    Element by element the result may go over an operand that nobody reads afterwards. ``uses`` are the very first and
    last instructions of each slot.
    """
    found: dict[Slot, tuple[Slot, int]] = {}
    given: set[Slot] = set()
    for ip, row in enumerate(code):
        if row["op"] != array or not row.get("event") or row["array"]["kind"] not in ("flat", "rows"):
            continue
        out, strides = row["out"], row["array"]["stride"]
        operands = [(row[k], strides[n]) for n, k in enumerate("abc"[: row["array"]["n_in"]])]
        if out.slot not in times or uses[out.slot][0] != ip or out.delta:
            continue
        for spot, _ in operands:
            slot = spot.slot
            last = slot in times and uses[slot][1] == ip and slot.size == out.slot.size and slot not in given
            if last and all(not s.delta and stride == strides[3] for s, stride in operands if s.slot is slot):
                found[out.slot] = slot, ip
                given.add(slot)
                break
    return found


def share(
    slots: Sequence[Slot], times: Mapping[Slot, tuple[int, int]], over: Mapping[Slot, tuple[Slot, int]]
) -> tuple[list[Slot], int]:
    """Give the slots in ``times`` offsets, and the instruction up to which they can be read; those of ``over`` stand
    where another did (see in_place).

    Returns the slots that got none, and the end of the memory used.
    """
    after: dict[Slot, list[Slot]] = {}  # the first of each place -> those that come over it, in order
    first_of: dict[Slot, Slot] = {}
    for slot in sorted(times, key=lambda s: times[s]):
        first_of[slot] = first_of[over[slot][0]] if slot in over else slot
        after.setdefault(first_of[slot], []).append(slot)
    taken: list[tuple[int, Slot, int]] = []  # (last instruction, slot, its memory from here to its end)
    gaps: list[tuple[int, int]] = []  # (start, end), by start
    top = 0
    for slot, all_of_it in after.items():
        begins, ends = times[slot][0], max(times[s][1] for s in all_of_it)
        for entry in [t for t in taken if t[0] < begins]:
            taken.remove(entry)
            _give_back(gaps, entry[2], entry[1].offset + entry[1].size)
        fitting = [g for g in gaps if _place(g[0], slot) + slot.size <= g[1]]
        if fitting:
            gap = min(fitting, key=lambda g: g[1] - g[0])
            gaps.remove(gap)
            slot.offset = _place(gap[0], slot)
            if slot.offset + slot.size < gap[1]:
                bisect.insort(gaps, (slot.offset + slot.size, gap[1]))
            begin = gap[0]
        else:
            begin = gaps.pop()[0] if gaps and gaps[-1][1] == top else top
            slot.offset = _place(begin, slot)
            top = slot.offset + slot.size
        taken.append((ends, slot, begin))
        for one in all_of_it:
            one.offset, one.until = slot.offset, times[one][1] + 1
    for before, ip in over.values():
        before.until = ip
    return [s for s in slots if s not in times], top


def _place(start: int, slot: Slot) -> int:
    return start + -(start + slot.phase) % ALIGNED


def _give_back(gaps: list[tuple[int, int]], start: int, end: int) -> None:
    at = bisect.bisect(gaps, (start, end))
    if at < len(gaps) and gaps[at][0] == end:
        end = gaps.pop(at)[1]
    if at and gaps[at - 1][1] == start:
        start = gaps.pop(at - 1)[0]
        at -= 1
    gaps.insert(at, (start, end))
