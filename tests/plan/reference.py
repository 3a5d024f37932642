"""A plain, slow interpreter of the tagged-token rules: the oracle that plans, executor and trace are held against.

Every value is a token with an instance: one (frame, iteration) pair per enclosing frame. A node fires in an instance
when all its inputs and control inputs have arrived there; with a dead one among them it passes deadness on. Merge alone
absorbs deadness: it forwards the first of its inputs that is alive, and waits for control inputs without asking whether
they are alive. The rules are those of TensorFlow 1's executor (propagator_state.cc), with two things made definite that
are races or hangs there:

- a token that can never come is a dead one: an Enter in iterations after 0, a NextIteration in iteration 0, an Exit of
  a frame that is done without it;
- of several inputs that are alive a Merge takes the first in order, not the first in time.

A frame starts when any of its Enters arrives, dead or alive. An activation is done when all of its Enters have arrived,
nothing in it is left to do and the frames inside it are done. An Exit that is alive twice in one activation is an
error. It shares no code with the planner or the executor; only the ops' evaluation is the same.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.ir import Graph, Node, Ref
from workbench.ir.opspec import REGISTRY

DEAD = object()
Instance = tuple[tuple[str, int], ...]
Path = tuple[int, ...]
#: adopt(op, inputs, attrs, computed, observed) -> the value to go on with; raises AssertionError if they disagree
Adopt = Callable[[str, list[Any], Mapping[str, Any], Any, Any], Any]


class ExitTwiceError(Exception):
    """An Exit was alive twice; ``args`` are its name and the two iterations."""


@dataclass(eq=False)
class Activation:
    """One run of a frame. ``invariants`` are constant Enters that have arrived, ``backs`` the NextIterations that were
    dead in each iteration, ``left`` the Exits that have fired."""

    outer: Instance
    frame: str
    path: tuple[str, ...]
    arrived: set[str] = field(default_factory=set)
    iterations: int = 0
    invariants: list[tuple[str, Any]] = field(default_factory=list)
    backs: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    left: dict[str, int] = field(default_factory=dict)
    started: bool = False
    done: bool = False


class Reference:
    """Runs the part of ``graph`` that ``outputs`` need; ``firings[ref]`` and ``events`` hold what happened.

    Loop invariants that arrive at an activation that nothing else enters, and where they let nothing fire, are firings
    and no events. ``observed`` are the values of another execution, by value and iteration path. With them, ``adopt``
    checks a result that may be rounded in more than one way (see ``tests.plan.rounding``), and the interpreter goes on
    with the other's rounding: so whatever comes after it is compared bit for bit.
    """

    def __init__(
        self,
        graph: Graph,
        feeds: dict[str, np.ndarray],
        outputs: list[Ref],
        limit: int = 200_000,
        observed: Mapping[Ref, Mapping[Path, Any]] | None = None,
        adopt: Adopt | None = None,
    ) -> None:
        self.graph, self.limit = graph, limit
        self.observed, self.adopt = observed or {}, adopt
        self.feeds = {graph.inputs[name].node: value for name, value in feeds.items()}
        self.needed = self._needed(outputs)
        self.readers: dict[str, list[str]] = defaultdict(list)
        for name in self.needed:
            node = graph.nodes[name]
            for source in {*(r.node for r in node.inputs), *node.control}:
                self.readers[source].append(name)
        self.members = {p: [n for n in f.nodes if n in self.needed] for p, f in graph.frames.items()}
        self.waking = {p: self._wakes(p) for p in graph.frames if p}
        self.arrived: dict[tuple[str, Instance], dict[Ref | str, Any]] = defaultdict(dict)
        self.activations: dict[tuple[Instance, str], Activation] = {}
        self.opened = 0
        self.firings: dict[Ref, list[tuple[tuple[int, ...], Any]]] = defaultdict(list)
        self.events: list[tuple[str, tuple[int, ...]]] = []
        self.queue: deque[tuple[str, Instance, dict[int, Any], bool]] = deque()

    def _needed(self, outputs: list[Ref]) -> set[str]:
        found: set[str] = set()
        stack = [r.node for r in outputs]
        while stack:
            name = stack.pop()
            if name not in found:
                found.add(name)
                node = self.graph.nodes[name]
                stack += [r.node for r in node.inputs] + list(node.control)
        return found

    def _wakes(self, path: tuple[str, ...]) -> bool:
        """Return whether more than constant Enters can fire in a frame that only constant Enters start."""
        inside = [n for p, names in self.members.items() if p[: len(path)] == path for n in names]
        fired: set[str] = set()
        while True:
            before = len(fired)
            for name in inside:
                node = self.graph.nodes[name]
                constant = node.op == "Enter" and node.attrs["is_constant"]
                if self.graph.frame_of(name) == path and node.op == "Enter":
                    come = bool(constant)
                elif node.op == "Merge":
                    come = any(r.node in fired for r in node.inputs)
                else:
                    come = all(s in fired for s in (*(r.node for r in node.inputs), *node.control))
                if come and not constant:
                    return True
                if come:
                    fired.add(name)
            if len(fired) == before:
                return False

    def run(self) -> Reference:
        with np.errstate(all="ignore"):
            for name in self.graph.nodes:
                node = self.graph.nodes[name]
                if name in self.needed and not node.inputs and not node.control:
                    self._complete(name, ())
            while self.queue:
                while self.queue:
                    self._spread(*self.queue.popleft())
                self._finish()
        for activation in self.activations.values():
            if activation.started:
                for name, value in activation.invariants:
                    for k in range(activation.iterations if value is not DEAD else 0):
                        self.events.append((name, self._path((*activation.outer, (activation.frame, k)))))
        return self

    # -- tokens ---------------------------------------------------------------------------------------------------
    def _spread(self, name: str, instance: Instance, outputs: dict[int, Any], alive: bool) -> None:
        """Deliver what a node gave, to its readers in ``instance``."""
        for reader in self.readers[name]:
            node = self.graph.nodes[reader]
            got = self.arrived[reader, instance]
            for ref in set(node.inputs):
                if ref.node == name:
                    assert ref not in got, f"{ref} arrived twice at {reader} at {instance}"
                    got[ref] = outputs[ref.index] if alive else DEAD
            if name in node.control:
                got["^" + name] = True if alive else DEAD
            if all(r in got for r in node.inputs) and all("^" + c in got for c in node.control):
                if "fired" not in got:
                    got["fired"] = True
                    self._complete(reader, instance)

    def _complete(self, name: str, instance: Instance) -> None:
        """All inputs are there: fire, or pass deadness on."""
        node = self.graph.nodes[name]
        got = self.arrived[name, instance]
        if node.op == "Merge":
            live = [i for i, r in enumerate(node.inputs) if got[r] is not DEAD]
            if live:
                first = node.inputs[live[0]]
                value = self._read(name, instance, first, got[first])
                self._give(name, instance, {0: value, 1: np.array(live[0], np.int32)}, True)
            else:
                self._give(name, instance, {}, False)
            return
        inputs = [got[r] if got[r] is DEAD else self._read(name, instance, r, got[r]) for r in node.inputs]
        alive = all(got["^" + c] is not DEAD for c in node.control) and all(v is not DEAD for v in inputs)
        if node.op == "Enter":
            self._enter(name, instance, inputs[0] if alive else DEAD)
        elif node.op == "NextIteration":
            self._next(name, instance, inputs[0] if alive else DEAD)
        elif node.op == "Exit":
            if alive:
                self._exit(name, instance, inputs[0])
        elif not alive:
            self._give(name, instance, {}, False)
        elif node.op == "Switch":
            side = int(bool(inputs[1]))
            self._log(name, instance, {side: inputs[0]})
            self.queue.append((name, instance, {side: inputs[0], 1 - side: DEAD}, True))
        elif node.op in ("Identity", "LoopCond"):
            self._give(name, instance, {0: inputs[0]}, True)
        elif node.op == "Placeholder":
            self._give(name, instance, {0: self.feeds[name]}, True)
        else:
            spec = REGISTRY.lookup(node.op, node.attrs)
            assert spec.evaluate is not None
            attrs = {**node.attrs, "_tag": (name, self._path(instance))} if spec.draws else node.attrs
            results = spec.evaluate(inputs, attrs) if node.op != "Const" else (node.attrs["value"],)
            self._give(name, instance, dict(enumerate(self._adopted(node, instance, inputs, results))), True)

    def _read(self, reader: str, instance: Instance, ref: Ref, value: Any) -> Any:
        """The value that a node reads from a living input."""
        return value

    def _adopted(self, node: Node, instance: Instance, inputs: list[Any], results: Sequence[Any]) -> list[Any]:
        """The results, or those observed there, where ``adopt`` takes them."""
        path, out = self._path(instance), list(results)
        for index, result in enumerate(results):
            other = self.observed.get(Ref(node.name, index), {}).get(path)
            if self.adopt is not None and other is not None:
                out[index] = self.adopt(node.op, inputs, node.attrs, result, other)
        return out

    # -- frames ---------------------------------------------------------------------------------------------------
    def _enter(self, name: str, outer: Instance, value: Any) -> None:
        node = self.graph.nodes[name]
        frame = str(node.attrs["frame_name"])
        activation = self.activations.get((outer, frame))
        if activation is None:
            path = self.graph.frame_of(name)
            activation = self.activations[outer, frame] = Activation(outer, frame, path)
            self._open(activation)
        assert not activation.done
        activation.arrived.add(name)
        if not node.attrs["is_constant"]:
            activation.started |= value is not DEAD
            self._give(name, (*outer, (frame, 0)), {0: value}, value is not DEAD)
            return
        activation.started |= value is not DEAD and self.waking[activation.path]
        activation.invariants.append((name, value))
        for k in range(activation.iterations):
            self._invariant(activation, k, name, value)

    def _open(self, activation: Activation) -> None:
        """An iteration begins: loop invariants appear, and tokens that will not come are dead."""
        k = activation.iterations
        activation.iterations += 1
        self.opened += 1
        assert self.opened < self.limit, "the reference interpreter ran too long"
        instance = (*activation.outer, (activation.frame, k))
        for name in self.members[activation.path]:
            node = self.graph.nodes[name]
            if node.op == "Enter" and not node.attrs["is_constant"] and k > 0:
                self._give(name, instance, {}, False)
            elif node.op == "NextIteration" and k == 0:
                self._give(name, instance, {}, False)
        for name in activation.backs.pop(k - 1, []):
            self._give(name, instance, {}, False)
        for name, value in activation.invariants:
            self._invariant(activation, k, name, value)

    def _invariant(self, activation: Activation, k: int, name: str, value: Any) -> None:
        instance = (*activation.outer, (activation.frame, k))
        if value is not DEAD:
            self.firings[Ref(name, 0)].append((self._path(instance), value))
        self.queue.append((name, instance, {0: value}, value is not DEAD))

    def _next(self, name: str, instance: Instance, value: Any) -> None:
        (frame, k), outer = instance[-1], instance[:-1]
        activation = self.activations[outer, frame]
        if value is not DEAD:
            self._log(name, instance, {0: value})
            if activation.iterations == k + 1:
                self._open(activation)
        elif activation.iterations == k + 1:
            activation.backs[k].append(name)
            return
        self.queue.append((name, (*outer, (frame, k + 1)), {0: value}, value is not DEAD))

    def _exit(self, name: str, instance: Instance, value: Any) -> None:
        (frame, k), outer = instance[-1], instance[:-1]
        activation = self.activations[outer, frame]
        if name in activation.left:
            raise ExitTwiceError(name, *sorted((activation.left[name], k)))
        activation.left[name] = k
        self._log(name, outer, {0: value})
        self.queue.append((name, outer, {0: value}, True))

    def _finish(self) -> None:
        """Nothing is left to do: activations that are done give their dead Exits, the innermost first."""
        waiting = [a for a in self.activations.values() if not a.done]
        busy = {(a.outer[:-1], a.outer[-1][0]) for a in waiting if a.outer}
        for activation in sorted(waiting, key=lambda a: -len(a.path)):
            enters = {n for n in self.members[activation.path] if self.graph.nodes[n].op == "Enter"}
            if (activation.outer, activation.frame) in busy or activation.arrived < enters:
                continue
            activation.done = True
            for name in self.members[activation.path]:
                if self.graph.nodes[name].op == "Exit" and name not in activation.left:
                    self.queue.append((name, activation.outer, {}, False))
            if self.queue:
                return
        if any(a.done for a in waiting):
            self._finish()
            return
        for activation in sorted(waiting, key=lambda a: -len(a.path)):
            self._give_up(activation)
            if self.queue:
                return

    def _give_up(self, activation: Activation) -> None:
        """An activation waits for Enters that wait for its own Exits: those that no such Enter leads to are dead."""
        members = self.members[activation.path]
        late = [n for n in members if self.graph.nodes[n].op == "Enter" and n not in activation.arrived]
        reached = set(late)
        while late:
            node = late.pop()
            if self.graph.nodes[node].op == "Exit" and self.graph.frame_of(node) == activation.path:
                continue
            new = [r for r in self.readers[node] if r not in reached]
            reached.update(new)
            late.extend(new)
        for name in members:
            if self.graph.nodes[name].op == "Exit" and name not in reached and name not in activation.left:
                activation.left[name] = -1
                self.queue.append((name, activation.outer, {}, False))

    # -- the record -----------------------------------------------------------------------------------------------
    @staticmethod
    def _path(instance: Instance) -> tuple[int, ...]:
        return tuple(k for _, k in instance)

    def _give(self, name: str, instance: Instance, outputs: dict[int, Any], alive: bool) -> None:
        if alive:
            self._log(name, instance, outputs)
        self.queue.append((name, instance, outputs, alive))

    def _log(self, name: str, instance: Instance, outputs: dict[int, Any]) -> None:
        path = self._path(instance)
        self.events.append((name, path))
        for index, value in outputs.items():
            self.firings[Ref(name, index)].append((path, value))
