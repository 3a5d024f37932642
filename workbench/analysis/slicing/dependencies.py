"""Dependencies of a loop's condition in the graph, and the static facts about its variables."""

from __future__ import annotations

from workbench.ir.frames.frame_tree import LoopVariable
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.plan import ExecutionPlan
from workbench.plan.reachability import required_nodes
from workbench.trace.aligned_columns import origin

#: minimum number of nodes of a large plan, and number of extra nodes below which it serves as the plan of a slice
LARGE, FEW = 5_000, 64
#: ops that the extra nodes may have: they neither fail nor take long
HARMLESS = frozenset({"Const", "Enter", "Exit", "Identity", "Merge", "NextIteration", "Placeholder", "Switch"})


def serves(plan: ExecutionPlan, reached: frozenset[str]) -> bool:
    """True if a run's own plan also serves as the plan of a slice with these nodes, because it has hardly any others.

    Only for large graphs, where a second plan takes seconds and as much memory as the first.
    """
    if len(plan.needed) < LARGE or plan.lean or plan.statistics or plan.device is not None:
        return False
    rest = plan.needed - reached
    return len(rest) < FEW and all(plan.graph.nodes[n].op in HARMLESS for n in rest)


def loops_inside(plan: ExecutionPlan, frame: tuple[str, ...]) -> list[str]:
    """The LoopConds of a plan in frames inside ``frame``."""
    paths = {k: f.path for k, f in enumerate(plan.layout.frames)}
    nodes = [n for n in plan.layout.nodes if n.op == "LoopCond" and len(paths[n.frame]) > len(frame)]
    return [n.name for n in nodes if paths[n.frame][: len(frame)] == frame]


def steered(graph: Graph, frame: tuple[str, ...], inner: list[str]) -> list[str]:
    """The inner loops whose conditions depend on variables of the outer loop, so that each outer iteration differs."""
    carried = {v.merge for v in graph.frames[frame].variables}
    return [name for name in inner if carried & data_slice(graph, Ref(name))]


def data_slice(graph: Graph, *refs: Ref) -> frozenset[str]:
    """Nodes on whose values the condition, or any other value, depends.

    Control edges count because they decide branches, except those from a loop's Merge or from an Identity of its
    Switch: such an edge only means "in this loop", and the whole slice is in it.
    """
    return required_nodes(graph, refs, lambda source: not _is_pivot(graph, source))


def index_readers(graph: Graph, reached: frozenset[str]) -> list[str]:
    """Nodes of the slice that read which input of a loop's Merge had a value.

    That index is not part of a variable: it distinguishes the first iteration from the others, and a slice starts again
    with a first iteration.
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
    """The constant step of a variable per iteration; 0.0 if it is not updated, None for any other update."""
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
