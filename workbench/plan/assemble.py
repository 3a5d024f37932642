"""From a lowered plan to the machine's program and the layout that the trace reads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from workbench.graph.node import Node, Ref
from workbench.graph.types import numpy_dtype
from workbench.kernels import machine
from workbench.kernels.layout import Condition, Copy, FrameLayout, Layout, NodeLayout, Place, ValueLayout
from workbench.plan.guards import Guard
from workbench.plan.lifetimes import are_large, in_place, lifetimes, movable, named
from workbench.plan.memory import Storage
from workbench.plan.offsets import share
from workbench.plan.parts import shown
from workbench.plan.places import Slot, Spot, lay_out, lay_out_arrays
from workbench.plan.values import ARRAY, CALL, Values

#: chunks are dropped whole: those of frames with arrays hold about this many bytes, and at most so many rows
CHUNK_BYTES, MOST_ROWS = 16 << 20, 64
#: two chunks stay at least: in runs that keep the newest rows only, that is to be few of those that hold objects
FEW_ROWS = 2
#: arrays stay long enough to be worked on together, block by block, where that takes no more than this times the memory
ROOM = 1.1


class Assembly(Values):
    """Lays the slots out and fills in where everything stands."""

    def assemble(self, spots: Mapping[Ref, Spot | None]) -> tuple[machine.Program, Layout]:
        """The finished program; ``spots`` of all values, None where the trace derives one."""
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
        alone, top = self._shared([s for s in self.slots[0] if s.stored], spots)
        for number in self.store_frames:
            arrays = [s for s in self.slots[number] if s.stored]
            shapes = sorted({(str(s.dtype), s.shape) for s in arrays})
            carried = [s for s in (*self.carried.values(), *self.kept) if s.stored and s.frame == number]
            kept, shared = (alone, top) if number == 0 else (arrays, 0)
            row_bytes = lay_out_arrays(kept, shared)
            ranges = [(0, shared)] if shared else [(s.offset, s.size) for s in carried]
            stores.append((number, row_bytes, ranges, shapes))
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
            {k: operand(v, row["op"] == ARRAY or "sizes" in row) if isinstance(v, Spot) else v for k, v in row.items()}
            for row in self.code
        ]
        literals = [(*operand(spot), expect) for spot, expect in self.literals]
        calls = [
            (f, [call_operand(s) for s in ins], [call_operand(s) for s in outs], *more)
            for f, ins, outs, *more in self.calls
        ]
        arrays = list(self.pool.arrays.values())
        releases = sorted((s.until, s.offset) for s in self.slots[0] if s.dtype is None and s.until >= 0)
        return machine.Program(code, literals, frames, pool, objects, calls, stores, arrays, releases), layout

    def _shared(self, arrays: list[Slot], spots: Mapping[Ref, Spot | None]) -> tuple[list[Slot], int]:
        """In lean plans values of the outermost level end with their last reader: objects are released there, large
        arrays share memory. Returns the arrays that stand alone, and the bytes that the others take."""
        self.lean_matters |= are_large(arrays)
        if not self.lean:
            return arrays, 0
        outputs = {found.slot for r in self.outputs if (found := spots.get(r)) is not None}
        kept = {s.slot for r, s in spots.items() if s is not None and self._is_kept(self.graph.nodes[r.node])}
        loops = [self.ranges[k] for k, path in enumerate(self.frames) if len(path) == 1]
        values = [(spot.slot, self.ips[ref.node]) for ref, spot in spots.items() if spot is not None]
        values += [(slot, len(self.code) - 1) for slot in outputs]

        names = named(self.code, self.calls, CALL)

        def fit(chained: bool) -> tuple[list[Slot], int]:
            needed, uses = lifetimes(self.code, names, loops, values, ARRAY, chained)
            for slot in self.slots[0]:
                if slot.dtype is None and slot not in outputs and slot not in kept and slot in needed:
                    slot.until = needed[slot][1] + 1
            times = movable(arrays, kept, needed)
            return share(arrays, times, in_place(self.code, times, uses, ARRAY), outputs)

        least = fit(False)[1]
        alone, top = fit(True)
        return (alone, top) if top <= ROOM * least else fit(False)

    def _is_kept(self, node: Node) -> bool:
        """Feeds stay, and what the rows of loops are seen with."""
        path = self.graph.frame_of(node.name)
        return node.op == "Placeholder" or bool(path[:-1] if node.op == "Exit" else path)

    def storage(self) -> Storage | None:
        """What the lower bound of memory is made from, of lean plans."""
        if not self.lean and self.lean_matters:
            return None
        numbers: dict[tuple[int, int], int] = {}
        slots: dict[Ref, tuple[int, int]] = {}
        fed = {s.slot for r, s in self.spots.items() if r.index == 0 and self.graph.nodes[r.node].op == "Placeholder"}
        for ref, spot in self.spots.items():
            if ref.index < 0 or spot.is_constant or spot.slot in fed or spot.number:
                continue
            code = self.coded.get(ref.node)
            source = self.graph.nodes[ref.node].inputs[0] if code is not None and ref.index in code.views else None
            if spot.dtype is None and source is not None and code is not None:  # a view that NumPy takes
                if source in slots:
                    slots[ref] = slots[source][0], slots[source][1] + code.views[ref.index]
            else:
                key = numbers.setdefault((id(spot.slot), spot.shift), len(numbers))
                slots[ref] = key, spot.delta
        return Storage(self.graph, slots, self.flat)

    def _rows_per_chunk(self, frame: int) -> int:
        most = FEW_ROWS if self.lean and not self.statistics else MOST_ROWS
        return min(most, max(2, CHUNK_BYTES // max(1, self.array_bytes[frame])))

    def _statistics(self, spot: Spot | None) -> Place | None:
        """Where the statistics of an array stand; other views of it share them."""
        if spot is None or spot.slot.frame is None:
            return None
        found = self.statistics_of.get((spot.slot, spot.delta, math.prod(spot.shape)))
        return None if found is None else Spot(found, spot.shift).place()

    def _conditions(self, guard: Guard) -> tuple[Condition, ...]:
        ordered = sorted(guard, key=lambda g: self.ips.get(g[0].node, -1))
        literals = (self.literal(ref, wanted) for ref, wanted in ordered)
        return tuple(Condition(spot.place(), expect) for spot, expect in literals)

    def _layout(self, spots: Mapping[Ref, Spot | None], bytes_of: list[int]) -> Layout:
        frames = []
        for number, path in enumerate(self.frames):
            cond = self.conditions.get(number)
            frames.append(FrameLayout(
                shown(path), self.number[path[:-1]] if path else -1, bytes_of[number], *self.ranges[number],
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
                if spot is None and name in self.carried:
                    kind = "loop-index"
                elif spot is None:
                    kind = "branch-index"
                    branches = tuple(
                        (i, self._conditions(self.guards.seen(node.inputs[i]))) for i in self.guards.merges[name]
                        if node.inputs[i].node not in self.guards.dead
                    )
                values[name, index] = ValueLayout(
                    name, index, frame, kind, None if spot is None else spot.place(),
                    self._conditions(self.guards.value[ref]), branches, self._statistics(spot),
                )  # fmt: skip
        copies = tuple(
            Copy(ip, source.place(), target.place(), self._conditions(guard))
            for ip, source, target, guard in self.copies
        )
        return Layout(tuple(frames), tuple(nodes), values, (*range(len(frames)), *self.store_frames), copies)
