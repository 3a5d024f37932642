"""The outermost level of a plan as steps in program order, each a node or a whole loop, with their readers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.node import Ref
from workbench.kernels.layout import Place
from workbench.plan import ExecutionPlan
from workbench.plan.schedule.guards import ALIVE, Guard

#: (base, offset, expected value), as read by the executor
Literals = list[tuple[int, int, int]]


@dataclass(frozen=True, slots=True, eq=False)
class RevisionStep:
    """One node or loop of the outermost level. ``start`` to ``stop`` are its instructions; it is executed if ``guard``
    holds. Others may read ``outputs``; ``reads`` are its inputs, including predicates.

    For a loop, ``frame`` is its index, ``tree`` its frame and all inner ones, ``starts`` the start values of its
    variables.
    """

    number: int
    name: str
    start: int
    stop: int
    guard: Literals
    outputs: tuple[tuple[Ref, Place], ...]
    reads: frozenset[Ref]
    frame: int = 0
    tree: tuple[int, ...] = ()
    starts: frozenset[Ref] = field(default_factory=frozenset)

    @property
    def is_loop(self) -> bool:
        """True for a loop, False for a node."""
        return self.frame > 0


class RevisionSteps:
    """The steps of one plan, whose frames must be nested."""

    def __init__(self, plan: ExecutionPlan) -> None:
        self.plan = plan
        self.all: list[RevisionStep] = []
        #: output -> earlier outputs with which it shares memory: an alias, a view, or the same place
        self.shared: dict[Ref, tuple[Ref, ...]] = {}
        self._taken: dict[tuple[int, int], list[tuple[int, int, Ref]]] = {}
        self.readers: dict[Ref, list[int]] = {}
        for item in plan.blocks[()].header:
            if item.frame is not None:
                self._loop(item.frame, item.guard)
            elif item.name in plan.spans:
                self._node(item.name, item.guard)
        #: values that loops read
        self.looped = frozenset(r for s in self.all if s.is_loop for r in s.reads)
        self.by_name = {s.name: s for s in self.all if not s.is_loop}
        #: first instruction of a loop -> instruction after its last
        self.ends = {s.start: s.stop for s in self.all if s.is_loop}

    def step_at(self, ip: int) -> RevisionStep | None:
        """The step that contains an instruction."""
        return next((s for s in self.all if s.start < ip < s.stop), None)

    def stores(self, frames: Iterable[int]) -> list[int]:
        """The stores of rows of these frames, including the stores of their arrays."""
        wanted = set(frames)
        return [number for number, frame in enumerate(self.plan.layout.stores) if frame in wanted]

    def stores_from(self, ip: int) -> list[int]:
        """Stores of the loops that begin at or after an instruction."""
        return self.stores(n for n, f in enumerate(self.plan.layout.frames) if n and f.start >= ip)

    # -- parts -------------------------------------------------------------------------------------------------------
    def _node(self, name: str, guard: Guard) -> None:
        plan = self.plan
        node = plan.graph.nodes[name]
        reads: set[Ref] = {*node.inputs, *(ref for ref, _ in guard)}
        for index in plan.guards.merges.get(name, ()):  # a Merge reads which side is alive
            reads |= {ref for ref, _ in plan.guards.seen(node.inputs[index])}
        outputs = self._places(node.ref(k) for k in range(len(plan.types[name])))
        self._add(
            RevisionStep(len(self.all), name, *plan.spans[name], self._literals(guard), outputs, frozenset(reads))
        )

    def _loop(self, path: FramePath, guard: Guard) -> None:
        plan, graph = self.plan, self.plan.graph
        number = plan.numbers[path]
        layout = plan.layout.frames[number]
        inside = [graph.nodes[n] for n in graph.frames[path].nodes if (n, 0) in plan.layout.values]
        enters = [n for n in inside if n.op == "Enter"]
        starts = frozenset(n.inputs[0] for n in enters if not n.attrs.get("is_constant"))
        reads = frozenset(n.inputs[0] for n in enters) | {ref for ref, _ in guard}
        tree = tuple(n for n, f in enumerate(plan.layout.frames) if n and layout.start <= f.start < layout.stop)
        outputs = self._places(n.ref() for n in inside if n.op == "Exit")
        name = "/".join(layout.path)
        literals = self._literals(guard)
        self._add(
            RevisionStep(len(self.all), name, layout.start, layout.stop, literals, outputs, reads, number, tree, starts)
        )

    def _add(self, step: RevisionStep) -> None:
        self.all.append(step)
        for ref, place in step.outputs:
            low, high = place.offset, place.offset + size_of(place)
            # numbers and objects never share memory; arrays may be parts of others
            taken = self._taken.setdefault((place.base, low if place.base == 1 else -1), [])
            shared = tuple(r for a, b, r in taken if a < high and low < b)
            if shared:
                self.shared[ref] = shared
            if not any(a <= low and high <= b for a, b, _ in taken):
                taken.append((low, high, ref))
        for ref in step.reads:
            self.readers.setdefault(ref, []).append(step.number)

    def _places(self, refs: Iterable[Ref]) -> tuple[tuple[Ref, Place], ...]:
        found = ((r, self.plan.layout.values[r].place) for r in refs)
        return tuple((r, p) for r, p in found if p is not None and p.base > 0)

    def _literals(self, guard: Guard) -> Literals:
        found = []
        for ref, wanted in guard:
            place = self.plan.layout.values[ref].place
            assert place is not None
            expect = int(bool(wanted))
            if wanted is ALIVE or place.dtype == "int32":
                expect = 2 if wanted else 3
            found.append((*self.plan.layout.operand(place), expect))
        return found


def size_of(place: Place) -> int:
    """Bytes of a place; an object takes 16."""
    return 16 if place.dtype is None else np.dtype(place.dtype).itemsize * math.prod(place.shape)
