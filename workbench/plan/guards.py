"""Guards: under which decisions each value is alive, within one iteration of its frame.

A guard is a set of literals, all of which must hold. Deadness then needs no tokens at run time: a node fires where its
guard holds. Switch adds a literal, Merge takes one away where its inputs are the two sides of one decision, every other
node needs what all its inputs need.

Literals are (value, expected): the predicate with True or False, or the value_index output of a Merge with ALIVE.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from workbench.graph.graph import Graph
from workbench.graph.node import Node, Ref

ALIVE = "alive"
Literal = tuple[Ref, bool | str]
Guard = frozenset[Literal]
OPEN: Guard = frozenset()

#: ops whose output 0 is their input 0
RENAMING = ("Identity", "Enter", "NextIteration", "LoopCond", "Exit")


@dataclass(slots=True)
class Guards:
    """Guards of one graph. ``node[n]`` is where node n fires, ``value[ref]`` where its output is alive.

    ``dead`` holds the nodes that can never fire; ``merges`` the conditional Merges with their live inputs;
    ``general`` those of them whose inputs are not the two sides of one decision.
    """

    node: dict[str, Guard] = field(default_factory=dict)
    value: dict[Ref, Guard] = field(default_factory=dict)
    dead: set[str] = field(default_factory=set)
    merges: dict[str, tuple[int, ...]] = field(default_factory=dict)
    general: set[str] = field(default_factory=set)


def root_of(graph: Graph, ref: Ref) -> Ref:
    """The value that ``ref`` is only another name of, within its frame: two names of one predicate are one decision."""
    while True:
        node = graph.nodes[ref.node]
        if node.op in ("Identity", "LoopCond") or (node.op == "Switch"):
            ref = node.inputs[0]
        else:
            return ref


def is_loop_merge(graph: Graph, node: Node) -> bool:
    return node.op == "Merge" and any(graph.nodes[r.node].op == "NextIteration" for r in node.inputs)


def find_guards(graph: Graph, nodes: Iterable[str]) -> Guards:
    """Guards of ``nodes``, which are in graph order."""
    found = Guards()
    activation: dict[tuple[str, ...], Guard] = {}
    for name in nodes:
        node = graph.nodes[name]
        if is_loop_merge(graph, node):
            # a loop whose start values are dead never runs
            guard: Guard | None = None if any(r.node in found.dead for r in node.inputs) else OPEN
        elif node.op == "Merge":
            guard = _merge(graph, node, found)
        else:
            guard = _all_of(graph, node, found)
        if node.op == "Enter":
            path = graph.frame_of(name)
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
        elif node.op == "Exit":
            # what leaves a frame is alive where the frame was entered
            found.value[node.ref()] = activation.get(graph.frame_of(name), OPEN)
        else:
            for index in range(max(1, len(node.types))):
                found.value[node.ref(index)] = guard
    return found


def contradicts(guard: Guard) -> bool:
    """Whether a guard asks for both sides of one decision."""
    return any((ref, not wanted) in guard for ref, wanted in guard if isinstance(wanted, bool))


def _all_of(graph: Graph, node: Node, found: Guards) -> Guard | None:
    literals: set[Literal] = set()
    for ref in node.inputs:
        if ref.node in found.dead:
            return None
        literals |= found.value[ref]
    for source in node.control:
        if source in found.dead:
            return None
        other = graph.nodes[source]
        literals |= found.value[other.ref()] if other.op in ("Exit", "Enter") else found.node[source]
    guard = frozenset(literals)
    return None if contradicts(guard) else guard


def _merge(graph: Graph, node: Node, found: Guards) -> Guard | None:
    control = _all_of(graph, Node(node.name, "NoOp", (), node.control), found)
    if control is None:
        return None
    live = [i for i, r in enumerate(node.inputs) if r.node not in found.dead and not contradicts(found.value[r])]
    if not live:
        return None
    found.merges[node.name] = tuple(live)
    guards = [found.value[node.inputs[i]] for i in live]
    if len(live) == 1:
        return guards[0] | control
    if len(live) == 2:
        apart = guards[0] ^ guards[1]
        if len(apart) == 2:
            (one, a), (two, b) = apart
            if one == two and isinstance(a, bool) and isinstance(b, bool):
                return (guards[0] & guards[1]) | control
    common = frozenset.intersection(*guards)
    if common in guards:  # one input is alive wherever any is
        return common | control
    common |= control
    found.general.add(node.name)
    return common | {(node.ref(1), ALIVE)}
