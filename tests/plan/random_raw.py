"""Random raw graphs: frames that do not nest, drawn node by node from one source of randomness.

Every graph ends: whatever goes on to a next iteration passes a Switch on ``i < bound``, where ``i`` counts the
iterations of its own loop. Beyond that anything goes: NextIterations and Exits under further conditions, loop Merges of
several Enters and NextIterations, loose Enters, frames without a LoopCond or with several, loops that share a frame,
frames in frames, dead inputs, control edges from anywhere.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from workbench.ir import Graph, Node, Ref
from workbench.ir.node import FrozenAttrs

COMPARE = ("less", "less_equal", "greater", "not_equal")
ARITHMETIC = ("add", "subtract", "minimum", "maximum")


class Num(NamedTuple):
    """A number or vector in the graph; ``shape`` None is one that only the run knows."""

    ref: Ref
    dtype: str
    shape: tuple[int, ...] | None


@dataclass
class Scope:
    """Names usable in one frame: numbers, predicates, nodes to wait for. ``pivot`` is waited for by all ops of a
    loop in which nothing may fire without its counter."""

    path: tuple[str, ...] = ()
    nums: list[Num] = field(default_factory=list)
    preds: list[Ref] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    pivot: str | None = None


class RawMaker:
    """Draws a raw graph: ``RawMaker(random.Random(seed)).make()`` -> (graph, feeds)."""

    def __init__(self, r: random.Random, size: int = 40) -> None:
        self.r, self.left = r, r.randint(4, size)
        self.nodes: dict[str, Node] = {}
        self.count = 0

    def make(self) -> tuple[Graph, dict[str, np.ndarray]]:
        root, feeds, inputs = Scope(), {}, {}
        for k in range(self.r.randint(1, 2)):
            name, shape = f"x{k}", self.r.choice([(), (), (3,)])
            dtype = self.r.choice(["int64", "int64", "float64"])
            self._add(root, "Placeholder", name=name, dtype=dtype, shape=shape)
            root.nums.append(Num(Ref(name), dtype, shape))
            feeds[name] = np.full(shape, self.r.randint(-2, 3), dtype)
        for k in range(2):
            self._add(root, "Placeholder", name=f"p{k}", dtype="bool", shape=())
            root.preds.append(Ref(f"p{k}"))
            feeds[f"p{k}"] = np.bool_(self.r.random() < 0.5)
        self._number(root)
        self._frame(root, 0)
        self._block(root, 0, self.r.randint(2, 6))
        inputs = {n: Ref(n) for n in feeds}
        picked = [v.ref for v in root.nums[-self.r.randint(1, 5) :]]
        inner = [Ref(n) for n, node in self.nodes.items() if node.op in ("Merge", "add") and self.r.random() < 0.05]
        outputs = {f"out{k}": ref for k, ref in enumerate(dict.fromkeys([*picked, *inner]))}
        return Graph.from_nodes("raw", list(self.nodes.values()), inputs=inputs, outputs=outputs), feeds

    # -- nodes ----------------------------------------------------------------------------------------------------
    def _add(
        self, scope: Scope, op: str, *inputs: Ref, name: str | None = None, control: tuple[str, ...] = (), **attrs: Any
    ) -> Ref:
        self.count += 1
        name = name or f"{op}_{self.count}"
        if op not in ("Placeholder", "Const", "Enter") and scope.names and self.r.random() < 0.08:
            control = (*control, self.r.choice(scope.names))
        if op not in ("Placeholder", "Enter", "Exit", "NextIteration") and scope.pivot and scope.pivot != name:
            control = (*control, scope.pivot)
        self.nodes[name] = Node(name, op, tuple(inputs), tuple(dict.fromkeys(control)), FrozenAttrs(attrs))
        if op not in ("Exit", "NextIteration"):
            scope.names.append(name)
        return Ref(name)

    def _number(self, scope: Scope, value: int | None = None) -> Num:
        """A constant; inside a frame it is there where some node of the frame is."""
        if scope.path:
            control: tuple[str, ...] = (self.r.choice(scope.names),)
        else:
            control = ()
        value = self.r.randint(-2, 4) if value is None else value
        found = Num(self._add(scope, "Const", control=control, value=np.array(value, np.int64)), "int64", ())
        scope.nums.append(found)
        return found

    def _pick(self, scope: Scope, dtype: str | None = None, shape: Any = "any") -> Num | None:
        fitting = [v for v in scope.nums if dtype in (None, v.dtype) and shape in ("any", v.shape)]
        return self.r.choice(fitting[-8:]) if fitting else None

    def _pred(self, scope: Scope) -> Ref:
        if scope.preds and self.r.random() < 0.6:
            return self.r.choice(scope.preds[-5:])
        x = self._pick(scope, "int64", ()) or self._number(scope)
        y = self._pick(scope, "int64", ()) or x
        made = self._add(scope, self.r.choice(COMPARE), x.ref, y.ref)
        scope.preds.append(made)
        return made

    # -- statements -------------------------------------------------------------------------------------------------
    def _block(self, scope: Scope, depth: int, count: int) -> None:
        for _ in range(count):
            if self.left <= 0:
                return
            self.left -= 1
            kind = self.r.random()
            if kind < 0.14 and depth < 3 and not scope.pivot:
                self._frame(scope, depth)
            elif kind < 0.38:
                self._switch(scope)
            elif kind < 0.58:
                self._merge(scope)
            elif kind < 0.66:
                scope.preds.append(self._add(scope, "logical_not", self._pred(scope)))
            elif kind < 0.72:
                self._number(scope)
            else:
                self._op(scope)

    def _op(self, scope: Scope) -> None:
        x = self._pick(scope) or self._number(scope)
        y = self._pick(scope, x.dtype, x.shape) or x
        if self.r.random() < 0.3:
            scope.nums.append(x._replace(ref=self._add(scope, self.r.choice(["Identity", "negative"]), x.ref)))
        else:
            scope.nums.append(x._replace(ref=self._add(scope, self.r.choice(ARITHMETIC), x.ref, y.ref)))

    def _switch(self, scope: Scope) -> None:
        x = self._pick(scope) or self._number(scope)
        made = self._add(scope, "Switch", x.ref, self._pred(scope))
        sides = [x._replace(ref=Ref(made.node, k)) for k in (0, 1)]
        scope.nums.extend(sides if self.r.random() < 0.7 else sides[: self.r.randint(1, 2)])

    def _merge(self, scope: Scope) -> None:
        x = self._pick(scope) or self._number(scope)
        ways = [x]
        mixed = self.r.random() < 0.12
        for _ in range(self.r.choice([1, 1, 1, 2, 3])):
            ways.append(self._pick(scope, x.dtype, "any" if mixed else x.shape) or x)
        if scope.pivot:  # a Merge does not mind whether the pivot is alive
            ways = [w for w in ways if self.nodes[w.ref.node].op != "Enter"]
        if not ways:
            return
        made = self._add(scope, "Merge", *(w.ref for w in ways))
        known = {w.shape for w in ways}
        scope.nums.append(x._replace(ref=made, shape=known.pop() if len(known) == 1 else None))
        if self.r.random() < 0.3:
            index = self._add(scope, "cast", Ref(made.node, 1), dtype="int64")
            scope.nums.append(Num(index, "int64", ()))

    # -- frames -------------------------------------------------------------------------------------------------------
    def _frame(self, scope: Scope, depth: int) -> None:
        """One frame with one loop, or several: beside each other, in each other's sight, or one after the other."""
        self.count += 1
        path = (*scope.path, f"f{self.count}")
        kind = self.r.random()
        if kind < 0.15:  # the second starts from what the first gives
            exits: list[Num] = []
            for _ in range(self.r.randint(2, 3)):
                inner = Scope(path)
                exits = self._loop(scope, inner, depth, exits, apart=True)
                if not exits:
                    break
        elif kind < 0.4:  # both start from what was there before them
            before, inner = replace(scope, nums=[*scope.nums], preds=[*scope.preds], names=[*scope.names]), Scope(path)
            found = []
            for _ in range(2):
                seen = replace(before, nums=[*before.nums], names=[*before.names])
                found += self._loop(seen, inner if kind < 0.3 else Scope(path), depth)
            scope.nums.extend(found)
            scope.names.extend(v.ref.node for v in found)
        else:
            self._loop(scope, Scope(path), depth)

    def _enter(self, outer: Scope, inner: Scope, value: Num, constant: bool) -> Num:
        control = (self.r.choice(outer.names),) if self.r.random() < 0.05 else ()
        made = self._add(
            inner,
            "Enter",
            value.ref,
            control=control,
            frame_name=inner.path[-1],
            is_constant=constant,
            parallel_iterations=10,
        )
        return value._replace(ref=made)

    def _loop(
        self, outer: Scope, inner: Scope, depth: int, start: list[Num] | None = None, apart: bool = False
    ) -> list[Num]:
        r = self.r
        zero = next((v for v in outer.nums if v.dtype == "int64" and v.shape == ()), None) or self._number(outer)
        if outer.path:
            zero = zero._replace(ref=self._add(outer, "subtract", zero.ref, zero.ref))
        else:
            zero = self._number(outer, 0)
        if r.random() < 0.12:  # the whole loop may be dead
            zero = zero._replace(ref=Ref(self._add(outer, "Switch", zero.ref, self._pred(outer)).node, 1))
        if start:  # it begins only when what it starts from is there
            zero = zero._replace(ref=self._add(outer, "Identity", zero.ref, control=(start[0].ref.node,)))
        counter = self._enter(outer, inner, zero, False)
        i = self._loop_merge(inner, [counter])
        if apart:
            inner.pivot = i.ref.node
        for value in [*(start or []), *(v for v in [self._pick(outer) for _ in range(r.randint(0, 3))] if v)]:
            inner.nums.append(self._enter(outer, inner, value, r.random() < 0.5))
        merges = [i]
        for _ in range(r.randint(0, 2)):
            value = self._pick(outer)
            if value is None:
                continue
            ways = [self._enter(outer, inner, value, False)]
            while r.random() < 0.25:
                other = self._pick(outer, value.dtype, value.shape)
                ways.append(self._enter(outer, inner, other or value, False))
            if r.random() < 0.1 and not apart and (more := self._pick(inner, value.dtype, value.shape)):
                ways.append(more)
            merges.append(self._loop_merge(inner, ways))
        bound = self._add(inner, "Const", control=(i.ref.node,), value=np.array(r.randint(0, 4), np.int64))
        within = self._add(inner, "less", i.ref, bound)
        inner.preds.append(within)
        gates = [within]
        for _ in range(r.choice([0, 1, 1, 1, 2])):
            cond = within if r.random() < 0.6 else self._add(inner, "logical_and", within, self._pred(inner))
            gates.append(self._add(inner, "LoopCond", cond))
        inner.nums.extend(merges)
        for merge in merges:  # the usual shape, so that loops do something
            if r.random() < 0.7:
                made = self._add(inner, "Switch", merge.ref, gates[-1])
                inner.nums.extend(merge._replace(ref=Ref(made.node, k)) for k in (0, 1))
        self._block(inner, depth + 1, r.randint(1, 5))
        self._backs(inner, merges, gates)
        exits = [self._exit(inner, i, merges, gates) for _ in range(r.randint(1, 3))]
        outer.nums.extend(exits)
        outer.names.extend(v.ref.node for v in exits)
        return exits

    def _loop_merge(self, inner: Scope, ways: list[Num]) -> Num:
        return ways[0]._replace(ref=self._add(inner, "Merge", *(w.ref for w in ways)))

    def _backs(self, inner: Scope, merges: list[Num], gates: list[Ref]) -> None:
        """NextIterations, each behind a gate, and the Merges that they feed."""
        r = self.r
        one = self._add(inner, "Const", control=(merges[0].ref.node,), value=np.array(1, np.int64))
        step = merges[0]._replace(ref=self._add(inner, "add", merges[0].ref, one))
        for k, merge in enumerate(merges):
            for _ in range(1 if k == 0 else r.choice([0, 1, 1, 1, 1, 2])):
                value = step if k == 0 else self._pick(inner, merge.dtype, merge.shape) or merge
                gated = Ref(self._add(inner, "Switch", value.ref, r.choice(gates)).node, 1)
                if r.random() < 0.15:
                    gated = Ref(self._add(inner, "Switch", gated, self._pred(inner)).node, r.randint(0, 1))
                back = self._add(inner, "NextIteration", gated)
                node = self.nodes[merge.ref.node]
                inputs = list(node.inputs)
                inputs.insert(r.randint(0, len(inputs)) if r.random() < 0.3 else len(inputs), back)
                self.nodes[node.name] = Node(node.name, node.op, tuple(inputs), node.control, node.attrs)

    def _exit(self, inner: Scope, i: Num, merges: list[Num], gates: list[Ref]) -> Num:
        """An Exit, mostly one that is alive once."""
        r = self.r
        value, kind = self._pick(inner) or r.choice(merges), r.random()
        if inner.pivot and self.nodes[value.ref.node].op == "Enter":
            value = r.choice(merges)
        if kind < 0.6:
            value = r.choice([value, *merges])
            value = value._replace(ref=Ref(self._add(inner, "Switch", value.ref, r.choice(gates)).node, 0))
        elif kind < 0.93:
            at = self._add(inner, "Const", control=(i.ref.node,), value=np.array(r.randint(0, 3), np.int64))
            now = self._add(inner, "equal", i.ref, at)
            value = value._replace(ref=Ref(self._add(inner, "Switch", value.ref, now).node, 1))
        return value._replace(ref=self._add(inner, "Exit", value.ref))
