"""Straight runs: a graph without loops and branches, whose inner values are not observed, as a list of calls.

The executor with its rows, its trace and its checkpoints costs a tenth of a millisecond a run, which is more than a
small model takes. Here each call gets and gives the very arrays that it gets and gives there: regions are one call,
nodes of other libraries one each, neighbours that are instructions on arrays are one call of the same code
(joined_arrays), and nodes on single numbers are their evaluator. A failing call is left to the executor, which names
the node and its operands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from workbench.ir.node import Node, Ref
from workbench.ir.opspec import REGISTRY
from workbench.plan.lowering.array_layout import ArrayCode
from workbench.plan.lowering.kernel_choice import resolver
from workbench.plan.lowering.lowering_state import LoweringState
from workbench.plan.lowering.node_facts import NodeFacts
from workbench.plan.lowering.regions import LoweredRegion, RegionLowering
from workbench.plan.lowering.straight.calls import Call, as_in_rows, bare, by_shapes, together_or_alone
from workbench.plan.lowering.straight.joined_arrays import ArrayNode, joined, stretches
from workbench.plan.memory.storage import array_bytes

#: compiled nodes outside of regions from which on the executor is faster (of those whose loop is set up for each shape
#: four count as one, of those that are joined with others sixteen), and bytes of an array from which on it may be
MOST_COMPILED, MOST_COMPILED_BYTES = 96, 1 << 20
#: runs in a row that were left to the executor, from which on all are
MOST_FAILURES = 2
#: nodes that only name or order values
SILENT = ("Const", "Identity", "NoOp", "Placeholder")


class StraightStep(NamedTuple):
    """One call: the positions of its operands and results in the list of values, and those to be freed."""

    call: Call
    takes: tuple[int, ...]
    gives: tuple[int, ...]
    frees: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class StraightRun:
    """A whole run of a graph: feeds, by name, to outputs. ``feeds`` has the place of each and whether it must be dense;
    ``values`` the constants in their places, ``outputs`` the place of each output. Once ``failures``, in a row, are
    too many, as where a node gives another type than it declares, all runs are left to the executor."""

    feeds: tuple[tuple[str, int, bool], ...]
    values: tuple[Any, ...]
    steps: tuple[StraightStep, ...]
    outputs: tuple[tuple[str, int], ...]
    failures: list[str] = field(default_factory=list)

    def __call__(self, feeds: Mapping[str, Any]) -> dict[str, Any] | None:
        """The outputs, arrays of the caller's own; None where the executor must run."""
        if len(self.failures) >= MOST_FAILURES:
            return None
        values = list(self.values)
        for name, place, dense in self.feeds:
            fed = feeds[name]
            values[place] = np.ascontiguousarray(fed) if dense and not fed.flags.c_contiguous else fed
        taken = {id(v) for v in values}
        given = values[:]  # so that no other object takes one of these identities
        try:
            with np.errstate(all="ignore"):
                for call, takes, gives, frees in self.steps:
                    results = call([values[k] for k in takes])
                    if results is None:
                        self.failures.append("left to the executor")
                        return None
                    for place, result in zip(gives, results, strict=True):
                        values[place] = result
                    for place in frees:
                        values[place] = None
        except Exception:  # the executor says what is wrong, with the node and all its operands
            return None
        self.failures.clear()
        found: dict[str, Any] = {}
        for name, place in self.outputs:
            value = values[place]
            if isinstance(value, np.ndarray):
                if id(value) in taken or not value.flags.owndata:
                    value = np.array(value)
                taken.add(id(value))
                value.flags.writeable = True  # it owns its memory
            found[name] = value
        del given
        return found


