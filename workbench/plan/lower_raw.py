"""Raw frames in instructions: frames whose nodes' aliveness no static guard tells, iteration by iteration.

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

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.errors import FrameError
from workbench.graph.node import Node, Ref
from workbench.graph.types import TensorType
from workbench.kernels import machine
from workbench.plan.guards import Guard, RawFrame, bit, later, root_of, started
from workbench.plan.loops import exact_kernel
from workbench.plan.parts import shown
from workbench.plan.places import Slot, Spot, in_rows
from workbench.plan.schedule import Block
from workbench.plan.values import BACK, CALL, CONTROL, GUARD, KERNEL, LOOP, MARK, NOP, START, TEST, Values

#: a column that holds the number of an iteration: -1 before the first
COUNT = TensorType("int32", ())
FLAG = TensorType("bool", ())


class RawFrames(Values):
    """Lowers raw frames."""

    def guarded(self, guard: Guard, frame: int) -> int | None:
        """Open a guarded run; give the result to :meth:`close`."""
        if not guard:
            return None
        self.around.append(guard)
        first = len(self.literals)
        for ref, wanted in sorted(guard, key=lambda g: self.ips.get(g[0].node, -1)):
            self.literals.append(self.literal(ref, wanted))
        return self.emit(GUARD, frame, x0=first, x1=len(guard))

    def close(self, opened: int | None, frame: int) -> None:
        if opened is not None:
            self.around.pop()
            self.emit(MARK, frame)
            self.code[opened]["jump"] = len(self.code)

    def section(self, items: Any, frame: int) -> None:
        raise NotImplementedError

    def set(self, value: Any, slot: Slot, frame: int) -> None:
        """Write a number into a column."""
        array = np.asarray(value, slot.dtype)
        size = array.itemsize
        self.emit(
            KERNEL, frame, kernel=machine.move_kernel(size), hot=f"move_{size}", a=Spot(self.pool.add(array)),
            out=Spot(slot),
        )  # fmt: skip

    def raw_loop(self, block: Block) -> None:
        frame, outer = self.number[block.path], self.number[block.path[:-1]]
        plan = self.guards.raw[block.path]
        nodes = [self.graph.nodes[i.name] for i in block.header if i.frame is None]
        exits = [n.name for n in nodes if n.op == "Exit"]
        backs = [n for n in nodes if n.op == "NextIteration"]
        for name in exits:
            self.spots[bit(name)] = Spot(self.new_slot(outer, COUNT))
            self.set(-1, self.spots[bit(name)].slot, outer)
        opened = self._any_way(block, plan, outer)
        start = self.emit(LOOP, frame)
        count = self.new_slot(frame, COUNT)
        self.spots[later(block.path)] = Spot(count, -1)
        self.set(-1, count, frame)
        for node in backs:
            self._column_of(node, plan, frame)
        flags = [self.spots[bit(n.name)].slot for n in backs if n.name not in plan.together]
        for flag in flags:
            self.set(False, flag, frame)
        self.emit(START, frame)
        for enter in block.enters:
            beyond = self.guards.value[Ref(enter, 0)] - {(later(block.path), False)}
            run = self.guarded(beyond, frame)
            self.ips[enter] = self.emit(NOP, frame, event=True)
            self.close(run, frame)
        self.emit(MARK, frame)
        header = len(self.code)
        self._count(count, frame)
        for flag in flags:
            self.set(False, flag, frame)
        go = self._going(plan, backs, frame)
        self.section(block.header, frame)
        test = self.emit(TEST, frame, a=go or self.spot(next(iter(plan.go or ()))[0]))
        self.emit(BACK, frame, jump=header)
        self.code[test]["jump"] = len(self.code)
        for name in exits:
            run = self.guarded(frozenset({(bit(name), True)}), frame)
            self.ips[name] = self.emit(NOP, frame, event=True)
            self.close(run, frame)
        self.ranges[frame] = (start, len(self.code))
        self.emit(MARK, outer)
        self.close(opened, outer)

    def _any_way(self, block: Block, plan: RawFrame, outer: int) -> int | None:
        """Where the Enters are under different conditions, the frame starts when any of them is alive."""
        if not plan.ways:
            return None
        slot = self.new_slot(outer, FLAG)
        self.spots[started(block.path)] = Spot(slot)
        self.set(False, slot, outer)
        for way in plan.ways:
            run = self.guarded(way, outer)
            self.set(True, slot, outer)
            self.close(run, outer)
        return self.guarded(frozenset({(started(block.path), True)}), outer)

    def _column_of(self, node: Node, plan: RawFrame, frame: int) -> None:
        """Where a NextIteration leaves its value, and whether it fired."""
        source = root_of(self.graph, node.inputs[0])
        slot = self.new_slot(frame, self.type_of(node.ref()), self.made_in_rows(source))
        self.spots[node.ref()] = Spot(slot)
        self.kept.append(slot)
        if node.name not in plan.together:
            self.spots[bit(node.name)] = Spot(self.new_slot(frame, FLAG), -1)
        type_ = self.type_of(source)
        same_kind = (slot.dtype, slot.shape) == (type_.dtype, type_.shape) if slot.dtype else not in_rows(type_)
        computed = self.graph.nodes[source.node].op not in CONTROL
        at_home = self.graph.frame_of(source.node) == self.frames[frame]
        if computed and same_kind and at_home and source not in self.spots:
            self.spots[source] = Spot(slot)  # the kernel writes it where the next iteration reads it

    def _count(self, count: Slot, frame: int) -> None:
        one, found = Spot(self.pool.add(np.array(1, np.int32))), exact_kernel("add", ("int32", "int32"), "int32")
        assert found is not None
        self.emit(
            KERNEL, frame, kernel=found[0], hot="add_int32_int32_int32", a=Spot(count, -1), b=one, out=Spot(count)
        )  # fmt: skip

    def _going(self, plan: RawFrame, backs: Sequence[Node], frame: int) -> Spot | None:
        """Where it stands whether there is a next iteration; None: in the one predicate that decides it."""
        if plan.go is not None and len(plan.go) == 1 and next(iter(plan.go))[1] is True:
            pred = next(iter(plan.go))[0]
            if pred.index >= 0 and in_rows(self.type_of(pred)):
                return None
        if not backs:
            return Spot(self.pool.add(np.array(False)))
        slot = self.new_slot(frame, FLAG)
        self.going[frame] = slot
        self.set(False, slot, frame)
        return Spot(slot)

    def raw_next(self, node: Node, frame: int, **event: Any) -> None:
        source, target = self.spot(node.inputs[0]), self.spots[node.ref()]
        self.ips[node.name] = len(self.code)
        if source.slot is target.slot and source.shift == 0:
            self.emit(NOP, frame, **event)
        else:
            self.move(source, target, frame, **event)
        if bit(node.name) in self.spots:
            self.set(True, self.spots[bit(node.name)].slot, frame)
        if frame in self.going:
            self.set(True, self.going[frame], frame)

    def raw_exit(self, node: Node, frame: int) -> None:
        """An Exit writes its value to the parent's row; it is an event when the frame is done."""
        path = self.frames[frame]
        outer = self.number[path[:-1]]
        source, fired = self.spot(node.inputs[0]), self.spots[bit(node.name)]
        self.spots[node.ref()] = Spot(self.new_slot(outer, self.type_of(node.ref()), source.dtype is not None))
        run = self.guarded(frozenset({(bit(node.name), True)}), frame)
        around = tuple(self.number[path[: k + 1]] for k in range(len(path)))
        self.calls.append((_twice(node, "/".join(shown(path))), (fired,), (), False, None, around))
        self.emit(CALL, frame, x0=len(self.calls) - 1)
        self.close(run, frame)
        self.move(source, self.spots[node.ref()], frame)
        count = self.spots[later(path)].slot
        self.emit(KERNEL, frame, kernel=machine.move_kernel(4), hot="move_4", a=Spot(count), out=fired)


def _twice(node: Node, frame: str) -> Any:
    """What happens where an Exit is alive a second time in one activation of its frame."""

    def refuse(arrays: Sequence[np.ndarray], path: tuple[int, ...]) -> Sequence[Any]:
        raise FrameError(
            f"Exit {node.name!r} is alive in iteration {int(arrays[0])} of {frame!r} and again in iteration "
            f"{path[-1]}; only one value can leave.",
            slug="exit-fired-twice", node=node.name, source=node.source,
            fix="put the Exit on the side of a Switch that is taken once, in the last iteration.",
        )  # fmt: skip

    return refuse
