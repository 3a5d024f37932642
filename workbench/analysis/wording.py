"""Values of a graph as a reader would write them: ``abs(x * x - a) > tol``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.analysis.columns import origin
from workbench.analysis.dependence import Loop
from workbench.analysis.exact_steps import MIRROR, NEGATED
from workbench.graph.node import Ref

INFIX = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//", "mod": "%", "power": "**",
         "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!=",
         "logical_and": "and", "logical_or": "or"}  # fmt: skip
#: an expression longer than this is named, not written out
MAX_LENGTH = 60


def written(loop: Loop, node: str) -> tuple[str, str, str] | None:
    """(left, operator, right) of a comparison as its source line has it; None where no source says it."""
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


def unchanged_names(loop: Loop, node: str) -> list[str]:
    """Names in the source line of a comparison that reads no loop variable: what the body of a function does not
    assign is none. Those that are no inputs first, for an input is what the other side is compared with."""
    source = loop.graph.nodes[node].source
    if written(loop, node) is None or source is None:
        return []
    names = [n.id for n in ast.walk(ast.parse(source.expression, mode="eval")) if isinstance(n, ast.Name)]
    return sorted(dict.fromkeys(names), key=lambda n: n in loop.graph.inputs)


SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


def expression(loop: Loop, ref: Any, depth: int = 5) -> str:
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
        text = f" {INFIX[node.op]} ".join(f"({p})" if " " in p else p for p in parts)
    elif node.op in ("cast", "Merge", "Enter", "Exit", "getitem"):
        return parts[0] if node.op == "cast" else graph.name_of(at)
    elif node.op == "negative":
        text = f"-{parts[0]}" if " " not in parts[0] else f"-({parts[0]})"
    else:
        text = f"{node.op}({', '.join(parts)})"
    return text if len(text) <= MAX_LENGTH else graph.name_of(at)


def shown(value: Any) -> str:
    """A number as it is written, at most nine digits of a computed one."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    text = str(value)
    return f"{float(value):.9g}" if isinstance(value, (float, np.floating)) and len(text) > 12 else text


SENTENCES = {
    "not-updated": "{root} is not updated in the body, so that the clause keeps its value.",
    "no-effect": "the update of {root} leaves {x} as it is.",
    "absorbed": "{root} stalls at {limit}: its {dtype} absorbs the step {step}.",
    "floor": "{x} floors at {limit}, and the threshold {t} lies beyond.",
    "limit-beyond": "{x} rests at its limit {limit}, at which the clause still holds.",
    "cycle": "{root} goes round a cycle of period {period} and the clause holds all through.",
    "step-too-large": "the step of {root} is too large: it swings over its goal instead of reaching it.",
    "steps-over": "{x} steps over {t} and never equals it.",
    "moves-away": "{x} moves away from {t}.",
    "wraps": "{root} wraps round its {dtype} without ending the loop.",
    "out-of-range": "every {dtype} number satisfies the clause.",
    "nan": "a side of the clause is NaN, so that it never changes.",
    "overflow": "{x} overflowed its {dtype} and is infinite.",
    "flag-never-set": "the flag {flag} is never set.",
    "always-true": "the condition reads nothing that the loop changes.",
}


def sentence_of(slug: str, **numbers: Any) -> str:
    """The cause as a sentence."""
    text = SENTENCES.get(slug, "")
    if numbers.get("period") is None:  # it repeats, but after how many iterations was not seen
        text = text.replace(" of period {period}", "")
    return text.format(**numbers)


def count(n: int, thing: str, many: str | None = None) -> str:
    """``1 loop``, ``2 loops``."""
    return f"{n:,} {thing if n == 1 else many or thing + 's'}"


def loop_named(path: Sequence[str] | str) -> str:
    """``loop while`` for people; a loop whose name is "loop" is not called so twice."""
    name = path if isinstance(path, str) else "/".join(path)
    return "loop" if name == "loop" else f"loop {name}"


def turned(op: str, mirrored: bool, negated: bool) -> str:
    """The operator that the graph has, of one that was mirrored or negated for the analysis."""
    op = MIRROR[op] if mirrored else op
    return NEGATED[op] if negated else op
