"""Slots for values and the instructions that move them: the ground that lowering stands on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from workbench.graph.frames import FramePath
from workbench.graph.graph import Graph
from workbench.graph.node import Node, Ref
from workbench.graph.opspec import REGISTRY, Bound
from workbench.graph.types import TensorType
from workbench.kernels import machine, typed
from workbench.plan.arrays import ArrayCode, dims_of, statistics_step, whole_copy
from workbench.plan.fold import FILLING, fold
from workbench.plan.guards import ALIVE, NEVER, Guard, Guards, is_loop_merge, root_of
from workbench.plan.places import SMALL_BYTES, Pool, Slot, Spot, array_bytes, in_rows
from workbench.plan.schedule import Block
from workbench.plan.select import Choice, array_code_of, box

NOP, KERNEL, UFUNC, CALL, MOVE, ARRAY, GUARD, MARK, LOOP, START, TEST, BACK, HALT = range(13)

#: how a call gets its operands (kernels: Program): copies, the rows' own memory, or addresses of that and the results'
COPIES, SEES, AT = range(3)
#: numbers that kernels.statistics leaves
STATISTICS = 7
#: ops that compute nothing
CONTROL = frozenset((
    "Const", "Enter", "Exit", "Merge", "Placeholder", "Switch", "Identity", "NextIteration", "LoopCond",
))  # fmt: skip


class Values:
    """State of one lowering, the slots of its values, and the instructions that move them."""

    def __init__(
        self, graph: Graph, blocks: Mapping[FramePath, Block], guards: Guards,
        types: Mapping[str, tuple[TensorType, ...]],
        outputs: Iterable[Ref], statistics: bool = False, lean: bool = False,
    ) -> None:  # fmt: skip
        self.graph, self.blocks, self.guards, self.types = graph, blocks, guards, types
        self.frames: list[FramePath] = list(blocks)
        self.number = {path: i for i, path in enumerate(self.frames)}
        self.code: list[dict[str, Any]] = []
        self.literals: list[tuple[Spot, int]] = []
        # by moves that are no events: (instruction, source, target, guards around it)
        self.copies: list[tuple[int, Spot, Spot, Guard]] = []
        self.around: list[Guard] = []  # the guards of the runs that are open
        self.calls: list[tuple[Any, tuple[Spot, ...], tuple[Spot, ...], int, Any, tuple[int, ...] | None]] = []
        self.pool = Pool()
        self.slots: dict[int, list[Slot]] = {i: [] for i in range(len(self.frames))}
        self.array_bytes = [0] * len(self.frames)  # of all array columns of a row, as far as is known
        self.spots: dict[Ref, Spot] = {}
        self.choices: dict[str, Choice] = {}
        self.ips: dict[str, int] = {}
        self.spans: dict[str, tuple[int, int]] = {}  # all instructions of a node
        self.ranges: dict[int, tuple[int, int]] = {}
        self.conditions: dict[int, tuple[Spot, int]] = {}
        self.carried: dict[str, Slot] = {}  # loop Merge -> its column
        self.kept: list[Slot] = []  # columns that the next row reads, of raw frames
        self.going: dict[int, Slot] = {}  # raw frame -> whether a NextIteration has fired
        # frame -> columns of value_index: (column, in iteration 0, later)
        self.indices: dict[int, list[tuple[Slot, int, int]]] = {}
        self.coded: dict[str, ArrayCode | None] = {}
        self._folded: dict[str, np.ndarray | None] = {}
        self._bound: dict[str, Bound | None] = {}
        # lean: nothing is kept that no node of the run needs any more
        self.statistics, self.lean = statistics, lean or statistics
        self.lean_matters = statistics
        # nodes that work element by element -> inputs that their result can go over
        self.flat: dict[str, tuple[int, ...]] = {}
        # array in a column: (column, byte, items) -> column of its statistics
        self.statistics_of: dict[tuple[Slot, int, int], Slot] = {}
        self.outputs = frozenset(outputs)
        self.read = {r for n in types for r in graph.nodes[n].inputs} | self.outputs

    # -- spots -------------------------------------------------------------------------------------------------
    def spot(self, ref: Ref) -> Spot:
        """Where a value stands, seen from the frame in which it is alive."""
        found = self.spots.get(ref)
        if found is None and ref == NEVER:
            found = self.spots[ref] = Spot(self.pool.add(np.array(False)))
        if found is None:
            node = self.graph.nodes[ref.node]
            if node.op == "Const":
                found = Spot(self.pool.add(node.attrs["value"]))
            elif node.name in self.carried and ref.index == 0:
                found = Spot(self.carried[node.name], -1)
            elif node.op in ("Identity", "Enter", "NextIteration", "LoopCond", "Switch"):
                found = self.spot(node.inputs[0])
            else:
                raise KeyError(ref)
            self.spots[ref] = found
        return found

    def literal(self, ref: Ref, wanted: bool | str) -> tuple[Spot, int]:
        """Where a literal stands and what is expected there (kernels: layout.Condition)."""
        spot = self.spot(ref)
        if wanted is ALIVE or spot.dtype == "int32":
            return spot, 2 if wanted else 3
        return spot, int(wanted)

    def new_slot(self, frame: int, type_: TensorType, rows: bool = False) -> Slot:
        """A column for values of this type; ``rows``: in the rows also if it is a large array, as in runs that keep
        statistics, which only arrays in rows have."""
        if in_rows(type_) and (rows or self.statistics or array_bytes(type_) <= SMALL_BYTES):
            slot = Slot(frame, type_.dtype, dims_of(type_))
        else:
            slot = Slot(frame, None)
            self.array_bytes[frame] += array_bytes(type_)
            self.lean_matters = True
        self.slots[frame].append(slot)
        return slot

    def code_of(self, node: Node) -> ArrayCode | None:
        """Instructions on arrays for a node, if there are some."""
        if node.name not in self.coded:
            types = [self.type_of(r) for r in node.inputs]
            values = [self.constant_of(r) for r in node.inputs]
            self.coded[node.name] = array_code_of(node, types, self.types[node.name], values, self.bound(node))
        return self.coded[node.name]

    def bound(self, node: Node) -> Bound | None:
        """The node's op made ready for it, if the op asks for that."""
        if node.name not in self._bound:
            bind = REGISTRY.lookup(node.op, node.attrs).bind
            types, values = [self.type_of(r) for r in node.inputs], [self.constant_of(r) for r in node.inputs]
            self._bound[node.name] = None if bind is None else bind(node.attrs, types, values)
        return self._bound[node.name]

    def constant_of(self, ref: Ref) -> np.ndarray | None:
        node = self.graph.nodes[root_of(self.graph, ref).node]
        while node.op in ("Enter", "Identity"):
            node = self.graph.nodes[root_of(self.graph, node.inputs[0]).node]
        return node.attrs["value"] if node.op == "Const" else self.folded(node)

    def folded(self, node: Node) -> np.ndarray | None:
        """What a node computes from constants alone, if that is done with the plan."""
        if node.op not in FILLING:
            return None
        if node.name not in self._folded:
            constants = [self.constant_of(r) for r in node.inputs]
            self._folded[node.name] = fold(node, constants, self.types[node.name][0])
        return self._folded[node.name]

    def made_in_rows(self, ref: Ref, depth: int = 8) -> bool:
        """Whether compiled code leaves a value in a row."""
        node = self.graph.nodes[root_of(self.graph, ref).node]
        if depth and node.op == "Merge" and not is_loop_merge(self.graph, node):  # a raw frame's loop Merge: objects
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
        if not fields.get("event"):
            self.copies.append((len(self.code), source, target, frozenset().union(*self.around)))
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
            self.calls.append((box, (source,), (target,), False, None, None))
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
