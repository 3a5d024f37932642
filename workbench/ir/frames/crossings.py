"""Cross-frame references: a table of all values that leave the scope in which they were computed.

========================  =======================================================================================
kind                      what crosses
========================  =======================================================================================
loop invariant            a value of an outer frame that all iterations of the inner one see (Enter, is_constant)
loop carried              the start value of a loop variable (Enter), and its next value (NextIteration)
exit                      a value that leaves a frame (Exit)
conditional               a value that is passed into one side of a branch (a Switch that is not the loop's own)
========================  =======================================================================================

Source: Yu et al., Dynamic control flow in large-scale machine learning, EuroSys 2018, sections 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.listing import Listing
from workbench.ir.node import Node, Ref

if TYPE_CHECKING:
    from workbench.ir.graph import Graph

INVARIANT, CARRIED, EXIT, CONDITIONAL = "loop invariant", "loop carried", "exit", "conditional"


@dataclass(frozen=True, slots=True)
class CrossReference:
    """One crossing: ``value`` of frame ``source`` is seen in frame ``target``, through the node ``through``.

    ``detail`` is the side or the iteration of the target that sees it; ``name`` is the value's public name.
    """

    value: Ref
    name: str
    source: FramePath
    target: FramePath
    kind: str
    through: str
    detail: str = ""


def cross_references(graph: Graph) -> Listing:
    """All crossings of a graph, in graph order."""
    found = [made for node in graph.nodes.values() for made in _crossings(graph, node)]
    return Listing(
        f"Cross-frame references of {graph.name!r}",
        ("value", "from frame", "to frame", "kind", "through", "seen in"),
        found,
        lambda r: (r.name, frame_text(r.source), frame_text(r.target), r.kind, r.through, r.detail),
    )


def frame_text(path: FramePath) -> str:
    return "/".join(path) or "outermost"


def _crossings(graph: Graph, node: Node) -> list[CrossReference]:
    if node.op not in ("Enter", "NextIteration", "Exit", "Switch"):
        return []
    ref, here = node.inputs[0], graph.frame_of(node.name)

    def one(source: FramePath, target: FramePath, kind: str, detail: str) -> list[CrossReference]:
        return [CrossReference(ref, graph.name_of(ref), source, target, kind, node.name, detail)]

    if node.op == "Enter" and node.attrs.get("is_constant"):
        return one(here[:-1], here, INVARIANT, "every iteration")
    if node.op == "Enter":
        return one(here[:-1], here, CARRIED, "iteration 0")
    if node.op == "NextIteration":
        return one(here, here, CARRIED, "the next iteration")
    if node.op == "Exit":
        return one(here, here[:-1], EXIT, "after the loop")
    pred = node.inputs[1]
    if graph.nodes[pred.node].op == "LoopCond":
        return []
    readers = [graph.nodes[c] for c in graph.consumers(node.name)]
    sides = sorted({r.index for reader in readers for r in reader.inputs if r.node == node.name})
    where = " and ".join(f"{graph.name_of(pred)} is {'true' if side else 'false'}" for side in sides)
    return one(here, here, CONDITIONAL, f"where {where}" if where else "nowhere: nothing reads it")
