"""From a lowered plan to the machine's program and the layout that the trace reads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from workbench.ir.node import Node, Ref
from workbench.ir.types import numpy_dtype
from workbench.kernels import machine
from workbench.kernels.layout import Condition, Copy, FrameLayout, Layout, NodeLayout, Place, ValueLayout
from workbench.kernels.opcodes import ARRAY
from workbench.plan.lowering.lowering_state import LoweringState
from workbench.plan.lowering.node_facts import NodeFacts
from workbench.plan.lowering.recompute import Recomputed, find_recomputed, left_out
from workbench.plan.memory.allocation import share
from workbench.plan.memory.liveness import are_large, in_place, lifetimes, movable, named
from workbench.plan.memory.memory_bound import Storage
from workbench.plan.memory.storage import ALIGNED, MOST_ROW_BYTES, RowTooLong, Slot, Spot, lay_out, lay_out_arrays
from workbench.plan.schedule.guards import Guard
from workbench.plan.schedule.split_frames import shown

#: chunks are dropped as a whole: those of frames with arrays hold about this many bytes, and at most so many rows
CHUNK_BYTES, MOST_ROWS = 16 << 20, 64
#: rows of a chunk with objects in runs that keep only the newest rows: at least two chunks are always kept
FEW_ROWS = 2
#: arrays are kept long enough for processing block by block if this takes at most this multiple of the memory
ROOM = 1.1


class Assembly:
    """Lays out the slots and fills in the addresses."""

    def __init__(self, state: LoweringState, facts: NodeFacts) -> None:
        self._state, self._facts = state, facts
        self._store_frames: list[int] = []  # frames that have arrays in rows
        self.recomputed = Recomputed()
        self._placed: dict[Guard, tuple[Condition, ...]] = {}  # most nodes of a frame have the same guard

    def assemble(self, spots: Mapping[Ref, Spot | None]) -> tuple[machine.Program, Layout]:
        """The finished program; ``spots`` has all values, with None for those that the trace derives."""
        pool, objects = self._state.pool.finish()
        frames, bytes_of = [], []
        stores: list[tuple[Any, ...]] = []
        self._store_frames = [n for n in range(len(self._state.frames)) if any(s.stored for s in self._state.slots[n])]
        for number, path in enumerate(self._state.frames):
            row_bytes, object_columns = lay_out([s for s in self._state.slots[number] if not s.stored])
            bytes_of.append(row_bytes)
            parent = self._state.number[path[:-1]] if path else -1
            per_chunk = 1 if not path else self._rows_per_chunk(number) if object_columns else 0
            frames.append((row_bytes, parent, per_chunk, object_columns))
            for slot in self._state.slots[number]:
                slot.base = 1 + (len(self._state.frames) + self._store_frames.index(number) if slot.stored else number)
        self.recomputed = find_recomputed(self._state)
        alone, top = self._shared([s for s in self._state.slots[0] if s.stored], spots)
        for number in self._store_frames:
            arrays = [s for s in self._state.slots[number] if s.stored]
            shapes = sorted({(str(s.dtype), s.shape) for s in arrays})
            carried = [s for s in (*self._state.carried.values(), *self._state.kept) if s.stored and s.frame == number]
            again = [s for s in arrays if s in self.recomputed.steps]
            kept, shared = (alone, top) if number == 0 else ([s for s in arrays if s not in self.recomputed.steps], 0)
            recorded = lay_out_arrays(kept, shared)
            if not again:
                ranges = [(0, shared)] if shared else [(s.offset, s.size) for s in carried]
                stores.append((number, recorded, ranges, shapes))
                continue
            recorded = max(recorded, ALIGNED)
            row_bytes, ranges = lay_out_arrays(again, recorded), [(s.offset, s.size) for s in carried]
            recipes = [(s.offset, s.size, self.recomputed.steps[s]) for s in again]
            stores.append((number, row_bytes, ranges, shapes, recorded, recipes, self._state.ranges[number]))
        if max((slot.offset + slot.size for each in self._state.slots.values() for slot in each), default=0) > (
            MOST_ROW_BYTES
        ):
            raise RowTooLong
        layout = self._layout(spots, bytes_of, tuple(s[4] if len(s) > 4 else -1 for s in stores))
        first_constant = 1 + len(self._state.frames) + 3 * len(stores)
        behind = (*self._state.pool.arrays, *self._state.pointers.values())
        constants = {slot: first_constant + k for k, slot in enumerate(behind)}

        def operand(spot: Spot, compiled: bool = False) -> tuple[int, int]:
            if compiled and spot.slot in constants:
                return constants[spot.slot], spot.delta
            slot = spot.slot
            return layout.address(slot.base, slot.offset + spot.delta, spot.shift)

        def call_operand(spot: Spot) -> tuple[int, int, Any, tuple[int, ...]]:
            return (*layout.operand(spot.place()), None if spot.dtype is None else numpy_dtype(spot.dtype), spot.shape)

        code = [
            {k: operand(v, row["op"] == ARRAY or "sizes" in row) if isinstance(v, Spot) else v for k, v in row.items()}
            for row in self._state.code
        ]
        for ip, last in left_out(self._state, self.recomputed).items():
            code[ip] |= {"x0": 1, "x1": last}
        literals = [(*operand(spot), expect) for spot, expect in self._state.literals]
        calls = [
            (f, [call_operand(s) for s in ins], [call_operand(s) for s in outs], *more)
            for f, ins, outs, *more in self._state.calls
        ]
        regions = [
            (f, [call_operand(s) for s in ins], [call_operand(s) for s in outs]) for f, ins, outs in self._state.regions
        ]
        arrays = list(self._state.pool.arrays.values())
        releases = sorted((s.until, s.offset) for s in self._state.slots[0] if s.dtype is None and s.until >= 0)
        pointers = [(s.frame or 0, s.offset, str(a.dtype), a.shape) for s, a in self._state.pointers.items()]
        made = machine.Program(
            code, literals, frames, pool, objects, calls, stores, arrays, releases, regions, pointers
        )
        return made, layout

    def _shared(self, arrays: list[Slot], spots: Mapping[Ref, Spot | None]) -> tuple[list[Slot], int]:
        """In lean plans the values of the outermost level end with their last reader: objects are released there, and
        large arrays share memory. Returns the arrays that share no memory, and the bytes that the others take.
        """
        self._state.lean_matters |= are_large(arrays)
        if not self._state.lean:
            return arrays, 0
        outputs = {found.slot for r in self._state.outputs if (found := spots.get(r)) is not None}
        kept = {s.slot for r, s in spots.items() if s is not None and self._is_kept(self._state.graph.nodes[r.node])}
        loops = [self._state.ranges[k] for k, path in enumerate(self._state.frames) if len(path) == 1]
        values = [(spot.slot, self._state.ips[ref.node]) for ref, spot in spots.items() if spot is not None]
        values += [(slot, len(self._state.code) - 1) for slot in outputs]

        names = named(self._state.code, self._state.calls, self._state.regions)

        def fit(chained: bool) -> tuple[list[Slot], int]:
            needed, uses = lifetimes(self._state.code, names, loops, values, chained)
            for slot in self._state.slots[0]:
                if slot.dtype is None and slot not in outputs and slot not in kept and slot in needed:
                    slot.until = needed[slot][1] + 1
            times = movable(arrays, kept, needed)
            return share(arrays, times, in_place(self._state.code, times, uses), outputs)

        least = fit(False)[1]
        alone, top = fit(True)
        return (alone, top) if top <= ROOM * least else fit(False)

    def _is_kept(self, node: Node) -> bool:
        """True for values that are kept: feeds, and values of loops."""
        path = self._state.graph.frame_of(node.name)
        return node.op == "Placeholder" or bool(path[:-1] if node.op == "Exit" else path)

    def storage(self) -> Storage | None:
        """The slots of values for the lower bound of memory; None if a lean plan would need less memory."""
        if not self._state.lean and self._state.lean_matters:
            return None
        numbers: dict[tuple[int, int], int] = {}
        slots: dict[Ref, tuple[int, int]] = {}
        fed = {
            s.slot
            for r, s in self._state.spots.items()
            if r.index == 0 and self._state.graph.nodes[r.node].op == "Placeholder"
        }
        for ref, spot in self._state.spots.items():
            if ref.index < 0 or spot.is_constant or spot.slot in fed or spot.number:
                continue
            code = self._facts.coded.get(ref.node)
            source = (
                self._state.graph.nodes[ref.node].inputs[0] if code is not None and ref.index in code.views else None
            )
            if spot.dtype is None and source is not None and code is not None:  # a view that NumPy evaluates
                if source in slots:
                    slots[ref] = slots[source][0], slots[source][1] + code.views[ref.index]
            else:
                key = numbers.setdefault((id(spot.slot), spot.shift), len(numbers))
                slots[ref] = key, spot.delta
        return Storage(self._state.graph, slots, self._state.flat)

    def _rows_per_chunk(self, frame: int) -> int:
        most = FEW_ROWS if self._state.lean and not self._state.statistics else MOST_ROWS
        return min(most, max(2, CHUNK_BYTES // max(1, self._state.array_bytes[frame])))

    def _statistics(self, spot: Spot | None) -> Place | None:
        """Location of the statistics of an array; other views of it share them."""
        if spot is None or spot.slot.frame is None or not self._state.statistics_of:
            return None
        found = self._state.statistics_of.get((spot.slot, spot.delta, math.prod(spot.shape)))
        return None if found is None else Spot(found, spot.shift).place()

    def _conditions(self, guard: Guard) -> tuple[Condition, ...]:
        if not guard:
            return ()
        found = self._placed.get(guard)
        if found is None:
            ordered = sorted(guard, key=lambda g: self._state.ips.get(g[0].node, -1))
            literals = (self._state.literal(ref, wanted) for ref, wanted in ordered)
            found = self._placed[guard] = tuple(Condition(spot.place(), expect) for spot, expect in literals)
        return found

    def _layout(self, spots: Mapping[Ref, Spot | None], bytes_of: list[int], recorded: tuple[int, ...]) -> Layout:
        frames = []
        for number, path in enumerate(self._state.frames):
            cond = self._state.conditions.get(number)
            frames.append(
                FrameLayout(
                    shown(path),
                    self._state.number[path[:-1]] if path else -1,
                    bytes_of[number],
                    *self._state.ranges[number],
                    None if cond is None else Condition(cond[0].place(), cond[1]),
                )
            )
        nodes, values = [], {}
        graph, guards, types = self._state.graph, self._state.guards, self._state.types
        for name, ip in sorted(self._state.ips.items(), key=lambda n: n[1]):
            node = graph.nodes[name]
            path = graph.frame_of(name)
            enter = node.op == "Enter"
            if node.op == "Exit":
                path = path[:-1]
            guard = guards.value[node.ref()] if node.op in ("Exit", "Enter") else guards.node[name]
            silent = node.op == "Const" or (enter and bool(node.attrs.get("is_constant")))
            frame = self._state.number[path]
            conditions = self._conditions(guard)
            nodes.append(NodeLayout(name, node.op, frame, ip, conditions, silent, first=enter and not silent))
            for index in range(len(types[name])):
                ref = node.ref(index)
                spot = spots[ref]
                kind, branches = "slot", ()
                if spot is None and name in self._state.carried:
                    kind = "loop-index"
                elif spot is None:
                    kind = "branch-index"
                    branches = tuple(
                        (i, self._conditions(guards.seen(node.inputs[i])))
                        for i in guards.merges[name]
                        if node.inputs[i].node not in guards.dead
                    )
                values[name, index] = ValueLayout(
                    name,
                    index,
                    frame,
                    kind,
                    None if spot is None else spot.place(),
                    conditions if (alive := guards.value[ref]) is guard else self._conditions(alive),
                    branches,
                    self._statistics(spot) if self._state.statistics_of else None,
                )
        copies = tuple(
            Copy(ip, source.place(), target.place(), self._conditions(guard))
            for ip, source, target, guard in self._state.copies
        )
        stores = (*range(len(frames)), *self._store_frames)
        return Layout(tuple(frames), tuple(nodes), values, stores, copies, recorded)
