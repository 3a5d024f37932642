"""The frames that nest and are scheduled with static guards alone, and the reasons why others are raw."""

from __future__ import annotations

from workbench.ir.frames.frame_tree import Frame, FramePath
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.plan.schedule.guards import Guard, Guards, is_loop_merge, root_of


class NotNestingError(Exception):
    """The reason why a frame does not nest."""


def check_frame(graph: Graph, frame: Frame, needed: frozenset[str], guards: Guards) -> tuple[Ref, Guard]:
    """(predicate of the loop, guard under which the parent starts it); NotNestingError for a frame that does not nest.

    A frame nests when it has one LoopCond, every loop variable is a Merge of one Enter and one NextIteration, the next
    values need the condition to be true and the exits need it to be false.
    """
    nodes = [graph.nodes[n] for n in frame.nodes if n in needed]
    conds = [n for n in nodes if n.op == "LoopCond"]
    if len(conds) != 1:
        raise NotNestingError(f"it has {len(conds)} LoopCond nodes that the outputs need, not one")
    pred = root_of(graph, conds[0].ref())
    if guards.node[conds[0].name]:
        raise NotNestingError(f"its LoopCond {conds[0].name!r} is itself conditional")
    going, leaving = frozenset({(pred, True)}), frozenset({(pred, False)})
    for node in nodes:
        if node.op == "NextIteration" and guards.node[node.name] != going:
            raise NotNestingError(f"{node.name!r} does not depend on exactly the loop's condition")
        if node.op == "NextIteration" and (dead := guards.dead.intersection(graph.consumers(node.name))):
            raise NotNestingError(f"the Merge {sorted(dead)[0]!r} can come alive in later iterations only")
        if node.op == "Exit" and (node.name in guards.dead or guards.value[node.inputs[0]] != leaving):
            raise NotNestingError(f"{node.name!r} does not leave where the condition is false")
        if node.op == "Exit" and guards.node[node.name] != leaving:
            raise NotNestingError(f"{node.name!r} waits for a node that is under a further condition")
        if is_loop_merge(graph, node):
            _check_merge(graph, node, guards)
    return pred, _check_enters(graph, frame.path, nodes, needed, guards)


def _check_merge(graph: Graph, node: Node, guards: Guards) -> None:
    kinds = sorted(graph.nodes[r.node].op for r in node.inputs)
    if kinds != ["Enter", "NextIteration"]:
        raise NotNestingError(f"the Merge {node.name!r} joins {' and '.join(kinds)}")
    if any(graph.nodes[r.node].attrs.get("is_constant") for r in node.inputs):
        raise NotNestingError(f"the Merge {node.name!r} reads a loop invariant, which is there in every iteration")
    if dead := [r.node for r in node.inputs if r.node in guards.dead]:
        raise NotNestingError(f"{dead[0]!r} can never fire")
    if node.control:
        raise NotNestingError(f"the Merge {node.name!r} waits for {node.control[0]!r}")


def _check_enters(graph: Graph, path: FramePath, nodes: list[Node], needed: frozenset[str], guards: Guards) -> Guard:
    start: Guard | None = None
    for node in nodes:
        if node.op == "Enter" and not node.attrs.get("is_constant"):
            readers = [graph.nodes[c] for c in graph.consumers(node.name) if c in needed]
            if not all(is_loop_merge(graph, r) for r in readers):
                raise NotNestingError(f"{node.name!r} is alive in iteration 0 only and feeds more than a loop variable")
            if start is not None and guards.node[node.name] != start:
                raise NotNestingError(f"{node.name!r} enters under other conditions than the other loop variables")
            start = guards.node[node.name]
    if start is None:
        raise NotNestingError("nothing enters it but loop invariants")
    weaker = None
    for node in nodes:
        if node.op == "Enter" and not guards.node[node.name] <= start:
            raise NotNestingError(f"the invariant {node.name!r} enters under more conditions than the loop variables")
        if node.op == "Enter" and guards.node[node.name] != start:
            weaker = node.name
    if weaker is not None and (free := fed_by_invariants(graph, path, needed)) is not None:
        raise NotNestingError(
            f"{free!r} needs loop invariants only, and {weaker!r} enters also where the loop variables do not"
        )
    return start


def fed_by_invariants(graph: Graph, path: FramePath, needed: frozenset[str]) -> str | None:
    """A node of a frame or its inner frames that also fires if only loop invariants enter the frame.

    Constant Enters themselves do not count: if only they fire, the frame is not started.
    """
    free: set[str] = set()
    inside = [p for p in graph.frames if p[: len(path)] == path]
    for name in sorted((n for p in inside for n in graph.frames[p].nodes if n in needed), key=_position(graph)):
        node = graph.nodes[name]
        constant = node.op == "Enter" and bool(node.attrs.get("is_constant"))
        if constant and graph.frame_of(name) == path:
            free.add(name)
            continue
        inputs = [r.node in free for r in node.inputs]
        fires = any(inputs) if node.op == "Merge" else all(inputs) and all(c in free for c in node.control)
        if fires and (graph.frame_of(name) != path or node.op != "Enter"):
            if not constant:
                return name
            free.add(name)
    return None


def _position(graph: Graph):  # type: ignore[no-untyped-def]
    order = {name: k for k, name in enumerate(graph.nodes)}
    return order.__getitem__
