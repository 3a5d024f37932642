"""Regions: parts of one straight run whose nodes become one call, of their framework or on the device.

A region's nodes keep their instructions, which a REGION before them may skip (kernels: opcodes). If unneeded values are
not kept, the call returns only those that other nodes read; else every value of the region.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.device import DeviceJoiner
from workbench.ir.node import Node, Ref
from workbench.kernels.opcodes import ARRAY, CALL, NOP, REGION
from workbench.ops.foreign import Joiner, RegionCall, RegionStep, joiner_of
from workbench.plan.lowering.lowering_state import LoweringState
from workbench.plan.lowering.node_facts import NodeFacts
from workbench.plan.lowering.region_sizes import MOST_BYTES, MOST_UNKNOWN_BYTES, known_bytes, shared_bytes
from workbench.plan.lowering.region_steps import RegionSteps
from workbench.plan.memory.storage import SMALL_BYTES, Slot, Spot, array_bytes
from workbench.plan.schedule.frame_schedule import ScheduledItem

#: maximum number of nodes of a region, and minimum number of calls in it for which it is faster
MOST_NODES, LEAST_CALLS = 2000, 2


@dataclass
class PlannedRegion:
    """A sequence of nodes: the index of its instruction, its parts, and the last node."""

    joiner: Joiner
    names: list[str] = field(default_factory=list)  # including nodes that only rename a value
    steps: list[RegionStep] = field(default_factory=list)
    bytes: int = 0
    calls: int = 0
    at: int = -1


@dataclass(frozen=True, slots=True)
class LoweredRegion:
    """A region with its call: its operands, results and steps, and those of its values that are separate arrays."""

    names: tuple[str, ...]
    function: RegionCall
    takes: tuple[Ref, ...]
    leaves: tuple[Ref, ...]
    steps: tuple[RegionStep, ...]
    objects: frozenset[Ref]


class RegionLowering:
    """Finds regions before their nodes are lowered, and creates their calls afterwards."""

    def __init__(self, state: LoweringState, facts: NodeFacts) -> None:
        self._state, self._facts = state, facts
        self._needs_all = not state.lean or state.statistics
        self._most, self._bytes = MOST_BYTES, known_bytes if state.statistics else array_bytes
        self._device = None if state.home is None or state.statistics else DeviceJoiner(state.home)
        self._steps = RegionSteps(state, facts, self._device)
        self.lowered: list[LoweredRegion] = []

    def find(self, items: Sequence[ScheduledItem]) -> dict[str, PlannedRegion]:
        """The regions of items under one guard, by their first nodes."""
        found: dict[str, PlannedRegion] = {}
        joiner: Joiner | None = self._device  # in plans with a device, foreign nodes run alone
        if joiner is None:
            joiner = next((j for i in items if i.frame is None and (j := self._joiner(i.name))), None)
        if joiner is None:
            return found
        nodes = [None if i.frame is not None else self._state.graph.nodes[i.name] for i in items]
        steps = {n.name: self._steps.step(n) for n in nodes if n is not None and not self._only_renames(n)}
        version = joiner.version_of([s for s in steps.values() if s is not None])
        if self._state.statistics:
            self._most = shared_bytes(steps.values())
        open_ = PlannedRegion(joiner)
        for node in nodes:
            if node is not None and self._only_renames(node):
                if open_.names:
                    open_.names.append(node.name)
                continue
            step = None if node is None else steps[node.name]
            size = 0 if step is None or not self._needs_all else sum(self._bytes(t) for t in step.gives)
            if step is None or not joiner.takes(step, version) or size > self._most:
                self._close(open_, found)
                open_ = PlannedRegion(joiner)
                continue
            if open_.bytes + size > self._most or len(open_.steps) >= MOST_NODES:
                self._close(open_, found)
                open_ = PlannedRegion(joiner)
            assert node is not None
            open_.names.append(node.name)
            open_.steps.append(step)
            open_.bytes += size
            open_.calls += self._is_call(node)
        self._close(open_, found)
        return found

    def _close(self, region: PlannedRegion, found: dict[str, PlannedRegion]) -> None:
        nodes = self._state.graph.nodes
        steps = region.steps
        if self._device is not None:
            if steps and self._device.gains(steps):
                found[steps[0].outputs[0].node] = region
                region.names = region.names[: region.names.index(steps[-1].outputs[0].node) + 1]
            return
        if self._needs_all:  # else one call of all nodes is faster than compiled code for some of them
            while steps and not self._gains(nodes[steps[-1].outputs[0].node]):
                steps.pop()
            while steps and not self._gains(nodes[steps[0].outputs[0].node]):
                steps.pop(0)
        if region.calls >= LEAST_CALLS and any(s.bound is not None for s in steps):
            first, last = steps[0].outputs[0].node, steps[-1].outputs[0].node
            region.names = region.names[region.names.index(first) : region.names.index(last) + 1]
            found[first] = region

    def _joiner(self, name: str) -> Joiner | None:
        return joiner_of(self._state.graph.nodes[name].op)

    def _only_renames(self, node: Node) -> bool:
        return node.op in ("Const", "Identity") or self._facts.folded(node) is not None

    def _is_call(self, node: Node) -> bool:
        return self._facts.code_of(node) is None and any(t.shape != () for t in self._state.types[node.name])

    def _gains(self, node: Node) -> bool:
        """Return whether a node at an end of a region belongs to it: it would be a call, or works on large arrays."""
        return self._is_call(node) or any(array_bytes(t) > SMALL_BYTES for t in self._state.types[node.name])

    # -- after its nodes have their instructions -------------------------------------------------------------------
    def open(self, region: PlannedRegion, frame: int) -> None:
        """Emit the instruction before a region."""
        region.at = self._state.emit(REGION, frame)

    def finish(self, region: PlannedRegion) -> None:
        """Create the call, or remove the instruction if there is none."""
        row = self._state.code[region.at]
        call = self._call(region)
        if call is None:
            row["op"] = NOP
            return
        row["x0"], row["jump"] = len(self._state.regions), len(self._state.code)
        self._state.regions.append(call)
        self._state.lean_matters = True  # the call of a lean plan returns fewer values

    def _call(self, region: PlannedRegion) -> tuple[Any, tuple[Spot, ...], tuple[Spot, ...]] | None:
        written = self._written(region)
        if written is None:
            return None
        made = {r for s in region.steps for r in s.outputs}
        needed = None if self._needs_all else self._needed(region)
        outputs = [
            r for s in region.steps for r in s.outputs if r in written and (needed is None or written[r].slot in needed)
        ]
        inputs = list(
            dict.fromkeys(
                r
                for s in region.steps
                for k, r in enumerate(s.inputs)
                if s.constants[k] is None and r not in made and (s.bound is None or k in s.bound.takes)
            )
        )
        if not outputs:
            return None
        objects = [r for r, spot in written.items() if spot.dtype is None]
        if self._device is not None:
            self._device.read_later = frozenset(r for r in outputs if written[r].slot in self._needed(region))
        most = max(self._most, MOST_UNKNOWN_BYTES) if self._state.statistics else None
        function = region.joiner.join(region.steps, inputs, outputs, objects, most)
        if function is None:
            return None
        parts = tuple(inputs), tuple(outputs), tuple(region.steps), frozenset(objects)
        self.lowered.append(LoweredRegion(tuple(region.names), function, *parts))
        return function, tuple(map(self._state.spot, inputs)), tuple([written[r] for r in outputs])

    def source(self, ref: Ref) -> Ref:
        """The value of which ``ref`` is an alias."""
        return self._steps.source(ref)

    def same_memory(self, ref: Ref, leaves: Sequence[Ref]) -> Ref | None:
        """The value of a region of which another one is a view of all items."""
        spot, type_ = self._state.spot(ref), self._facts.type_of(ref)
        for leaf in leaves:
            whole, other = self._state.spot(leaf), self._facts.type_of(leaf)
            same = whole.slot is spot.slot and whole.delta == spot.delta and other.dtype == type_.dtype
            if same and type_.is_static and other.is_static and array_bytes(type_) == array_bytes(other):
                return leaf
        return None

    def _written(self, region: PlannedRegion) -> Mapping[Ref, Spot] | None:
        """The places of the values that instructions of the region write; None if it contains other work."""
        state, found = self._state, dict[Ref, Spot]()
        statistics = set(state.statistics_of.values())
        for name in region.names:
            start, stop = state.spans[name]
            node = state.graph.nodes[name]
            spots = {}
            if not self._only_renames(node):
                spots = {r: state.spot(r) for r in (node.ref(k) for k in range(len(state.types[name])))}
            slots: dict[Slot, Ref] = {s.slot: r for r, s in spots.items()}
            if len(slots) < len(spots):
                return None
            for row in state.code[start:stop]:
                if row["op"] == NOP:
                    continue
                targets = state.calls[row["x0"]][2] if row["op"] == CALL else (row["out"],)
                if row["op"] == ARRAY and row["out"].slot in statistics:
                    continue
                if any(t.slot not in slots for t in targets):
                    return None
                found.update((slots[t.slot], spots[slots[t.slot]]) for t in targets)
        return found

    def _needed(self, region: PlannedRegion) -> set[Slot]:
        """The places of values that nodes outside of a region read, or that are outputs."""
        state, inside = self._state, set(region.names)
        found = set()
        for name in region.names:
            refs = [state.graph.nodes[name].ref(k) for k in range(len(state.types[name]))]
            outside = [n for n in state.graph.consumers(name) if n not in inside and n in state.types]
            for ref in refs:
                read = ref in state.outputs or any(ref in state.graph.nodes[n].inputs for n in outside)
                if read:
                    found.add(state.spot(ref).slot)
        return found
