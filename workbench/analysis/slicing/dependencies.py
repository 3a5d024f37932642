"""Dependencies of a loop's condition in the graph, and the static facts about its variables."""

from __future__ import annotations

from workbench.ir.frames.frame_tree import LoopVariable
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.plan import ExecutionPlan
from workbench.plan.reachability import required_nodes
from workbench.trace.aligned_columns import origin

#: nodes from which on a plan is large, and nodes besides a slice's with which a run's own plan serves as the slice
LARGE, FEW = 5_000, 64
#: ops of such nodes: they neither fail nor take long
HARMLESS = frozenset({"Const", "Enter", "Exit", "Identity", "Merge", "NextIteration", "Placeholder", "Switch"})


def serves(plan: ExecutionPlan, reached: frozenset[str]) -> bool:
    """True if a run's own plan is a plan of a slice with these nodes as well: it has next to nothing else in it.

    Only of large graphs, for which a second plan takes seconds and as much memory as the first.
    """
    if len(plan.needed) < LARGE or plan.lean or plan.statistics or plan.device is not None:
        return False
    rest = plan.needed - reached
    return len(rest) < FEW and all(plan.graph.nodes[n].op in HARMLESS for n in rest)


def loops_inside(plan: ExecutionPlan, frame: tuple[str, ...]) -> list[str]:
    """The LoopConds of a plan in frames inside of one."""
    paths = {k: f.path for k, f in enumerate(plan.layout.frames)}
    nodes = [n for n in plan.layout.nodes if n.op == "LoopCond" and len(paths[n.frame]) > len(frame)]
    return [n.name for n in nodes if paths[n.frame][: len(frame)] == frame]


def steered(graph: Graph, frame: tuple[str, ...], inner: list[str]) -> list[str]:
    """Those loops inside whose conditions depend on what the loop around carries: each iteration is another case."""
    carried = {v.merge for v in graph.frames[frame].variables}
    return [name for name in inner if carried & data_slice(graph, Ref(name))]


def data_slice(graph: Graph, *refs: Ref) -> frozenset[str]:
    """Nodes whose values the condition depends on, or any others.

    Control edges count, for they decide branches; but not those from a loop's Merge or from an Identity of its Switch:
    such an edge only says "in this loop", which is where all of the slice is.
    """
    return required_nodes(graph, refs, lambda source: not _is_pivot(graph, source))


def index_readers(graph: Graph, reached: frozenset[str]) -> list[str]:
    """Nodes of the slice that read which input of a loop's Merge was alive.

    That number is part of no variable: it distinguishes the first iteration from the others, and the slice begins anew.
    """
    found = set()
    for merge in (v.merge for f in graph.frames.values() for v in f.variables):
        found |= {n for n in graph.consumers(merge) if n in reached and (merge, 1) in graph.nodes[n].inputs}
    return [n for n in graph.nodes if n in found] if found else []


def _is_pivot(graph: Graph, name: str) -> bool:
    node = graph.nodes[name]
    if node.op == "Merge":
        return any(graph.nodes[r.node].op == "NextIteration" for r in node.inputs)
    if node.op != "Identity":
        return False
    switch = graph.nodes[node.inputs[0].node]
    return switch.op == "Switch" and graph.nodes[switch.inputs[1].node].op == "LoopCond"


def constant_step(graph: Graph, variable: LoopVariable) -> float | None:
    """Step of each variable per iteration: a constant, 0.0 for one that is not updated, None for anything else."""
    merge = graph.nodes[variable.merge]
    back = graph.nodes[variable.next_iteration].inputs[0]
    node = graph.nodes[back.node]
    while node.op in ("Identity", "Switch"):
        node = graph.nodes[node.inputs[0].node]
    if node.name == merge.name:
        return 0.0
    if node.op not in ("add", "subtract") or len(node.inputs) != 2:
        return None
    own, other = (origin(graph, r) for r in node.inputs)
    if node.op == "add" and other.name == merge.name:
        own, other = other, own
    if own.name != merge.name or other.op != "Const" or other.attrs["value"].size != 1:
        return None
    try:
        step = float(other.attrs["value"].reshape(-1)[0])
    except (TypeError, ValueError):
        return None
    return (step if node.op == "add" else -step) or None
