"""Lifetimes of values of the outermost level, in runs that do not keep all of them.

An array is needed from the first instruction that writes it to the last that reads it. The outermost level runs once
from top to bottom (jumps go forwards, loops are one step here), so arrays whose lifetimes do not overlap can share one
place (see allocation); objects are released before the next call. Outputs, inputs and values that loops read are kept.
A released value is recomputed like any other that is no longer kept.
"""

from __future__ import annotations

import bisect
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from workbench.kernels.opcodes import ARRAY, CALL, NOP, REGION
from workbench.plan.memory.storage import Slot, Spot

#: minimum bytes of an array that shares memory, and minimum bytes of all of them together
LEAST_BYTES, LEAST_TOTAL = 4096, 1 << 20
#: instructions that the fast path may run block by block, so that one does not end before the next begins (kernels:
#: fast_path/blocks.h); copies and nests that it may have a number of items
_CHAINED = ("flat", "stats", "rows", "copy", "nest")

Uses = dict[Slot, tuple[int, int]]
Code = Sequence[Mapping[str, Any]]


def named(
    code: Code, calls: Sequence[tuple[Any, ...]], regions: Sequence[tuple[Any, ...]] = ()
) -> list[tuple[Slot, int]]:
    """The slots that instructions name, with the instruction; operands and results of regions, with the first and the
    last instruction of each.
    """
    found = []
    for ip, row in enumerate(code):
        for value in row.values():
            if value.__class__ is Spot:
                found.append((value.slot, ip))
        if row["op"] == CALL:
            found += [(spot.slot, ip) for spots in calls[row["x0"]][1:3] for spot in spots]
        if row["op"] == REGION:
            slots = [spot.slot for spots in regions[row["x0"]][1:3] for spot in spots]
            found += [(slot, at) for slot in slots for at in (ip, row["jump"] - 1)]
    return found


def lifetimes(
    code: Code,
    names: Iterable[tuple[Slot, int]],
    loops: Sequence[tuple[int, int]],
    values: Sequence[tuple[Slot, int]],
    chained: bool = True,
) -> tuple[Uses, Uses]:
    """First and last instruction of each slot that instructions name: for its lifetime, and for its actual uses.

    ``loops`` are the outermost loops' instructions, ``values`` the slots of values with the instruction at which their
    nodes fire (also of views, which do no work). ``chained``: arrays that reuse each other's memory do not prevent the
    fast path from running instructions block by block.
    """
    events = [ip for ip, row in enumerate(code) if row.get("event")] + [len(code)]
    until = [bisect.bisect_right(events, ip) for ip in range(len(code))]
    ends = [events[k] - 1 for k in until]  # instructions after a node that are not nodes belong to it
    begins = list(range(len(code)))
    for first, last in _chains(code) if chained else ():
        ends[first : last + 1] = [max(ends[last], last)] * (last + 1 - first)
    for start, stop in loops:
        begins[start:stop], ends[start:stop] = [start] * (stop - start), [max(ends[stop - 1], stop)] * (stop - start)
    needed: Uses = {}
    uses: Uses = {}
    for slot, ip in (*names, *values):
        begin, end = begins[ip], ends[ip]
        if slot in needed:
            first, last = needed[slot]
            needed[slot] = (begin if begin < first else first, end if end > last else last)
            first, last = uses[slot]
            uses[slot] = (ip if ip < first else first, ip if ip > last else last)
        else:
            needed[slot], uses[slot] = (begin, end), (ip, ip)
    return needed, uses


def are_large(slots: Iterable[Slot]) -> bool:
    """Return whether the large ones of these arrays take so much memory that sharing is worthwhile."""
    return sum(s.size for s in slots if s.size >= LEAST_BYTES) >= LEAST_TOTAL


def movable(slots: Sequence[Slot], stay: Collection[Slot], times: Uses) -> Uses:
    """The lifetimes of large slots that need not be kept; empty if they take little memory together."""
    found = {s: times[s] for s in slots if s not in stay and s in times and s.size >= LEAST_BYTES}
    return found if are_large(found) else {}


def _chains(code: Code) -> list[tuple[int, int]]:
    """(first, last) of consecutive instructions that may run together."""
    found: list[tuple[int, int]] = []
    length = None
    for ip, row in enumerate(code):
        linked = row["op"] == ARRAY and row["array"]["kind"] in _CHAINED and "n" in row["array"]
        if linked and length == row["array"]["n"]:
            found[-1] = (found[-1][0], ip)
        elif linked:
            found.append((ip, ip))
        if row["op"] != NOP:  # a NOP is not packed for the fast path
            length = row["array"]["n"] if linked else None
    return found


def in_place(
    code: Code, times: Mapping[Slot, tuple[int, int]], uses: Mapping[Slot, tuple[int, int]]
) -> dict[Slot, tuple[Slot, int]]:
    """Slots of results that can overwrite one of their operands: result -> (operand, instruction).

    An elementwise result may overwrite an operand that is not read afterwards. ``uses`` are the first and last
    instructions that use each slot.
    """
    found: dict[Slot, tuple[Slot, int]] = {}
    given: set[Slot] = set()
    for ip, row in enumerate(code):
        if row["op"] != ARRAY or not row.get("event") or row["array"]["kind"] not in ("flat", "rows"):
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
