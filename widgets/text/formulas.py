"""Formulas of values, with what is computed on the way written out as far as there is room: ``|x × x − a| > 1e-9``."""

from __future__ import annotations

import re
from collections.abc import Mapping

from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.widgets.text.labels import PREFIX, SYMBOLS, expression

#: precedence of operators; others need no brackets
BINDS = {
    **dict.fromkeys(("logical_or", "bitwise_or"), 1),
    **dict.fromkeys(("logical_and", "bitwise_and"), 2),
    "logical_not": 3,
    **dict.fromkeys(("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"), 4),
    **dict.fromkeys(("add", "subtract"), 5),
    **dict.fromkeys(("multiply", "divide", "floor_divide", "remainder", "matmul"), 6),
    "negative": 7,
    "power": 8,
}
#: binds more than any operator
WHOLE = 9
#: operators in whose right operand an operator of the same kind is put into brackets
LEFT = {"subtract", "divide", "floor_divide", "remainder", "power"}
#: operands within operands
DEEPEST = 4

#: operators as Python writes them, between spaces
WRITTEN = {
    "*": SYMBOLS["multiply"],
    "/": SYMBOLS["divide"],
    "-": SYMBOLS["subtract"],
    "<=": SYMBOLS["less_equal"],
    ">=": SYMBOLS["greater_equal"],
    "==": SYMBOLS["equal"],
    "!=": SYMBOLS["not_equal"],
}
_OPERATOR = re.compile(r" (" + "|".join(map(re.escape, sorted(WRITTEN, key=len, reverse=True))) + r") ")
_ABSOLUTE = re.compile(r"\babs\(([^()]*)\)")


def formula(graph: Graph, texts: Mapping[Ref, str], ref: Ref, room: int) -> str:
    """The formula of a value in at most ``room`` characters, or nothing if its op is not an operator.

    ``texts`` are the names of the values in it.
    """
    if not _is_operator(graph, ref):
        return ""
    for depth in range(DEEPEST, 0, -1):
        text = _write(graph, texts, ref, depth, True)[0]
        if len(text) <= room:
            return text
    return ""


def with_symbols(text: str) -> str:
    """A condition as Python writes it, with the symbols of formulas.

    >>> with_symbols("abs(x * x - a) >= 1e-12")
    '|x \u00d7 x \u2212 a| \u2265 1e-12'
    """
    text = _ABSOLUTE.sub(r"|\1|", text)
    return _OPERATOR.sub(lambda found: f" {WRITTEN[found[1]]} ", text)


def _is_operator(graph: Graph, ref: Ref) -> bool:
    node = graph.nodes[ref.node]
    wanted = 2 if node.op in SYMBOLS else 1 if node.op in PREFIX or node.op in ("abs", "sqrt") else 0
    return bool(wanted) and len(node.inputs) == wanted


def _write(graph: Graph, texts: Mapping[Ref, str], ref: Ref, depth: int, first: bool = False) -> tuple[str, int]:
    """The formula of a value, and how strongly its operator binds; what has a name of its own is not written out."""
    named = not first and graph.name_of(ref) != str(ref)
    if not depth or named or not _is_operator(graph, ref):
        return texts.get(ref, ref.node), WHOLE
    node = graph.nodes[ref.node]
    own = BINDS.get(node.op, WHOLE)
    parts = []
    for number, operand in enumerate(node.inputs):
        text, binds = _write(graph, texts, operand, depth - 1)
        loose = binds < own or (binds == own < WHOLE and (number > 0 and node.op in LEFT or own == BINDS["less"]))
        parts.append(f"({text})" if loose and node.op != "abs" else text)
    return expression(node.op, parts), own
