"""From scheduled blocks to the flat program: instructions, slots, and the layout that the trace reads.

One frame becomes (see kernels: interpreter)::

    LOOP f, moves of the start values, START f, enters          init row, then iteration 0
  header:  nodes of the condition, TEST -> exits
           nodes of the body, moves of next values, BACK -> header
  exits:   moves of the results into the parent's row, MARK

Nodes that only rename a value (Identity, Switch, Enter, Merge of a loop, NextIteration) cost nothing: they are events
without work, and their value is read from the slot of what they rename.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.graph.frames import FramePath
from workbench.graph.graph import Graph
from workbench.graph.node import Node, Ref
from workbench.graph.types import TensorType, numpy_dtype
from workbench.kernels import machine, typed
from workbench.kernels.layout import Condition, FrameLayout, Layout, NodeLayout, Place, ValueLayout
from workbench.plan.arrays import ArrayCode, Step, dims_of, statistics_step, whole_copy
from workbench.plan.guards import ALIVE, Guard, Guards, is_loop_merge, root_of
from workbench.plan.places import SMALL_BYTES, Pool, Slot, Spot, array_bytes, in_rows, lay_out, lay_out_arrays
from workbench.plan.schedule import Block, Item
from workbench.plan.select import Choice, array_code_of, box, choose, resolver

NOP, KERNEL, UFUNC, CALL, MOVE, ARRAY, GUARD, MARK, LOOP, START, TEST, BACK, HALT = range(13)

#: numbers that kernels.statistics leaves
STATISTICS = 7
CONTROL = frozenset((
    "Const", "Enter", "Exit", "Merge", "Placeholder", "Switch", "Identity", "NextIteration", "LoopCond",
))  # fmt: skip

#: chunks are dropped whole: those of frames with arrays hold about this many bytes, and at most so many rows
CHUNK_BYTES, MOST_ROWS = 16 << 20, 64


def _stand_together(a: Spot, b: Spot) -> bool:
    return (a.slot, a.shift, a.delta) == (b.slot, b.shift, b.delta)


class Lowering:
    """Makes one program. Use once: ``Lowering(...).run()``."""

    def __init__(
        self, graph: Graph, blocks: Mapping[FramePath, Block], guards: Guards,
        types: Mapping[str, tuple[TensorType, ...]],
        outputs: Iterable[Ref], statistics: bool = False,
    ) -> None:  # fmt: skip
        self.graph, self.blocks, self.guards, self.types = graph, blocks, guards, types
        self.frames: list[FramePath] = list(blocks)
        self.number = {path: i for i, path in enumerate(self.frames)}
        self.code: list[dict[str, Any]] = []
        self.literals: list[tuple[Spot, int]] = []
        self.calls: list[tuple[Any, tuple[Spot, ...], tuple[Spot, ...], bool, Any]] = []
        self.pool = Pool()
        self.slots: dict[int, list[Slot]] = {i: [] for i in range(len(self.frames))}
        self.array_bytes = [0] * len(self.frames)  # of all array columns of a row, as far as is known
        self.spots: dict[Ref, Spot] = {}
        self.choices: dict[str, Choice] = {}
        self.ips: dict[str, int] = {}
        self.ranges: dict[int, tuple[int, int]] = {}
        self.conditions: dict[int, tuple[Spot, int]] = {}
        self.carried: dict[str, Slot] = {}  # loop Merge -> its column
        # frame -> columns of value_index: (column, in iteration 0, later)
        self.indices: dict[int, list[tuple[Slot, int, int]]] = {}
        self.coded: dict[str, ArrayCode | None] = {}
        self.statistics = statistics
        # array in a column: (column, byte, items) -> column of its statistics
        self.statistics_of: dict[tuple[Slot, int, int], Slot] = {}
        self.read = {r for n in types for r in graph.nodes[n].inputs} | set(outputs)

    # -- spots -------------------------------------------------------------------------------------------------
    def spot(self, ref: Ref) -> Spot:
        """Where a value stands, seen from the frame in which it is alive."""
        found = self.spots.get(ref)
        if found is None:
            node = self.graph.nodes[ref.node]
            if node.op == "Const":
                found = Spot(self.pool.add(node.attrs["value"]))
            elif is_loop_merge(self.graph, node) and ref.index == 0:
                found = Spot(self.carried[node.name], -1)
            elif node.op in ("Identity", "Enter", "NextIteration", "LoopCond", "Switch"):
                found = self.spot(node.inputs[0])
            else:
                raise KeyError(ref)
            self.spots[ref] = found
        return found

    def new_slot(self, frame: int, type_: TensorType, rows: bool = False) -> Slot:
        """A column for values of this type; ``rows``: in the rows also if it is a large array."""
        if in_rows(type_) and (rows or array_bytes(type_) <= SMALL_BYTES):
            slot = Slot(frame, type_.dtype, dims_of(type_))
        else:
            slot = Slot(frame, None)
            self.array_bytes[frame] += array_bytes(type_)
        self.slots[frame].append(slot)
        return slot

    def code_of(self, node: Node) -> ArrayCode | None:
        """Instructions on arrays for a node, if there are some."""
        if node.name not in self.coded:
            types = [self.type_of(r) for r in node.inputs]
            values = [self._constant(r) for r in node.inputs]
            self.coded[node.name] = array_code_of(node, types, self.types[node.name], values)
        return self.coded[node.name]

    def _constant(self, ref: Ref) -> np.ndarray | None:
        node = self.graph.nodes[root_of(self.graph, ref).node]
        while node.op in ("Enter", "Identity"):
            node = self.graph.nodes[root_of(self.graph, node.inputs[0]).node]
        return node.attrs["value"] if node.op == "Const" else None

    def made_in_rows(self, ref: Ref, depth: int = 8) -> bool:
        """Whether compiled code leaves a value in a row."""
        node = self.graph.nodes[root_of(self.graph, ref).node]
        if depth and node.op == "Merge" and not is_loop_merge(self.graph, node):
            return all(self.made_in_rows(r, depth - 1) for r in node.inputs)
        if depth and node.op in ("Exit", "Enter"):
            return self.made_in_rows(node.inputs[0], depth - 1)
        if node.op == "Placeholder":
            return True
        return node.op not in CONTROL and self.code_of(node) is not None

    def type_of(self, ref: Ref) -> TensorType:
        return self.types[ref.node][ref.index]

    # -- instructions ----------------------------------------------------------------------------------------------
    def emit(self, op: int, frame: int, **fields: Any) -> int:
        self.code.append({"op": op, "frame": frame, **fields})
        return len(self.code) - 1

    def move(self, source: Spot, target: Spot, frame: int, **fields: Any) -> None:
        """Copy a value; between a number and an array it is boxed or unboxed."""
        if source.dtype is None and target.dtype is None:
            self.emit(MOVE, frame, a=source, out=target, **fields)
        elif target.shape and (source.dtype or source.is_constant):
            array = whole_copy(TensorType(str(target.dtype), target.shape)).array
            self.emit(ARRAY, frame, array=array, a=self.readable(source), out=target, **fields)
            self.summarize(target, frame)
        elif source.number and source.number == target.number:
            size = target.slot.size
            kernel, hot = machine.move_kernel(size), f"move_{size}"
            self.emit(KERNEL, frame, kernel=kernel, hot=hot, a=source, out=target, **fields)
        else:
            self.calls.append((box, (source,), (target,), False, None))
            self.emit(CALL, frame, x0=len(self.calls) - 1, **fields)
            self.summarize(target, frame)

    def summarize(self, spot: Spot, frame: int) -> None:
        """Statistics of the array that has just been written, if the run keeps them."""
        address = typed.statistics(str(spot.dtype)) if self.statistics and spot.slot.stored else None
        if address is None:
            return
        key = (spot.slot, spot.delta, math.prod(spot.shape))
        if key not in self.statistics_of:
            self.statistics_of[key] = Slot(spot.slot.frame, "float64", (STATISTICS,), beside=True)
            self.slots[spot.slot.frame or 0].append(self.statistics_of[key])
        array = statistics_step(address, TensorType(str(spot.dtype), spot.shape))
        self.emit(ARRAY, frame, array=array, a=spot, out=Spot(self.statistics_of[key]))

    def readable(self, spot: Spot) -> Spot:
        """A spot as compiled code can read it: constant arrays get a base of their own."""
        if spot.is_constant and spot.dtype is None:
            self.pool.arrays.setdefault(spot.slot, np.ascontiguousarray(self.pool.value(spot.slot)))
        return spot

    def guarded(self, guard: Guard, frame: int) -> int | None:
        """Open a guarded run; give the result to :meth:`close`."""
        if not guard:
            return None
        first = len(self.literals)
        for ref, wanted in sorted(guard, key=lambda g: self.ips.get(g[0].node, -1)):
            self.literals.append((self.spot(ref), 2 if wanted is ALIVE else int(wanted)))
        return self.emit(GUARD, frame, x0=first, x1=len(guard))

    def close(self, opened: int | None, frame: int) -> None:
        if opened is not None:
            self.emit(MARK, frame)
            self.code[opened]["jump"] = len(self.code)

    # -- blocks -----------------------------------------------------------------------------------------------------
    def section(self, items: tuple[Item, ...], frame: int) -> None:
        """A run of items, consecutive ones of one guard under one jump."""
        at = 0
        while at < len(items):
            guard = items[at].guard
            opened = self.guarded(guard, frame)
            while at < len(items) and items[at].guard == guard:
                item = items[at]
                if item.frame is None:
                    self.node(self.graph.nodes[item.name], frame)
                else:
                    self.loop(self.blocks[item.frame])
                at += 1
            self.close(opened, frame)

    def loop(self, block: Block) -> None:
        frame, outer = self.number[block.path], self.number[block.path[:-1]]
        start = self.emit(LOOP, frame)
        moves = self._carried_columns(block, frame)
        for enter, slot in moves:
            self.move(self.spot(self.graph.nodes[enter].inputs[0]), Spot(slot), frame)
        for column, first, _ in self.indices.get(frame, ()):
            self._number(first, column, frame)
        self.emit(START, frame)
        for enter in block.enters:
            self.ips[enter] = self.emit(NOP, frame, event=True)
        self.emit(MARK, frame)
        header = len(self.code)
        self.section(block.header, frame)
        pred = block.pred
        assert pred is not None
        test = self.emit(TEST, frame, a=self.spot(pred))
        self.conditions[frame] = (self.spot(pred), 1)
        self.section(block.body, frame)
        for column, _, later in self.indices.get(frame, ()):
            self._number(later, column, frame)
        self.emit(BACK, frame, jump=header)
        self.code[test]["jump"] = len(self.code)
        self.section(block.exits, frame)
        self.ranges[frame] = (start, len(self.code))
        self.emit(MARK, outer)

    def _carried_columns(self, block: Block, frame: int) -> list[tuple[str, Slot]]:
        """A column for each loop variable; the slot of the next value itself where that is possible."""
        moves = []
        for item in block.header:
            node = self.graph.nodes[item.name]
            if not is_loop_merge(self.graph, node):
                continue
            back = next(r for r in node.inputs if self.graph.nodes[r.node].op == "NextIteration")
            enter = next(r for r in node.inputs if r != back)
            source = root_of(self.graph, self.graph.nodes[back.node].inputs[0])
            slot = self.new_slot(frame, self.type_of(node.ref()), self.made_in_rows(source))
            self.carried[node.name] = slot
            ahead, behind = node.inputs.index(enter), node.inputs.index(back)
            if node.ref(1) in self.read or ahead:  # else the trace derives the index: 0 first, then 1
                column = self.new_slot(frame, TensorType("int32", ()))
                self.spots[node.ref(1)] = Spot(column, -1)
                self.indices.setdefault(frame, []).append((column, ahead, behind))
            producer = self.graph.nodes[source.node]
            computed = producer.op not in CONTROL
            type_ = self.type_of(source)
            same_kind = (slot.dtype, slot.shape) == (type_.dtype, type_.shape) if slot.dtype else not in_rows(type_)
            if computed and same_kind and source not in self.spots and self.graph.frame_of(source.node) == block.path:
                self.spots[source] = Spot(slot)  # the kernel writes the next value where the next iteration reads it
            moves.append((enter.node, slot))
        return moves

    def node(self, node: Node, frame: int) -> None:
        silent = node.op == "Const" or (node.op == "Enter" and bool(node.attrs.get("is_constant")))
        event = {"event": True, "silent": silent}
        if node.op == "NextIteration":
            merge, *others = (c for c in self.graph.consumers(node.name) if c in self.carried)
            source, target = self.spot(node.inputs[0]), Spot(self.carried[merge])
            for other in others:  # one value that several variables take on
                self.move(source, Spot(self.carried[other]), frame)
            if source.slot is target.slot and source.shift == 0:
                self.ips[node.name] = self.emit(NOP, frame, **event)
            else:
                self.ips[node.name] = len(self.code)
                self.move(source, target, frame, **event)
        elif node.op == "Exit":
            outer = self.number[self.graph.frame_of(node.name)[:-1]]
            source = self.spot(node.inputs[0])
            slot = self.new_slot(outer, self.type_of(node.ref()), source.dtype is not None)
            self.spots[node.ref()] = Spot(slot)
            self.ips[node.name] = len(self.code)
            self.move(source, Spot(slot), frame, **event)
        elif node.op == "Placeholder":
            self.spots[node.ref()] = Spot(self.new_slot(frame, self.type_of(node.ref()), True))
            self.ips[node.name] = self.emit(NOP, frame, **event)
        elif node.op == "Merge" and not is_loop_merge(self.graph, node):
            self._merge(node, frame)
        elif node.op in ("Const", "Identity", "Enter", "LoopCond", "Switch", "Merge", "NoOp"):
            self.ips[node.name] = self.emit(NOP, frame, **event)
        else:
            self._compute(node, frame)

    def _compute(self, node: Node, frame: int) -> None:
        inputs = [self.spot(r) for r in node.inputs]
        large = (s.dtype is None and not s.is_constant and array_bytes(t) > SMALL_BYTES
                 for s, t in zip(inputs, map(self.type_of, node.inputs), strict=True))  # fmt: skip
        code = self.code_of(node)
        if code is not None and not any(large):
            self._array_node(node, code, inputs, frame)
            return
        outputs = self._outputs(node, frame, False)
        choice = choose(node, [s.number for s in inputs], [s.number for s in outputs])
        self.choices[node.name] = choice
        operands = {**dict(zip("abc", inputs, strict=False)), "out": outputs[0]} if outputs and len(inputs) <= 3 else {}
        if choice.kind == "kernel":
            at = self.emit(KERNEL, frame, kernel=choice.kernel, hot=choice.hot, event=True, **operands)
        elif choice.kind == "ufunc":
            at = self.emit(
                UFUNC, frame, ufunc=choice.ufunc, sizes=choice.sizes, x0=len(inputs), hot=choice.hot, event=True,
                **operands,
            )  # fmt: skip
        else:
            dynamic = len(outputs) == 1 and outputs[0].dtype is None
            dtypes = [self.type_of(r).dtype for r in node.inputs]
            resolve = resolver(node, dtypes, self.types[node.name][0].dtype) if dynamic else None
            if resolve is not None:
                why = f"{node.op} works on arrays of unknown shape; its compiled loop is set up once for each shape"
                self.choices[node.name] = replace(choice, reason=("dynamic-shape", why))
            self.calls.append((choice.call, tuple(inputs), tuple(outputs), choice.sees, resolve))
            at = self.emit(CALL, frame, x0=len(self.calls) - 1, event=True)
            for spot in outputs:
                self.summarize(spot, frame)
        self.ips[node.name] = at

    def _outputs(self, node: Node, frame: int, rows: bool) -> list[Spot]:
        for index, type_ in enumerate(self.types[node.name]):
            if node.ref(index) not in self.spots:
                self.spots[node.ref(index)] = Spot(self.new_slot(frame, type_, rows))
        return [self.spots[node.ref(index)] for index in range(len(self.types[node.name]))]

    def _array_node(self, node: Node, code: ArrayCode, inputs: list[Spot], frame: int) -> None:
        """Instructions on arrays in rows; a view of an array in rows or of a constant is none at all."""
        why = f"{node.op} works on arrays of known shape, in the rows"
        self.choices[node.name] = Choice("array", ("compiled-array", why))
        inputs = [self.unboxed(s, self.type_of(r), frame) for s, r in zip(inputs, node.inputs, strict=True)]
        work: list[tuple[Step, Spot]] = []
        for index, type_ in enumerate(self.types[node.name]):
            ref, steps = node.ref(index), code.steps.get(index, [])
            if index in code.views:
                view = self.view_of(inputs[0], code.views[index], type_)
                if ref not in self.spots:
                    self.spots[ref] = view
                    continue
                steps = [whole_copy(type_, code.views[index])]
            if ref not in self.spots:
                self.spots[ref] = self.destination(ref, type_, frame) or Spot(self.new_slot(frame, type_, True))
            work.extend((step, self.spots[ref]) for step in steps)
        self.ips[node.name] = len(self.code)
        event: dict[str, Any] = {"event": True}
        for step, out in work:
            operands = {}
            for letter, (k, delta) in zip("abc", step.operands, strict=False):
                given = step.constant if k < 0 else None
                spot = self.readable(inputs[k] if given is None else Spot(self.pool.add(given)))
                operands[letter] = replace(spot, delta=spot.delta + delta)
            target = replace(out, delta=out.delta + step.delta)
            if step.places and _stand_together(operands["a"], target):
                continue  # its maker has put it there
            self.emit(ARRAY, frame, array=step.array, out=target, **operands, **event)
            event = {}
        if event:
            self.emit(NOP, frame, **event)
        for out in dict.fromkeys(out for _, out in work):
            self.summarize(out, frame)

    def destination(self, ref: Ref, type_: TensorType, frame: int) -> Spot | None:
        """Where the only reader that joins it with others wants a value: then it is written there at once."""
        found = None
        for name in self.graph.consumers(ref.node):
            node = self.graph.nodes[name]
            if node.op not in ("concat", "pad", "stack") or name not in self.types:
                continue
            same = self.graph.frame_of(name) == self.graph.frame_of(ref.node)
            if found is not None or not same or self.guards.node[name] != self.guards.node[ref.node]:
                return None
            found = node
        code = self.code_of(found) if found is not None else None
        if found is None or code is None or found.inputs.count(ref) != 1:
            return None
        step = next((s for s in code.steps.get(0, ()) if s.operands[0] == (found.inputs.index(ref), 0)), None)
        if step is None or not step.places:
            return None
        if found.ref() not in self.spots:
            self.spots[found.ref()] = Spot(self.new_slot(frame, self.type_of(found.ref()), True))
        whole = self.spots[found.ref()]
        return replace(whole, delta=whole.delta + step.delta, view=dims_of(type_))

    def view_of(self, spot: Spot, delta: int, type_: TensorType) -> Spot:
        """``delta`` bytes into an array, as an array of another shape."""
        if not spot.is_constant:
            return replace(spot, delta=spot.delta + delta, view=dims_of(type_))
        whole = np.ascontiguousarray(self.pool.value(spot.slot)).reshape(-1).view(np.uint8)
        part = whole[delta : delta + array_bytes(type_)].view(numpy_dtype(type_.dtype)).reshape(dims_of(type_))
        return Spot(self.pool.add(part))

    def unboxed(self, spot: Spot, type_: TensorType, frame: int) -> Spot:
        """An array that is kept as an object, copied into the rows for compiled code."""
        if spot.dtype is not None or spot.is_constant:
            return spot
        target = Spot(self.new_slot(frame, type_, True))
        self.move(spot, target, frame)
        return target

    def _merge(self, node: Node, frame: int) -> None:
        """A conditional Merge: each living side moves its value; the first that is alive wins."""
        live = self.guards.merges[node.name]
        alive = frozenset({(node.ref(1), ALIVE)}) & self.guards.node[node.name]
        own = self.guards.node[node.name] - alive
        sides = [self.spot(node.inputs[i]) for i in live]
        slot = self.new_slot(frame, self.type_of(node.ref()), all(s.dtype is not None for s in sides))
        self.spots[node.ref()] = Spot(slot)
        index: Slot | None = None
        if alive or node.ref(1) in self.read:
            index = self.new_slot(frame, TensorType("int32", ()))
            self.spots[node.ref(1)] = Spot(index)
        if alive and index is not None:
            self._number(-1, index, frame)
        self.ips[node.name] = len(self.code)  # orders its literal after those of its sides
        for i in reversed(live):
            opened = self.guarded(self._beyond(self.guards.value[node.inputs[i]], own, frame), frame)
            self.move(self.spot(node.inputs[i]), Spot(slot), frame)
            if index is not None:
                self._number(i, index, frame)
            self.close(opened, frame)
        opened = self.guarded(alive, frame)
        self.ips[node.name] = self.emit(NOP, frame, event=True)
        self.close(opened, frame)

    def _beyond(self, guard: Guard, own: Guard, frame: int) -> Guard:
        """The literals of a side that the place of the Merge does not already ensure."""
        pred = self.blocks[self.frames[frame]].pred
        return frozenset(g for g in guard - own if pred is None or g[0] != pred)

    def _number(self, value: int, slot: Slot, frame: int) -> None:
        constant = Spot(self.pool.add(np.array(value, np.int32)))
        self.emit(KERNEL, frame, kernel=machine.move_kernel(4), hot="move_4", a=constant, out=Spot(slot))

    # -- the end --------------------------------------------------------------------------------------------------
    def run(self) -> tuple[machine.Program, Layout]:
        """The finished program and where the trace finds everything in its rows."""
        self.section(self.blocks[()].header, 0)
        self.emit(HALT, 0)
        self.ranges[0] = (-1, len(self.code))
        # constants that only the trace reads get their place too
        spots = {Ref(n, i): self._trace_spot(Ref(n, i)) for n in self.ips for i in range(len(self.types[n]))}
        pool, objects = self.pool.finish()
        frames, bytes_of, stores = [], [], []
        self.store_frames = [n for n in range(len(self.frames)) if any(s.stored for s in self.slots[n])]
        for number, path in enumerate(self.frames):
            row_bytes, object_columns = lay_out([s for s in self.slots[number] if not s.stored])
            bytes_of.append(row_bytes)
            parent = self.number[path[:-1]] if path else -1
            per_chunk = 1 if not path else self._rows_per_chunk(number) if object_columns else 0
            frames.append((row_bytes, parent, per_chunk, object_columns))
            for slot in self.slots[number]:
                slot.base = 1 + (len(self.frames) + self.store_frames.index(number) if slot.stored else number)
        for number in self.store_frames:
            arrays = [s for s in self.slots[number] if s.stored]
            shapes = sorted({(str(s.dtype), s.shape) for s in arrays})
            carried = [s for s in self.carried.values() if s.stored and s.frame == number]
            stores.append((number, lay_out_arrays(arrays), [(s.offset, s.size) for s in carried], shapes))
        layout = self._layout(spots, bytes_of)
        first_constant = 1 + len(self.frames) + 2 * len(stores)
        constants = {slot: first_constant + k for k, slot in enumerate(self.pool.arrays)}

        def operand(spot: Spot, compiled: bool = False) -> tuple[int, int]:
            if compiled and spot.slot in constants:
                return constants[spot.slot], spot.delta
            return layout.operand(spot.place())

        def call_operand(spot: Spot) -> tuple[int, int, Any, tuple[int, ...]]:
            return (
                *layout.operand(spot.place()), None if spot.dtype is None else numpy_dtype(spot.dtype), spot.shape,
            )  # fmt: skip

        code = [
            {k: operand(v, row["op"] == ARRAY) if isinstance(v, Spot) else v for k, v in row.items()}
            for row in self.code
        ]
        literals = [(*operand(spot), expect) for spot, expect in self.literals]
        calls = [
            (f, [call_operand(s) for s in ins], [call_operand(s) for s in outs], *more)
            for f, ins, outs, *more in self.calls
        ]
        arrays = list(self.pool.arrays.values())
        return machine.Program(code, literals, frames, pool, objects, calls, stores, arrays), layout

    def _rows_per_chunk(self, frame: int) -> int:
        return min(MOST_ROWS, max(2, CHUNK_BYTES // max(1, self.array_bytes[frame])))

    def _trace_spot(self, ref: Ref) -> Spot | None:
        try:
            return self.spot(ref)
        except KeyError:
            return None  # a value_index that nothing reads: the trace derives it

    def _statistics(self, spot: Spot | None) -> Place | None:
        """Where the statistics of an array stand; other views of it share them."""
        if spot is None or spot.slot.frame is None:
            return None
        found = self.statistics_of.get((spot.slot, spot.delta, math.prod(spot.shape)))
        return None if found is None else Spot(found, spot.shift).place()

    def _conditions(self, guard: Guard) -> tuple[Condition, ...]:
        ordered = sorted(guard, key=lambda g: self.ips.get(g[0].node, -1))
        return tuple(Condition(self.spot(r).place(), 2 if wanted is ALIVE else int(wanted)) for r, wanted in ordered)

    def _layout(self, spots: Mapping[Ref, Spot | None], bytes_of: list[int]) -> Layout:
        frames = []
        for number, path in enumerate(self.frames):
            cond = self.conditions.get(number)
            frames.append(FrameLayout(
                path, self.number[path[:-1]] if path else -1, bytes_of[number], *self.ranges[number],
                None if cond is None else Condition(cond[0].place(), cond[1]),
            ))  # fmt: skip
        nodes, values = [], {}
        for name, ip in sorted(self.ips.items(), key=lambda n: n[1]):
            node = self.graph.nodes[name]
            path = self.graph.frame_of(name)
            enter = node.op == "Enter"
            if node.op == "Exit":
                path = path[:-1]
            guard = self.guards.value[node.ref()] if node.op in ("Exit", "Enter") else self.guards.node[name]
            silent = node.op == "Const" or (enter and bool(node.attrs.get("is_constant")))
            frame = self.number[path]
            conditions = self._conditions(guard)
            nodes.append(NodeLayout(name, node.op, frame, ip, conditions, silent, first=enter and not silent))
            for index in range(len(self.types[name])):
                ref = node.ref(index)
                spot = spots[ref]
                kind, branches = "slot", ()
                if spot is None and is_loop_merge(self.graph, node):
                    kind = "loop-index"
                elif spot is None:
                    kind = "branch-index"
                    branches = tuple(
                        (i, self._conditions(self.guards.value[node.inputs[i]])) for i in self.guards.merges[name]
                    )
                values[name, index] = ValueLayout(
                    name, index, frame, kind, None if spot is None else spot.place(),
                    self._conditions(self.guards.value[ref]), branches, self._statistics(spot),
                )  # fmt: skip
        return Layout(tuple(frames), tuple(nodes), values, (*range(len(frames)), *self.store_frames))