class StraightLowering:
    """Makes the straight run of a lowered graph, if it has one."""

    def __init__(self, state: LoweringState, facts: NodeFacts, regions: RegionLowering) -> None:
        self._state, self._facts, self._regions = state, facts, regions
        self._places: dict[Ref, int] = {}
        self._values: list[Any] = []
        self._steps: list[StraightStep | ArrayNode] = []
        self._compiled = 0.0

    def run(self, outputs: Mapping[str, Ref], inputs: Mapping[str, Ref]) -> StraightRun | None:
        """The run from ``inputs`` to ``outputs``; None where the executor is needed, or faster."""
        state = self._state
        if state.home is not None or len(state.frames) > 1 or state.guards.raw or state.graph.flushes_subnormals:
            return None
        if any(state.guards.node[name] for name in state.spans):
            return None
        feeds = tuple([self._feed(name, ref) for name, ref in inputs.items() if ref.node in state.spans])
        within = {name: region for region in self._regions.lowered for name in region.names}
        try:
            for name in state.spans:
                region = within.get(name)
                if region is None:
                    if not self._add(state.graph.nodes[name]):
                        return None
                elif name == region.names[-1]:
                    self._add_region(region)
            found = tuple([(name, self._place(self._regions.source(ref))) for name, ref in outputs.items()])
        except KeyError:  # a value of a region that its call does not leave
            return None
        if self._compiled > MOST_COMPILED or not self._steps:
            return None
        kept = {k for _, k in found}
        return StraightRun(feeds, tuple(self._values), self._freed(self._joined(kept), kept), found)

    def _feed(self, name: str, ref: Ref) -> tuple[str, int, bool]:
        return name, self._new(ref), self._state.spot(ref).dtype is not None

    def _new(self, ref: Ref, value: Any = None) -> int:
        self._places[ref] = len(self._values)
        self._values.append(value)
        return self._places[ref]

    def _place(self, ref: Ref) -> int:
        """The place of a value; KeyError where no call leaves it."""
        ref = self._regions.source(ref)
        if ref not in self._places:
            spot = self._state.spot(ref)
            if not spot.is_constant:
                return self._viewed(ref)
            return self._new(ref, np.asarray(self._state.pool.value(spot.slot)))
        return self._places[ref]

    def _viewed(self, ref: Ref) -> int:
        """The place of a value of a region that is another one in another shape."""
        for region in self._regions.lowered:
            whole = self._regions.same_memory(ref, region.leaves)
            if whole is not None:
                given, made = (self._facts.type_of(whole),), (self._facts.type_of(ref),)
                takes = (self._place(whole),)
                self._steps.append(ArrayNode(ArrayCode(views={0: 0}), takes, (self._new(ref),), given, made))
                return self._places[ref]
        raise KeyError(ref)

    def _add_region(self, region: LoweredRegion) -> None:
        takes = tuple([self._place(r) for r in region.takes])
        gives = tuple([self._new(r) for r in region.leaves])
        self._steps.append(StraightStep(together_or_alone(region), takes, gives))

    def _add(self, node: Node) -> bool:
        """Add the call of a node; False where only the executor can carry it out."""
        state, choice = self._state, self._state.choices.get(node.name)
        if node.op in SILENT or self._facts.folded(node) is not None:
            return True
        spec = REGISTRY.lookup(node.op, node.attrs)
        if choice is None or not spec.pure or spec.draws or spec.once or choice.draws:
            return False
        inputs, places = [state.spot(r) for r in node.inputs], [self._place(r) for r in node.inputs]
        types = state.types[node.name]
        outputs = [state.spot(node.ref(k)) for k in range(len(types))]
        compiled = choice.kind != "call"
        if choice.kind == "array":
            return self._add_arrays(node, places)
        call, wanted = choice.call, choice.takes
        if compiled:
            call, wanted = bare(spec, node), None
        takes = tuple(places) if wanted is None else tuple([places[k] for k in wanted])
        if call is None or not compiled and not choice.sees and any(s.dtype is not None for s in inputs):
            return False  # it may write to operands that the executor copies for it
        dynamic = not compiled and len(outputs) == 1 and outputs[0].dtype is None
        dtypes = [self._facts.type_of(r).dtype for r in node.inputs]
        resolve = resolver(node, dtypes, types[0].dtype) if dynamic else None
        if compiled or resolve is not None or choice.scalar_op:
            self._compiled += 1.0 if compiled or choice.scalar_op else 0.25
            if any(t.is_static and array_bytes(t) > MOST_COMPILED_BYTES for t in types):
                return False
        gives = tuple([self._new(node.ref(k)) for k in range(len(types))])
        if resolve is not None:
            call = by_shapes(call, resolve)
        self._steps.append(StraightStep(as_in_rows(call, outputs, resolve is not None), takes, gives))
        return True

    def _add_arrays(self, node: Node, places: Sequence[int]) -> bool:
        code, types = self._facts.code_of(node), tuple(self._state.types[node.name])
        if code is None or any(array_bytes(t) > MOST_COMPILED_BYTES for t in types):
            return False
        gives = tuple([self._new(node.ref(k)) for k in range(len(types))])
        given = tuple([self._facts.type_of(r) for r in node.inputs])
        self._steps.append(ArrayNode(code, tuple(places), gives, given, types))
        self._compiled += 0.0625
        return True

    def _joined(self, kept: set[int]) -> list[StraightStep]:
        """The steps, with nodes on arrays as one call where they can be."""
        read = kept.union(*(s.takes for s in self._steps if not isinstance(s, ArrayNode)))
        found: list[StraightStep] = []
        parts = stretches(self._steps)
        outside = [set[int]().union(*(n.takes for n in p)) if isinstance(p, list) else set[int]() for p in parts]
        for number, part in enumerate(parts):
            if not isinstance(part, list):
                found.append(part)
                continue
            leaves = read.union(*outside[:number], *outside[number + 1 :])
            step = StraightStep(*joined(part, leaves))
            if step.gives:
                found.append(step)
        return found

    def _freed(self, steps: Sequence[StraightStep], kept: set[int]) -> tuple[StraightStep, ...]:
        """The steps, each with the values that it is the last to read."""
        found, read = [], set(kept)
        for step in reversed(steps):
            last = {*step.takes, *step.gives} - read
            read |= last
            frees = tuple(sorted(k for k in last if self._values[k] is None))
            found.append(StraightStep(step.call, step.takes, step.gives, frees))
        return tuple(reversed(found))
