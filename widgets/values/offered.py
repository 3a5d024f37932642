"""The values that a value view offers: what is worth looking at first comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.widgets.evolution.evolution_choice import opened

if TYPE_CHECKING:
    from workbench.ir.graph import Graph

MAX_NAMES = 1000


def offered_names(graph: Graph) -> list[str]:
    """Names of loop variables, outer loops first and in each its counters and flags last, then of inputs, outputs and
    nodes; at most 1,000."""
    found: dict[str, None] = {}
    for path in sorted(graph.frames, key=len):
        names = [variable.name for variable in graph.frames[path].variables]
        found |= dict.fromkeys([*opened(graph, names, path), *names])
    return list(found | dict.fromkeys([*graph.inputs, *graph.outputs, *graph.nodes]))[:MAX_NAMES]
