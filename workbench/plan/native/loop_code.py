"""One innermost loop as a function in LLVM IR, from its instructions.

The function has the interface of a packed instruction of the executor (``kernels_pyx/executor/fast_path``). Values that
an iteration computes, and those of the previous iteration, are in registers; all are also written to the row, which is
the trace. It returns at the back jump if a chunk of rows or the events of this call end, or if a stop was requested,
and before an instruction that Python must run. After the loop's exit it calls the next packed instruction.

Short branches without divisions are computed on both sides, and the value is selected, because a mispredicted branch
takes longer than the other side. The content of a row is meaningless for a value that did not fire.

If most rows may stay unwritten (``Machine.unwritten``), a chunk of rows begins with a sprint: iterations in registers
only. If it would have to be left early, execution returns to the chunk's first row, and the chunk is computed with its
rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.kernels import opcodes
from workbench.plan.native.code import SIZES, TYPES, Code
from workbench.plan.native.loop_ends import ARGUMENTS, LoopEnds
from workbench.plan.native.plain_ops import ScalarOp
from workbench.plan.native.scalar_code import emit
from workbench.plan.native.survey import Instruction, LoopSurvey, UnsuitableLoop


class LoopCode:
    """Writes the function of one loop. ``context``: ``native_context`` of its frame; ``fields``: ``native_fields()``.

    Raises UnsuitableLoop for a loop that the interpreter must run.
    """

    def __init__(
        self, instructions: Sequence[Instruction], context: tuple[Any, ...], fields: Mapping[str, int]
    ) -> None:
        self.loop = LoopSurvey(instructions, context)
        self.entry, self.code, self.exits = Code("e"), Code("v"), Code("x")
        self.ends = LoopEnds(self.loop, self.entry, self.code, self.exits, fields)
        self._outside: dict[tuple[int, int, str], str] = {}  # values elsewhere, loaded once
        self._bases: dict[int, str] = {}
        self._guard: tuple[int, int, int] | None = None  # the literal of a branch that is computed in any case
        self._guarded = ""  # its value as an i1
        self._silent = ""  # the prefix of labels in a sprint
        self._waiting: dict[tuple[int, int], list[int]] = {}  # byte -> events if it is false, if it is true

    def function(self, name: str, loop_call: int) -> str:
        """The module's text. ``loop_call``: address of ``native_loop_call()``."""
        self.ends.enter(loop_call)
        self._body()
        self._add_waiting()
        self.ends.go_back()
        if self.loop.held:
            self._sprint()
        self.ends.begin()
        self.ends.leave()
        patience = self.ends.patience()
        return "\n".join(
            [
                *sorted(self.code.intrinsics),
                patience,
                f"define void @{name}({ARGUMENTS}) nounwind {{",
                "entry:",
                *self.entry.lines,
                "iteration:",
                *self.code.lines,
                *self.exits.lines,
                "}",
                '!0 = !{!"branch_weights", i32 1, i32 4096}',
            ]
        )

    def _sprint(self) -> None:
        self.code.label("sprint")
        self._silent = "s"
        self._body()
        self._add_waiting()
        self.ends.go_on_in_registers()

    def _base(self, base: int) -> str:
        """The address of an enclosing frame's row, the pool or a constant array, all constant in the loop."""
        if base not in self._bases:
            where = self.entry.at("%bases", 8 * base)
            self._bases[base] = self.entry.let(f"load ptr, ptr {where}")
        return self._bases[base]

    def _address(self, base: int, offset: int) -> str:
        if base == self.loop.frame + 1:
            return self.code.at(self._row(), offset)
        return self.code.at(self._base(base), offset)

    def _row(self) -> str:
        return self.code.let("load ptr, ptr %row")

    def _read(self, base: int, offset: int, dtype: str) -> str:
        """A value as the LLVM type of a dtype."""
        t, size = TYPES[dtype], SIZES[dtype]
        if base != self.loop.frame + 1:
            key = (base, offset, t)
            if key not in self._outside:
                where = self.entry.at(self._base(base), offset)
                self._outside[key] = self.entry.let(f"load {t}, ptr {where}, align 1")
            return self._outside[key]
        slot = offset if offset >= 0 else offset + self.loop.row_bytes
        if self.loop.slots.get(slot) == size:
            held = self.code.let(f"load i{8 * size}, ptr %{'now' if offset >= 0 else 'before'}{slot}")
            return held if t.startswith("i") else self.code.let(f"bitcast i{8 * size} {held} to {t}")
        if slot in self.loop.slots:
            raise UnsuitableLoop("a value is read in another size than it was written in")
        return self.code.let(f"load {t}, ptr {self._address(base, offset)}, align 1")

    def _write(self, offset: int, dtype: str, value: str) -> None:
        t, size = TYPES[dtype], SIZES[dtype]
        raw = value if t.startswith("i") else self.code.let(f"bitcast {t} {value} to i{8 * size}")
        row = "" if self._silent else self._address(self.loop.frame + 1, offset)
        held = offset in self.loop.slots  # else called functions also write there
        if self._guard is not None and self.loop.writes[offset] > 1:
            other = self.code.let(f"load i{8 * size}, ptr {f'%now{offset}' if held else row}, align 1")
            raw = self.code.let(f"select i1 {self._guarded}, i{8 * size} {raw}, i{8 * size} {other}")
        if held:
            self.code.do(f"store i{8 * size} {raw}, ptr %now{offset}")
        if row:
            self.code.do(f"store i{8 * size} {raw}, ptr {row}, align 1")

    # -- instructions -----------------------------------------------------------------------------------------------
    def _count(self, n: int) -> None:
        """Add events. Those of branches that are computed on both sides are added together later."""
        if self._guard is not None:
            base, offset, expect = self._guard
            self._waiting.setdefault((base, offset), [0, 0])[expect] += n
        elif n:
            self._add_events(str(n))

    def _add_events(self, n: str) -> None:
        before = self.code.let("load i64, ptr %events")
        self.code.do(f"store i64 {self.code.let(f'add i64 {before}, {n}')}, ptr %events")

    def _add_waiting(self) -> None:
        """Add the events of such branches, before any instruction that may leave the straight line."""
        for (base, offset), (if_false, if_true) in self._waiting.items():
            holds = self.code.let(f"icmp ne i8 {self._read(base, offset, 'bool')}, 0")
            self._add_events(self.code.let(f"select i1 {holds}, i64 {if_true}, i64 {if_false}"))
        self._waiting.clear()

    def _leave_if(self, refused: str, ip: int) -> None:
        self._add_waiting()
        stays, leaves = self.code.name() + "stays", self.code.name() + "leaves"
        if self._silent:
            self.code.do(f"br i1 {refused}, label %redo, label %{stays}, !prof !0")
            self.code.label(stays)
            return
        self.code.do(f"br i1 {refused}, label %{leaves}, label %{stays}, !prof !0")
        self.exits.label(leaves)
        self.exits.do(f"store i32 {ip}, ptr %ip")
        self.exits.do("br label %leave")
        self.code.label(stays)

    def _compute(self, i: Instruction, scalar: ScalarOp | None) -> None:
        if scalar is None:
            self._call(i)
            return
        operands, places = [], i["operands"]
        for k, (dtype, (base, offset)) in enumerate(zip(scalar.inputs, places, strict=True)):
            known = self.loop.constant(i, k, dtype)
            operands.append(str(known) if known is not None else self._read(base, offset, dtype))
        constant = self.loop.constant(i, len(places) - 1, scalar.inputs[-1]) if len(places) > 1 else None
        value, refused = emit(self.code, scalar, operands, constant)
        if refused is not None:
            self._leave_if(refused, i["ip"])
        self._write(i["out"][1], scalar.output, value)

    def _call(self, i: Instruction) -> None:
        """A compiled function by its address."""
        if i["op"] == opcodes.UFUNC:
            self.code.do(f"store ptr {self._row()}, ptr %base")
            instruction = self.code.at("%code", i["ip"] * self.ends.fields["instruction_size"])
            self._leave_if(self._called("i32", "%loop_call", f"ptr %m, ptr {instruction}"), i["ip"])
            return
        out, *operands = i["places"]
        places = [self._address(*out), *(self._address(*p) if p in i["operands"] else "null" for p in operands)]
        shown = ", ".join(f"ptr {place}" for place in places)
        if i["op"] == opcodes.KERNEL:
            function = self.entry.let(f"inttoptr i64 {i['function']} to ptr")
            self.code.do(f"call void {function}({shown})")
        else:
            function = self.entry.let(f"inttoptr i64 {i['check']} to ptr")
            sizes = self.entry.let(f"inttoptr i64 {i['sizes']} to ptr")
            self._leave_if(self._called("i32", function, f"{shown}, ptr {sizes}"), i["ip"])

    def _called(self, result: str, function: str, operands: str) -> str:
        found = self.code.let(f"call {result} {function}({operands})")
        return self.code.let(f"icmp ne {result} {found}, 0")

    def _holds(self, literals: Sequence[tuple[int, int, int]]) -> str:
        """The i1 that is true if all literals of a guard hold."""
        found = None
        for base, offset, expect in literals:
            if expect < 2:
                one = self.code.let(f"icmp {'ne' if expect else 'eq'} i8 {self._read(base, offset, 'bool')}, 0")
            else:
                number = self._read(base, offset, "int32")
                one = self.code.let(f"icmp {'sge' if expect == 2 else 'slt'} i32 {number}, 0")
            found = one if found is None else self.code.let(f"and i1 {found}, {one}")
        return found or "true"

    def _body(self) -> None:
        both, labels, s = self.loop.both_sides, self.loop.labels, self._silent
        for k, i in enumerate(self.loop.instructions):
            ip, op = i["ip"], i["op"]
            if ip in labels:
                self._add_waiting()
                self.code.do(f"br label %{s}at{ip}")
                self.code.label(f"{s}at{ip}")
            if op == opcodes.GUARD:
                self._count(i["events"])
                if k in both:
                    self._guard, self._guarded = i["literals"][0], self._holds(i["literals"])
                else:
                    self._add_waiting()
                    holds = self._holds(i["literals"])
                    self.code.do(f"br i1 {holds}, label %{s}in{ip}, label %{s}at{i['jump']}")
                    self.code.label(f"{s}in{ip}")
            elif op == opcodes.MARK:
                self._count(i["events"])
                if k in both.values():
                    self._guard = None
            elif op == opcodes.TEST:
                self._count(i["events"])
                self._add_waiting()
                base, offset = i["operands"][0]
                true = self.code.let(f"icmp ne i8 {self._read(base, offset, 'bool')}, 0")
                self.code.do(f"br i1 {true}, label %{s}in{ip}, label %{'redo' if s else f'out{ip}'}")
                if not s:
                    self.exits.label(f"out{ip}")
                    self.exits.do(f"store i32 {i['jump']}, ptr %ip")
                    self.exits.do("br label %exit")
                self.code.label(f"{s}in{ip}")
            elif op != opcodes.NOP and op != opcodes.BACK:
                self._compute(i, self.loop.ops[ip])
