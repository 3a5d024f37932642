"""Widens the dtype of a loop variable: its start value, the values computed from it in the loop, and the constants and
thresholds that these use; other readers get the old dtype back.

For floats, all values in the loop that depend on the variable are widened, so that no step rounds as before.  For a
counter that becomes an integer, only its update is computed in int64, and other readers get the old dtype; it is
compared as float64 if the other side is not an integer, which is exact below 2^53.
"""

from __future__ import annotations

import numpy as np

from workbench.analysis.fixes.fix import Fix
from workbench.analysis.fixes.graph_editor import GraphEditor, refuse
from workbench.analysis.root_cause.loop_dependencies import LoopDependencies
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.ir.types import numpy_dtype
from workbench.trace.aligned_columns import origin

COMPARISONS = frozenset("less less_equal greater greater_equal equal not_equal".split())


def widen(edited: GraphEditor, feeds: dict[str, np.ndarray], fix: Fix) -> list[str]:
    """Compute the variable ``fix.target`` with the dtype ``fix.new``."""
    loop, new = LoopDependencies(edited.graph, fix.frame or ()), str(fix.new)
    if fix.target not in loop.variables:
        raise refuse("fix-types", f"{fix.target!r} is not a variable of the loop.", "cast the value in the program.")
    variable = loop.variables[fix.target]
    old = edited.graph.type_of(Ref(variable.merge)).dtype
    if old == new:
        raise refuse("fix-types", f"{fix.target!r} is {new} already.", "count in another way.", variable.merge)
    alone = numpy_dtype(new).kind in "iu"
    if alone:
        chain = {link.node for link in loop.chain(fix.target)}
        inside = {n for n in chain if edited.graph.nodes[n].types[0].dtype == old}
        inside |= {n for n in (variable.switch, variable.exit) if n is not None}
    else:
        inside = _behind(edited.graph, loop, _feeding(edited.graph, loop, fix.target, old), old)
    _convert(edited, inside, old, new, alone)
    return [f"{fix.target} is {new} instead of {old}."]


def _feeding(graph: Graph, loop: LoopDependencies, target: str, old: str) -> list[str]:
    """Merges of the variable and of those of its dtype on which it depends, over any number of iterations."""
    waiting, found = [target], dict[str, None]()
    while waiting:
        name = waiting.pop()
        if name not in found and graph.type_of(Ref(loop.variables[name].merge)).dtype == old:
            found[name] = None
            waiting.extend(loop.reads(loop.update(name)))
    return [loop.variables[n].merge for n in found]


def _behind(graph: Graph, loop: LoopDependencies, start: list[str], old: str) -> set[str]:
    """Nodes of the loop that depend on the variables ``start`` and have their dtype."""
    # the NextIteration of a variable belongs to its Merge
    backs = {loop.by_merge[m].next_iteration for m in start}
    waiting, seen = [*start, *backs], {*start, *backs}
    while waiting:
        at = waiting.pop()
        for name in graph.consumers(at):
            node = graph.nodes[name]
            data = [r.node for r in (node.inputs[:1] if node.op == "Switch" else node.inputs)]
            if name in seen or at not in data or graph.frame_of(name)[: len(loop.path)] != loop.path:
                continue
            if node.types[0].dtype == old:
                seen.add(name)
                if not (node.op == "Exit" and graph.frame_of(name) == loop.path):
                    waiting.append(name)
    return seen


def _convert(edited: GraphEditor, inside: set[str], old: str, new: str, alone: bool) -> None:
    """Add casts on all edges that enter or leave the converted part."""
    graph = edited.graph
    exits = {n for n in inside if graph.nodes[n].op == "Exit"}
    made: dict[tuple[Ref, str], Ref] = {}

    def cast(ref: Ref, dtype: str) -> Ref:
        if (ref, dtype) not in made:
            made[ref, dtype] = _as(edited, ref, dtype)
        return made[ref, dtype]

    for name in list(graph.nodes):
        node = graph.nodes[name]
        for position, ref in enumerate(node.inputs):
            if node.op == "Switch" and position == 1 or ref.index and graph.nodes[ref.node].op == "Merge":
                continue  # predicates, and the index of a Merge
            from_inside = ref.node in inside
            if name in inside:
                if node.op == "Enter" or from_inside or graph.type_of(ref).dtype != old:
                    if node.op == "Enter" and not from_inside:
                        edited.rewire(name, position, cast(ref, new))
                    continue
                if graph.nodes[ref.node].op == "Enter" and not graph.nodes[ref.node].attrs.get("is_constant"):
                    start = graph.nodes[ref.node]
                    edited.rewire(start.name, 0, cast(start.inputs[0], new))
                else:
                    edited.rewire(name, position, cast(ref, new))
            elif node.op in COMPARISONS and any(r.node in inside and r.node not in exits for r in node.inputs):
                other = node.inputs[1 - position]
                both = (graph.type_of(ref).dtype, graph.type_of(other).dtype)
                floats = any(numpy_dtype(d).kind == "f" for d in both)
                common = ("float64" if floats and not _whole(graph, node.inputs, inside) else new) if alone else new
                if not (from_inside and common == new):
                    edited.rewire(name, position, cast(ref, common))
            elif from_inside and node.op != "cast":
                edited.rewire(name, position, cast(ref, old))


def _whole(graph: Graph, inputs: tuple[Ref, ...], inside: set[str]) -> bool:
    """True if the side of a comparison that is not converted is a constant integer."""
    for ref in inputs:
        if ref.node not in inside:
            node = origin(graph, ref)
            value = node.attrs.get("value") if node.op == "Const" else None
            if value is None or value.size != 1:
                return False
            number = float(value.reshape(-1)[0])
            if not number.is_integer() or abs(number) >= 2**62:
                return False
    return True


def _as(edited: GraphEditor, ref: Ref, dtype: str) -> Ref:
    """A value in another dtype; a constant keeps its decimal digits (0.1, not 0.100000001)."""
    node = edited.graph.nodes[ref.node]
    if node.op == "Const" and numpy_dtype(dtype).kind == "f" and node.attrs["value"].dtype.kind == "f":
        value = node.attrs["value"]
        digits = np.array([float(str(v)) for v in value.ravel()], numpy_dtype(dtype)).reshape(value.shape)
        return edited.add(f"{ref.node}/{dtype}", "Const", control=node.control, like=node, value=digits)
    return edited.add(f"{ref.node}/{dtype}", "cast", [ref], like=node, dtype=dtype)
