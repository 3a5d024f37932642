"""A plain, slow interpreter of the tagged-token rules: the oracle that plans, executor and trace are held against.

Every value is a token with an instance: one (frame, iteration) pair per enclosing frame. A node fires in an instance
when all its inputs and control inputs have arrived there; with a dead one among them it passes deadness on. Merge alone
absorbs deadness. A frame that no loop variable enters alive is not started: its loop invariants arrive (and are
recorded as firings), but nothing in it fires. It shares no code with the planner or the executor; only the ops'
evaluation is the same.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.graph import Graph, Node, Ref
from workbench.graph.opspec import REGISTRY

DEAD = object()
Instance = tuple[tuple[str, int], ...]
Path = tuple[int, ...]
#: adopt(op, inputs, attrs, computed, observed) -> the value to go on with; raises AssertionError if they disagree
Adopt = Callable[[str, list[Any], Mapping[str, Any], Any, Any], Any]


class Reference:
    """Runs the part of ``graph`` that ``outputs`` need; ``firings[ref]`` and ``events`` hold what happened.

    ``observed`` are the values of another execution, by value and iteration path. With them, ``adopt`` checks a result
    that may be rounded in more than one way (see ``tests.plan.rounding``), and the interpreter goes on with the other's
    rounding: so whatever comes after it is compared bit for bit.
    """

    def __init__(
        self, graph: Graph, feeds: dict[str, np.ndarray], outputs: list[Ref], limit: int = 200_000,
        observed: Mapping[Ref, Mapping[Path, Any]] | None = None, adopt: Adopt | None = None,
    ) -> None:  # fmt: skip
        self.graph, self.limit = graph, limit
        self.observed, self.adopt = observed or {}, adopt
        self.feeds = {graph.inputs[name].node: value for name, value in feeds.items()}
        self.needed = self._needed(outputs)
        self.readers: dict[str, list[str]] = defaultdict(list)
        for name in self.needed:
            node = graph.nodes[name]
            for source in {*(r.node for r in node.inputs), *node.control}:
                self.readers[source].append(name)
        self.arrived: dict[tuple[str, Instance], dict[Ref | str, Any]] = defaultdict(dict)
        self.invariants: dict[tuple[Instance, str], list[tuple[str, Any]]] = defaultdict(list)
        self.iterations: set[Instance] = set()
        self.alive_frames: set[tuple[Instance, str]] = set()
        self.dead_frames: set[tuple[Instance, str]] = set()
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

    def run(self) -> Reference:
        with np.errstate(all="ignore"):
            for name in self.graph.nodes:
                node = self.graph.nodes[name]
                if name in self.needed and not node.inputs and not node.control:
                    self._complete(name, ())
            while self.queue:
                self._spread(*self.queue.popleft())
        return self

    # -- tokens ---------------------------------------------------------------------------------------------------
    def _spread(self, name: str, instance: Instance, outputs: dict[int, Any], alive: bool) -> None:
        """Deliver what a node gave, to its readers in ``instance``."""
        for reader in self.readers[name]:
            node = self.graph.nodes[reader]
            got = self.arrived[reader, instance]
            for ref in node.inputs:
                if ref.node == name:
                    got[ref] = outputs[ref.index] if alive else DEAD
            if name in node.control:
                got["^" + name] = True if alive else DEAD
            self._try(reader, instance)

    def _try(self, name: str, instance: Instance) -> None:
        node = self.graph.nodes[name]
        got = self.arrived[name, instance]
        if node.op == "Merge" and any(self.graph.nodes[r.node].op == "NextIteration" for r in node.inputs):
            first = instance[-1][1] == 0
            wanted = [r for r in node.inputs if (self.graph.nodes[r.node].op == "NextIteration") != first]
        else:
            wanted = list(node.inputs)
        if all(r in got for r in wanted) and all("^" + c in got for c in node.control) and "fired" not in got:
            got["fired"] = True
            self._complete(name, instance)

    def _complete(self, name: str, instance: Instance) -> None:
        """All inputs are there: fire, or pass deadness on."""
        node = self.graph.nodes[name]
        got = self.arrived[name, instance]
        controls_alive = all(got["^" + c] is not DEAD for c in node.control)
        if node.op == "Merge":
            live = [i for i, r in enumerate(node.inputs) if got.get(r, DEAD) is not DEAD]
            if not live or not controls_alive:
                self._give(name, instance, {}, False)
            else:
                self._give(name, instance, {0: got[node.inputs[live[0]]], 1: np.array(live[0], np.int32)}, True)
            return
        inputs = [got[r] for r in node.inputs]
        alive = controls_alive and all(v is not DEAD for v in inputs)
        if node.op == "Enter":
            started = not instance or (instance[:-1], instance[-1][0]) in self.alive_frames
            if started or not node.attrs["is_constant"]:  # otherwise _arrive has seen to it
                self._enter(name, instance, inputs[0] if alive else DEAD)
        elif node.op == "NextIteration":
            if alive:
                frame, k = instance[-1]
                after = (*instance[:-1], (frame, k + 1))
                self._log(name, instance, {0: inputs[0]})
                self._open(after)
                self.queue.append((name, after, {0: inputs[0]}, True))
        elif node.op == "Exit":
            if alive:
                outer = instance[:-1]
                self._log(name, outer, {0: inputs[0]})
                self.queue.append((name, outer, {0: inputs[0]}, True))
            elif (instance[:-1], instance[-1][0]) not in self.alive_frames:
                self.queue.append((name, instance[:-1], {}, False))  # the loop was never entered
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
            attrs = {**node.attrs, "_tag": (name, tuple(k for _, k in instance))} if spec.draws else node.attrs
            results = spec.evaluate(inputs, attrs) if node.op != "Const" else (node.attrs["value"],)
            self._give(name, instance, dict(enumerate(self._adopted(node, instance, inputs, results))), True)

    def _adopted(self, node: Node, instance: Instance, inputs: list[Any], results: Sequence[Any]) -> list[Any]:
        """The results, or those observed there, where ``adopt`` takes them."""
        path, out = tuple(k for _, k in instance), list(results)
        for index, result in enumerate(results):
            other = self.observed.get(Ref(node.name, index), {}).get(path)
            if self.adopt is not None and other is not None:
                out[index] = self.adopt(node.op, inputs, node.attrs, result, other)
        return out

    def _enter(self, name: str, outer: Instance, value: Any) -> None:
        node = self.graph.nodes[name]
        frame = str(node.attrs["frame_name"])
        first = (*outer, (frame, 0))
        if node.attrs["is_constant"]:
            self.invariants[outer, frame].append((name, value))
            if (outer, frame) in self.dead_frames:
                self._arrive(name, first, value)
            for instance in [i for i in self.iterations if i[:-1] == outer and i[-1][0] == frame]:
                self._invariant(name, instance, value)
            return
        if value is not DEAD:
            self.alive_frames.add((outer, frame))
            self._open(first)
        elif (outer, frame) not in self.dead_frames:
            self.dead_frames.add((outer, frame))
            for invariant, held in self.invariants[outer, frame]:
                self._arrive(invariant, first, held)
        self._give(name, first, {0: value}, value is not DEAD)

    def _arrive(self, name: str, instance: Instance, value: Any) -> None:
        """A loop invariant at a frame that is not started."""
        if value is not DEAD:
            self.firings[Ref(name, 0)].append((tuple(k for _, k in instance), value))
        # further in, only the invariants of inner frames learn of it
        inner = [
            r
            for r in self.readers[name]
            if self.graph.nodes[r].op == "Enter" and self.graph.nodes[r].attrs["is_constant"]
        ]
        for reader in self.readers[name]:
            if reader in inner and value is not DEAD:
                frame = str(self.graph.nodes[reader].attrs["frame_name"])
                self._arrive(reader, (*instance, (frame, 0)), value)
        self.queue.append((name, instance, {}, False))

    def _open(self, instance: Instance) -> None:
        """An iteration begins: its loop invariants appear."""
        if instance not in self.iterations:
            self.iterations.add(instance)
            assert len(self.iterations) < self.limit, "the reference interpreter ran too long"
            for name, value in self.invariants[instance[:-1], instance[-1][0]]:
                self._invariant(name, instance, value)

    def _invariant(self, name: str, instance: Instance, value: Any) -> None:
        self._give(name, instance, {0: value}, value is not DEAD)

    def _give(self, name: str, instance: Instance, outputs: dict[int, Any], alive: bool) -> None:
        if alive:
            self._log(name, instance, outputs)
        self.queue.append((name, instance, outputs, alive))

    def _log(self, name: str, instance: Instance, outputs: dict[int, Any]) -> None:
        path = tuple(k for _, k in instance)
        self.events.append((name, path))
        for index, value in outputs.items():
            self.firings[Ref(name, index)].append((path, value))
