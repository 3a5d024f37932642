"""Values of a graph as expressions: ``abs(x * x - a) > tol``, with the brackets that Python needs."""

from __future__ import annotations

import numpy as np

from workbench.analysis.text import digits
from workbench.analysis.verdict import CONTROL
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.ir.op_names import bare_op

#: nodes that the search for the deciding predicates of a branch looks at
WALK = 20_000
#: ops that an expression writes as operators, with their precedence: a higher one binds tighter
SYMBOLS = {
    "logical_or": ("or", 1),
    "logical_and": ("and", 2),
    "less": ("<", 4),
    "less_equal": ("<=", 4),
    "greater": (">", 4),
    "greater_equal": (">=", 4),
    "equal": ("==", 4),
    "not_equal": ("!=", 4),
    "bitwise_or": ("|", 5.0),
    "bitwise_xor": ("^", 5.2),
    "bitwise_and": ("&", 5.4),
    "left_shift": ("<<", 5.6),
    "right_shift": (">>", 5.6),
    "add": ("+", 6),
    "subtract": ("-", 6),
    "multiply": ("*", 8),
    "divide": ("/", 8),
    "floor_divide": ("//", 8),
    "remainder": ("%", 8),
    "mod": ("%", 8),
    "matmul": ("@", 8),
    "power": ("**", 10),
}
#: bitwise ops between booleans, which an expression writes as words
BETWEEN_FLAGS = {"bitwise_or": ("or", 1), "bitwise_and": ("and", 2)}
#: prefix operators; "not" binds more loosely than a comparison
BEFORE = {"negative": ("-", 9), "invert": ("~", 9), "logical_not": ("not ", 3)}
#: maximum nodes and characters of an expression
WRITTEN, LONG = 40, 100
#: maximum characters of an outlined expression
BRIEF = 60
#: maximum levels of an expression
DEEP = 40


def formula(graph: Graph, ref: Ref, longest: int = LONG) -> str | None:
    """A value of a loop as an expression of the loop's variables, ``0.5 * (x + a / x)``; None if it is too long.

    Names of variables, inputs, results of loops and numbers stay as they are.
    """
    text = _at(graph, ref, 0, [WRITTEN], DEEP)
    return text if text is not None and len(text) <= longest else None


def outlined(graph: Graph, ref: Ref) -> str | None:
    """The outer part of a longer expression, with dots for the inner parts: ``abs(… - x) + abs(… - y)``."""
    found = None
    for depth in range(1, DEEP):
        text = _at(graph, ref, 0, [WRITTEN], depth)
        if text is None or len(text) > BRIEF:
            break
        found = text
    return found if found != "…" else None


def _at(graph: Graph, ref: Ref, outer: float, left: list[int], depth: int) -> str | None:
    left[0] -= 1
    if left[0] < 0:
        return None
    node = graph.nodes[ref.node]
    while (
        node.op in ("Identity", "LoopCond")
        or node.op == "Switch"
        and _is_loop_switch(graph, node.name)
        or (node.op == "Enter" and node.attrs.get("is_constant"))
    ):
        ref = node.inputs[0]
        node = graph.nodes[ref.node]
    if node.op == "Merge" and not closes(graph, node.name):
        return _alternatives(graph, node, outer, left, depth)
    if node.op == "Switch" or _keeps_numbers(graph, node):  # a branch reads a value from outside
        return _at(graph, node.inputs[0], outer, left, depth)
    if node.op in CONTROL or node.op in ("Const", "Placeholder") or not node.inputs:
        return plain_name(graph, ref)
    if depth == 0:
        return "…"
    flags = graph.type_of(ref).dtype == "bool"
    sign, rank = (BETWEEN_FLAGS if flags else SYMBOLS).get(node.op) or SYMBOLS.get(node.op, ("", 9.0))
    before, binds = BEFORE.get("logical_not" if flags and node.op == "invert" else node.op, ("", 0))
    inner = (binds, binds) if before else (rank, rank + 0.1) if sign else (0, 0)  # from the left
    parts = [_at(graph, r, inner[min(k, 1)], left, depth - 1) for k, r in enumerate(node.inputs)]
    if any(p is None for p in parts):
        return None
    if (sign and len(parts) == 2) or (before and len(parts) == 1):
        text = f"{parts[0]} {sign} {parts[1]}" if sign else f"{before}{parts[0]}"
        return f"({text})" if (rank if sign else binds) < outer else text
    text = ", ".join(p for p in parts if p)
    return f"{graph.type_of(ref).dtype if node.op == 'cast' else bare_op(node.op)}({text})"


