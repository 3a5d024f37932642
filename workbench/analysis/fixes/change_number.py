"""Fixes that change one number: the threshold of a clause, the factor of a step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.analysis.fixes.fix import Fix
from workbench.analysis.fixes.graph_editor import GraphEditor, refuse, source_of
from workbench.analysis.root_cause.loop_dependencies import LoopDependencies
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.ir.types import numpy_dtype


def move_threshold(edited: GraphEditor, feeds: dict[str, np.ndarray], fix: Fix) -> list[str]:
    """Set the clause's threshold to its new value: an input is fed another number, a constant is replaced."""
    node = clause_of(edited.graph, fix)
    loop = LoopDependencies(edited.graph, fix.frame or ())
    position = _threshold_side(loop, node, fix)
    ref = node.inputs[position]
    source = source_of(edited.graph, ref)
    if source is None:
        raise refuse(
            "fix-no-constant",
            f"the threshold {edited.graph.name_of(ref)!r} is computed.",
            "change what it is computed from.",
            node.name,
        )
    new = as_dtype(fix.new, edited.graph.type_of(ref).dtype, up=_up(fix, node, position))
    name = next((n for n, r in edited.graph.inputs.items() if r.node == source.name), None)
    if name is not None and only_reader(edited.graph, source, ref, node.name):
        old = feeds.get(name)
        feeds[name] = np.broadcast_to(new, np.shape(old) if old is not None else ()).copy()
        return [f"The input {name} is {new} instead of {old}."]
    edited.rewire(node.name, position, edited.replaced_source(ref, new))
    return [f"The threshold of {node.name} is {new} instead of {fix.old}."]


def clause_of(graph: Graph, fix: Fix) -> Node:
    """The comparison that a fix concerns."""
    if fix.clause not in graph.nodes or len(graph.nodes[fix.clause].inputs) != 2:
        raise refuse(
            "fix-no-clause",
            "the condition does not compare two values there.",
            "limit the iterations, or change the condition.",
        )
    return graph.nodes[fix.clause]


def _threshold_side(loop: LoopDependencies, node: Node, fix: Fix) -> int:
    """The input that is the threshold: the one invariant side; if both or neither are, the side opposite the root."""
    still = [i for i, ref in enumerate(node.inputs) if source_of(loop.graph, ref) is not None]
    if len(still) == 1:
        return still[0]
    return 0 if fix.mirrored else 1


def _up(fix: Fix, node: Node, position: int) -> bool:
    return float(fix.new) > float(fix.old) if fix.old is not None else position == 1


def as_dtype(value: Any, dtype: str, up: bool = True) -> np.ndarray:
    """A number in a dtype; for integers, rounded away from the old value."""
    wanted = numpy_dtype(dtype)
    if wanted.kind in "iu":
        limits = np.iinfo(wanted)
        whole = math.ceil(value) if up else math.floor(value)
        return np.asarray(min(max(whole, int(limits.min)), int(limits.max)), wanted)
    return np.asarray(value, wanted)


def only_reader(graph: Graph, source: Node, ref: Ref, reader: str) -> bool:
    """True if a constant or input is read only on the path to this reader."""
    way, at = {reader}, graph.nodes[ref.node]
    while True:
        way.add(at.name)
        if at.name == source.name:
            break
        at = graph.nodes[at.inputs[0].node]
    return all(set(graph.consumers(n)) <= way for n in way - {reader})


def halve_step(edited: GraphEditor, feeds: dict[str, np.ndarray], fix: Fix) -> list[str]:
    """Make the step of a variable smaller: its learning rate if that is an input, else the step itself."""
    graph, loop = edited.graph, LoopDependencies(edited.graph, fix.frame or ())
    found = loop.increment(fix.target) if fix.target in loop.variables else None
    if found is None:
        raise refuse("fix-no-step", f"the update of {fix.target!r} is not a sum with a step.", "change its update.")
    ratio = 0.5 if not fix.old or fix.new is None else float(fix.new) / float(fix.old)
    factor = loop.factor(fix.target)
    if factor is not None and factor.op == "Placeholder":
        name = next(n for n, r in graph.inputs.items() if r.node == factor.name)
        if name in feeds:
            old = feeds[name]
            feeds[name] = np.asarray(old * old.dtype.type(ratio), old.dtype)
            return [f"The input {name} is {feeds[name]} instead of {old}."]
    node, other = found
    dtype = graph.type_of(other).dtype
    if numpy_dtype(dtype).kind != "f":
        raise refuse("fix-no-step", f"the step of {fix.target!r} is {dtype}, not a float.", "change its update.")
    scale = edited.constant(f"{node.name}/damping", np.asarray(ratio, numpy_dtype(dtype)), other, node)
    smaller = edited.add(f"{node.name}/damped", "multiply", [other, scale], like=node)
    for position, ref in enumerate(node.inputs):
        if ref == other:
            edited.rewire(node.name, position, smaller)
    return [f"The step of {fix.target} is multiplied by {ratio:g}."]
