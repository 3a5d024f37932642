"""Which frames can be scheduled statically, and why not if they cannot."""

from __future__ import annotations

from workbench.errors import FrameError
from workbench.graph.frames import Frame
from workbench.graph.graph import Graph
from workbench.graph.node import Ref
from workbench.plan.guards import Guard, Guards, is_loop_merge, root_of


def check_frame(graph: Graph, frame: Frame, needed: frozenset[str], guards: Guards) -> tuple[Ref, Guard]:
    """(predicate of the loop, guard under which the parent starts it); FrameError for a frame that does not nest.

    A frame nests when it has one LoopCond, every loop variable is a Merge of one Enter and one NextIteration, the next
    values need the condition to be true and the exits need it to be false.
    """

    def refuse(why: str, node: str | None = None) -> FrameError:
        return FrameError(
            f"The frame {'/'.join(frame.path)!r} cannot be scheduled: {why}.",
            slug="frame-not-nesting", node=node, source=graph.nodes[node].source if node else None,
            fix="give the frame one LoopCond, pair each Merge (Enter, NextIteration) with a Switch on it, and take "
            "exits from the false side.",
        )  # fmt: skip

    nodes = [graph.nodes[n] for n in frame.nodes if n in needed]
    conds = [n for n in nodes if n.op == "LoopCond"]
    if len(conds) != 1:
        raise refuse(f"it has {len(conds)} LoopCond nodes that the outputs need, expected one")
    pred = root_of(graph, conds[0].ref())
    if guards.node[conds[0].name]:
        raise refuse("its LoopCond is itself conditional", conds[0].name)
    going, leaving = frozenset({(pred, True)}), frozenset({(pred, False)})
    start: Guard | None = None
    for node in nodes:
        if node.op == "NextIteration" and guards.node[node.name] != going:
            raise refuse(f"{node.name!r} does not depend on exactly the loop's condition", node.name)
        if node.op == "Exit" and (node.name in guards.dead or guards.value[node.inputs[0]] != leaving):
            raise refuse(f"{node.name!r} does not leave where the condition is false", node.name)
        if node.op == "Exit" and guards.node[node.name] != leaving:
            raise refuse(f"{node.name!r} waits for a node that is under a further condition", node.name)
        if is_loop_merge(graph, node):
            kinds = sorted(graph.nodes[r.node].op for r in node.inputs)
            if kinds != ["Enter", "NextIteration"]:
                raise refuse(f"the Merge {node.name!r} joins {' and '.join(kinds)}", node.name)
        if node.op == "Enter" and not node.attrs.get("is_constant"):
            readers = [graph.nodes[c] for c in graph.consumers(node.name) if c in needed]
            if not all(is_loop_merge(graph, r) for r in readers):
                raise refuse(
                    f"{node.name!r} is alive in iteration 0 only and feeds more than a loop variable", node.name
                )
            if start is not None and guards.node[node.name] != start:
                raise refuse(f"{node.name!r} enters under other conditions than the other loop variables", node.name)
            start = guards.node[node.name]
    if start is None:
        raise refuse("nothing enters it but loop invariants")
    for node in nodes:
        if node.op == "Enter" and not guards.node[node.name] <= start:
            raise refuse(f"the invariant {node.name!r} enters under more conditions than the loop variables", node.name)
    return pred, start
