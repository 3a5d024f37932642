"""Straight runs: a graph without loops whose inner values are not observed, as a list of calls.

The executor with its rows, trace and checkpoints takes a tenth of a millisecond per run, which is more than a small
model takes. Here each call has the same arrays as operands and results as there: a region is one call, as is each node
of another library; consecutive instructions on arrays are one call of the same code (joined_arrays), and nodes on
single numbers call their evaluator. A call on a side of a branch runs if that side is taken. A failing call is left to
the executor, which names the node and its operands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.ir.node import Node, Ref
from workbench.ir.opspec import REGISTRY
from workbench.plan.lowering.array_layout import ArrayCode
from workbench.plan.lowering.kernel_choice import resolver
from workbench.plan.lowering.lowering_state import LoweringState
from workbench.plan.lowering.node_facts import NodeFacts
from workbench.plan.lowering.regions import LoweredRegion, RegionLowering
from workbench.plan.lowering.straight.calls import Call, as_in_rows, bare, by_shapes, side_taken, together_or_alone
from workbench.plan.lowering.straight.joined_arrays import ArrayNode, Guarded, joined, stretches
from workbench.plan.lowering.straight.steps import StraightRun, StraightStep
from workbench.plan.memory.storage import array_bytes
from workbench.plan.schedule.guards import Guard, root_of

#: number of compiled nodes outside of regions above which the executor is faster (four whose loop is set up per shape
#: count as one, as do sixteen that are joined), and bytes of an array above which it may be faster
MOST_COMPILED, MOST_COMPILED_BYTES = 96, 1 << 20
#: maximum bytes of a value that follows from constants alone and is computed during planning
MOST_FOLDED_BYTES = 1 << 20
#: nodes that only name or order values
SILENT = ("Const", "Identity", "NoOp", "Placeholder", "Switch")


class StraightLowering:
    """Creates the straight run of a lowered graph, if it has one."""

    def __init__(self, state: LoweringState, facts: NodeFacts, regions: RegionLowering) -> None:
        self._state, self._facts, self._regions = state, facts, regions
        self._places: dict[Ref, int] = {}
        self._values: list[Any] = []
        self._steps: list[StraightStep | ArrayNode] = []
        self._compiled = 0.0
        self._guard: Guarded = ()  # of the node being added

    def run(self, outputs: Mapping[str, Ref], inputs: Mapping[str, Ref]) -> StraightRun | None:
        """The run from ``inputs`` to ``outputs``; None if the executor is needed, or faster."""
        state = self._state
        if state.home is not None or len(state.frames) > 1 or state.guards.raw or state.graph.flushes_subnormals:
            return None
        if any(ref.node in state.guards.dead or state.guards.seen(ref) for ref in outputs.values()):
            return None  # an output that may not fire: the executor reports which Switch decided
        if any(not self._decided(wanted, ref) for name in state.spans for ref, wanted in state.guards.node[name]):
            return None
        feeds = tuple([self._feed(name, ref) for name, ref in inputs.items() if ref.node in state.spans])
        within = {name: region for region in self._regions.lowered for name in region.names}
        try:
            for name in state.spans:
                region = within.get(name)
                self._guard = self._guarded(state.guards.node[name])
                if region is None:
                    if not self._add(state.graph.nodes[name]):
                        return None
                elif name == region.names[-1]:
                    self._add_region(region)
            found = tuple([(name, self._place(self._regions.source(ref))) for name, ref in outputs.items()])
        except KeyError:  # a value of a region that its call does not return
            return None
        self._guard = ()
        if self._compiled > MOST_COMPILED or not self._steps:
            return None
        kept = {k for _, k in found}
        return StraightRun(feeds, tuple(self._values), self._freed(self._joined(kept), kept), found)

    def _decided(self, wanted: bool | str, ref: Ref) -> bool:
        """True for a literal of a guard that is a truth value."""
        spot = self._state.spots.get(ref) if ref.index < 0 else self._state.spot(ref)
        return isinstance(wanted, bool) and spot is not None and (spot.dtype, spot.shape) == ("bool", ())

    def _guarded(self, guard: Guard) -> Guarded:
        literals = sorted(guard, key=lambda literal: (literal[0].node, literal[0].index))
        return tuple([(self._place(ref), bool(wanted)) for ref, wanted in literals])

    def _feed(self, name: str, ref: Ref) -> tuple[str, int, bool]:
        return name, self._new(ref), self._state.spot(ref).dtype is not None

    def _new(self, ref: Ref, value: Any = None) -> int:
        self._places[ref] = len(self._values)
        self._values.append(value)
        return self._places[ref]

    def _place(self, ref: Ref) -> int:
        """The place of a value; KeyError if no call returns it."""
        ref = root_of(self._state.graph, ref)
        if ref not in self._places:
            spot = self._state.spot(ref)
            if not spot.is_constant:
                return self._viewed(ref)
            return self._new(ref, np.asarray(self._state.pool.value(spot.slot)))
        return self._places[ref]

    def _viewed(self, ref: Ref) -> int:
        """The place of a value of a region that is another value with another shape."""
        for region in self._regions.lowered:
            whole = self._regions.same_memory(ref, region.leaves)
            if whole is not None:
                given, made = (self._facts.type_of(whole),), (self._facts.type_of(ref),)
                takes = (self._place(whole),)
                self._steps.append(
                    ArrayNode(ArrayCode(views={0: 0}), takes, (self._new(ref),), given, made, self._guard)
                )
                return self._places[ref]
        raise KeyError(ref)

    def _add_region(self, region: LoweredRegion) -> None:
        takes = tuple([self._place(r) for r in region.takes])
        gives = tuple([self._new(r) for r in region.leaves])
        self._steps.append(StraightStep(together_or_alone(region), takes, gives, guard=self._guard))

    def _add(self, node: Node) -> bool:
        """Add the call of a node; False if only the executor can run it."""
        state, choice = self._state, self._state.choices.get(node.name)
        if node.op in SILENT or self._facts.folded(node) is not None:
            return True
        if node.op == "Merge":
            return self._add_merge(node)
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
            return False  # it may write to its operands, which the executor copies for it
        dynamic = not compiled and len(outputs) == 1 and outputs[0].dtype is None
        dtypes = [self._facts.type_of(r).dtype for r in node.inputs]
        resolve = resolver(node, dtypes, types[0].dtype) if dynamic else None
        if compiled or resolve is not None or choice.scalar_op:
            self._compiled += 1.0 if compiled or choice.scalar_op else 0.25
            if any(t.is_static and array_bytes(t) > MOST_COMPILED_BYTES for t in types):
                return False
        if resolve is not None:
            call = by_shapes(call, resolve)
        call = as_in_rows(call, outputs, resolve is not None)
        known = self._known(call, node, takes)
        gives = tuple([self._new(node.ref(k), known[k] if known else None) for k in range(len(types))])
        if not known:
            self._steps.append(StraightStep(call, takes, gives, guard=self._guard))
        return True

    def _known(self, call: Call, node: Node, takes: Sequence[int]) -> Sequence[Any]:
        """The values of a node with only constant operands, computed by its own call; none if they are large or cannot
        be computed, in which case the run reports the error.
        """
        types = self._state.types[node.name]
        size = sum(array_bytes(t) if t.is_static else MOST_FOLDED_BYTES + 1 for t in types)
        if size > MOST_FOLDED_BYTES or not node.inputs or any(self._values[k] is None for k in takes):
            return ()
        try:
            with np.errstate(all="ignore"):
                return call([self._values[k] for k in takes]) or ()
        except Exception:  # of any library; the run reports it
            return ()

    def _add_merge(self, node: Node) -> bool:
        """Add the call that returns the value of the side taken."""
        state = self._state
        if node.name in state.guards.general or node.ref(1) in state.read:
            return False
        live = [node.inputs[k] for k in state.guards.merges[node.name] if node.inputs[k].node not in state.guards.dead]
        ways = [self._guarded(state.guards.seen(ref) - state.guards.node[node.name]) for ref in live]
        decisions = tuple(dict.fromkeys(k for way in ways for k, _ in way))
        wanted = [[(decisions.index(k), is_) for k, is_ in way] for way in ways]
        takes = (*decisions, *(self._place(ref) for ref in live))
        self._steps.append(
            StraightStep(side_taken(wanted, len(decisions)), takes, (self._new(node.ref()),), guard=self._guard)
        )
        return True

    def _add_arrays(self, node: Node, places: Sequence[int]) -> bool:
        code, types = self._facts.code_of(node), tuple(self._state.types[node.name])
        if code is None or any(array_bytes(t) > MOST_COMPILED_BYTES for t in types):
            return False
        gives = tuple([self._new(node.ref(k)) for k in range(len(types))])
        given = tuple([self._facts.type_of(r) for r in node.inputs])
        self._steps.append(ArrayNode(code, tuple(places), gives, given, types, self._guard))
        self._compiled += 0.0625
        return True

    def _joined(self, kept: set[int]) -> list[StraightStep]:
        """The steps, with nodes on arrays joined to one call if possible."""
        read = kept.union(*(s.takes for s in self._steps if not isinstance(s, ArrayNode)))
        found: list[StraightStep] = []
        parts = stretches(self._steps)
        outside = [set[int]().union(*(n.takes for n in p)) if isinstance(p, list) else set[int]() for p in parts]
        for number, part in enumerate(parts):
            if not isinstance(part, list):
                found.append(part)
                continue
            leaves = read.union(*outside[:number], *outside[number + 1 :])
            step = StraightStep(*joined(part, leaves), guard=part[0].guard)
            if step.gives:
                found.append(step)
        return found

    def _freed(self, steps: Sequence[StraightStep], kept: set[int]) -> tuple[StraightStep, ...]:
        """The steps, each with the values that it reads last."""
        found, read = [], set(kept)
        for step in reversed(steps):
            last = {*step.takes, *step.gives, *(k for k, _ in step.guard)} - read
            read |= last
            frees = tuple(sorted(k for k in last if self._values[k] is None))
            found.append(step._replace(frees=frees))
        return tuple(reversed(found))
