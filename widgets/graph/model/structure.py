"""The structure of a graph, drawn in place of the ops of dataflow control, which ``dataflow_ops`` shows.

A loop variable is three boxes: its start value (Enter), its present value (Merge), its next value (NextIteration). Its
Switch, its Exit and the LoopCond have no box: they pass on the present value, and the condition represents the LoopCond
and the Switches. The Switches of a branch are one box, its decision. An Exit that is an output of the graph is drawn
behind its loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.widgets.graph.model.group import Path

START, NOW, NEXT = "start", "now", "next"


@dataclass
class Structure:
    """``passes``: node without a box -> the value that it passes on; ``stands``: such a node -> the node whose box
    represents it; ``decides``: Switch with a box -> the other Switches of its branch; ``behind``: output of a loop ->
    path of the frame around the loop; ``rows``: box of a variable -> row and name."""

    passes: dict[str, Ref] = field(default_factory=dict)
    stands: dict[str, str] = field(default_factory=dict)
    decides: dict[str, list[str]] = field(default_factory=dict)
    behind: dict[str, Path] = field(default_factory=dict)
    rows: dict[str, tuple[str, str]] = field(default_factory=dict)


def find_structure(graph: Graph) -> Structure:
    """The loops and branches of a graph."""
    found = Structure()
    given = {ref.node for ref in graph.outputs.values()}
    owner = {node: name for name, region in graph.regions.items() for node in region.nodes}
    conditions = set()
    for path, frame in graph.frames.items():
        for variable in frame.variables:
            found.rows[variable.enter] = (START, variable.name)
            found.rows[variable.merge] = (NOW, variable.name)
            found.rows[variable.next_iteration] = (NEXT, variable.name)
        if frame.loop_cond is not None:
            conditions.add(frame.loop_cond)
        for name in frame.exits:
            found.passes[name] = graph.nodes[name].inputs[0]
            if name in given:
                found.behind[name] = path[:-1]
            else:
                found.stands[name] = _merge_of(graph, name)
    deciding: dict[tuple[Path, str, Ref], str] = {}
    for name, node in graph.nodes.items():
        if name in given:
            continue
        if name in conditions:
            found.passes[name] = node.inputs[0]
            found.stands[name] = node.inputs[0].node
        elif node.op == "Switch" and node.inputs[1].node in conditions:
            found.passes[name] = node.inputs[0]
            found.stands[name] = graph.nodes[node.inputs[1].node].inputs[0].node
        elif node.op == "Switch":
            first = deciding.setdefault((graph.frame_of(name), owner.get(name, ""), node.inputs[1]), name)
            if first == name:
                found.decides[name] = []
            else:
                found.decides[first].append(name)
                found.stands[name] = first
    return found


def _merge_of(graph: Graph, name: str) -> str:
    """The present value of the variable that an Exit forwards, or the value that the Exit reads."""
    switch = graph.nodes[graph.nodes[name].inputs[0].node]
    return switch.inputs[0].node if switch.op == "Switch" else switch.name
