"""From scheduled blocks to the flat program: instructions, slots, and the layout that the trace reads.

One frame becomes (see kernels: interpreter)::

    LOOP f, moves of the start values, START f, enters          init row, then iteration 0
  header:  nodes of the condition, TEST -> exits
           nodes of the body, moves of next values, BACK -> header
  exits:   moves of the results into the parent's row, MARK

Nodes that only rename a value (Identity, Switch, Enter, Merge of a loop, NextIteration) take no time: they are events
without work, and their value is read from the slot of the renamed value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from workbench.device import OpenDevice
from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.ir.types import TensorType
from workbench.kernels import machine
from workbench.kernels.layout import Layout
from workbench.kernels.opcodes import BACK, HALT, KERNEL, LOOP, MARK, NOP, START, TEST
from workbench.plan.lowering.emit import Assembly
from workbench.plan.lowering.lowering_state import LoweringState
from workbench.plan.lowering.node_facts import CONTROL, NodeFacts
from workbench.plan.lowering.node_lowering import NodeLowering
from workbench.plan.lowering.recompute import reasons_of
from workbench.plan.lowering.regions import PlannedRegion, RegionLowering
from workbench.plan.lowering.straight.steps import StraightRun
from workbench.plan.lowering.straight.straight_run import StraightLowering
from workbench.plan.lowering.unstructured import Steps, UnstructuredFrames
from workbench.plan.memory.memory_bound import Storage
from workbench.plan.memory.storage import Slot, Spot, in_rows
from workbench.plan.schedule.frame_schedule import Block, ScheduledItem
from workbench.plan.schedule.guards import ALIVE, Guards, is_loop_merge, root_of
from workbench.plan.schedule.split_frames import is_double


class Lowering:
    """Makes one program. Use once: ``Lowering(...).run()``.

    Loops that nest and nodes of control flow are lowered here, the rest by parts that share ``state`` and ``facts``:
    nodes that compute (node_lowering), raw frames (unstructured), and the layout of the finished code (emit).
    """

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
        self.state = LoweringState(graph, blocks, guards, types, outputs, statistics, lean, home)
        self.facts = NodeFacts(graph, types, home)
        self._nodes = NodeLowering(self.state, self.facts)
        self._regions = RegionLowering(self.state, self.facts)
        self._unstructured = UnstructuredFrames(self.state, self.facts)
        self._assembly = Assembly(self.state, self.facts)
        # frame -> columns of value_index: (column, in iteration 0, later)
        self._indices: dict[int, list[tuple[Slot, int, int]]] = {}

    def straight(self, outputs: Mapping[str, Ref], inputs: Mapping[str, Ref]) -> StraightRun | None:
        """The program as a list of calls, if its values are not kept and the list is faster."""
        if not self.state.lean or self.state.statistics:
            return None
        return StraightLowering(self.state, self.facts, self._regions).run(outputs, inputs)

    # -- blocks -----------------------------------------------------------------------------------------------------
    def _section(self, items: tuple[ScheduledItem, ...], frame: int) -> Steps:
        """Lower items in order, with one jump for consecutive items of the same guard."""
        at = 0
        while at < len(items):
            guard = items[at].guard
            opened = self.state.guarded(guard, frame)
            stop = next((k for k in range(at, len(items)) if items[k].guard != guard), len(items))
            regions = self._regions.find(items[at:stop])
            region: PlannedRegion | None = None
            while at < stop:
                item = items[at]
                if item.frame is None:
                    if item.name in regions:
                        region = regions[item.name]
                        self._regions.open(region, frame)
                    start = len(self.state.code)
                    self._node(self.state.graph.nodes[item.name], frame)
                    self.state.spans[item.name] = (start, len(self.state.code))
                    if region is not None and item.name == region.names[-1]:
                        self._regions.finish(region)
                        region = None
                elif item.frame in self.state.guards.raw:
                    yield self._unstructured.loop(self.state.blocks[item.frame], self._section)
                else:
                    yield self._loop(self.state.blocks[item.frame])
                at += 1
            self.state.close(opened, frame)

    def _loop(self, block: Block) -> Steps:
        frame, outer = self.state.number[block.path], self.state.number[block.path[:-1]]
        start = self.state.emit(LOOP, frame)
        moves = self._carried_columns(block, frame)
        for enter, slot in moves:
            self.state.move(self.state.spot(self.state.graph.nodes[enter].inputs[0]), Spot(slot), frame)
        for column, first, _ in self._indices.get(frame, ()):
            self._number(first, column, frame)
        self.state.emit(START, frame)
        for enter in block.enters:
            self.state.ips[enter] = self.state.emit(NOP, frame, event=True)
        self.state.emit(MARK, frame)
        header = len(self.state.code)
        yield self._section(block.header, frame)
        pred = block.pred
        assert pred is not None
        test = self.state.emit(TEST, frame, a=self.state.spot(pred))
        self.state.conditions[frame] = (self.state.spot(pred), 1)
        yield self._section(block.body, frame)
        for column, _, later in self._indices.get(frame, ()):
            self._number(later, column, frame)
        self.state.emit(BACK, frame, jump=header)
        self.state.code[test]["jump"] = len(self.state.code)
        yield self._section(block.exits, frame)
        self.state.ranges[frame] = (start, len(self.state.code))
        self.state.emit(MARK, outer)

    def _carried_columns(self, block: Block, frame: int) -> list[tuple[str, Slot]]:
        """Create a column for each loop variable, which the next value is written to directly if possible."""
        moves = []
        for node in (self.state.graph.nodes[i.name] for i in block.header if i.frame is None):
            if not is_loop_merge(self.state.graph, node):
                continue
            back = next(r for r in node.inputs if self.state.graph.nodes[r.node].op == "NextIteration")
            enter = next(r for r in node.inputs if r != back)
            source = root_of(self.state.graph, self.state.graph.nodes[back.node].inputs[0])
            slot = self.state.new_slot(frame, self.facts.type_of(node.ref()), self.facts.made_in_rows(source))
            self.state.carried[node.name] = slot
            ahead, behind = node.inputs.index(enter), node.inputs.index(back)
            if node.ref(1) in self.state.read or ahead:  # else the trace derives the index: 0 first, then 1
                column = self.state.new_slot(frame, TensorType("int32", ()))
                self.state.spots[node.ref(1)] = Spot(column, -1)
                self._indices.setdefault(frame, []).append((column, ahead, behind))
            producer = self.state.graph.nodes[source.node]
            computed = producer.op not in CONTROL
            type_ = self.facts.type_of(source)
            fits = in_rows(type_) and not self.state.on_device(type_)
            same_kind = (slot.dtype, slot.shape) == (type_.dtype, type_.shape) if slot.dtype else not fits
            if (
                computed
                and same_kind
                and source not in self.state.spots
                and self.state.graph.frame_of(source.node) == block.path
            ):
                self.state.spots[source] = Spot(
                    slot
                )  # the kernel writes the next value where the next iteration reads it
            moves.append((enter.node, slot))
            if source == node.ref():
                start = self.state.spot(self.state.graph.nodes[enter.node].inputs[0])
                self.state.read_through(slot, self.facts.type_of(source), start)
        return moves

    def _node(self, node: Node, frame: int) -> None:
        silent = node.op == "Const" or (node.op == "Enter" and bool(node.attrs.get("is_constant")))
        event = {"event": True, "silent": silent}
        raw = self.state.frames[frame] in self.state.guards.raw
        if node.op == "NextIteration" and raw:
            self._unstructured.next_iteration(node, frame, **event)
        elif node.op == "Exit" and raw:
            self._unstructured.exit(node, frame)
        elif node.op == "NextIteration":
            merge, *others = (c for c in self.state.graph.consumers(node.name) if c in self.state.carried)
            source, target = self.state.spot(node.inputs[0]), Spot(self.state.carried[merge])
            for other in others:  # one value that several variables receive
                self.state.move(source, Spot(self.state.carried[other]), frame)
            if source.slot is target.slot and source.shift == 0:
                self.state.ips[node.name] = self.state.emit(NOP, frame, **event)
            else:
                self.state.ips[node.name] = len(self.state.code)
                self.state.move(source, target, frame, **event)
        elif node.op == "Exit":
            outer = self.state.number[self.state.graph.frame_of(node.name)[:-1]]
            source = self.state.spot(node.inputs[0])
            slot = self.state.new_slot(outer, self.facts.type_of(node.ref()), source.dtype is not None)
            self.state.spots[node.ref()] = Spot(slot)
            self.state.ips[node.name] = len(self.state.code)
            self.state.move(source, Spot(slot), frame, **event)
        elif node.op == "Placeholder":
            self.state.spots[node.ref()] = Spot(self.state.new_slot(frame, self.facts.type_of(node.ref()), True))
            self.state.ips[node.name] = self.state.emit(NOP, frame, **event)
        elif node.op == "Merge" and node.name not in self.state.carried:
            self._merge(node, frame)
        elif is_double(node):
            return
        elif node.op in ("Const", "Identity", "Enter", "LoopCond", "Switch", "Merge", "NoOp"):
            self.state.ips[node.name] = self.state.emit(NOP, frame, **event)
        else:
            self._nodes.compute(node, frame)

    def _merge(self, node: Node, frame: int) -> None:
        """Lower a conditional Merge: each side that may fire moves its value; the first one that fires wins."""
        live = [i for i in self.state.guards.merges[node.name] if node.inputs[i].node not in self.state.guards.dead]
        alive = frozenset({(node.ref(1), ALIVE)}) & self.state.guards.node[node.name]
        own = self.state.guards.node[node.name] - alive
        sides = {i: self._seen(node.inputs[i]) for i in live}
        slot = self.state.new_slot(
            frame, self.facts.type_of(node.ref()), all(s.dtype is not None for s in sides.values())
        )
        self.state.spots[node.ref()] = Spot(slot)
        index: Slot | None = None
        if alive or node.ref(1) in self.state.read:
            index = self.state.new_slot(frame, TensorType("int32", ()))
            self.state.spots[node.ref(1)] = Spot(index)
        if alive and index is not None:
            self._number(-1, index, frame)
        self.state.ips[node.name] = len(self.state.code)  # orders its literal after those of its sides
        for i in reversed(live):
            opened = self.state.guarded(self.state.guards.seen(node.inputs[i]) - own, frame)
            self.state.move(sides[i], Spot(slot), frame)
            if index is not None:
                self._number(i, index, frame)
            self.state.close(opened, frame)
        opened = self.state.guarded(alive, frame)
        self.state.ips[node.name] = self.state.emit(NOP, frame, event=True)
        self.state.close(opened, frame)

    def _seen(self, ref: Ref) -> Spot:
        """The slot from which a Merge reads an input: a NextIteration of a raw frame wrote it in the previous row."""
        spot = self.state.spot(ref)
        return replace(spot, shift=-1) if ref.node in self.state.guards.arrives else spot

    def _number(self, value: int, slot: Slot, frame: int) -> None:
        constant = Spot(self.state.pool.add(np.array(value, np.int32)))
        self.state.emit(KERNEL, frame, kernel=machine.move_kernel(4), scalar_op="move_4", a=constant, out=Spot(slot))

    def run(self) -> tuple[machine.Program, Layout]:
        """The finished program, and the layout by which the trace finds all values in its rows."""
        nested = [self._section(self.state.blocks[()].header, 0)]
        while nested:
            inside = next(nested[-1], None)
            if inside is None:
                nested.pop()
            else:
                nested.append(inside)
        self.state.emit(HALT, 0)
        self.state.ranges[0] = (-1, len(self.state.code))
        # constants that only the trace reads also get a place
        refs = [Ref(n, i) for n in self.state.ips for i in range(len(self.state.types[n]))]
        spots = {r: self.state.spots.get(r) or self._trace_spot(r) for r in refs}
        return self._assembly.assemble(spots)

    def recorded(self) -> dict[str, tuple[str, str]]:
        """Per node with an array in the rows of a loop: why it is recorded in every iteration, or computed again."""
        return reasons_of(self.state, self._assembly.recomputed)

    def storage(self) -> Storage | None:
        """The slots of values for the lower bound of memory; None if a lean plan would need less memory."""
        return self._assembly.storage()

    def _trace_spot(self, ref: Ref) -> Spot | None:
        try:
            return self.state.spot(ref)
        except KeyError:
            return None  # a value_index without readers: the trace derives it
