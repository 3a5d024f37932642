"""Nodes and comparisons as in their source lines, and the claim that a comparison has a NaN side."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from workbench.analysis.claims.numbers import NanCompared
from workbench.analysis.claims.recompute import item_of, line_of
from workbench.analysis.comparisons import NAMES
from workbench.analysis.expressions import SYMBOLS
from workbench.analysis.root_cause.expressions import MAX_LENGTH, expression, written
from workbench.analysis.root_cause.firings import Firings
from workbench.ir.node import Node


def nan_compared(
    firings: Firings,
    node: str,
    op: str,
    truth: bool,
    k: int,
    item: tuple[int, ...] | None,
    text: str,
    clause: Any = None,
) -> NanCompared | None:
    """The claim that a comparison has a side that is NaN; None if neither is."""
    operands = [item_of(v, item) for v in firings.operands(node, k)]
    bad = [i for i, v in enumerate(operands) if np.asarray(v).dtype.kind == "f" and np.isnan(v).all() and np.size(v)]
    if not bad or any(np.ndim(v) for v in operands):
        return None
    found = firings.graph.nodes[node]
    sides = written(firings.loop, node)
    side = (sides[0], sides[2])[bad[0]] if sides else expression(firings.loop, found.inputs[bad[0]])
    facts: dict[str, Any] = {"node": node, "line": line_of(found.source), "side": side, "text": text, "item": item}
    since = firings.first_nan(found.inputs[bad[0]], item)
    return NanCompared(**facts, op=op, holds=truth, last=k, since=since, clause=clause, evidence=firings)


def predicate_text(firings: Firings, node: Node, op: str) -> str:
    """A comparison as in its source line, such as ``y < 5.0``."""
    sides = written(firings.loop, node.name)
    if sides is not None:
        return " ".join(sides)
    if len(node.inputs) != 2 or node.op not in NAMES:
        return expression(firings.loop, node.ref())
    return f"{expression(firings.loop, node.inputs[0])} {op} {expression(firings.loop, node.inputs[1])}"


def node_text(firings: Firings, node: Node) -> str:
    """A node as in its source line, such as ``i + step * 0``; composed of its inputs if the line is unknown."""
    return source_parts(node)[0] or expression(firings.loop, node.ref())


def source_parts(node: Node) -> tuple[str, list[str]]:
    """The expression in a node's line and its two operands, if it is the operation of the node; else empty."""
    source = node.source
    if source is None or not source.expression or len(source.expression) > MAX_LENGTH:
        return "", []
    try:
        tree = ast.parse(source.expression).body[0]
    except (SyntaxError, ValueError, RecursionError, IndexError):
        return "", []
    if isinstance(tree, ast.Expr):
        tree = tree.value  # type: ignore[assignment]
    if isinstance(tree, ast.Call) and node.op not in SYMBOLS:
        return ast.unparse(tree), []
    if not isinstance(tree, (ast.BinOp, ast.AugAssign)) or SIGNS.get(type(tree.op)) != SYMBOLS.get(node.op, ("",))[0]:
        return "", []
    sides = (tree.left, tree.right) if isinstance(tree, ast.BinOp) else (tree.target, tree.value)
    return ast.unparse(tree), [ast.unparse(side) for side in sides]


SIGNS: dict[type[ast.operator], str] = dict(
    zip((ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow), "+ - * / // % **".split(), strict=True)
)

__all__ = ["nan_compared", "node_text", "predicate_text", "source_parts"]
