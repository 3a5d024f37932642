"""Guards: the decisions under which each value is alive, within one iteration of its frame.

A guard is a set of literals, all of which must hold. Deadness then needs no tokens at run time: a node fires if its
guard holds. Switch adds a literal, Merge removes one if its inputs are the two sides of one decision, every other node
has the literals of all its inputs.

Literals are (value, expected): the predicate with True or False, or the value_index output of a Merge with ALIVE. Facts
that do not follow from a decision of the graph have separate columns, which literals name by a negative output: whether
a node fired (:func:`bit`), whether an iteration is not the first (:func:`later`). Only raw frames have these
(``ExecutionPlan.raw``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref

ALIVE = "alive"
Literal = tuple[Ref, bool | str]
Guard = frozenset[Literal]
OPEN: Guard = frozenset()

#: a literal that never holds
NEVER = Ref("\0never", -1)


def bit(node: str) -> Ref:
    """The flag that a NextIteration fired in the previous iteration, or an Exit in the activation that just ended."""
    return Ref(node, -1)


def later(path: FramePath) -> Ref:
    """The flag that an iteration of a raw frame is not the first."""
    return Ref("\0later " + "\0".join(path), -1)


def started(path: FramePath) -> Ref:
    """The flag that an Enter which starts a raw frame was alive, for Enters under different conditions."""
    return Ref("\0started " + "\0".join(path), -1)


@dataclass(slots=True)
class RawFrame:
    """How a raw frame starts and continues.

    ``start`` is its guard in the parent, without the literal ``started`` that represents any of ``ways``; ``together``
    are the NextIterations that fire whenever any of the frame does: in a later iteration all of them are alive;
    ``never`` those that cannot fire at all. ``go`` is the guard of the next iteration, None if it is not a conjunction.
    ``waking``: loop invariants alone make nodes fire.
    """

    together: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    start: Guard = OPEN
    ways: tuple[Guard, ...] = ()
    go: Guard | None = None
    waking: bool = False


@dataclass(slots=True)
class Guards:
    """Guards of one graph. ``node[n]`` is the guard under which node n fires, ``value[ref]`` that under which its
    output is alive.

    ``dead`` holds the nodes that can never fire; ``merges`` the conditional Merges with their live inputs; ``general``
    those of them whose inputs are not the two sides of one decision; ``raw`` the frames that do not nest; ``arrives``
    has, for each NextIteration of a raw frame, the guard under which its Merge finds it alive; ``sound`` says whether a
    tested guard does not contradict itself.
    """

    node: dict[str, Guard] = field(default_factory=dict)
    value: dict[Ref, Guard] = field(default_factory=dict)
    dead: set[str] = field(default_factory=set)
    merges: dict[str, tuple[int, ...]] = field(default_factory=dict)
    general: set[str] = field(default_factory=set)
    raw: dict[FramePath, RawFrame] = field(default_factory=dict)
    arrives: dict[str, Guard] = field(default_factory=dict)
    sound: dict[Guard, bool] = field(default_factory=dict)

    def seen(self, ref: Ref) -> Guard:
        """The guard under which an input of a Merge is alive."""
        return self.arrives[ref.node] if ref.node in self.arrives else self.value[ref]


def root_of(graph: Graph, ref: Ref) -> Ref:
    """The value of which ``ref`` is an alias within its frame: two names of one predicate are one decision."""
    while True:
        node = graph.nodes[ref.node]
        if node.op in ("Identity", "LoopCond") or (node.op == "Switch"):
            ref = node.inputs[0]
        else:
            return ref


def is_loop_merge(graph: Graph, node: Node) -> bool:
    return node.op == "Merge" and any(graph.nodes[r.node].op == "NextIteration" for r in node.inputs)


def find_guards(graph: Graph, nodes: Iterable[str], raw: Mapping[FramePath, RawFrame] | None = None) -> Guards:
    """Guards of ``nodes``, which are in graph order; with ``raw`` frames, the Enters of each come before its other
    nodes, and all of its nodes before the readers of its Exits (graph_order).
    """
    found = Guards(raw=dict(raw or {}))
    activation: dict[FramePath, Guard] = {}
    opened: set[FramePath] = set()
    for path, frame in found.raw.items():
        for name in graph.frames[path].next_iterations:
            sign = later(path) if name in frame.together else bit(name)
            found.arrives[name] = frozenset({(sign, True)})
        found.dead |= frame.never
    order = list(nodes)
    present = frozenset(order) if found.raw else frozenset()
    for name in order:
        node = graph.nodes[name]
        path = graph.frame_of(name)
        guard: Guard | None
        if path in found.raw and node.op == "Enter":
            if path not in opened:
                opened.add(path)
                _open_raw(graph, path, present, found)
            continue
        if path not in found.raw and is_loop_merge(graph, node):
            # a loop whose start values are dead never runs
            starts = [r.node in found.dead for r in node.inputs if graph.nodes[r.node].op != "NextIteration"]
            guard = None if all(starts) else OPEN
        elif node.op == "Merge":
            guard = _merge(graph, node, found)
        else:
            guard = _all_of(graph, node, found)
        if node.op == "Enter":
            if guard is not None and not node.attrs.get("is_constant"):
                activation.setdefault(path, guard)
            found.value[node.ref()] = OPEN
            found.node[name] = guard if guard is not None else OPEN
            if guard is None:
                found.dead.add(name)
            continue
        if guard is None:
            found.dead.add(name)
            found.node[name] = OPEN
            continue
        found.node[name] = guard
        if node.op == "Switch":
            pred = root_of(graph, node.inputs[1])
            for side in (0, 1):
                found.value[node.ref(side)] = guard | {(pred, bool(side))}
        elif node.op == "Exit" and path in found.raw:
            found.value[node.ref()] = found.raw[path].start | {(bit(name), True)}
        elif node.op == "Exit":
            # a value that leaves a frame is alive where the frame was entered
            found.value[node.ref()] = activation.get(path, OPEN)
        else:
            for index in range(max(1, len(node.types))):
                found.value[node.ref(index)] = guard
    return found


def contradicts(guard: Guard) -> bool:
    """Return whether a guard requires both sides of one decision."""
    return any((ref, not wanted) in guard for ref, wanted in guard if isinstance(wanted, bool))


def least(guards: Collection[Guard]) -> Guard | None:
    """The one of these guards that holds whenever any of them does, if there is one."""
    common = frozenset.intersection(*guards) if guards else None
    return common if common in guards else None


def _open_raw(graph: Graph, path: FramePath, present: frozenset[str], found: Guards) -> None:
    """Set the guards of a raw frame's Enters: of each in the parent, of any of them, and of each within the frame."""
    guards: dict[str, Guard] = {}
    enters = [n for n in graph.frames[path].enters if n in present]
    for name in enters:
        guard = _all_of(graph, graph.nodes[name], found)
        if guard is None:
            found.dead.add(name)
            found.node[name] = OPEN
        else:
            found.node[name] = guards[name] = guard
    frame = found.raw[path]
    constant = {n for n in enters if graph.nodes[n].attrs.get("is_constant")}
    starting = [g for n, g in guards.items() if frame.waking or n not in constant]
    frame.ways = ()
    if not starting:
        frame.start = frozenset({(NEVER, True)})
    elif (whole := least(starting)) is not None:
        frame.start = whole
    else:
        frame.start = frozenset.intersection(*starting)
        frame.ways = tuple(dict.fromkeys(g - frame.start for g in starting))
    for name in enters:
        own = guards.get(name, OPEN) - frame.start
        first = OPEN if name in constant else frozenset({(later(path), False)})
        found.value[graph.nodes[name].ref()] = own | first


