"""Lloyd's algorithm for k-means, recognised by its update: each centre becomes the mean of the values nearest to it.

Source: S. P. Lloyd, Least squares quantization in PCM, IEEE Trans. Inf. Theory 28 (1982).
"""

from __future__ import annotations

from collections.abc import Callable

from workbench.ir.frames.frame_tree import LoopVariable
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.trace.aligned_columns import origin

COMPARISONS = ("less", "less_equal", "greater", "greater_equal")
Makers = Callable[[Graph, list[Ref]], set[str]]


def k_means(graph: Graph, variables: tuple[LoopVariable, ...], made: dict[str, Node], makers: Makers) -> str:
    """A sentence about centres that are means of values chosen by one comparison of distances; else empty."""
    centres: dict[str, list[LoopVariable]] = {}
    for c in variables:
        mask = _mask_of_mean(graph, made[c.merge], makers)
        if mask is not None and c.merge in makers(graph, [Ref(mask)]):
            centres.setdefault(mask, []).append(c)
    for mask, found in centres.items():
        nearest = makers(graph, [Ref(mask)])
        carried = {v.merge for v in variables if v.merge in nearest}
        if len(found) == 2 and carried == {c.merge for c in found}:
            return (
                f"k-means (Lloyd's algorithm): {found[0].name} and {found[1].name} move to the means of the values "
                "nearest to them. Once no value changes its centre nothing moves any more: a fixed point, after "
                "finitely many iterations. It is a local optimum; another start may lead to another."
            )
    return ""


def _mask_of_mean(graph: Graph, node: Node, makers: Makers) -> str | None:
    """The comparison that selects the values whose mean is the new centre; None for other forms.

    The values are a loop invariant, and the comparison is between their distances.
    """
    if node.op != "divide":
        return None
    total, number = (origin(graph, r) for r in node.inputs)
    if total.op != "sum":
        return None
    picked = origin(graph, total.inputs[0])
    if picked.op != "where":
        return None
    mask, *values = (origin(graph, r) for r in picked.inputs)
    if mask.op not in COMPARISONS or mask.name not in makers(graph, [Ref(number.name)]):
        return None
    sides = [makers(graph, [r]) for r in mask.inputs]
    for data in values:
        if all(any(_is_distance(graph, n, data.name) for n in side) for side in sides):
            return mask.name
    return None


def _is_distance(graph: Graph, name: str, data: str) -> bool:
    node = graph.nodes[name]
    return node.op == "subtract" and data in [origin(graph, r).name for r in node.inputs]