def _keeps_numbers(graph: Graph, node: Node) -> bool:
    """True for a cast that NumPy calls safe."""
    if node.op != "cast":
        return False
    try:
        return bool(np.can_cast(graph.type_of(node.inputs[0]).dtype, graph.type_of(node.ref()).dtype, "safe"))
    except TypeError:
        return False


def _alternatives(graph: Graph, merge: Node, outer: float, left: list[int], depth: int) -> str | None:
    """Two branches that meet: ``a if p else b``, or ``p and a``, ``p or b``; None for other forms."""
    if depth == 0:
        return "…"
    if len(merge.inputs) != 2:
        return None
    sides = [_ways(graph, ref) for ref in merge.inputs]
    deciding = [p for p, taken in sides[0] if (p, 1 - taken) in sides[1] and (p, 1 - taken) not in sides[0]]
    if len(deciding) != 1:
        return None
    yes, no = merge.inputs if (deciding[0], 1) in sides[0] else merge.inputs[::-1]
    parts = [_at(graph, ref, 3, left, depth - 1) for ref in (yes, deciding[0], no)]
    if any(p is None for p in parts):
        return None
    then, condition, other = parts
    if then == "True" and other in ("False", condition):
        return _at(graph, deciding[0], outer, left, depth - 1)
    if other in ("False", condition):
        text, rank = f"{condition} and {then}", 2
    elif then in ("True", condition):
        text, rank = f"{condition} or {other}", 1
    else:
        text, rank = f"{then} if {condition} else {other}", 0
    return f"({text})" if rank < outer else text


def _ways(graph: Graph, ref: Ref) -> set[tuple[Ref, int]]:
    """The predicates that must hold (1) or not (0) for a value of a branch, from the Switches upstream of it."""
    found: set[tuple[Ref, int]] = set()
    waiting, seen = [ref], {ref}
    while waiting and len(seen) < WALK:
        at = waiting.pop()
        node = graph.nodes[at.node]
        if node.op == "Merge" and closes(graph, node.name) or node.op == "Enter":
            continue
        if node.op == "Switch":
            if _is_loop_switch(graph, node.name):
                continue
            found.add((node.inputs[1], at.index))
        for source in (*node.inputs, *(Ref(name) for name in node.control)):
            if source not in seen:
                seen.add(source)
                waiting.append(source)
    return found


def _is_loop_switch(graph: Graph, name: str) -> bool:
    return graph.nodes[graph.nodes[name].inputs[1].node].op == "LoopCond"


def closes(graph: Graph, merge: str) -> bool:
    return any(graph.nodes[r.node].op == "NextIteration" for r in graph.nodes[merge].inputs)


def plain_name(graph: Graph, ref: Ref) -> str:
    """Display name of an operand: a number, a variable, else the node."""
    node = graph.nodes[ref.node]
    while node.op in ("Identity", "Switch") or node.op == "Enter" and node.attrs.get("is_constant"):
        ref = node.inputs[0]
        node = graph.nodes[ref.node]
    if node.op == "Exit":
        path = graph.frame_of(node.inputs[0].node)
        name = next((v.name for v in graph.frames[path].variables if v.exit == node.name), None)
        if name is not None:
            return f"{path[-1]}.{name}" if path else name  # the result of a loop
    if node.op == "Const":
        value = node.attrs["value"]
        return digits(value.reshape(-1)[0]) if value.size == 1 else f"{value.dtype}{list(value.shape)}"
    return graph.name_of(ref).removesuffix(":0")
