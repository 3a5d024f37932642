"""Expressions of graph values as a user would write them: ``abs(x * x - a) > tol``."""

from __future__ import annotations

import ast
from typing import Any

from workbench.analysis.forecast.laws.exact_continuation import MIRROR, NEGATED
from workbench.analysis.root_cause.loop_dependencies import LoopDependencies
from workbench.analysis.text import shown
from workbench.ir.node import Ref
from workbench.trace.aligned_columns import origin

INFIX = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "floor_divide": "//",
    "mod": "%",
    "remainder": "%",
    "matmul": "@",
    "power": "**",
    "left_shift": "<<",
    "right_shift": ">>",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "equal": "==",
    "not_equal": "!=",
    "logical_and": "and",
    "logical_or": "or",
}
#: what the signs of bits are called where they connect conditions
BETWEEN_FLAGS = {"bitwise_and": "and", "bitwise_or": "or"}
#: a longer expression is shown by its name
MAX_LENGTH = 60


def written(loop: LoopDependencies, node: str) -> tuple[str, str, str] | None:
    """(left, operator, right) of a comparison as its source line has it; None if the source is unknown."""
    source = loop.graph.nodes[node].source
    if source is None or not source.expression or len(source.expression) > MAX_LENGTH:
        return None
    try:
        tree = ast.parse(source.expression, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return None
    if not isinstance(tree, ast.Compare) or len(tree.ops) != 1 or type(tree.ops[0]) not in SIGNS:
        return None
    if SIGNS[type(tree.ops[0])] != INFIX.get(loop.graph.nodes[node].op):
        return None
    return ast.unparse(tree.left), SIGNS[type(tree.ops[0])], ast.unparse(tree.comparators[0])


def unchanged_names(loop: LoopDependencies, node: str) -> list[str]:
    """Names in the source line of a comparison that reads no loop variable: what the body of a function does not
    assign is not one. Names other than inputs first: an input is usually the other side of the comparison."""
    source = loop.graph.nodes[node].source
    if written(loop, node) is None or source is None:
        return []
    names = [n.id for n in ast.walk(ast.parse(source.expression, mode="eval")) if isinstance(n, ast.Name)]
    return sorted(dict.fromkeys(names), key=lambda n: n in loop.graph.inputs)


SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


def expression(loop: LoopDependencies, ref: Any, depth: int = 5) -> str:
    """A value of one iteration in terms of loop variables, inputs and constants; its public name where that is long."""
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
    if node.op == "Placeholder" or depth == 0 or graph.frame_of(node.name) != loop.path:
        return graph.name_of(at)
    parts = [expression(loop, r, depth - 1) for r in node.inputs]
    if node.op in INFIX and len(parts) == 2:
        sign = BETWEEN_FLAGS.get(node.op, INFIX[node.op]) if graph.type_of(at).dtype == "bool" else INFIX[node.op]
        text = f" {sign} ".join(f"({p})" if " " in p else p for p in parts)
    elif node.op in ("cast", "Merge", "Enter", "Exit", "getitem"):
        return parts[0] if node.op == "cast" else graph.name_of(at)
    elif node.op == "negative":
        text = f"-{parts[0]}" if " " not in parts[0] else f"-({parts[0]})"
    elif node.op in ("invert", "logical_not"):
        sign = "~" if node.op == "invert" and graph.type_of(at).dtype != "bool" else "not "
        text = f"{sign}{parts[0]}" if " " not in parts[0] else f"{sign}({parts[0]})"
    else:
        text = f"{node.op}({', '.join(parts)})"
    return text if len(text) <= MAX_LENGTH else graph.name_of(at)


SENTENCES = {
    "not-updated": "{root} is not updated in the loop body, so the clause never changes.",
    "no-effect": "the update of {root} does not change {x}.",
    "absorbed": "{root} stalls at {limit}: adding {step} is lost in its {dtype} rounding.",
    "floor": "{x} stagnates at {limit} and does not reach the threshold {t}.",
    "limit-beyond": "{x} reaches its limit {limit}, at which the clause is still true.",
    # where they still move at the end of the look-ahead, what they come to is not known to be a limit
    "floor, moving": "{x} falls ever more slowly and is still {limit}, above the threshold {t}, as far as it was run.",
    "limit-beyond, moving": "{x} changes ever more slowly and is {limit}, where the clause is still true, as far as it "
    "was run.",
    "cycle": "{turning} enters a cycle of period {period} in which the clause stays true.",
    "cycle, in turns": "{turning} enters a cycle of period {period}; where its clause turns, another one keeps the "
    "loop going.",
    "step-too-large": "the step of {root} is too large: it overshoots its goal instead of reaching it.",
    "steps-over": "{x} steps over {t} and is never equal to it.",
    "moves-away": "{x} moves away from {t}.",
    "wraps": "{root} overflows its {dtype} and wraps around without ending the loop.",
    "wraps, always": "every {dtype} number satisfies the clause: {root} wraps around without ending the loop.",
    "nan": "one side of the clause is NaN, so the clause never changes.",
    "overflow": "{x} overflows its {dtype} and stays infinite.",
    "sign-flips": "{flipping} in each iteration and keep their size, so that {x} stays {limit}.",
    "flag-never-set": "the flag {flag} is never set.",
    "always-true": "the condition does not depend on anything that the loop changes.",
}


def sentence_of(slug: str, **numbers: Any) -> str:
    """The cause as a sentence."""
    text = SENTENCES.get(slug, "")
    numbers = {"turning": numbers.get("root"), **numbers}
    if numbers.get("period") is None:  # it repeats, but after how many iterations was not seen
        text = text.replace(" of period {period}", "")
    return text.format(**numbers)


def turned(op: str, mirrored: bool, negated: bool) -> str:
    """The operator that the graph has, of one that was mirrored or negated for the analysis."""
    op = MIRROR[op] if mirrored else op
    return NEGATED[op] if negated else op
