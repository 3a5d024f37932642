"""Computes one iteration of a loop from its graph, with arrays and with moving numbers (:mod:`moving_values`).

All nodes that the condition and the updates need are computed once, in the order of the graph; the values of a branch
that is not taken are DEAD. An inner loop is run to its end with the path for k = 0, as long as its comparisons keep
their values.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from workbench.analysis.proof.rays.horizon import COMPARE, Symbol, Unfollowed
from workbench.analysis.proof.rays.moving_arrays import MovingArray, compute_arrays
from workbench.analysis.proof.rays.moving_values import KnownPeriods
from workbench.analysis.slicing import work
from workbench.errors import WorkbenchError
from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.ir.opspec import REGISTRY, OpSpec

#: maximum number of iterations of an inner loop, and nominal seconds of a node
INSIDE, NODE = 256, 6e-6
DEAD = object()
PASSED = frozenset(("Identity", "LoopCond", "NextIteration", "stop_gradient", "Enter"))


class Arithmetic(Protocol):
    """Computes with values that are not arrays, and decides the predicates."""

    def truth(self, value: Any) -> bool: ...
    def compute(self, op: str, given: list[Any], dtype: str, attrs: Mapping[str, Any]) -> Any: ...


class NodeFailed(Exception):
    """A node raised an error."""

    def __init__(self, node: str, error: Exception) -> None:
        super().__init__(str(error))
        self.node, self.error = node, error


@dataclass(frozen=True)
class _Part:
    """The needed nodes of one frame, those before its condition and those after it."""

    path: FramePath
    before: tuple[str, ...]
    behind: tuple[str, ...]
    cond: Ref
    merges: dict[str, str]  # Merge -> its NextIteration
    enters: dict[str, str]  # Merge -> its Enter
    exits: frozenset[str]


class LoopBody:
    """The loop ``path`` of a graph; ``read`` returns values of the frames around it, ``also`` names further nodes to
    compute.
    """

    def __init__(
        self,
        graph: Graph,
        path: FramePath,
        variables: Mapping[str, str],
        read: Callable[[Ref], np.ndarray | None],
        also: Sequence[str] = (),
    ) -> None:
        """``variables``: the Merge of each state variable by its name."""
        self.graph, self.path, self.read = graph, path, read
        self.variables = dict(variables)
        self._fixed: dict[str, Any] = {}
        self._specs: dict[str, OpSpec] = {}
        cond = graph.frames[path].loop_cond
        if cond is None:
            raise Unfollowed
        self._next = {v.merge: v.next_iteration for f in graph.frames.values() for v in f.variables}
        self._enter = {v.merge: v.enter for f in graph.frames.values() for v in f.variables}
        self._frame_of_exit = {e: f.path for f in graph.frames.values() for e in f.exits}
        needed = self._closure([cond, *(self._next[m] for m in self.variables.values()), *also])
        self._parts: dict[FramePath, _Part] = {}
        for at, frame in graph.frames.items():
            if at[: len(path)] == path and frame.loop_cond is not None and frame.loop_cond in needed:
                self._parts[at] = self._part(at, needed)
            elif at[: len(path)] == path and any(n in needed for n in frame.nodes):
                raise Unfollowed  # a frame without a single condition
        own = self._parts[path]
        if not set(own.merges) <= set(self.variables.values()):
            raise Unfollowed
        self.nodes = sum(len(p.before) + len(p.behind) for p in self._parts.values())

    def _closure(self, roots: Collection[str]) -> set[str]:
        seen: set[str] = set()
        todo = list(roots)
        while todo:
            name = todo.pop()
            if name in seen:
                continue
            seen.add(name)
            node = self.graph.nodes[name]
            path = self._frame(name)
            if path[: len(self.path)] != self.path or self._outer(node):
                continue
            if len(path) > len(self.path):  # the nodes that run the inner loop
                frame = self.graph.frames[path]
                if frame.loop_cond is None or not frame.exits:
                    raise Unfollowed
                todo += [frame.loop_cond, frame.exits[0]]
            if node.op == "Merge" and name in self._next:
                if self._frame(name) != self.path:
                    todo += [self._next[name], self._enter[name]]
                continue
            todo += [r.node for r in node.inputs]
            todo += node.control
        return seen

    def _frame(self, name: str) -> FramePath:
        """The frame in which a node fires."""
        return self._frame_of_exit.get(name, self.graph.frame_of(name))

    def _outer(self, node: Node) -> bool:
        """True if a node brings a value from outside the loop."""
        return node.op == "Enter" and self._frame(node.name) == self.path

    def _part(self, path: FramePath, needed: set[str]) -> _Part:
        graph, frame = self.graph, self.graph.frames[path]
        mine = [n for n in graph.nodes if n in needed and self._computed_in(n) == path]
        order = self._ordered(mine)
        behind: set[str] = set()
        for name in order:
            node = graph.nodes[name]
            by_loop = node.op == "Switch" and node.inputs[1].node == frame.loop_cond
            if by_loop or not behind.isdisjoint(self._sources(name)):
                behind.add(name)
        merges = {v.merge: v.next_iteration for v in frame.variables if v.merge in needed}
        return _Part(
            path,
            tuple(n for n in order if n not in behind),
            tuple(n for n in order if n in behind),
            Ref(str(frame.loop_cond)),
            merges,
            {v.merge: v.enter for v in frame.variables if v.merge in needed},
            frozenset(e for e in frame.exits if e in needed),
        )

    def _computed_in(self, name: str) -> FramePath:
        """The frame in which a node is computed: for an Exit that of its loop's parent, for an Enter of an inner loop
        that loop.
        """
        path = self._frame(name)
        return path[:-1] if self.graph.nodes[name].op == "Exit" and len(path) > len(self.path) else path

    def _ordered(self, names: Sequence[str]) -> list[str]:
        """The nodes in the order of the graph, each Exit after everything that its loop reads from outside."""
        mine, out, done = set(names), [], set()
        position = {n: i for i, n in enumerate(self.graph.nodes)}
        stack: list[tuple[str, bool]] = [(n, False) for n in sorted(names, key=position.__getitem__, reverse=True)]
        while stack:
            name, ready = stack.pop()
            if name in done:
                continue
            if ready:
                done.add(name)
                out.append(name)
                continue
            stack.append((name, True))
            stack += [(s, False) for s in self._sources(name) if s in mine and s not in done]
        return out

    def _sources(self, name: str) -> list[str]:
        """The nodes from which a node is computed in its frame; for an Exit, all inputs of its loop."""
        node = self.graph.nodes[name]
        if node.op == "Merge" and name in self._next:
            return []
        inner = self._frame_of_exit.get(name)
        if inner is not None and len(inner) > len(self.path):
            return [r.node for n in self.graph.frames[inner].enters for r in self.graph.nodes[n].inputs]
        return [r.node for r in node.inputs] + list(node.control)

    def computed(self) -> list[str]:
        """All nodes that an iteration computes."""
        return [n for p in self._parts.values() for n in (*p.before, *p.behind)]

    def compares(self, name: str) -> bool:
        return self.graph.nodes[name].op in COMPARE

    # -- running --------------------------------------------------------------------------------------------------
    def goes_on(self, state: Mapping[str, Any], arithmetic: Arithmetic) -> tuple[bool, dict[str, Any]]:
        """The value of the condition in a state (variable -> value), and the values that were computed for it."""
        part = self._parts[self.path]
        env = {merge: state[name] for name, merge in self.variables.items()}
        self._run(part.before, part, env, {}, arithmetic)
        holds = env.get(part.cond.node)
        if holds is DEAD or holds is None:
            raise Unfollowed
        return arithmetic.truth(holds), env

    def advance(self, env: dict[str, Any], arithmetic: Arithmetic) -> dict[str, Any]:
        """The state one iteration later, from the values that :meth:`goes_on` returned."""
        part = self._parts[self.path]
        self._run(part.behind, part, env, {}, arithmetic)
        out = {name: env[self._next[merge]] for name, merge in self.variables.items()}
        if any(v is DEAD for v in out.values()):
            raise Unfollowed
        return out

    def _run(
        self, names: Sequence[str], part: _Part, env: dict[str, Any], around: Mapping[str, Any], arithmetic: Arithmetic
    ) -> None:
        work.charge(len(names) * NODE)
        for name in names:
            if name not in env:
                env[name] = self._value(self.graph.nodes[name], part, env, around, arithmetic)

    def _get(self, ref: Ref, env: Mapping[str, Any]) -> Any:
        value = env[ref.node]
        return value[ref.index] if isinstance(value, tuple) else value

    def _value(
        self, node: Node, part: _Part, env: dict[str, Any], around: Mapping[str, Any], arithmetic: Arithmetic
    ) -> Any:
        if any(self._get(Ref(c), env) is DEAD for c in node.control if c in env):
            return DEAD
        if node.op == "Const":
            return node.attrs["value"]
        if node.op == "Enter":
            return self._entered(node, part, around)
        if node.op == "Exit":
            return self._inside(node, part, env, arithmetic)
        given = [self._get(r, env) for r in node.inputs]
        if node.op == "Merge":
            alive = [(k, x) for k, x in enumerate(given) if x is not DEAD]
            return (alive[0][1], np.asarray(alive[0][0], np.int32)) if alive else DEAD
        if any(x is DEAD for x in given):
            return DEAD
        if node.op in PASSED:
            return given[0]
        if node.op == "Switch":
            return (DEAD, given[0]) if arithmetic.truth(given[1]) else (given[0], DEAD)
        if not any(isinstance(x, Symbol) for x in given):
            return self._constant(node, given)
        if len(node.types) != 1:
            raise Unfollowed
        dtype = node.types[0].dtype
        if node.types[0].shape != () or any(isinstance(x, MovingArray) for x in given):
            if not isinstance(arithmetic, KnownPeriods):
                raise Unfollowed
            evaluate = functools.partial(self._constant, node)
            return compute_arrays(node.op, given, dtype, node.attrs, evaluate, arithmetic)
        if node.op == "where" and (isinstance(given[0], Symbol) or np.ndim(given[0]) == 0):
            chosen = given[1] if arithmetic.truth(given[0]) else given[2]
            return chosen if chosen.dtype == dtype else arithmetic.compute("cast", [chosen], dtype, {})
        return arithmetic.compute(node.op, given, dtype, node.attrs)

    def _constant(self, node: Node, given: list[Any]) -> Any:
        spec = self._specs.get(node.name)
        if spec is None:
            spec = self._specs[node.name] = REGISTRY.lookup(node.op, node.attrs)
        if spec.evaluate is None or spec.bind is not None or not spec.pure:
            raise Unfollowed
        try:
            found = tuple(np.asarray(v) for v in spec.evaluate(given, node.attrs))
        except (WorkbenchError, ArithmeticError, ValueError, TypeError, IndexError) as error:
            raise NodeFailed(node.name, error) from error
        return found[0] if len(found) == 1 else found

    def release(self) -> None:
        """Read no further invariants; those already read are kept."""
        self.read = self._fixed.get  # type: ignore[assignment]

    def _entered(self, node: Node, part: _Part, around: Mapping[str, Any]) -> Any:
        if part.path != self.path:
            return self._get(node.inputs[0], around)
        if node.name not in self._fixed:
            value = self.read(Ref(node.name)) if node.attrs.get("is_constant") else None
            if value is None:
                raise Unfollowed
            self._fixed[node.name] = np.asarray(value)
        return self._fixed[node.name]

    def _inside(self, node: Node, part: _Part, env: dict[str, Any], arithmetic: Arithmetic) -> Any:
        """The Exit of an inner loop, which is run to its end; its other Exits are kept in ``env``."""
        path = self._frame_of_exit[node.name]
        if path == part.path:
            return DEAD  # of this loop, which continues
        inner = self._parts[path]
        known = {m: self._get(self.graph.nodes[e].inputs[0], env) for m, e in inner.enters.items()}
        if any(v is DEAD for v in known.values()):
            return DEAD
        for _ in range(INSIDE):
            now = dict(known)
            self._run(inner.before, inner, now, env, arithmetic)
            holds = now[inner.cond.node]
            if holds is DEAD:
                raise Unfollowed
            if not arithmetic.truth(holds):
                break
            self._run(inner.behind, inner, now, env, arithmetic)
            known = {m: now[n] for m, n in inner.merges.items()}
            if any(v is DEAD for v in known.values()):
                raise Unfollowed
        else:
            raise Unfollowed
        self._run([n for n in inner.behind if n not in now], inner, now, env, arithmetic)
        for name in inner.exits:
            env[name] = self._get(self.graph.nodes[name].inputs[0], now)
        return env[node.name]
