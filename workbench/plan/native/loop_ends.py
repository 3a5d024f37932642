"""The beginning of a loop's function, its back jump, and its ends."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.plan.native.code import Code
from workbench.plan.native.survey import LoopSurvey

LOOKS = 256  # iterations between checks for a stop request, at which other threads see the progress
LONG = 4  # chunks of rows that an activation writes before a sprint, at whose end one chunk is computed twice
AHEAD = 2048  # bytes of the trace that are prefetched ahead of the current row, as in control_ops.h
ARGUMENTS = "ptr %m, ptr %i, ptr %row0, i64 %q, i64 %events0, double %d"
ZERO = "0x0000000000000000"  # LLVM's notation of 0.0


class LoopEnds:
    """Writes these parts into the lines of a function. ``fields``: ``native_fields()`` of the executor.

    A back jump tests only one counter: the number of iterations until one may have to end the call, at the end of a
    chunk of rows or of the events of this call. Then it checks whether it has to, and whether a stop was requested.

    A sprint becomes visible to other threads when the newest rows after it are written, the first readable row before
    the current one. If it is left earlier, execution starts again at the first row of the call (``redo``).
    """

    def __init__(self, loop: LoopSurvey, entry: Code, code: Code, exits: Code, fields: Mapping[str, int]) -> None:
        self.loop, self.entry, self.code, self.exits, self.fields = loop, entry, code, exits, fields
        self._most_events = max(1, sum(i["events"] for i in loop.instructions))  # of an iteration
        self._first: dict[int, str] = {}  # slot -> its value on entry of the function

    def field(self, code: Code, pointer: str, name: str) -> str:
        """The address of a field of one of the executor's structures."""
        return code.at(pointer, self.fields[name])

    def enter(self, loop_call: int) -> None:
        """Load the values that do not change; ``loop_call``: address of ``native_loop_call()``."""
        entry, fields = self.entry, self.fields
        for name, t in (
            ("row", "ptr"),
            ("events", "i64"),
            ("left", "i64"),
            ("ip", "i32"),
            ("first", "i64"),
            ("short", "i1"),
        ):
            entry.do(f"%{name} = alloca {t}")
        entry.do("store ptr %row0, ptr %row")
        entry.do("store i64 %events0, ptr %events")
        entry.do(f"%bases = load ptr, ptr {self.field(entry, '%m', 'base')}")
        entry.do(f"%base = getelementptr i8, ptr %bases, i64 {8 * (self.loop.frame + 1)}")
        entry.do(f"%frames = load ptr, ptr {self.field(entry, '%m', 'frames')}")
        entry.do(f"%rows = getelementptr i8, ptr %frames, i64 {self.loop.frame * fields['rows_size']}")
        entry.do(f"%end = load ptr, ptr {self.field(entry, '%rows', 'end')}")
        entry.do(f"%number_shown = getelementptr i8, ptr %rows, i64 {fields['row']}")
        entry.do("%number0 = load i64, ptr %number_shown")
        entry.do(f"%first_shown = getelementptr i8, ptr %rows, i64 {fields['first_row']}")
        entry.do("%first0 = load i64, ptr %first_shown")
        entry.do("store i64 %first0, ptr %first")
        entry.do("store i1 false, ptr %short")
        entry.do(f"%poll_at = load i64, ptr {self.field(entry, '%m', 'poll_at')}")
        entry.do(f"%stop_flag = getelementptr i8, ptr %m, i64 {fields['stop_flag']}")
        entry.do(f"%events_shown = getelementptr i8, ptr %m, i64 {fields['events']}")
        entry.do(f"%code = load ptr, ptr {self.field(entry, '%m', 'code')}")
        entry.do(f"store i64 {self._ask_patience(entry, '%row0', '%events0')}, ptr %left")
        entry.do(f"%loop_call = inttoptr i64 {loop_call} to ptr")

    def begin(self) -> None:
        """Load the values of the previous iteration, and start the first iteration."""
        entry = self.entry
        for slot, size in self.loop.slots.items():
            entry.do(f"%now{slot} = alloca i{8 * size}")
            entry.do(f"%before{slot} = alloca i{8 * size}")
            first = entry.let(f"load i{8 * size}, ptr {entry.at('%row0', slot - self.loop.row_bytes)}, align 1")
            entry.do(f"store i{8 * size} {first}, ptr %before{slot}")
            entry.do(f"store i{8 * size} 0, ptr %now{slot}")
            self._first[slot] = first
        if not self.loop.held:
            entry.do("br label %iteration")
            return
        per_chunk = entry.let(f"load i64, ptr {self.field(entry, '%rows', 'per_chunk')}")
        newest = entry.let(f"load i32, ptr {self.field(entry, '%m', 'unwritten')}")
        entry.do(f"%newest = sext i32 {newest} to i64")
        here, end = entry.let("ptrtoint ptr %row0 to i64"), entry.let("ptrtoint ptr %end to i64")
        whole = entry.let(f"mul i64 {per_chunk}, {self.loop.row_bytes}")
        begins = entry.let(f"icmp eq i64 {entry.let(f'sub i64 {end}, {here}')}, {whole}")
        polled = entry.let(f"sdiv i64 {entry.let('sub i64 %poll_at, %events0')}, {self._most_events}")
        most = entry.call("i64", "llvm.smin.i64", ("i64", per_chunk), ("i64", polled))
        self.code.intrinsics |= entry.intrinsics
        entry.do(f"%distance = sub i64 {most}, %newest")
        opened = entry.let(f"load i64, ptr {self.field(entry, '%rows', 'opened')}")
        ran = entry.let(f"sub i64 %events0, {opened}")
        long = entry.let(f"mul i64 {per_chunk}, {LONG * self._most_events}")
        conditions = [begins, entry.let("icmp sgt i64 %newest, 0"), entry.let(f"icmp sge i64 %distance, {LOOKS}")]
        wanted = entry.let(f"icmp sge i64 {ran}, {long}")
        for condition in conditions:
            wanted = entry.let(f"and i1 {wanted}, {condition}")
        entry.do(f"br i1 {wanted}, label %begin, label %iteration")
        entry.label("begin")
        entry.do("store i64 %distance, ptr %left")
        entry.do("br label %sprint")
        self._redo()

    def _redo(self) -> None:
        """Start again at the first row of the call, with rows."""
        exits = self.exits
        exits.label("redo")
        for slot, size in self.loop.slots.items():
            exits.do(f"store i{8 * size} {self._first[slot]}, ptr %before{slot}")
        exits.do("store ptr %row0, ptr %row")
        exits.do("store i64 %events0, ptr %events")
        exits.do("store i64 %first0, ptr %first")
        exits.do("store i1 false, ptr %short")
        exits.do(f"store i64 {self._ask_patience(exits, '%row0', '%events0')}, ptr %left")
        exits.do("br label %iteration")

    def go_on_in_registers(self) -> None:
        """The back jump of a sprint, and its end: the row before the next one is written."""
        code, i = self.code, self.loop.instructions[-1]
        more = code.let(f"add i64 {code.let('load i64, ptr %events')}, {i['events']}")
        code.do(f"store i64 {more}, ptr %events")
        left = code.let(f"add i64 {code.let('load i64, ptr %left')}, -1")
        code.do(f"store i64 {left}, ptr %left")
        for slot, size in self.loop.slots.items():
            held = code.let(f"load i{8 * size}, ptr %now{slot}")
            code.do(f"store i{8 * size} {held}, ptr %before{slot}")
        code.do(f"br i1 {code.let(f'icmp eq i64 {left}, 0')}, label %written, label %sprint, !prof !0")
        code.label("written")
        row = code.at("%row0", code.let(f"mul i64 %distance, {self.loop.row_bytes}"))
        for slot, size in self.loop.slots.items():
            held = code.let(f"load i{8 * size}, ptr %before{slot}")
            code.do(f"store i{8 * size} {held}, ptr {code.at(row, slot - self.loop.row_bytes)}, align 1")
        code.do(f"store ptr {row}, ptr %row")
        code.do(f"store i64 {code.let('add i64 %number0, %distance')}, ptr %first")
        code.do("store i1 true, ptr %short")
        code.do("store i64 %newest, ptr %left")
        code.do("br label %iteration")

    def go_back(self) -> None:
        """The back jump."""
        code, i = self.code, self.loop.instructions[-1]
        ahead = code.at(code.let("load ptr, ptr %row"), self.loop.row_bytes)
        more = code.let(f"add i64 {code.let('load i64, ptr %events')}, {i['events']}")
        code.do(f"store i64 {more}, ptr %events")
        left = code.let(f"add i64 {code.let('load i64, ptr %left')}, -1")
        code.do(f"store i64 {left}, ptr %left")
        code.do(f"br i1 {code.let(f'icmp eq i64 {left}, 0')}, label %look, label %go, !prof !0")
        code.label("look")
        code.do("store i1 false, ptr %short")
        flag = code.let("load atomic i32, ptr %stop_flag monotonic, align 4")
        stop = code.any(
            code.let(f"icmp eq ptr {ahead}, %end"),
            code.let(f"icmp sge i64 {more}, %poll_at"),
            code.let(f"icmp ne i32 {flag}, 0"),
        )
        code.do(f"br i1 {stop}, label %back, label %on")
        self.exits.label("back")  # the driver counts these events
        less = self.exits.let(f"sub i64 {more}, {i['events']}")
        self.exits.do(f"store i64 {less}, ptr %events")
        self.exits.do(f"store i32 {i['ip']}, ptr %ip")
        self.exits.do("br label %leave")
        code.label("on")
        code.do(f"store atomic i64 {more}, ptr %events_shown monotonic, align 8")
        self._show_row(code, ahead)
        code.do(f"store i64 {self._ask_patience(code, ahead, more)}, ptr %left")
        code.do("br label %go")
        code.label("go")
        code.do(f"store ptr {ahead}, ptr %row")
        code.intrinsics.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        code.do(f"call void @llvm.prefetch.p0(ptr {code.at(ahead, AHEAD)}, i32 1, i32 3, i32 1)")
        for slot, size in self.loop.slots.items():
            held = code.let(f"load i{8 * size}, ptr %now{slot}")
            code.do(f"store i{8 * size} {held}, ptr %before{slot}")
        code.do("br label %iteration")

    def _show_row(self, code: Code, row: str) -> None:
        first = code.let("load i64, ptr %first")
        code.do(f"store atomic i64 {first}, ptr %first_shown release, align 8")
        code.do(f"store atomic i64 {self._number(code, row)}, ptr %number_shown release, align 8")

    def _number(self, code: Code, row: str) -> str:
        """The index of a row, from its address."""
        first, here = code.let("ptrtoint ptr %row0 to i64"), code.let(f"ptrtoint ptr {row} to i64")
        rows = code.let(f"sdiv exact i64 {code.let(f'sub i64 {here}, {first}')}, {self.loop.row_bytes}")
        return code.let(f"add i64 %number0, {rows}")

    @staticmethod
    def _ask_patience(code: Code, row: str, events: str) -> str:
        return code.let(f"call i64 @patience(ptr {row}, ptr %end, i64 {events}, i64 %poll_at)")

    def patience(self) -> str:
        """The number of iterations, from the one in this row, until the first that may have to end the call. It is a
        separate function so that its terms are not updated in every iteration.
        """
        code = Code("p")
        here, end = code.let("ptrtoint ptr %row to i64"), code.let("ptrtoint ptr %end to i64")
        rows = code.let(f"sdiv i64 {code.let(f'sub i64 {end}, {here}')}, {self.loop.row_bytes}")
        polled = code.let(f"sdiv i64 {code.let('sub i64 %poll_at, %events')}, {self._most_events}")
        found = str(LOOKS)
        for other in (rows, polled):
            found = code.call("i64", "llvm.smin.i64", ("i64", found), ("i64", other))
        code.do(f"ret i64 {code.call('i64', 'llvm.smax.i64', ('i64', found), ('i64', '1'))}")
        self.code.intrinsics |= code.intrinsics
        head = "define internal i64 @patience(ptr %row, ptr %end, i64 %events, i64 %poll_at) noinline cold nounwind {"
        return "\n".join([head, *code.lines, "}"])

    def leave(self) -> None:
        """The two ends: before an instruction for the driver, or after the exit of the loop."""
        exits, fields = self.exits, self.fields
        for label in ("leave", "exit"):
            exits.label(label)
            if self.loop.held:
                short = exits.let("load i1, ptr %short")
                exits.do(f"br i1 {short}, label %redo, label %{label}s")
                exits.label(f"{label}s")
            row, events = exits.let("load ptr, ptr %row"), exits.let("load i64, ptr %events")
            exits.do(f"store ptr {row}, ptr %base")
            exits.do(f"store ptr {row}, ptr {self.field(exits, '%rows', 'cur')}")
            exits.do(f"store atomic i64 {events}, ptr %events_shown monotonic, align 8")
            self._show_row(exits, row)
            ops = exits.let(f"load ptr, ptr {self.field(exits, '%m', 'fast_ops')}")
            numbers = exits.let(f"load ptr, ptr {self.field(exits, '%m', 'fast_op_of')}")
            ip = exits.let(f"sext i32 {exits.let('load i32, ptr %ip')} to i64")
            found = exits.let(f"load i32, ptr {exits.let(f'getelementptr i32, ptr {numbers}, i64 {ip}')}")
            offset = exits.let(f"mul i64 {exits.let(f'sext i32 {found} to i64')}, {fields['fast_op_size']}")
            at = exits.at(ops, offset)
            if label == "exit" and fields["tail_calls"]:
                following = exits.let(f"load ptr, ptr {at}")
                operands = f"ptr %m, ptr {at}, ptr {row}, i64 0, i64 {events}, double {ZERO}"
                exits.do(f"musttail call void {following}({operands})")
                exits.do("ret void")
                continue
            exits.do(f"store ptr {at}, ptr {self.field(exits, '%m', 'at')}")
            exits.do(f"store i32 0, ptr {self.field(exits, '%m', 'go')}")
            exits.do("ret void")
