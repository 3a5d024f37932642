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

from dataclasses import replace

import numpy as np

from workbench.graph.node import Node, Ref
from workbench.graph.types import TensorType
from workbench.kernels import machine
from workbench.kernels.layout import Layout
from workbench.plan.assemble import Assembly
from workbench.plan.compute import Computing
from workbench.plan.guards import ALIVE, is_loop_merge, root_of
from workbench.plan.lower_raw import RawFrames
from workbench.plan.parts import is_double
from workbench.plan.places import Slot, Spot, in_rows
from workbench.plan.schedule import Block, Item
from workbench.plan.values import BACK, CONTROL, HALT, KERNEL, LOOP, MARK, NOP, START, TEST


class Lowering(Computing, RawFrames, Assembly):
    """Makes one program. Use once: ``Lowering(...).run()``."""

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
                    start = len(self.code)
                    self.node(self.graph.nodes[item.name], frame)
                    self.spans[item.name] = (start, len(self.code))
                elif item.frame in self.guards.raw:
                    self.raw_loop(self.blocks[item.frame])
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
        for node in (self.graph.nodes[i.name] for i in block.header if i.frame is None):
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
        raw = self.frames[frame] in self.guards.raw
        if node.op == "NextIteration" and raw:
            self.raw_next(node, frame, **event)
        elif node.op == "Exit" and raw:
            self.raw_exit(node, frame)
        elif node.op == "NextIteration":
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
        elif node.op == "Merge" and node.name not in self.carried:
            self._merge(node, frame)
        elif is_double(node):
            return
        elif node.op in ("Const", "Identity", "Enter", "LoopCond", "Switch", "Merge", "NoOp"):
            self.ips[node.name] = self.emit(NOP, frame, **event)
        else:
            self.compute(node, frame)

    def _merge(self, node: Node, frame: int) -> None:
        """A conditional Merge: each living side moves its value; the first that is alive wins."""
        live = [i for i in self.guards.merges[node.name] if node.inputs[i].node not in self.guards.dead]
        alive = frozenset({(node.ref(1), ALIVE)}) & self.guards.node[node.name]
        own = self.guards.node[node.name] - alive
        sides = {i: self._seen(node.inputs[i]) for i in live}
        slot = self.new_slot(frame, self.type_of(node.ref()), all(s.dtype is not None for s in sides.values()))
        self.spots[node.ref()] = Spot(slot)
        index: Slot | None = None
        if alive or node.ref(1) in self.read:
            index = self.new_slot(frame, TensorType("int32", ()))
            self.spots[node.ref(1)] = Spot(index)
        if alive and index is not None:
            self._number(-1, index, frame)
        self.ips[node.name] = len(self.code)  # orders its literal after those of its sides
        for i in reversed(live):
            opened = self.guarded(self.guards.seen(node.inputs[i]) - own, frame)
            self.move(sides[i], Spot(slot), frame)
            if index is not None:
                self._number(i, index, frame)
            self.close(opened, frame)
        opened = self.guarded(alive, frame)
        self.ips[node.name] = self.emit(NOP, frame, event=True)
        self.close(opened, frame)

    def _seen(self, ref: Ref) -> Spot:
        """Where a Merge reads an input: what a NextIteration of a raw frame gave stands in the row before."""
        spot = self.spot(ref)
        return replace(spot, shift=-1) if ref.node in self.guards.arrives else spot

    def _number(self, value: int, slot: Slot, frame: int) -> None:
        constant = Spot(self.pool.add(np.array(value, np.int32)))
        self.emit(KERNEL, frame, kernel=machine.move_kernel(4), hot="move_4", a=constant, out=Spot(slot))

    def run(self) -> tuple[machine.Program, Layout]:
        """The finished program and where the trace finds everything in its rows."""
        self.section(self.blocks[()].header, 0)
        self.emit(HALT, 0)
        self.ranges[0] = (-1, len(self.code))
        # constants that only the trace reads get their place too
        spots = {Ref(n, i): self._trace_spot(Ref(n, i)) for n in self.ips for i in range(len(self.types[n]))}
        return self.assemble(spots)

    def _trace_spot(self, ref: Ref) -> Spot | None:
        try:
            return self.spot(ref)
        except KeyError:
            return None  # a value_index that nothing reads: the trace derives it