def _all_of(graph: Graph, node: Node, found: Guards) -> Guard | None:
    """The guard of a node that needs all of its inputs. If the guard of one input implies the others, it is that same
    object: most nodes of a frame share one guard, which is hashed and compared once.
    """
    guard: Guard = OPEN
    for ref in node.inputs:
        if ref.node in found.dead:
            return None
        guard = _both(guard, found.value[ref])
    for source in node.control:
        if source in found.dead:
            return None
        other = graph.nodes[source]
        guard = _both(guard, found.value[other.ref()] if other.op in ("Exit", "Enter") else found.node[source])
    if guard not in found.sound:
        found.sound[guard] = not contradicts(guard)
    return guard if found.sound[guard] else None


def _both(one: Guard, other: Guard) -> Guard:
    if other is one or other <= one:
        return one
    return other if one <= other else one | other


def _merge(graph: Graph, node: Node, found: Guards) -> Guard | None:
    """The guard of a Merge, which waits for its control inputs but does not depend on whether they fire."""
    live = [i for i, r in enumerate(node.inputs) if r.node not in found.dead and not contradicts(found.seen(r))]
    if not live:
        return None
    found.merges[node.name] = tuple(live)
    guards = [found.seen(node.inputs[i]) for i in live]
    if len(live) == 1:
        return guards[0]
    if len(live) == 2:
        apart = guards[0] ^ guards[1]
        if len(apart) == 2:
            (one, a), (two, b) = apart
            if one == two and isinstance(a, bool) and isinstance(b, bool):
                return guards[0] & guards[1]
    common = frozenset.intersection(*guards)
    if common in guards:  # one input is alive whenever any is
        return common
    found.general.add(node.name)
    return common | {(node.ref(1), ALIVE)}
