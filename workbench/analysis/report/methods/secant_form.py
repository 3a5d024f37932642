"""The secant method, recognised by its update: a step to the zero of the line through the last two points.

Source: J. F. Traub, Iterative Methods for the Solution of Equations (1964), section 6.1.
"""

from __future__ import annotations

from workbench.ir.frames.frame_tree import LoopVariable
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.trace.aligned_columns import origin


def secant(graph: Graph, variables: tuple[LoopVariable, ...], made: dict[str, Node]) -> str:
    """A sentence about ``x - f * (x - x0) / (f - f0)`` with the previous x0 and f0; empty for other updates."""
    before = {node.name: v.merge for v in variables if (node := made[v.merge]).op == "Merge"}  # value -> previous
    for x in variables:
        node = made[x.merge]
        if node.op != "subtract" or origin(graph, node.inputs[0]).name != x.merge or x.merge not in before:
            continue
        above, below = _quotient(graph, node.inputs[1])
        points = _difference(graph, x.merge, before[x.merge], above)
        for f in variables:
            if f.merge == x.merge or f.merge not in before:
                continue
            heights = _difference(graph, f.merge, before[f.merge], below)
            other = [n for n in above if n.name == f.merge]
            if points and points == heights and len(below) == 1 and len(above) == 2 and other:
                return (
                    f"the secant method: {x.name} steps to the zero of the line through its last two points. Near a "
                    "simple root it is superlinear, of order about 1.618: each error is in proportion to the product "
                    "of the two before. At a multiple root it is only linear."
                )
    return ""


def _quotient(graph: Graph, ref: Ref) -> tuple[list[Node], list[Node]]:
    """Factors of the numerator and of the denominator of nested products and quotients."""
    node = origin(graph, ref)
    if node.op not in ("multiply", "divide"):
        return [node], []
    (a, b), (c, d) = (_quotient(graph, r) for r in node.inputs)
    return (a + c, b + d) if node.op == "multiply" else (a + d, b + c)


def _difference(graph: Graph, new: str, old: str, factors: list[Node]) -> int:
    """1 if ``new - old`` is one of the factors, -1 if ``old - new`` is; else 0."""
    for node in factors:
        if node.op == "subtract":
            ends = [origin(graph, r).name for r in node.inputs]
            if ends in ([new, old], [old, new]):
                return 1 if ends == [new, old] else -1
    return 0
