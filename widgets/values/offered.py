"""The values that a value view offers, most important first, and those that it offers to edit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.widgets.evolution.evolution_choice import opened
from workbench.widgets.text.loop_names import place_words
from workbench.widgets.values.inspected_value import Inspected

if TYPE_CHECKING:
    from workbench.ir.graph import Graph
    from workbench.widgets.live.view_source import ViewSource

MAX_NAMES = 1000


def offered_names(graph: Graph) -> list[str]:
    """Names of loop variables (outer loops first, in each counters and flags last), then of inputs, outputs and nodes;
    at most 1,000.
    """
    found: dict[str, None] = {}
    for path in sorted(graph.frames, key=len):
        names = [variable.name for variable in graph.frames[path].variables]
        found |= dict.fromkeys([*opened(graph, names, path), *names])
    return list(found | dict.fromkeys([*graph.inputs, *graph.outputs, *graph.nodes]))[:MAX_NAMES]


def is_of_now(graph: Graph, name: str, iteration: Sequence[int], snapshot: Any) -> bool:
    """True if an edit of the newest value would last: it belongs to the present iteration, or a loop variable carries
    it into that. A value that the iteration recomputes cannot be edited before it has fired.
    """
    node = graph.nodes[graph.value(name).node]
    path = graph.frame_of(node.name)
    now = getattr(snapshot, "iterations", {}).get(path)
    if not path or now is None or not iteration or iteration[-1] == now:
        return True
    carried = {graph.nodes[variable.next_iteration].inputs[0].node for variable in graph.frames[path].variables}
    return node.op in ("Merge", "NextIteration") or node.name in carried


def about_to_be(source: ViewSource, name: str, shown: Inspected, snapshot: Any) -> Inspected | None:
    """The value that a loop variable is about to take, if the iteration has begun and the variable has not taken it
    yet: an edit writes this value instead of ``shown``, that of the previous iteration; else None.
    """
    graph, trace = source.graph, source.trace
    node = graph.nodes[graph.value(name).node]
    path = graph.frame_of(node.name)
    now = getattr(snapshot, "iterations", {}).get(path)
    if trace is None or node.op != "Merge" or now is None or not shown.iteration or shown.iteration[-1] == now:
        return None
    follows = next((v.next_iteration for v in graph.frames[path].variables if v.merge == node.name), None)
    if follows is None:
        return None
    try:
        value = trace[str(graph.nodes[follows].inputs[0])].at((*shown.iteration[:-1], now - 1))
    except (WorkbenchError, LookupError):
        return None
    at = (*shown.iteration[:-1], now)
    return Inspected(value, at, place_words(graph, path, at), note="about to take this value", newest=True)


def first_name(graph: Graph, names: Sequence[str]) -> str:
    """The value shown at first: the largest array among the loop variables, else the first of ``names``."""
    sizes: dict[str, int] = {}
    for path in sorted(graph.frames, key=len):
        for variable in graph.frames[path].variables:
            shape = graph.type_of(graph.value(variable.name)).shape
            if shape:  # an unknown size counts as one
                sizes.setdefault(variable.name, math.prod(size or 1 for size in shape))
    largest = max(sizes, key=sizes.__getitem__, default="")
    return largest if sizes.get(largest, 0) > 1 else next(iter(names), "")
