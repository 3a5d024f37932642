"""The role of a loop variable in its loop, read from the graph: counter, flag, previous value, sum, average, power.

The role of a variable says more than its movement: 0.999 ** k is not a counter, and a decaying average does not
converge by itself. Each role is an exact statement about the update in the graph, never a guess from the values.
"""

from __future__ import annotations

import math
from collections import deque

from workbench.analysis.slicing.dependencies import constant_step
from workbench.ir.frames.frame_tree import FramePath, LoopVariable
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.text import number
from workbench.trace.aligned_columns import origin

#: maximum number of nodes that one search visits
WALK = 5_000


def role_of(graph: Graph, frame: FramePath, variable: LoopVariable) -> str:
    """The role of a variable in a few words; empty if its update has none of the known forms.

    Examples
    --------
    ``t = t + 1`` is a ``counter, + 1 each iteration``; ``v = 0.999 * v + 0.001 * g * g`` a ``moving average, factor
    0.999: about the last 1,000 iterations count``.
    """
    merges = {v.merge: v.name for v in graph.frames[frame].variables}
    step = constant_step(graph, variable)
    if step:
        return f"counter, {'+' if step > 0 else '-'} {number(abs(step))} each iteration"
    back = graph.nodes[variable.next_iteration].inputs[0]
    made = origin(graph, back)
    if made.name in merges:
        return "" if made.name == variable.merge else f"the previous {merges[made.name]}"
    if graph.type_of(back).dtype == "bool":
        return "flag"
    if made.op in ("add", "subtract") and len(made.inputs) == 2:
        return _sum(graph, frame, variable, made)
    if made.op == "multiply" and len(made.inputs) == 2:
        factor = _factor(graph, made, variable.merge)
        if factor is not None and factor != 1.0:
            return f"power of {number(factor)}: times {number(factor)} each iteration"
    return ""


def _sum(graph: Graph, frame: FramePath, variable: LoopVariable, made: Node) -> str:
    """The role of ``self + rest``, ``self - rest`` and ``factor * self + rest``."""
    own, rest = made.inputs
    if made.op == "add" and not _is_own_term(graph, own, variable.merge):
        own, rest = rest, own
    if origin(graph, own).name == variable.merge:
        return "running sum" if _only_counts(graph, frame, rest) else ""
    factor = average_factor(graph, variable)
    if factor is None:
        return ""
    return f"moving average, factor {number(factor)}: about the last {memory(factor)} iterations count"


def average_factor(graph: Graph, variable: LoopVariable) -> float | None:
    """The factor c of ``variable = c * variable + rest`` with 0 < c < 1 and a rest that does not depend on it."""
    made = origin(graph, graph.nodes[variable.next_iteration].inputs[0])
    if made.op != "add" or len(made.inputs) != 2:
        return None
    own, rest = made.inputs
    if not _is_own_term(graph, own, variable.merge):
        own, rest = rest, own
    factor = _factor(graph, origin(graph, own), variable.merge)
    if factor is None or not 0.0 < factor < 1.0 or _depends(graph, rest, variable.merge):
        return None
    return factor


def memory(factor: float) -> str:
    """1 / (1 - factor) as text: the number of iterations that a moving average remembers, to two digits."""
    count = 1.0 / (1.0 - factor)
    return number(int(round(count, 1 - math.floor(math.log10(count)))) if count >= 2 else round(count, 1), grouped=True)


def _is_own_term(graph: Graph, ref: Ref, merge: str) -> bool:
    node = origin(graph, ref)
    return node.name == merge or node.op == "multiply" and _factor(graph, node, merge) is not None


def _factor(graph: Graph, node: Node, merge: str) -> float | None:
    """The constant c of a node that computes ``c * variable``."""
    if node.op != "multiply" or len(node.inputs) != 2:
        return None
    a, b = (origin(graph, r) for r in node.inputs)
    if b.name == merge:
        a, b = b, a
    if a.name != merge or b.op != "Const" or b.attrs["value"].size != 1 or b.attrs["value"].dtype.kind not in "fiu":
        return None
    return float(b.attrs["value"].reshape(-1)[0])


def _depends(graph: Graph, ref: Ref, merge: str) -> bool:
    """True if a value is computed from the variable within the iteration, or if the search is cut off."""
    read = _variables_read(graph, ref)
    return read is None or merge in read


def _only_counts(graph: Graph, frame: FramePath, ref: Ref) -> bool:
    """True if a value is computed only from counters, inputs and constants."""
    read = _variables_read(graph, ref)
    own = {v.merge: v for v in graph.frames[frame].variables}
    return read is not None and all(m in own and constant_step(graph, own[m]) is not None for m in read)


def _variables_read(graph: Graph, ref: Ref) -> set[str] | None:
    """Merges of the loop variables from which a value is computed in the iteration; None if the search is cut off."""
    seen, queue = {ref.node}, deque([ref.node])
    found: set[str] = set()
    while queue:
        if len(seen) > WALK:
            return None
        name = queue.popleft()
        node = graph.nodes[name]
        if node.op == "Merge" and any(graph.nodes[r.node].op == "NextIteration" for r in node.inputs):
            found.add(name)
            continue
        if node.op == "Enter" and not node.attrs.get("is_constant"):
            continue
        for r in node.inputs:
            if r.node not in seen and graph.nodes[r.node].op != "LoopCond":
                seen.add(r.node)
                queue.append(r.node)
    return found
