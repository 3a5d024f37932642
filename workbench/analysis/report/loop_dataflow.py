"""Data flow of loops, from the graph alone: updates of variables, inputs of conditions, flow between loops."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from workbench.analysis.expressions import LONG, WALK, closes, plain_name
from workbench.analysis.verdict import CONTROL
from workbench.ir.frames.frame_tree import FramePath, LoopVariable
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.trace.aligned_columns import origin


class Link(NamedTuple):
    """One node of an update chain: name, op, the names of its operands, and file:line of its source if known."""

    node: str
    op: str
    operands: tuple[str, ...]
    source: str


class DataflowOrigin(NamedTuple):
    """Origin of a value in a frame: ``kind`` is variable, loop or input; for a loop, ``frame`` is its path."""

    kind: str
    name: str
    frame: FramePath = ()


class Entry(NamedTuple):
    """A value that enters a loop: as the start value of a variable (``role`` start), as a threshold or other operand of
    the condition (condition), or as an operand of the body (body).
    """

    role: str
    variable: str
    origin: DataflowOrigin


def update_chain(graph: Graph, variable: LoopVariable) -> tuple[Link, ...]:
    """The nodes between a variable's Merge and its NextIteration, in order; empty if it is passed on unchanged."""
    frame = graph.frame_of(variable.merge)
    before = _behind(graph, graph.nodes[variable.next_iteration].inputs, frame, variable.merge)
    after: set[str] = {variable.merge}
    chain = []
    for name in graph.nodes:  # nodes are in topological order, so one pass finds all that depend on the variable
        if name not in before or name == variable.merge:
            continue
        node = graph.nodes[name]
        if any(r.node in after for r in node.inputs):
            after.add(name)
            if node.op not in CONTROL:
                chain.append(_link(graph, node))
    if not chain:  # an update that does not depend on the variable: its last node
        node = origin(graph, graph.nodes[variable.next_iteration].inputs[0])
        if node.name != variable.merge and node.op not in CONTROL:
            return (_link(graph, node),)
    return tuple(chain)


def statement_of(graph: Graph, ref: Ref) -> str:
    """The expression of the Python line that computes a value, with its place.

    Empty if it is unknown, and for lines with more than one expression, such as those that build a graph.
    """
    node = origin(graph, ref)
    if node.op in CONTROL or node.source is None or not 0 < len(node.source.expression) < LONG:
        return ""
    expression = " ".join(node.source.expression.split())
    try:
        tree = ast.parse(expression, mode="eval")  # parsed, never evaluated
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    if any(isinstance(part, (ast.Lambda, ast.Tuple)) for part in ast.walk(tree)):
        return ""
    return f"{expression}  ({node.source.place})"


def _link(graph: Graph, node: Node) -> Link:
    operands = tuple(plain_name(graph, r) for r in node.inputs)
    source = ""
    if node.source is not None:
        code = f" `{node.source.expression[:80]}`" if node.source.expression else ""
        source = f"{node.source.place}{code}"
    return Link(node.name, node.op, operands, source)


def _behind(graph: Graph, refs: tuple[Ref, ...], frame: FramePath, stop: str) -> set[str]:
    """Nodes of a frame and its inner frames on which the values depend, no further than ``stop``."""
    seen: set[str] = set()
    queue = deque(r.node for r in refs)
    while queue and len(seen) < WALK:
        name = queue.popleft()
        if name in seen:
            continue
        seen.add(name)
        node = graph.nodes[name]
        if name == stop or node.op == "Merge" and graph.frame_of(name) == frame and closes(graph, name):
            continue
        if node.op == "Enter" and graph.frame_of(name) == frame:
            continue
        # whether the loop continues does not affect its values
        queue.extend(r.node for r in node.inputs if graph.nodes[r.node].op != "LoopCond")
    return seen


def entries(graph: Graph, frame: FramePath) -> tuple[Entry, ...]:
    """Every value that enters a loop from the outer frame, with its role and origin."""
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
    """Nodes of a frame and its inner frames on which its condition depends, also through loop variables."""
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
    """Origins of a value of a frame: variables of the frame's loop, results of loops in it, inputs."""
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
