"""Data flow of loops, from the graph alone: updates of variables, inputs of conditions, flow between loops."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from workbench.analysis.verdict import CONTROL
from workbench.ir.frames.frame_tree import FramePath, LoopVariable
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.trace.aligned_columns import origin

#: nodes that one walk looks at; a report must not take minutes on a graph of a million nodes
WALK = 20_000
#: ops that an expression writes as signs, with their rank: a sign binds tighter than those of lower rank
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
    "matmul": ("@", 8),
    "power": ("**", 10),
}
#: signs of bits between conditions, which Python writes in words
BETWEEN_FLAGS = {"bitwise_or": ("or", 1), "bitwise_and": ("and", 2)}
#: signs before one operand; "not" binds more loosely than a comparison
BEFORE = {"negative": ("-", 9), "invert": ("~", 9), "logical_not": ("not ", 3)}
#: nodes of an expression, and its characters
WRITTEN, LONG = 40, 100
#: characters of the outer part of one
BRIEF = 60
#: levels of an expression, at most
DEEP = 40


class Link(NamedTuple):
    """One node of an update chain: name, op, the names of its operands, and file:line of the source if it is known."""

    node: str
    op: str
    operands: tuple[str, ...]
    source: str


class DataflowOrigin(NamedTuple):
    """Source of a value in a frame: kind is variable, loop or input; a loop has its frame's path."""

    kind: str
    name: str
    frame: FramePath = ()


class Entry(NamedTuple):
    """A value that enters a loop: as the start of a variable (``role`` start), as a threshold or other operand of its
    condition (condition), or as an operand of its body (body)."""

    role: str
    variable: str
    origin: DataflowOrigin


def update_chain(graph: Graph, variable: LoopVariable) -> tuple[Link, ...]:
    """The nodes between a variable's Merge and its NextIteration, in order; empty if it is handed on unchanged."""
    frame = graph.frame_of(variable.merge)
    before = _behind(graph, graph.nodes[variable.next_iteration].inputs, frame, variable.merge)
    after: set[str] = {variable.merge}
    chain = []
    for name in graph.nodes:  # in a valid order, so one pass finds what depends on the variable
        if name not in before or name == variable.merge:
            continue
        node = graph.nodes[name]
        if any(r.node in after for r in node.inputs):
            after.add(name)
            if node.op not in CONTROL:
                chain.append(_link(graph, node))
    if not chain:  # not made from itself: what makes it anew each time
        node = origin(graph, graph.nodes[variable.next_iteration].inputs[0])
        if node.name != variable.merge and node.op not in CONTROL:
            return (_link(graph, node),)
    return tuple(chain)


def statement_of(graph: Graph, ref: Ref) -> str:
    """The expression of the Python line that made a value, with its place.

    Empty where it is not known, and for lines that are more than one expression, as those that build a graph are.
    """
    node = origin(graph, ref)
    if node.op in CONTROL or node.source is None or not 0 < len(node.source.expression) < LONG:
        return ""
    expression = " ".join(node.source.expression.split())
    try:
        tree = ast.parse(expression, mode="eval")  # read, never evaluated
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    if any(isinstance(part, (ast.Lambda, ast.Tuple)) for part in ast.walk(tree)):
        return ""
    return f"{expression}  ({node.source.place})"


def _link(graph: Graph, node: Node) -> Link:
    operands = tuple(_plain_name(graph, r) for r in node.inputs)
    source = ""
    if node.source is not None:
        code = f" `{node.source.expression[:80]}`" if node.source.expression else ""
        source = f"{node.source.place}{code}"
    return Link(node.name, node.op, operands, source)


def written(graph: Graph, ref: Ref) -> str | None:
    """A value of a loop as an expression of the loop's variables, ``0.5 * (x + a / x)``; None if it is too long.

    Names of variables, inputs, results of loops and numbers stay as they are.
    """
    text = _expression(graph, ref, 0, [WRITTEN], DEEP)
    return text if text is not None and len(text) <= LONG else None


def outlined(graph: Graph, ref: Ref) -> str | None:
    """The outer part of a longer expression, with dots for what is inside: ``|… - x| + |… - y|``."""
    found = None
    for depth in range(1, DEEP):
        text = _expression(graph, ref, 0, [WRITTEN], depth)
        if text is None or len(text) > BRIEF:
            break
        found = text
    return found if found != "…" else None


