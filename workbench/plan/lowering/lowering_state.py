"""State of one lowering: the slots of values, the instructions so far, and the moves between slots."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from workbench.device import OpenDevice, array_statistics
from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.ir.types import TensorType
from workbench.kernels import machine, typed
from workbench.kernels.opcodes import ARRAY, CALL, GUARD, KERNEL, MARK, MOVE
from workbench.plan.lowering.array_layout import dims_of
from workbench.plan.lowering.array_products import statistics_step
from workbench.plan.lowering.arrays import whole_copy
from workbench.plan.lowering.kernel_choice import KernelChoice, box
from workbench.plan.memory.storage import SMALL_BYTES, Pool, Slot, Spot, array_bytes, in_rows
from workbench.plan.schedule.frame_schedule import Block
from workbench.plan.schedule.guards import ALIVE, NEVER, Guard, Guards

#: how a call gets its operands (kernels: Program): copies, the rows' own memory, or addresses of operands and results
COPIES, SEES, AT = range(3)
#: number of values that kernels.statistics writes
STATISTICS = 7


class LoweringState:
    """State of one lowering, shared by its parts (see lower): the code so far and the slots of its values."""

    def __init__(
        self,
        graph: Graph,
        blocks: Mapping[FramePath, Block],
        guards: Guards,
        types: Mapping[str, tuple[TensorType, ...]],
        outputs: Iterable[Ref],
        statistics: bool = False,
        lean: bool = False,
        home: OpenDevice | None = None,
    ) -> None:
        self.home = home  # the device of large arrays; None: all are in rows or objects of the host
        self.graph, self.blocks, self.guards, self.types = graph, blocks, guards, types
        self.frames: list[FramePath] = list(blocks)
        self.number = {path: i for i, path in enumerate(self.frames)}
        self.code: list[dict[str, Any]] = []
        self.literals: list[tuple[Spot, int]] = []
        # of moves that are not events: (instruction, source, target, guards around it)
        self.copies: list[tuple[int, Spot, Spot, Guard]] = []
        self.around: list[Guard] = []  # the guards of the runs that are open
        self.calls: list[tuple[Any, tuple[Spot, ...], tuple[Spot, ...], int, Any, tuple[int, ...] | None]] = []
        # (callable, inputs, outputs) of regions
        self.regions: list[tuple[Any, tuple[Spot, ...], tuple[Spot, ...]]] = []
        self.pool = Pool()
        self.slots: dict[int, list[Slot]] = {i: [] for i in range(len(self.frames))}
        self.array_bytes = [0] * len(self.frames)  # of all array columns of a row, as far as known
        self.spots: dict[Ref, Spot] = {}
        self.choices: dict[str, KernelChoice] = {}
        self.ips: dict[str, int] = {}
        self.spans: dict[str, tuple[int, int]] = {}  # all instructions of a node
        self.ranges: dict[int, tuple[int, int]] = {}
        self.conditions: dict[int, tuple[Spot, int]] = {}
        self.carried: dict[str, Slot] = {}  # loop Merge -> its column
        # column of references that a loop passes on unchanged -> the array to which they refer (kernels: pointers)
        self.pointers: dict[Slot, Slot] = {}
        self.kept: list[Slot] = []  # columns of raw frames that the next row reads
        self._columns: dict[tuple[TensorType, bool], tuple[str | None, tuple[int, ...]]] = {}
        # lean: values are released when no node of the run needs them any more
        self.statistics, self.lean = statistics, lean or statistics
        self.lean_matters = statistics
        # elementwise nodes -> inputs that their result may overwrite
        self.flat: dict[str, tuple[int, ...]] = {}
        self.held_on_device: set[Slot] = set()  # columns of references to arrays on the device
        # array in a column: (column, byte, items) -> column of its statistics
        self.statistics_of: dict[tuple[Slot, int, int], Slot] = {}
        self.outputs = frozenset(outputs)
        self.read = {r for n in types for r in graph.nodes[n].inputs} | self.outputs

    # -- spots -------------------------------------------------------------------------------------------------
    def spot(self, ref: Ref) -> Spot:
        """The slot of a value, seen from its frame."""
        names = []  # names of one value, from this one back to the original
        while (found := self.spots.get(ref)) is None:
            names.append(ref)
            if ref == NEVER:
                found = Spot(self.pool.add(np.array(False)))
                break
            node = self.graph.nodes[ref.node]
            if node.op == "Const":
                found = Spot(self.pool.add(node.attrs["value"]))
                break
            if node.name in self.carried and ref.index == 0:
                found = Spot(self.carried[node.name], -1)
                break
            if node.op not in ("Identity", "Enter", "NextIteration", "LoopCond", "Switch"):
                raise KeyError(ref)
            ref = node.inputs[0]
        for name in names:
            self.spots[name] = found
        return found

    def literal(self, ref: Ref, wanted: bool | str) -> tuple[Spot, int]:
        """The slot of a literal, and its expected value (kernels: layout.Condition)."""
        spot = self.spot(ref)
        if wanted is ALIVE or spot.dtype == "int32":
            return spot, 2 if wanted else 3
        return spot, int(wanted)

    def new_slot(self, frame: int, type_: TensorType, rows: bool = False) -> Slot:
        """A column for values of this type; ``rows``: in the rows even for large arrays, as in runs that keep
        statistics, which only arrays in rows have.
        """
        key = type_, rows
        column = self._columns.get(key)
        if column is None:
            fits = in_rows(type_) and (rows or self.statistics or array_bytes(type_) <= SMALL_BYTES)
            fits = fits and not self.on_device(type_)
            column = self._columns[key] = (type_.dtype, dims_of(type_)) if fits else (None, ())
        slot = Slot(frame, *column)
        if self.on_device(type_):
            self.held_on_device.add(slot)
        if slot.dtype is None:
            self.array_bytes[frame] += array_bytes(type_)
            self.lean_matters = True
        self.slots[frame].append(slot)
        return slot

    def read_through(self, column: Slot, type_: TensorType, source: Spot) -> None:
        """Let instructions read the array that a column of references passes on unchanged, if the first one has the
        layout that they need.
        """
        value = self.pool.value(source.slot) if source.is_constant and source.dtype is None else None
        laid_out = value is not None and value.flags.c_contiguous and value.flags.aligned
        if column.dtype is None and in_rows(type_) and not self.on_device(type_):
            if source.shape or source.slot in self.pointers or laid_out:
                self.pointers[column] = Slot(None, type_.dtype, dims_of(type_), beside=True)
                self.array_bytes[column.frame or 0] -= array_bytes(type_)  # one array for all rows

    def on_device(self, type_: TensorType) -> bool:
        """Return whether values of this type are on the device; columns hold references to them."""
        return self.home is not None and self.home.holds(type_)

    # -- instructions ----------------------------------------------------------------------------------------------
    def emit(self, op: int, frame: int, **fields: Any) -> int:
        """Append an instruction; return its index."""
        self.code.append({"op": op, "frame": frame, **fields})
        return len(self.code) - 1

    def move(self, source: Spot, target: Spot, frame: int, **fields: Any) -> None:
        """Copy a value; between a number and an array it is boxed or unboxed."""
        self.copies.append((len(self.code), source, target, frozenset().union(*self.around)))
        if source.dtype is None and target.dtype is None:
            self.emit(MOVE, frame, a=source, out=target, **fields)
            self.summarize(target, frame)
        elif target.shape and (source.dtype or source.is_constant):
            array = whole_copy(TensorType(str(target.dtype), target.shape)).array
            self.emit(ARRAY, frame, array=array, a=self.readable(source), out=target, **fields)
            self.summarize(target, frame)
        elif source.number and source.number == target.number:
            size = target.slot.size
            kernel, scalar_op = machine.move_kernel(size), f"move_{size}"
            self.emit(KERNEL, frame, kernel=kernel, scalar_op=scalar_op, a=source, out=target, **fields)
        else:
            self.calls.append((box, (source,), (target,), False, None, None))
            self.emit(CALL, frame, x0=len(self.calls) - 1, **fields)
            self.summarize(target, frame)

    def summarize(self, spot: Spot, frame: int) -> None:
        """Compute the statistics of the array that was just written, if the run keeps them."""
        if self.statistics and spot.slot in self.held_on_device:
            self._summarize_on_device(spot, frame)
        address = typed.statistics(str(spot.dtype)) if self.statistics and spot.slot.stored else None
        if address is None:
            return
        key = (spot.slot, spot.delta, math.prod(spot.shape))
        if key not in self.statistics_of:
            self.statistics_of[key] = Slot(spot.slot.frame, "float64", (STATISTICS,), beside=True)
            self.slots[spot.slot.frame or 0].append(self.statistics_of[key])
        array = statistics_step(address, TensorType(str(spot.dtype), spot.shape))
        self.emit(ARRAY, frame, array=array, a=spot, out=Spot(self.statistics_of[key]))

    def _summarize_on_device(self, spot: Spot, frame: int) -> None:
        home = self.home
        assert home is not None  # such columns exist only in plans with a device
        key = (spot.slot, 0, 1)
        if key not in self.statistics_of:
            self.statistics_of[key] = Slot(spot.slot.frame, "float64", (STATISTICS,), beside=True)
            self.slots[spot.slot.frame or 0].append(self.statistics_of[key])
        call = lambda arrays: (array_statistics(home, arrays[0]),)  # noqa: E731
        self.calls.append((call, (spot,), (Spot(self.statistics_of[key]),), False, None, None))
        self.emit(CALL, frame, x0=len(self.calls) - 1)

    def readable(self, spot: Spot) -> Spot:
        """A spot in a form that compiled code can read: constant arrays get a separate base."""
        if spot.is_constant and spot.dtype is None:
            self.pool.arrays.setdefault(spot.slot, np.ascontiguousarray(self.pool.value(spot.slot)))
        return spot

    def set(self, value: Any, slot: Slot, frame: int) -> None:
        """Write a number into a column."""
        array = np.asarray(value, slot.dtype)
        size = array.itemsize
        self.emit(
            KERNEL,
            frame,
            kernel=machine.move_kernel(size),
            scalar_op=f"move_{size}",
            a=Spot(self.pool.add(array)),
            out=Spot(slot),
        )

    # -- guards -------------------------------------------------------------------------------------------------------
    def guarded(self, guard: Guard, frame: int) -> int | None:
        """Open a guarded run; pass the result to :meth:`close`."""
        if not guard:
            return None
        self.around.append(guard)
        first = len(self.literals)
        for ref, wanted in sorted(guard, key=lambda g: self.ips.get(g[0].node, -1)):
            self.literals.append(self.literal(ref, wanted))
        return self.emit(GUARD, frame, x0=first, x1=len(guard))

    def close(self, opened: int | None, frame: int) -> None:
        """End a guarded run; None if it has no guard."""
        if opened is not None:
            self.around.pop()
            self.emit(MARK, frame)
            self.code[opened]["jump"] = len(self.code)
