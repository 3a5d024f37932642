"""Facts about a loop for its machine code: the values that can be in registers, the branches that need no jump."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.kernels import opcodes
from workbench.plan.native.code import SIZES
from workbench.plan.native.scalar_code import parse

MOST_SPECULATED = 12  # maximum time of a branch that is computed without being taken, in units of an addition

Instruction = Mapping[str, Any]


class UnsuitableLoop(Exception):
    """A loop that the interpreter must run; the message says why."""


class LoopSurvey:
    """The instructions of an innermost loop, from its head to its back jump; raises UnsuitableLoop.

    ``ops`` maps instructions to their scalar op, or None. ``slots`` maps offsets in the row to the bytes of their
    values, for values that can be in registers; ``writes`` to how often each is written in an iteration. ``both_sides``
    maps the guard of a branch that is computed in any case to the MARK that ends it (indices); ``labels`` are the
    instructions to which other guards jump. ``held``: whether all values that it reads from its row or computes are in
    registers, so that iterations need not write a row.
    """

    def __init__(self, instructions: Sequence[Instruction], context: tuple[Any, ...]) -> None:
        self.instructions = list(instructions)
        self.head, self.back = instructions[0]["ip"], instructions[-1]["ip"]
        self.frame = instructions[-1]["frame"]
        self.row_bytes, arrays, self._pool = context
        if arrays:
            raise UnsuitableLoop("its frame has arrays")
        self.ops = {i["ip"]: parse(i["name"]) if i["name"] else None for i in instructions}
        self.slots: dict[int, int] = {}
        self.writes: dict[int, int] = {}
        self._find_slots()
        guards = [k for k, i in enumerate(self.instructions) if i["op"] == opcodes.GUARD]
        self._jumped = {self.instructions[k]["jump"] for k in guards}
        if not self._jumped <= set(range(self.head + 1, self.back + 1)):
            raise UnsuitableLoop("a branch leads out of it")
        self.both_sides = {k: end for k in guards if (end := self._speculated(k)) is not None}
        self.held = all(self._is_held(i) for i in self.instructions)
        self.labels = {self.instructions[k]["jump"] for k in guards if k not in self.both_sides}

    def _find_slots(self) -> None:
        """Find the slots whose values can be in registers; refuse instructions that need the interpreter."""
        opaque: set[int] = set()
        for i in self.instructions:
            op, scalar = i["op"], self.ops[i["ip"]]
            if i["frame"] != self.frame:
                raise UnsuitableLoop("another frame's instructions stand among its own")
            if op in (opcodes.NOP, opcodes.GUARD, opcodes.MARK, opcodes.TEST, opcodes.BACK):
                continue
            if op not in (opcodes.KERNEL, opcodes.UFUNC, opcodes.CALL) or (op == opcodes.CALL and not i["check"]):
                raise UnsuitableLoop("it has an instruction that Python carries out")
            base, offset = i["out"] or i["places"][0]
            if base != self.frame + 1 or offset < 0:
                raise UnsuitableLoop("a result goes to another frame")
            self.writes[offset] = self.writes.get(offset, 0) + 1
            if scalar is None or scalar.op == "move" and op != opcodes.KERNEL:
                opaque.add(offset)
            elif self.slots.setdefault(offset, SIZES[scalar.output]) != SIZES[scalar.output]:
                raise UnsuitableLoop("values of several sizes share a slot")
        for offset in opaque:
            self.slots.pop(offset, None)
        spans = sorted((offset, self.slots.get(offset, 1)) for offset in self.writes)
        if any(at + size > after for (at, size), (after, _) in zip(spans, spans[1:], strict=False)):
            raise UnsuitableLoop("values overlap in the row")

    def _is_held(self, i: Instruction) -> bool:
        if i["op"] in (opcodes.NOP, opcodes.MARK, opcodes.BACK):
            return True
        read = [(base, offset) for base, offset, _ in i["literals"]]
        if i["op"] not in (opcodes.GUARD, opcodes.TEST) and self.ops[i["ip"]] is None:
            return False
        here = [offset for base, offset in [*read, *i["operands"]] if base == self.frame + 1]
        return all((offset if offset >= 0 else offset + self.row_bytes) in self.slots for offset in here)

    def _speculated(self, at: int) -> int | None:
        """Index of the MARK that ends the branch of the guard at an index, if both sides may be computed."""
        target, cost, literals = self.instructions[at]["jump"], 0, self.instructions[at]["literals"]
        if len(literals) != 1 or literals[0][2] > 1:
            return None
        for k in range(at + 1, len(self.instructions)):
            i, scalar = self.instructions[k], self.ops[self.instructions[k]["ip"]]
            if i["op"] == opcodes.MARK:
                return k if i["ip"] + 1 == target else None
            if i["op"] == opcodes.NOP:
                continue
            if i["op"] != opcodes.KERNEL or scalar is None or scalar.checked or i["ip"] in self._jumped:
                return None
            constant = self.constant(i, 1, scalar.inputs[-1])
            power = constant is not None and constant > 0 and constant & (constant - 1) == 0
            cost += 1 if power and scalar.op in ("floor_divide", "remainder") else scalar.cost
            if cost > MOST_SPECULATED:
                return None
        return None

    def constant(self, i: Instruction, number: int, dtype: str) -> int | None:
        """An operand that is an integer of the pool. Floats stay loads, so that nothing is computed in advance."""
        if number >= len(i["operands"]) or i["operands"][number][0] != 0 or dtype not in ("int32", "int64"):
            return None
        offset = i["operands"][number][1]
        return int.from_bytes(self._pool[offset : offset + SIZES[dtype]], "little", signed=True)
