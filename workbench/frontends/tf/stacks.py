"""TensorFlow 1 stacks: a mutable resource becomes a value that is passed from one push or pop to the next.

A loop that pushes gets the stack as an extra variable, and so does every enclosing loop and the loop that pops.
TensorFlow's gradient of a loop receives the values of its iterations this way::

    stack -> Enter -> Merge -> Switch -> push -> NextIteration          stack -> Enter -> Merge -> Switch -> pop ...
                                  |                                       ^
                                 Exit ------------------------------------+

Within a frame the ops run in an order that its edges allow; in a branch the stack goes through a Switch and a Merge. A
step back, replay or fork then has the stack of its time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from workbench.errors import LoadError
from workbench.ir.frames.deadness import TRIGGER, Deadness, Needs, with_triggers
from workbench.ir.frames.frame_tree import FramePath, assign_frames, order_nodes
from workbench.ir.node import FrozenAttrs, Node, Ref

_PASSES = ("Identity", "Enter", "Switch")
Apply = Callable[[Ref], Ref]


@dataclass(frozen=True, slots=True)
class _Unit:
    """One operation of a frame on a stack: a push, a pop, or a child frame (``frame`` is set)."""

    name: str
    needs: Needs
    frame: FramePath | None = None


def with_stacks(made: Sequence[Node]) -> list[Node]:
    """The nodes with every stack turned into a value. Raises FrameError as ``Graph.from_nodes`` does, and LoadError
    with slug ``unknown-stack`` if the stack of an op is unknown.
    """
    if not any(n.op == "stack_new" or n.attrs.get(TRIGGER) for n in made):
        return list(made)
    nodes = {n.name: n for n in made}
    if len(nodes) < len(made) or any(r.node not in nodes for n in made for r in n.inputs):
        return list(made)  # the graph's checker reports the error
    order = order_nodes(nodes)
    where = assign_frames(nodes, order)
    deadness = Deadness(nodes, order, where)
    nodes = with_triggers(nodes, deadness)
    uses: dict[str, list[str]] = {n.name: [] for n in made if n.op == "stack_new"}
    for node in made:
        if node.op in ("stack_push", "stack_pop"):
            uses[_stack_of(nodes, node)].append(node.name)
    threads = _Threads(nodes, order, where, deadness)
    for stack, names in uses.items():
        threads.thread(stack, names)
    return list(threads.nodes.values())


def _stack_of(nodes: dict[str, Node], node: Node) -> str:
    ref = node.inputs[0]
    for _ in range(256):
        made = nodes[ref.node]
        if made.op == "stack_new":
            return made.name
        if made.op not in _PASSES:
            break
        ref = made.inputs[0]
    raise LoadError(
        f"{node.op} {node.name!r} works on a stack that comes out of {ref.node!r} ({nodes[ref.node].op}), so that it "
        "cannot be told which one it is.",
        slug="unknown-stack",
        node=node.name,
        fix="hand the stack from StackV2 to its users directly.",
    )


class _Threads:
    """Threads stacks through a graph, one after another."""

    def __init__(
        self, nodes: dict[str, Node], order: tuple[str, ...], where: dict[str, FramePath], deadness: Deadness
    ) -> None:
        self.nodes, self.order, self.where, self.deadness = nodes, order, where, deadness
        self.position = {name: i for i, name in enumerate(order)}
        self._ranks: dict[FramePath, dict[str, int]] = {}

    def thread(self, stack: str, names: Sequence[str]) -> None:
        home = self.where[stack]
        self.stack, self.users = stack, list(names)
        if stray := [n for n in names if self.where[n][: len(home)] != home]:
            raise LoadError(
                f"{stray[0]!r} uses the stack {stack!r} outside of the frame {'/'.join(home)!r} in which it is made.",
                slug="unknown-stack",
                node=stray[0],
                fix="make the stack further out.",
            )
        self._units(home, Ref(stack), self.deadness.needs[stack], self._of_frame(home))

    # -- one frame ------------------------------------------------------------------------------------------------
    def _of_frame(self, path: FramePath) -> list[_Unit]:
        """Operations of a frame on the stack, in order."""
        found: dict[str, _Unit] = {}
        for name in self.users:
            inside = self.where[name]
            if inside == path:
                found[name] = _Unit(name, self.deadness.needs[name])
            elif inside[: len(path)] == path:
                child = inside[: len(path) + 1]
                label = _label(child)
                found[label] = _Unit(label, self.deadness.starts.get(child, frozenset()), child)
        ranks = self._rank(path)
        return sorted(found.values(), key=lambda u: ranks[u.name])

    def _rank(self, path: FramePath) -> dict[str, int]:
        """An order of a frame's nodes in which each child frame is one unit."""
        if path not in self._ranks:
            units: dict[str, set[str]] = {}
            for name in self.order:
                if self.where[name][: len(path)] != path:
                    continue
                unit, node = self._unit(name, path), self.nodes[name]
                waits = units.setdefault(unit, set())
                for source in (*(r.node for r in node.inputs), *node.control):
                    inner = self.where[source][: len(path)] == path
                    if inner and not (node.op == "Merge" and self.nodes[source].op == "NextIteration"):
                        waits.add(self._unit(source, path))
                waits.discard(unit)
            contracted = {u: Node(u, "NoOp", (), tuple(sorted(w))) for u, w in units.items()}
            self._ranks[path] = {name: i for i, name in enumerate(order_nodes(contracted))}
        return self._ranks[path]

    def _unit(self, name: str, path: FramePath) -> str:
        inside = self.where[name]
        return name if inside == path else _label(inside[: len(path) + 1])

    def _units(self, path: FramePath, state: Ref, given: Needs, units: Sequence[_Unit]) -> Ref:
        for unit in units:
            decisions = sorted(unit.needs - given, key=lambda d: self.position[d[0].node])
            state = self._decided(decisions, state, unit, lambda s, u=unit: self._apply(u, s))  # type: ignore[misc]
        return state

    def _decided(self, decisions: Sequence[tuple[Ref, bool]], state: Ref, unit: _Unit, apply: Apply) -> Ref:
        """The stack after ``apply`` if these decisions hold, otherwise unchanged."""
        if not decisions:
            return apply(state)
        (pred, side), *rest = decisions
        switch = self._add(f"{unit.name}/stack/Switch", "Switch", (state, pred))
        inner = self._decided(rest, Ref(switch, int(side)), unit, apply)
        other = Ref(switch, int(not side))
        return Ref(self._add(f"{unit.name}/stack/Merge", "Merge", (other, inner) if side else (inner, other)))

    def _apply(self, unit: _Unit, state: Ref) -> Ref:
        if unit.frame is not None:
            return self._loop(unit.frame, state)
        node = self.nodes[unit.name]
        if node.op == "stack_pop":
            self.nodes[node.name] = replace(node, inputs=(state,))
            return Ref(node.name, 1)
        value = node.inputs[1]
        self.nodes[node.name] = replace(node, op="Identity", inputs=(value,), attrs=FrozenAttrs())
        return Ref(self._add(f"{node.name}/stack", "stack_push", (state, Ref(node.name)), region=node.region))

    def _loop(self, path: FramePath, state: Ref) -> Ref:
        """Add the stack as a variable of a frame; returns its value after the loop."""
        members = [self.nodes[n] for n in self.order if self.where[n] == path]
        conds = [n for n in members if n.op == "LoopCond"]
        if len(conds) != 1:
            raise LoadError(
                f"The frame {'/'.join(path)!r} uses the stack {self.stack!r} and has {len(conds)} LoopCond nodes; one "
                "is needed.",
                slug="frame-not-nesting",
                node=self.stack,
                fix="close the loop as while_loop does.",
            )
        going = (self.deadness.root(conds[0].ref()), True)
        name = f"{self.stack}/{'/'.join(path)}"
        enter = self._add(
            f"{name}/Enter", "Enter", (state,), frame_name=path[-1], is_constant=False, parallel_iterations=10
        )
        merge = self._add(f"{name}/Merge", "Merge", (Ref(enter),))
        units = self._of_frame(path)
        body = [u for u in units if going in u.needs]
        header = self._units(path, Ref(merge), frozenset(), [u for u in units if going not in u.needs])
        switch = self._add(f"{name}/Switch", "Switch", (header, conds[0].ref()))
        after = self._units(path, Ref(switch, 1), frozenset({going}), body)
        back = self._add(f"{name}/NextIteration", "NextIteration", (after,))
        self.nodes[merge] = replace(self.nodes[merge], inputs=(Ref(enter), Ref(back)))
        return Ref(self._add(f"{name}/Exit", "Exit", (Ref(switch, 0),)))

    def _add(self, name: str, op: str, inputs: tuple[Ref, ...], region: str | None = None, **attrs: object) -> str:
        label, count = name, 0
        while label in self.nodes:
            count += 1
            label = f"{name}_{count}"
        self.nodes[label] = Node(label, op, inputs, (), FrozenAttrs(attrs), region=region)
        return label


def _label(path: FramePath) -> str:
    return "frame " + "/".join(path)
