"""A second opinion on lifetimes: the real program listing, followed byte by byte.

Each byte of the outermost level's memory of arrays knows which slot wrote it last. The listing is walked from top to
bottom, loops twice; an instruction may only read bytes that the slot it names wrote (or that nothing did: a feed). What
the fast path runs block by block is walked in two halves. It shares nothing with the planner but the listing itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from workbench.ir.types import numpy_dtype
from workbench.kernels.opcodes import ARRAY, CALL, NOP
from workbench.plan import plan as planning
from workbench.plan.lowering.lower import Lowering
from workbench.plan.memory.storage import Slot, Spot

#: of an operand: (slot, first byte, byte after the last)
Range = tuple[Slot, int, int]


@contextmanager
def listings() -> Iterator[list[Lowering]]:
    """The lowerings of the plans that are made inside."""
    found: list[Lowering] = []

    class Kept(Lowering):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            found.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "Lowering", Kept)
        yield found


def check_listing(lowering: Lowering) -> int:
    """AssertionError where a value is overwritten or released before its last reader; returns the reads looked at."""
    owner = np.full(1 + max((s.offset + s.size for s in lowering.state.slots[0] if s.stored), default=0), -1, np.int32)
    numbers = {slot: k for k, slot in enumerate(lowering.state.slots[0])}
    loops = [lowering.state.ranges[k] for k, path in enumerate(lowering.state.frames) if len(path) == 1]
    count, ip, code = 0, 0, lowering.state.code
    order: list[int] = []
    while ip < len(code):
        loop = next((r for r in loops if r[0] == ip), None)
        order += [*range(*loop), *range(*loop)] if loop else [ip]
        ip = loop[1] if loop else ip + 1
    at = 0
    while at < len(order):
        run = _chain(lowering, order, at)
        for part in range(2 if len(run) > 1 else 1):
            for ip in run:
                halves = (part, 2) if len(run) > 1 else (0, 1)
                reads, writes = _touched(lowering, code[ip], halves)
                for slot, start, stop in reads:
                    if slot.dtype is None:
                        inside = next((r[1] for r in loops if r[0] <= ip < r[1]), ip)
                        assert slot.until < 0 or inside < slot.until, f"{ip} reads an object that {slot.until} released"
                    elif slot.stored:
                        held = owner[slot.offset + start : slot.offset + stop]
                        assert ((held == numbers[slot]) | (held == -1)).all(), f"{code[ip]} reads what is gone"
                    count += 1
                for slot, start, stop in writes:
                    if slot.stored:
                        owner[slot.offset + start : slot.offset + stop] = numbers[slot]
        at = at + 1 if len(run) == 1 else order.index(run[-1], at) + 1
    return count


def _chain(lowering: Lowering, order: list[int], at: int) -> list[int]:
    """The instructions that run as one from here on: flat ones and statistics of one length, as long as none reaches
    bytes of an earlier one other than item by item (kernels: array_fusion.h)."""
    found: list[int] = []
    spans: list[tuple[bool, int, int]] = []
    for ip in order[at:]:
        row = lowering.state.code[ip]
        if row["op"] == NOP and found:
            continue
        linked = row["op"] == ARRAY and row["array"]["kind"] in ("flat", "stats", "rows", "copy", "nest")
        linked = linked and "n" in row["array"]
        if not linked or found and row["array"]["n"] != lowering.state.code[found[0]]["array"]["n"]:
            break
        reads, writes = _touched(lowering, row, (0, 1))
        mine = [(False, s.offset + a, s.offset + b) for s, a, b in reads if s.stored]
        mine += [(True, s.offset + a, s.offset + b) for s, a, b in writes if s.stored]
        if any((w or v) and a < d and c < b and (a, b) != (c, d) for w, a, b in mine for v, c, d in spans):
            break
        found.append(ip)
        spans += mine
    return found or [order[at]]


def _touched(lowering: Lowering, row: dict[str, Any], halves: tuple[int, int]) -> tuple[list[Range], list[Range]]:
    if row["op"] == CALL:
        _, ins, outs, *_ = lowering.state.calls[row["x0"]]
        return [_whole(s) for s in ins if _here(s)], [_whole(s) for s in outs if _here(s)]
    reads = {k: v for k, v in row.items() if isinstance(v, Spot) and k != "out" and _here(v)}
    out = row.get("out")
    if row["op"] != ARRAY:
        return [_whole(s) for s in reads.values()], [_whole(out)] if out is not None and _here(out) else []
    array = row["array"]
    found = []
    for letter, spot in reads.items():
        found.append(_extent(array, "abc".index(letter), spot, halves))
    return found, [_extent(array, 3, out, halves)] if out is not None and _here(out) else []


def _here(spot: Spot) -> bool:
    return spot.slot.frame == 0


def _whole(spot: Spot) -> Range:
    size = 16 if spot.dtype is None else numpy_dtype(spot.dtype).itemsize * math.prod(spot.shape)
    return spot.slot, spot.delta, min(spot.slot.size, spot.delta + size)


def _extent(array: dict[str, Any], operand: int, spot: Spot, halves: tuple[int, int]) -> Range:
    """The bytes of an operand that an array instruction reaches (operand 3 is the result)."""
    item = numpy_dtype(str(spot.dtype)).itemsize
    kind = array["kind"]
    steps = array["steps"][-1 if operand == 3 else operand] if kind in ("copy", "nest") else ()
    # in a chain such an operand is walked item by item, but for the side of a copy whose rows lie apart
    even = all(a == b * d for a, b, d in zip(steps, steps[1:], array.get("dims", ())[1:], strict=False))
    if kind in ("flat", "rows", "stats") or kind in ("copy", "nest") and "n" in array and even:
        part, parts = halves
        stride, n = array["stride"][operand], array["n"]
        low, high = n * part // parts, n * (part + 1) // parts
        if kind == "stats" and operand == 3 or stride == 0:
            return _whole(spot)
        return spot.slot, spot.delta + low * stride, spot.delta + (high - 1) * stride + item
    if kind in ("copy", "nest"):
        reach = [(d - 1) * s for d, s in zip(array["dims"], steps, strict=True)]
        low, high = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
        return spot.slot, spot.delta + low, spot.delta + high + item
    if kind == "reduce":
        size = array["outer"] * array["n"] * array["inner"] * item
        return (spot.slot, spot.delta, spot.delta + size) if operand < 3 else _whole(spot)
    if kind == "core":  # NumPy's loop of a product, outer times; here of whole arrays
        return _whole(spot)
    assert kind == "matmul"
    m, k, n = array["dims"]
    return spot.slot, spot.delta, spot.delta + (m * k, k * n, 0, m * n)[operand] * item
