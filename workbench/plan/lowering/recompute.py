"""The choice of the arrays of a loop that are recorded in every iteration, and of those recomputed when they are read.

An iteration is a function of the loop variables. If compiled code computes an array from numbers and from recorded
arrays, recording it as well would take more time for memory traffic than the arithmetic: it is kept in memory that
every iteration overwrites, and readers of the trace run the same instructions on the recorded rows. The values are the
same bit for bit, because the instructions are the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.ir.node import Ref
from workbench.kernels.opcodes import ARRAY, BACK, GUARD
from workbench.plan.lowering.lowering_state import LoweringState
from workbench.plan.memory.storage import Slot, Spot

#: minimum bytes of recomputed arrays; recording smaller ones takes no longer than looking up how to compute them
LEAST_BYTES = 64
#: maximum operations per byte of recomputed arrays
DEAR = 64


@dataclass(frozen=True, slots=True)
class Recomputed:
    """``steps`` maps the slots that are recomputed to their instructions, in order; ``reasons`` says for each slot of
    arrays in a loop why it is recorded or not: (slug, sentence).
    """

    steps: Mapping[Slot, tuple[int, ...]] = field(default_factory=dict)
    reasons: Mapping[Slot, tuple[str, str]] = field(default_factory=dict)


def find_recomputed(state: LoweringState) -> Recomputed:
    """Decide for every array in the rows of loops. Lean plans reuse memory of the outermost level, so that its arrays
    can be operands only if they are fed.
    """
    if not any(s.stored for frame in range(1, len(state.frames)) for s in state.slots[frame]):
        return Recomputed()
    writers: dict[Slot, list[int]] = {}
    foreign = {s.slot for _, _, outs, *_ in state.calls for s in outs}
    foreign |= {s.slot for *_, outs in state.regions for s in outs}
    behind = set(state.kept) | set(state.carried.values())
    for ip, row in enumerate(state.code):
        for name, spot in row.items():
            if isinstance(spot, Spot):
                if name == "out":
                    writers.setdefault(spot.slot, []).append(ip)
                if spot.shift:
                    behind.add(spot.slot)
    behind |= {spot.slot for spot in state.spots.values() if spot.shift}
    inputs = {n.name for n in state.graph.nodes.values() if n.op == "Placeholder"}
    fed = {spot.slot for ref, spot in state.spots.items() if ref.node in inputs}
    around = _guards(state.code)
    reasons: dict[Slot, tuple[str, str]] = {}
    chosen: dict[Slot, list[int]] = {}
    for frame, path in enumerate(state.frames):
        arrays = [s for s in state.slots[frame] if s.stored] if frame else []
        plain = path not in state.guards.raw and not any(
            s.dtype is None and s not in state.pointers for s in state.slots[frame]
        )
        for slot in arrays:
            steps = writers.get(slot, [])
            if slot in behind:
                reasons[slot] = ("carried", "the next iteration reads it: it is recorded")
            elif not plain:
                reasons[slot] = ("objects", "its loop holds Python objects, or does not nest: all is recorded")
            elif slot in foreign or not steps or not all(_again(state, state.code[k], frame, fed) for k in steps):
                reasons[slot] = (
                    "not-compiled",
                    "not all that it is computed from is compiled, or recorded in its loop",
                )
            elif len({around[k] for k in steps}) > 1:
                reasons[slot] = ("branches", "which branch has written it is not known without it: it is recorded")
            elif slot.size < LEAST_BYTES:
                reasons[slot] = ("small", f"{slot.size} bytes are recorded sooner than computed again")
            elif (work := sum(map(operations, (state.code[k]["array"] for k in steps)))) > DEAR * slot.size:
                reasons[slot] = ("dear", f"{work:,} operations for {slot.size:,} bytes: it is recorded")
            else:
                reasons[slot] = ("recomputed", f"{slot.size:,} bytes are computed again when looked at")
                chosen[slot] = steps
    return Recomputed({slot: _closure(state.code, slot, chosen) for slot in chosen}, reasons)


def left_out(state: LoweringState, found: Recomputed) -> dict[int, int]:
    """Instructions whose result is read only by array instructions of the same iteration -> the last of these: if all
    of them run block by block, it need not be written to memory (kernels: fast_path/blocks.h).
    """
    if not found.steps:
        return {}
    heads = {row["frame"]: (row["jump"], ip) for ip, row in enumerate(state.code) if row["op"] == BACK}
    others = {spot.slot for call in state.calls for spot in (*call[1], *call[2])}
    others |= {spot.slot for region in state.regions for spot in (*region[1], *region[2])}
    last: dict[Slot, int] = {}
    for ip, row in enumerate(state.code):
        for name, spot in row.items():
            if isinstance(spot, Spot) and name != "out":
                last[spot.slot] = ip
                if row["op"] != ARRAY:
                    others.add(spot.slot)
    plain: dict[int, int] = {}
    for slot in found.steps:
        written = [ip for ip in found.steps[slot] if state.code[ip]["out"].slot is slot]
        if slot not in others and len(written) == 1 and slot.frame is not None:
            head, back = heads[slot.frame]
            if head <= written[0] < back:
                plain[written[0]] = last.get(slot, written[0])
    return plain


def _again(state: LoweringState, row: Mapping[str, Any], frame: int, fed: Iterable[Slot]) -> bool:
    """True if an instruction gives the same result when it runs again in a complete row of its frame."""
    if row["op"] != ARRAY or row["frame"] != frame or row["array"].get("raises") or row["array"]["kind"] == "stats":
        return False
    elsewhere = {behind for column, behind in state.pointers.items() if column.frame != frame}
    for name in "abc":
        spot = row.get(name)
        if spot is not None and spot.slot in elsewhere:
            return False
        if spot is None or spot.is_constant or spot.slot.frame == frame:
            continue
        if spot.slot.frame != 0 or (spot.slot.stored and state.lean and spot.slot not in fed):
            return False
    return True


def _guards(code: list[dict[str, Any]]) -> list[tuple[int, ...]]:
    """The GUARDs around each instruction."""
    found: list[tuple[int, ...]] = []
    opened: list[int] = []
    for ip, row in enumerate(code):
        opened = [k for k in opened if code[k]["jump"] > ip]
        found.append(tuple(opened))
        if row["op"] == GUARD:
            opened.append(ip)
    return found


def _closure(code: list[dict[str, Any]], slot: Slot, chosen: Mapping[Slot, list[int]]) -> tuple[int, ...]:
    """The instructions of a slot and of all slots that they read that are not recorded either, in order."""
    steps: set[int] = set()
    waiting, seen = [slot], {slot}
    while waiting:
        for ip in chosen[waiting.pop()]:
            steps.add(ip)
            read = (code[ip][name].slot for name in "abc" if name in code[ip])
            for other in read:
                if other in chosen and other not in seen:
                    seen.add(other)
                    waiting.append(other)
    return tuple(sorted(steps))


def operations(array: Mapping[str, Any]) -> int:
    """The approximate number of operations of an instruction."""
    count = math.prod(array["dims"]) if "n" not in array else array["n"]
    if array["kind"] == "reduce":
        count *= array.get("inner", 1)
    return int(count * array.get("outer", 1))


def reasons_of(state: LoweringState, found: Recomputed) -> dict[str, tuple[str, str]]:
    """Per node with an array in the rows of a loop: why it is recorded in every iteration, or not."""
    reasons: dict[str, tuple[str, str]] = {}
    for ref, spot in state.spots.items():
        if isinstance(ref, Ref) and spot.slot in found.reasons and ref.node not in reasons:
            reasons[ref.node] = found.reasons[spot.slot]
    return reasons
