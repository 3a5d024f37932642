"""Finds values that share memory without being aliases: views and parts of an array."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.execution.decisions import overlap
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.kernels.layout import Place

if TYPE_CHECKING:
    from workbench.execution.run import Run

#: ops that compute nothing: their output is an alias of their first input
NAMES = frozenset(("Identity", "LoopCond", "Switch", "Enter", "NextIteration"))


def shared_with(run: Run, ref: Ref, place: Place) -> Ref | None:
    """Another value that has fired, will still be read, and would change with a write to ``place``."""
    graph, mine, active = run.plan.graph, _root(run.plan.graph, ref), run.active_frames()
    for node in run.plan.layout.nodes:
        if node.frame not in active or node.ip >= run.view.ip:
            continue
        for index in range(len(graph.nodes[node.name].types)):
            other = Ref(node.name, index)
            theirs = run.plan.layout.values[other].place
            if theirs is None or theirs.shift != place.shift or not overlap(theirs, place):
                continue
            if _root(graph, other) != mine and run.fired_now(node) and _read_later(run, other):
                return other
    return None


def _root(graph: Graph, ref: Ref) -> Ref:
    """The value that ``ref`` is an alias of."""
    while (node := graph.nodes[ref.node]).op in NAMES:
        ref = node.inputs[0]
    return ref


def _read_later(run: Run, ref: Ref) -> bool:
    """True if a node may read a value after this event, in the rows in progress or in the next rows."""
    graph, nodes, frames = run.plan.graph, run.trace.reader.node, run.plan.layout.frames
    if ref in run.plan.outputs.values():
        return True
    for name in graph.consumers(ref.node):
        if name not in nodes or ref not in graph.nodes[name].inputs:
            continue
        reader = nodes[name]
        if reader.op == "NextIteration" or reader.ip >= run.view.ip:
            return True
        if frames[reader.frame].start < run.view.ip < frames[reader.frame].stop and reader.op == "Enter":
            return True  # read by later iterations
        if reader.op in NAMES and any(_read_later(run, graph.nodes[name].ref(k)) for k in range(2)):
            return True
    return False
