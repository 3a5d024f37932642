"""Clauses of a loop's condition: its comparisons, joined by and, or, not."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref

COMPARISONS = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!="}

#: on the single bools of a condition the bitwise ops are the logical ones
CONNECTIVES = {
    "logical_and": "and",
    "bitwise_and": "and",
    "logical_or": "or",
    "bitwise_or": "or",
    "logical_not": "not",
    "invert": "not",
}


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
                waiting += [at.inputs[1], at.inputs[0]]  # a chain of them may be deeper than the stack
            else:
                leaves.append(at.ref(_through(graph, ref).index))

    if logic == "not":
        leaves.append(_through(graph, node.inputs[0]))
    else:
        collect(root)
    operands: list[tuple[Ref, str, Any]] = []
    for leaf in leaves:
        at = graph.nodes[leaf.node]
        if at.op in COMPARISONS and _single(graph, at):
            operands.append((at.inputs[0], COMPARISONS[at.op], at.inputs[1]))
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
    """A constant as its number, a loop invariant under its outer name, anything else under its public name."""
    node = graph.nodes[ref.node]
    while node.op in ("Identity", "Switch") or (node.op == "Enter" and node.attrs.get("is_constant")):
        ref = node.inputs[0]
        node = graph.nodes[ref.node]
    if node.op == "Const" and node.attrs["value"].size == 1:
        return str(node.attrs["value"].reshape(-1)[0])
    return graph.name_of(ref)