def _expression(graph: Graph, ref: Ref, outer: float, left: list[int], depth: int) -> str | None:
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
    if node.op == "Merge" and not _closes(graph, node.name):
        return _alternatives(graph, node, outer, left, depth)
    if node.op == "Switch":  # a branch reads a value of outside
        return _expression(graph, node.inputs[0], outer, left, depth)
    if node.op in CONTROL or node.op in ("Const", "Placeholder") or not node.inputs:
        return _plain_name(graph, ref)
    if depth == 0:
        return "…"
    flags = graph.type_of(ref).dtype == "bool"
    sign, rank = (BETWEEN_FLAGS if flags else SYMBOLS).get(node.op) or SYMBOLS.get(node.op, ("", 9.0))
    before, binds = BEFORE.get("logical_not" if flags and node.op == "invert" else node.op, ("", 0))
    inner = (binds, binds) if before else (rank, rank + 0.1) if sign else (0, 0)  # from the left
    parts = [_expression(graph, r, inner[min(k, 1)], left, depth - 1) for k, r in enumerate(node.inputs)]
    if any(p is None for p in parts):
        return None
    if (sign and len(parts) == 2) or (before and len(parts) == 1):
        text = f"{parts[0]} {sign} {parts[1]}" if sign else f"{before}{parts[0]}"
        return f"({text})" if (rank if sign else binds) < outer else text
    text = ", ".join(p for p in parts if p)
    return f"|{text}|" if node.op == "abs" and "|" not in text else f"{node.op}({text})"


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
    parts = [_expression(graph, ref, 3, left, depth - 1) for ref in (yes, deciding[0], no)]
    if any(p is None for p in parts):
        return None
    then, asked, other = parts
    if then == "True" and other in ("False", asked):
        return _expression(graph, deciding[0], outer, left, depth - 1)
    if other in ("False", asked):
        text, rank = f"{asked} and {then}", 2
    elif then in ("True", asked):
        text, rank = f"{asked} or {other}", 1
    else:
        text, rank = f"{then} if {asked} else {other}", 0
    return f"({text})" if rank < outer else text


def _ways(graph: Graph, ref: Ref) -> set[tuple[Ref, int]]:
    """The predicates that must hold (1) or not (0) for a value of a branch, from the Switches behind it."""
    found: set[tuple[Ref, int]] = set()
    waiting, seen = [ref], {ref}
    while waiting and len(seen) < WALK:
        at = waiting.pop()
        node = graph.nodes[at.node]
        if node.op == "Merge" and _closes(graph, node.name) or node.op == "Enter":
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


def _behind(graph: Graph, refs: tuple[Ref, ...], frame: FramePath, stop: str) -> set[str]:
    """Nodes of a frame and of those inside it that the values depend on, no further than ``stop``."""
    seen: set[str] = set()
    queue = deque(r.node for r in refs)
    while queue and len(seen) < WALK:
        name = queue.popleft()
        if name in seen:
            continue
        seen.add(name)
        node = graph.nodes[name]
        if name == stop or node.op == "Merge" and graph.frame_of(name) == frame and _closes(graph, name):
            continue
        if node.op == "Enter" and graph.frame_of(name) == frame:
            continue
        # whether the loop goes on decides no value of it
        queue.extend(r.node for r in node.inputs if graph.nodes[r.node].op != "LoopCond")
    return seen


def _closes(graph: Graph, merge: str) -> bool:
    return any(graph.nodes[r.node].op == "NextIteration" for r in graph.nodes[merge].inputs)


def _plain_name(graph: Graph, ref: Ref) -> str:
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
        return str(value.reshape(-1)[0]) if value.size == 1 else f"{value.dtype}{list(value.shape)}"
    return graph.name_of(ref).removesuffix(":0")


def entries(graph: Graph, frame: FramePath) -> tuple[Entry, ...]:
    """Every value that enters a loop from the frame around it, with its role and where it was made."""
    if frame not in graph.frames:
        return ()
    own = graph.frames[frame]
    deciding = _reaching(graph, frame)
    starts = {v.enter: v.name for v in own.variables}
    found: dict[Entry, None] = {}
    for enter in own.enters:
        role = "start" if enter in starts else "condition" if enter in deciding else "body"
        for source in origins(graph, graph.nodes[enter].inputs[0], frame[:-1]):
            found[Entry(role, starts.get(enter, ""), source)] = None
    return tuple(found)


def _reaching(graph: Graph, frame: FramePath) -> set[str]:
    """Nodes in and below a frame on which its condition depends, also through what it carries around."""
    cond = graph.frames[frame].loop_cond
    seen: set[str] = set()
    queue = deque([cond] if cond else [])
    while queue and len(seen) < WALK:
        name = queue.popleft()
        if name in seen:
            continue
        seen.add(name)
        node = graph.nodes[name]
        if node.op == "Enter" and graph.frame_of(name) == frame:
            continue
        queue.extend(r.node for r in node.inputs)
    return seen


def origins(graph: Graph, ref: Ref, frame: FramePath) -> Iterator[DataflowOrigin]:
    """Sources of a value of a frame: variables of the frame's loop, results of loops in it, inputs."""
    merges = {v.merge: v.name for v in graph.frames[frame].variables} if frame in graph.frames else {}
    exits = {
        v.exit: (v.name, child)
        for child in (graph.frames[frame].children if frame in graph.frames else ())
        for v in graph.frames[child].variables
        if v.exit
    }
    seen: set[str] = set()
    queue = deque([ref.node])
    while queue and len(seen) < WALK:
        name = queue.popleft()
        if name in seen:
            continue
        seen.add(name)
        node = graph.nodes[name]
        if name in merges:
            yield DataflowOrigin("variable", merges[name], frame)
        elif name in exits:
            yield DataflowOrigin("loop", *exits[name])
        elif node.op == "Placeholder":
            yield DataflowOrigin("input", graph.name_of(Ref(name)))
        elif not (node.op == "Enter" and graph.frame_of(name) == frame):
            queue.extend(r.node for r in node.inputs)
