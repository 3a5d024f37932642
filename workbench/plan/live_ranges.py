"""The nodes between which each value of a plan is needed, and the memory that this takes (see memory)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.node import Ref
from workbench.ir.types import TensorType, numpy_dtype
from workbench.plan.memory.memory_bound import Lifetime, LiveBytes, PlanMemory, Storage, lower_bound
from workbench.plan.plan import ExecutionPlan
from workbench.plan.schedule.guards import OPEN, Guard

#: ops that only rename a value
RENAMING = frozenset(("Identity", "Switch", "LoopCond"))


def memory_of(plan: ExecutionPlan) -> PlanMemory:
    """The bound of a lean plan, and the lifetimes of its values. Takes time in proportion to the plan."""
    assert plan.storage is not None
    return _Lives(plan, plan.storage).result()


class _Lives:
    def __init__(self, plan: ExecutionPlan, storage: Storage) -> None:
        self.plan, self.storage, self.graph = plan, storage, storage.graph
        self.nodes = [n.name for n in plan.layout.nodes]
        self.at = {name: k for k, name in enumerate(self.nodes)}
        self.ends: dict[FramePath, int] = {}  # last node in or under a loop
        self.turns: dict[FramePath, int] = {}  # last node of its iterations
        self.heads: dict[FramePath, int] = {}  # the node whose value decides whether it continues
        for k, name in enumerate(self.nodes):
            path, op = self.graph.frame_of(name), self.graph.nodes[name].op
            for depth in range(1, len(path) + 1):
                self.ends[path[:depth]] = k
            if op == "LoopCond":
                self.heads[path] = k
            if op != "Exit":
                for depth in range(1, len(path) + 1):
                    self.turns[path[:depth]] = k
        self.outer: dict[FramePath, Guard] = {}
        for path, block in sorted(plan.blocks.items(), key=lambda b: len(b[0])):
            self.outer[path] = OPEN if not path else self.outer.get(path[:-1], OPEN) | block.start

    def size(self, ref: Ref) -> int:
        """The bytes of an array that counts; 0 for all other values."""
        type_: TensorType = self.plan.types[ref.node][ref.index]
        if ref not in self.storage.slots or not type_.shape or not type_.is_static:
            return 0
        try:
            item = numpy_dtype(type_.dtype).itemsize
        except (TypeError, ValueError):
            return 0
        total = item
        for d in type_.shape:
            total *= d or 0
        return total

    def reads(self, ref: Ref, name: str) -> int:
        """The last node until which ``name`` needs its input ``ref``."""
        node, at = self.graph.nodes[name], self.at[name]
        own, reader = self.graph.frame_of(ref.node), self.graph.frame_of(name)
        if self.graph.nodes[ref.node].op == "Exit":
            own = own[:-1]
        if node.op == "Exit":
            return min(at, self.heads.get(reader, at))
        if node.op == "Merge":
            return self.at[ref.node] if self.graph.nodes[ref.node].op == "Enter" else at - 1
        if node.op == "NextIteration":
            return self.turns[reader]
        if node.op in RENAMING or (node.op == "Enter" and node.attrs.get("is_constant")):
            return -1  # the readers of the new name count
        if node.op == "Enter":
            return at
        if self.graph.nodes[ref.node].op == "Enter":
            own = own[:-1]
        if len(reader) > len(own):  # each iteration needs it
            return self.ends[reader[: len(own) + 1]]
        return at

    def guard(self, name: str, ref: Ref) -> Guard:
        """The guard of a value, including the conditions under which its loops run."""
        path = self.graph.frame_of(name)
        own = self.outer.get(path[:-1] if self.graph.nodes[name].op == "Exit" else path, OPEN)
        return own | self.plan.guards.value.get(ref, OPEN)

    def result(self) -> PlanMemory:
        spans: dict[int, list[tuple[int, int, int, int, Guard]]] = defaultdict(list)
        made: list[tuple[Ref, int]] = []
        readers: dict[Ref, list[str]] = defaultdict(list)
        for name in self.nodes:
            for ref in self.graph.nodes[name].inputs:
                readers[ref].append(name)
        final = len(self.nodes) - 1
        outputs = set(self.plan.outputs.values())
        for name in self.nodes:
            node = self.graph.nodes[name]
            if node.op == "Enter" and not node.attrs.get("is_constant"):
                continue
            for index in range(len(self.plan.types[name])):
                ref = node.ref(index)
                size = self.size(ref)
                if not size:
                    continue
                slot, start = self.storage.slots[ref]
                first = self.at[name]
                last = max((self.reads(ref, r) for r in readers[ref]), default=-1)
                last = final if ref in outputs else last
                if last < 0 and (node.op in RENAMING or node.op == "Enter"):
                    continue
                last = max(first, last)
                spans[slot].append((start, start + size, first, last, self.guard(name, ref)))
                if node.op not in RENAMING and node.op not in ("NextIteration", "Enter"):
                    made.append((ref, size))
        pieces = [piece for slot in spans for piece in _pieces(spans[slot])]
        guards = [self.plan.guards.node.get(n, OPEN) | self.outer.get(self.graph.frame_of(n), OPEN) for n in self.nodes]
        live = lower_bound(pieces, guards, self.saved(spans))
        most = max(range(len(live)), key=live.__getitem__, default=-1)
        lives = sorted((self.lifetime(r, n, spans) for r, n in made), key=lambda t: -t.bytes)
        return PlanMemory(max(live, default=0), self.nodes[most] if live else "", tuple(lives), tuple(live))

    def saved(self, spans: Mapping[int, list[tuple[int, int, int, int, Guard]]]) -> dict[int, int]:
        """Bytes that nodes save by overwriting an operand that they read for the last time, as large as the result."""
        found = {}
        for name, operands in self.storage.flat.items():
            size = self.size(Ref(name))
            if not size or name not in self.at:
                continue
            out = self.storage.slots[Ref(name)]
            for ref in (self.graph.nodes[name].inputs[k] for k in operands):
                slot, start = self.storage.slots.get(ref, (-1, 0))
                if self.size(ref) != size or slot == out[0]:
                    continue
                over = [s for s in spans[slot] if s[0] < start + size and start < s[1]]
                if over and all(s[3] <= self.at[name] for s in over):
                    found[self.at[name]] = size
                    break
        return found

    def lifetime(self, ref: Ref, size: int, spans: Mapping[int, list[tuple[int, int, int, int, Guard]]]) -> Lifetime:
        slot, start = self.storage.slots[ref]
        last = max(s[3] for s in spans[slot] if s[0] < start + size and start < s[1])
        end = "" if last == len(self.nodes) - 1 else self.nodes[last]
        return Lifetime(self.graph.name_of(ref), size, ref.node, end, self.at[ref.node], last)


def _pieces(spans: Sequence[tuple[int, int, int, int, Guard]]) -> list[LiveBytes]:
    """Cut the values of one slot where any of them begins or ends: each byte lives as long as a value contains it."""
    cuts = sorted({edge for s in spans for edge in s[:2]})
    found = []
    for start, stop in zip(cuts, cuts[1:], strict=False):
        inside = [s for s in spans if s[0] <= start and stop <= s[1]]
        if inside:
            first, last = min(s[2] for s in inside), max(s[3] for s in inside)
            found.append(LiveBytes(stop - start, first, last, frozenset.intersection(*(s[4] for s in inside))))
    return found
