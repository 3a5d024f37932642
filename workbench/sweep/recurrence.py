"""The state whose exact return proves that a loop of a plan never ends; for the compiled runner of points.

A loop never ends if all state that decides about its end returns: the inputs of its condition, of nodes in it that can
fail, and of loops inside it. Nothing is claimed if a node has effects or draws random numbers, if a loop variable is
not kept in the rows, or if a frame is scheduled in parts.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.slicing.can_fail import failing_nodes
from workbench.analysis.slicing.dependencies import data_slice, index_readers, loops_inside
from workbench.analysis.slicing.execution import with_effects
from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.node import Ref
from workbench.kernels.layout import Layout, Place
from workbench.plan import ExecutionPlan

#: (frame, store, offset, shift, bytes) of a part of a loop's state
Part = tuple[int, int, int, int, int]
#: (frame, instruction before it, instruction after it)
Span = tuple[int, int, int]


def recurring_parts(plan: ExecutionPlan) -> tuple[list[Part], list[Span]]:
    """Parts of the state of every loop whose recurrence proves that it never ends, and the spans of these loops."""
    graph, layout = plan.graph, plan.layout
    if plan.raw or with_effects(graph, [n.name for n in layout.nodes if n.op != "Placeholder"]):
        return [], []
    parts: list[Part] = []
    spans: list[Span] = []
    for number, frame in enumerate(layout.frames):
        if not frame.path or sum(f.path == frame.path for f in layout.frames) > 1:
            continue
        found = _state_of(plan, number, frame.path)
        if found:
            parts += found
            spans.append((number, frame.start, frame.stop))
    return parts, spans


def _state_of(plan: ExecutionPlan, number: int, path: FramePath) -> list[Part]:
    """The parts for one loop; empty if nothing can be proved."""
    graph, layout = plan.graph, plan.layout
    cond = next((n.name for n in layout.nodes if n.op == "LoopCond" and n.frame == number), None)
    if cond is None:
        return []
    deciding = [cond, *failing_nodes(plan, path), *loops_inside(plan, path)]
    reached = data_slice(graph, *(Ref(name) for name in deciding))
    if index_readers(graph, reached):
        return []
    found = []
    for variable in graph.frames[path].variables:
        value = layout.values.get((variable.merge, 0))
        if variable.merge not in reached:
            continue
        if value is None or value.place is None or not kept_in_rows(layout, value.place):
            return []
        if layout.frame_of(value.place) == number:  # else the loop does not change it
            place = value.place
            found.append((number, place.base - 1, place.offset, place.shift, bytes_of(place)))
    return found


def kept_in_rows(layout: Layout, place: Place) -> bool:
    """True if a place holds numbers, and all rows keep them."""
    return place.dtype is not None and place.until < 0 and not layout.is_recomputed(place)


def bytes_of(place: Place) -> int:
    """Bytes of the value in a place."""
    return int(np.dtype(place.dtype).itemsize * math.prod(place.shape))
