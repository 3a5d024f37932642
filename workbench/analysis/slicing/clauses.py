"""Clauses of a loop's condition: its comparisons, joined by and, or, not."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

import numpy as np

from workbench.analysis.comparisons import NAMES
from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.trace.aligned_columns import origin

#: for the single bools of a condition, bitwise ops equal logical ones
CONNECTIVES = {
    "logical_and": "and",
    "bitwise_and": "and",
    "logical_or": "or",
    "bitwise_or": "or",
    "logical_not": "not",
    "invert": "not",
}


#: reductions of bool arrays that apply such an op to all items
REDUCTIONS = {"any": "or", "reduce_any": "or", "all": "and", "reduce_all": "and"}
#: maximum number of nodes that one search upstream of a branch visits
MOST = 400


def constant_truth(graph: Graph, ref: Ref) -> bool | None:
    """The truth of one side of a branch when it is taken, if the graph shows it: a constant, or the predicate."""
    node = graph.nodes[ref.node]
    if node.op == "Switch" and node.inputs[0] == node.inputs[1]:
        return bool(ref.index)
    source = origin(graph, ref)
    if source.op == "Const" and source.attrs["value"].size == 1 and source.attrs["value"].dtype == bool:
        return bool(source.attrs["value"].reshape(-1)[0])
    return None


def switches_behind(
    graph: Graph, ref: Ref, merges: Container[str], frame: FramePath | None = None
) -> Iterator[tuple[Node, int]]:
    """(Switch, its output) that a value depends on, nearest first; not beyond the loop's ``merges`` or its frame."""
    waiting, seen = [ref], {ref}
    while waiting and len(seen) < MOST:
        at = waiting.pop(0)
        node = graph.nodes[at.node]
        if node.name in merges:
            continue
        if node.op == "Switch":
            yield node, at.index
        for source in (*node.inputs, *(Ref(c) for c in node.control)):
            if source not in seen and (frame is None or graph.frame_of(source.node) == frame):
                seen.add(source)
                waiting.append(source)


def find_clauses(graph: Graph, cond: Ref) -> tuple[list[tuple[str, str, str]], str, list[tuple[Ref, str, Any]]]:
    """(clauses as text, logic, operands) of a condition: comparisons joined by one kind of connective."""
    root = _through(graph, cond)
    node = graph.nodes[root.node]
    logic = CONNECTIVES.get(node.op, "single")
    leaves: list[Ref] = []

    def collect(ref: Ref) -> None:
        waiting = [ref]
        while waiting:
            ref = waiting.pop()
            at = graph.nodes[_through(graph, ref).node]
            if logic in ("and", "or") and CONNECTIVES.get(at.op) == logic:
                waiting += [at.inputs[1], at.inputs[0]]  # a chain of connectives may be deeper than the stack
            else:
                leaves.append(at.ref(_through(graph, ref).index))

    if logic == "not":
        leaves.append(_through(graph, node.inputs[0]))
    else:
        collect(root)
    operands: list[tuple[Ref, str, Any]] = []
    for leaf in leaves:
        at = graph.nodes[leaf.node]
        if at.op in NAMES and _single(graph, at):
            operands.append((at.inputs[0], NAMES[at.op], at.inputs[1]))
        else:
            operands.append((leaf, "==", np.True_))
    texts = [(_name(graph, a), op, _name(graph, b) if isinstance(b, Ref) else "True") for a, op, b in operands]
    return texts, logic, operands


def _through(graph: Graph, ref: Ref) -> Ref:
    node = graph.nodes[ref.node]
    while node.op in ("Identity", "LoopCond"):
        ref = node.inputs[0]
        node = graph.nodes[ref.node]
    return ref


def _single(graph: Graph, node: Node) -> bool:
    return all(graph.type_of(r).shape in ((), None) for r in node.inputs)


def _name(graph: Graph, ref: Ref) -> str:
    """The number of a constant, the outer name of a loop invariant, the public name of any other value."""
    node = graph.nodes[ref.node]
    while node.op in ("Identity", "Switch") or (node.op == "Enter" and node.attrs.get("is_constant")):
        ref = node.inputs[0]
        node = graph.nodes[ref.node]
    if node.op == "Const" and node.attrs["value"].size == 1:
        return str(node.attrs["value"].reshape(-1)[0])
    return graph.name_of(ref)
