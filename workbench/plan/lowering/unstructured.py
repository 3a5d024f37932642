"""Instructions for raw frames: frames in which static guards do not determine which nodes fire in an iteration.

One raw frame becomes (compare plan: lower)::

    whether each Exit has fired := no            in the parent's row
    LOOP f, nothing has fired yet, START f       init row, then iteration 0
    Enters, each under its guard
  header:  count := count before + 1             "later" reads the count in the row before
           NextIterations have not fired
           all nodes in order, each run of one guard under one jump; a NextIteration writes its value and that it
           fired, which its Merge reads in the next row; an Exit writes its value and its iteration to the parent's row
           TEST whether any NextIteration fired -> exits
           BACK -> header
  exits:   the Exits that fired, as events
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from workbench.errors import FrameError
from workbench.ir.node import Node, Ref
from workbench.ir.types import TensorType
from workbench.kernels import machine
from workbench.kernels.opcodes import BACK, CALL, KERNEL, LOOP, MARK, NOP, START, TEST
from workbench.plan.lowering.inner_loops import exact_kernel
from workbench.plan.lowering.lowering_state import LoweringState
from workbench.plan.lowering.node_facts import CONTROL, NodeFacts
from workbench.plan.memory.storage import Slot, Spot, in_rows
from workbench.plan.schedule.frame_schedule import Block, ScheduledItem
from workbench.plan.schedule.guards import RawFrame, bit, later, root_of, started
from workbench.plan.schedule.split_frames import shown

#: a column that holds the index of an iteration: -1 before the first
COUNT = TensorType("int32", ())
FLAG = TensorType("bool", ())

#: the lowering of a block, which yields its inner blocks, each to be lowered before it continues: loops may nest deeper
#: than Python calls
Steps = Iterator["Steps"]
Section = Callable[[tuple[ScheduledItem, ...], int], Steps]


class UnstructuredFrames:
    """Lowers raw frames."""

    def __init__(self, state: LoweringState, facts: NodeFacts) -> None:
        self._state, self._facts = state, facts
        self._flags: dict[int, Slot] = {}  # raw frame -> whether a NextIteration has fired

    def loop(self, block: Block, section: Section) -> Steps:
        """Lower a frame; ``section`` lowers the items inside of it."""
        frame, outer = self._state.number[block.path], self._state.number[block.path[:-1]]
        plan = self._state.guards.raw[block.path]
        nodes = [self._state.graph.nodes[i.name] for i in block.header if i.frame is None]
        exits = [n.name for n in nodes if n.op == "Exit"]
        backs = [n for n in nodes if n.op == "NextIteration"]
        for name in exits:
            self._state.spots[bit(name)] = Spot(self._state.new_slot(outer, COUNT))
            self._state.set(-1, self._state.spots[bit(name)].slot, outer)
        opened = self._any_way(block, plan, outer)
        start = self._state.emit(LOOP, frame)
        count = self._state.new_slot(frame, COUNT)
        self._state.spots[later(block.path)] = Spot(count, -1)
        self._state.set(-1, count, frame)
        for node in backs:
            self._column_of(node, plan, frame)
        flags = [self._state.spots[bit(n.name)].slot for n in backs if n.name not in plan.together]
        for flag in flags:
            self._state.set(False, flag, frame)
        self._state.emit(START, frame)
        for enter in block.enters:
            beyond = self._state.guards.value[Ref(enter, 0)] - {(later(block.path), False)}
            run = self._state.guarded(beyond, frame)
            self._state.ips[enter] = self._state.emit(NOP, frame, event=True)
            self._state.close(run, frame)
        self._state.emit(MARK, frame)
        header = len(self._state.code)
        self._count(count, frame)
        for flag in flags:
            self._state.set(False, flag, frame)
        go = self._going(plan, backs, frame)
        yield section(block.header, frame)
        test = self._state.emit(TEST, frame, a=go or self._state.spot(next(iter(plan.go or ()))[0]))
        self._state.emit(BACK, frame, jump=header)
        self._state.code[test]["jump"] = len(self._state.code)
        for name in exits:
            run = self._state.guarded(frozenset({(bit(name), True)}), frame)
            self._state.ips[name] = self._state.emit(NOP, frame, event=True)
            self._state.close(run, frame)
        self._state.ranges[frame] = (start, len(self._state.code))
        self._state.emit(MARK, outer)
        self._state.close(opened, outer)

    def _any_way(self, block: Block, plan: RawFrame, outer: int) -> int | None:
        """Guard a frame whose Enters are under different conditions: it starts if any of them fires."""
        if not plan.ways:
            return None
        slot = self._state.new_slot(outer, FLAG)
        self._state.spots[started(block.path)] = Spot(slot)
        self._state.set(False, slot, outer)
        for way in plan.ways:
            run = self._state.guarded(way, outer)
            self._state.set(True, slot, outer)
            self._state.close(run, outer)
        return self._state.guarded(frozenset({(started(block.path), True)}), outer)

    def _column_of(self, node: Node, plan: RawFrame, frame: int) -> None:
        """Create slots for the value of a NextIteration, and for the flag that it fired."""
        source = root_of(self._state.graph, node.inputs[0])
        slot = self._state.new_slot(frame, self._facts.type_of(node.ref()), self._facts.made_in_rows(source))
        self._state.spots[node.ref()] = Spot(slot)
        self._state.kept.append(slot)
        if node.name not in plan.together:
            self._state.spots[bit(node.name)] = Spot(self._state.new_slot(frame, FLAG), -1)
        type_ = self._facts.type_of(source)
        same_kind = (slot.dtype, slot.shape) == (type_.dtype, type_.shape) if slot.dtype else not in_rows(type_)
        computed = self._state.graph.nodes[source.node].op not in CONTROL
        at_home = self._state.graph.frame_of(source.node) == self._state.frames[frame]
        if computed and same_kind and at_home and source not in self._state.spots:
            self._state.spots[source] = Spot(slot)  # the kernel writes it where the next iteration reads it

    def _count(self, count: Slot, frame: int) -> None:
        one, found = Spot(self._state.pool.add(np.array(1, np.int32))), exact_kernel("add", ("int32", "int32"), "int32")
        assert found is not None
        self._state.emit(
            KERNEL, frame, kernel=found[0], scalar_op="add_int32_int32_int32", a=Spot(count, -1), b=one, out=Spot(count)
        )

    def _going(self, plan: RawFrame, backs: Sequence[Node], frame: int) -> Spot | None:
        """The flag for another iteration; None if one predicate decides it."""
        if plan.go is not None and len(plan.go) == 1 and next(iter(plan.go))[1] is True:
            pred = next(iter(plan.go))[0]
            if pred.index >= 0 and in_rows(self._facts.type_of(pred)):
                return None
        if not backs:
            return Spot(self._state.pool.add(np.array(False)))
        slot = self._state.new_slot(frame, FLAG)
        self._flags[frame] = slot
        self._state.set(False, slot, frame)
        return Spot(slot)

    def next_iteration(self, node: Node, frame: int, **event: Any) -> None:
        """Lower a NextIteration: it writes its value and the flag that it fired."""
        source, target = self._state.spot(node.inputs[0]), self._state.spots[node.ref()]
        self._state.ips[node.name] = len(self._state.code)
        if source.slot is target.slot and source.shift == 0:
            self._state.emit(NOP, frame, **event)
        else:
            self._state.move(source, target, frame, **event)
        if bit(node.name) in self._state.spots:
            self._state.set(True, self._state.spots[bit(node.name)].slot, frame)
        if frame in self._flags:
            self._state.set(True, self._flags[frame], frame)

    def exit(self, node: Node, frame: int) -> None:
        """Lower an Exit: it writes its value to the parent's row, and is an event when the frame is done."""
        path = self._state.frames[frame]
        outer = self._state.number[path[:-1]]
        source, fired = self._state.spot(node.inputs[0]), self._state.spots[bit(node.name)]
        self._state.spots[node.ref()] = Spot(
            self._state.new_slot(outer, self._facts.type_of(node.ref()), source.dtype is not None)
        )
        run = self._state.guarded(frozenset({(bit(node.name), True)}), frame)
        around = tuple(self._state.number[path[: k + 1]] for k in range(len(path)))
        self._state.calls.append((_twice(node, "/".join(shown(path))), (fired,), (), False, None, around))
        self._state.emit(CALL, frame, x0=len(self._state.calls) - 1)
        self._state.close(run, frame)
        self._state.move(source, self._state.spots[node.ref()], frame)
        count = self._state.spots[later(path)].slot
        self._state.emit(KERNEL, frame, kernel=machine.move_kernel(4), scalar_op="move_4", a=Spot(count), out=fired)


def _twice(node: Node, frame: str) -> Any:
    """The callable that raises an error for an Exit that fires twice in one activation of its frame."""

    def refuse(arrays: Sequence[np.ndarray], path: tuple[int, ...]) -> Sequence[Any]:
        raise FrameError(
            f"Exit {node.name!r} is alive in iteration {int(arrays[0])} of {frame!r} and again in iteration "
            f"{path[-1]}; only one value can leave.",
            slug="exit-fired-twice",
            node=node.name,
            source=node.source,
            fix="put the Exit on the side of a Switch that is taken once, in the last iteration.",
        )

    return refuse
