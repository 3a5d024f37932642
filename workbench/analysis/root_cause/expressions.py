"""Expressions of graph values as a user would write them: ``abs(x * x - a) > tol``."""

from __future__ import annotations

import ast
import re
from typing import Any

from workbench.analysis.comparisons import MIRROR, NAMES, NEGATED
from workbench.analysis.expressions import formula
from workbench.analysis.root_cause.loop_dependencies import LoopDependencies
from workbench.analysis.text import shown
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.ir.op_names import bare_op
from workbench.trace.aligned_columns import origin

#: maximum length of an expression; a longer one is replaced by its name
MAX_LENGTH = 60


def written(loop: LoopDependencies, node: str) -> tuple[str, str, str] | None:
    """(left, operator, right) of a comparison as in its source line; None if the source is unknown."""
    source = loop.graph.nodes[node].source
    if source is None or not source.expression or len(source.expression) > MAX_LENGTH:
        return None
    try:
        tree = ast.parse(source.expression, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return None
    if not isinstance(tree, ast.Compare) or len(tree.ops) != 1 or type(tree.ops[0]) not in SIGNS:
        return None
    if SIGNS[type(tree.ops[0])] != NAMES.get(loop.graph.nodes[node].op):
        return None
    return ast.unparse(tree.left), SIGNS[type(tree.ops[0])], ast.unparse(tree.comparators[0])


def unchanged_names(loop: LoopDependencies, node: str) -> list[str]:
    """Names in the source line of a comparison that reads no loop variable (a name that the loop does not assign is not
    a loop variable). Names other than inputs first: an input is usually the other side of the comparison.
    """
    source = loop.graph.nodes[node].source
    if written(loop, node) is None or source is None:
        return []
    names = [n.id for n in ast.walk(ast.parse(source.expression, mode="eval")) if isinstance(n, ast.Name)]
    return sorted(dict.fromkeys(names), key=lambda n: n in loop.graph.inputs)


SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


def expression(loop: LoopDependencies, ref: Any) -> str:
    """A value in terms of the loop variables, inputs and constants of its iteration; its public name if too long."""
    if not isinstance(ref, Ref):
        return shown(ref)
    graph = loop.graph
    direct = loop.direct(ref)
    if direct is not None:
        return direct
    node = origin(graph, ref)
    at = node.ref(ref.index if node.name == ref.node else 0)
    if node.op == "Const":
        value = node.attrs["value"]
        return shown(value.reshape(-1)[0]) if value.size == 1 else graph.name_of(at)
    if node.op in ("Placeholder", "Merge") or graph.frame_of(node.name) != loop.path:
        return named(graph, at)
    return formula(graph, at, MAX_LENGTH) or named(graph, at)


def named(graph: Graph, at: Ref) -> str:
    """The name of a value; without a name, the expression in its line, or its op and its line."""
    name, node = graph.name_of(at), graph.nodes[at.node]
    if "/" not in name or node.op in ("Enter", "Exit", "Placeholder", "Const"):
        return name
    source = node.source
    if source is None:
        return name
    own = re.sub(r"^(?:el)?if |^while |:$", "", source.expression or "")
    if own and len(own) <= MAX_LENGTH and "\n" not in own:
        return str(own)
    return f"the {bare_op(node.op)} of line {source.line}" if source.line else name


def turned(op: str, mirrored: bool, negated: bool) -> str:
    """The operator in the graph, from one that was mirrored or negated for the analysis."""
    op = MIRROR[op] if mirrored else op
    return NEGATED[op] if negated else op
