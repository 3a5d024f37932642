"""The nodes that a picture of the graph leaves out, and the strings that represent them in their consumers' labels.

Left out are constants, loop invariants (constant Enters), plain Identity nodes, and inputs that only invariants read;
in a large graph also nodes computed from constants alone for one reader, such as reshaped weights. The text of each
appears where its value is used, and each has a *home*: the drawn node that is highlighted when the debugger is at it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.ir.op_names import bare_op
from workbench.widgets.graph.model.structure import NEXT, START, Structure
from workbench.widgets.text.formulas import formula
from workbench.widgets.text.labels import expression, short_name, shorten, value_text

#: characters of a line
ROOM = 28
#: a graph with more boxes than this is large
MANY = 40
#: maximum nodes visited in the search for the box that represents a folded one
NEAR = 2_000
FRAME_WORDS = {"Merge", "Switch", "Enter", "Exit", "NextIteration"}


@dataclass
class Folding:
    """``drawn``: nodes with a box of their own; ``text``: the text of each value in labels; ``source``: the drawn value
    behind a folded one (None for constants and invariants); ``home``: the box that stands for a folded node."""

    drawn: list[str] = field(default_factory=list)
    text: dict[Ref, str] = field(default_factory=dict)
    source: dict[Ref, Ref | None] = field(default_factory=dict)
    home: dict[str, str] = field(default_factory=dict)
    invariants: dict[tuple[str, ...], list[str]] = field(default_factory=dict)
    loop_merges: frozenset[Ref] = frozenset()
    #: None if the ops of dataflow control are drawn as nodes
    structure: Structure | None = None


def fold(graph: Graph, structure: Structure | None = None) -> Folding:
    """Decide which nodes of the graph are drawn."""
    variables = {v.merge: v.name for frame in graph.frames.values() for v in frame.variables}
    result = Folding(loop_merges=frozenset(Ref(merge, 0) for merge in variables), structure=structure)
    stands = structure.stands if structure is not None else {}
    outputs = {ref.node for ref in graph.outputs.values()}
    for name, node in graph.nodes.items():
        own = Ref(name, 0)
        if structure is not None and name in stands:
            for index in range(max(1, len(node.types))):
                own = Ref(name, index)
                result.text[own] = _called(graph, node, index, variables, result)
                inner = structure.passes.get(name, Ref(stands[name], index))
                result.source[own] = result.source.get(inner, inner)
            continue
        if _is_folded(graph, node, outputs):
            if node.op == "Const":
                result.text[own] = value_text(node.attrs.get("value"))
                result.source[own] = None
            elif node.op == "Placeholder":
                result.text[own] = graph.name_of(own)
                result.source[own] = None
            else:
                inner = node.inputs[0]
                result.text[own] = result.text.get(inner, short_name(inner.node))
                result.source[own] = None if node.op == "Enter" else result.source.get(inner, inner)
                if node.op == "Enter" and graph.nodes[inner.node].op != "Const":
                    result.invariants.setdefault(graph.frame_of(name), []).append(result.text[own])
            continue
        result.drawn.append(name)
        for index in range(max(1, len(node.types))):
            result.text[Ref(name, index)] = _called(graph, node, index, variables, result)
    if structure is None:
        _fold_pivots(graph, result, outputs)
    if len(result.drawn) > MANY:
        _fold_fixed(graph, result, outputs)
    drawn = set(result.drawn)
    for name in graph.nodes:
        plain = name in drawn and name not in stands
        result.home[name] = name if plain else _home(graph, name, drawn, stands)
    return result


def label(graph: Graph, node: Node, folding: Folding) -> list[str]:
    """Title and, if not empty, a second line; not escaped."""
    operands = [folding.text.get(ref, str(ref)) for ref in node.inputs]
    if node.op == "Placeholder":
        return [graph.name_of(Ref(node.name, 0)), f"input {node.types[0]}" if node.types else "input"]
    if folding.structure is not None and (lines := _structured(graph, node, folding, folding.structure, operands)):
        return lines
    if node.op == "Merge" and Ref(node.name, 0) not in folding.loop_merges:
        return ["Merge", " or ".join(operands)]
    if node.op in FRAME_WORDS:
        what = folding.text.get(Ref(node.name, 0), "")
        if node.op == "Enter":
            return ["Enter", f"{what} starts as {operands[0]}" if what != operands[0] else what]
        return [node.op, what]
    if node.op == "LoopCond":
        return ["LoopCond", "go on?"]
    title = short_name(node.name)  # the word that consumers use for the value
    op = bare_op(node.op)
    if not operands:
        return [title]
    text = expression(op, operands)
    if len(text) > ROOM:  # computed operands are more important than constants
        live = [t for t, ref in zip(operands, node.inputs, strict=True) if folding.source.get(ref, ref) is not None]
        text = expression(op, [*live[:2], "\u2026"]) if len(live[:2]) < len(operands) else text
    if text.startswith(f"{op}(") and title.rstrip("0123456789_").lower() != op.lower():
        return [text, title]  # without a formula the op is more informative than a name such as "r3"
    return [title, text]


def _structured(graph: Graph, node: Node, folding: Folding, structure: Structure, operands: list[str]) -> list[str]:
    """The lines of a box in a structured picture, if they differ from those of the op."""
    own = Ref(node.name, 0)
    if node.name in structure.rows:
        row, name = structure.rows[node.name]
        name = short_name(name)
        if row == START:
            return [f"start {name}" if operands[0] == name else f"{name} = {operands[0]}"]
        return [f"next {name}" if row == NEXT else name]
    if node.op == "Exit":
        return [folding.text.get(own, node.name)]
    if node.name in structure.decides:
        return [f"{formula(graph, folding.text, node.inputs[1], ROOM) or operands[1]} ?"]
    if node.op == "Merge":
        return [graph.name_of(own) if _carries_a_name(graph, node) else "either"]
    text = formula(graph, folding.text, own, ROOM)
    return [text, short_name(node.name)] if text else []


def _is_folded(graph: Graph, node: Node, outputs: set[str]) -> bool:
    if node.name in outputs:
        return False
    if node.op == "Const":
        return bool(graph.consumers(node.name))
    if node.op == "Enter":
        return bool(node.attrs.get("is_constant"))
    if node.op == "Placeholder":
        users = [graph.nodes[c] for c in graph.consumers(node.name)]
        return bool(users) and all(u.op == "Enter" and u.attrs.get("is_constant") for u in users)
    return node.op == "Identity" and len(node.inputs) == 1 and not _carries_a_name(graph, node)


def _fold_pivots(graph: Graph, folding: Folding, outputs: set[str]) -> None:
    """Leave out Switches that no drawn node reads: they only make constants of a branch dead or alive."""
    drawn = set(folding.drawn)

    def reads(name: str) -> list[str]:
        return [c for c in graph.consumers(name) if any(r.node == name for r in graph.nodes[c].inputs)]

    gone: set[str] = set()
    for name in folding.drawn:
        if graph.nodes[name].op != "Switch" or name in outputs or not graph.consumers(name):
            continue
        pivots = reads(name)
        if all(p not in drawn and graph.nodes[p].op == "Identity" and not reads(p) for p in pivots):
            gone.add(name)
    folding.drawn = [name for name in folding.drawn if name not in gone]


def _fold_fixed(graph: Graph, folding: Folding, outputs: set[str]) -> None:
    """Leave out nodes computed from constants alone and read once."""
    fixed = {name for name, node in graph.nodes.items() if node.op == "Const"}
    for name in folding.drawn:
        node = graph.nodes[name]
        if (
            node.inputs
            and fixed.issuperset(graph.reads[name])
            and not node.control
            and name not in outputs
            and node.op not in FRAME_WORDS
            and len(graph.consumers(name)) == 1
        ):
            fixed.add(name)
            for index in range(max(1, len(node.types))):
                folding.source[Ref(name, index)] = None
    folding.drawn = [name for name in folding.drawn if name not in fixed or graph.nodes[name].op == "Const"]


def _carries_a_name(graph: Graph, node: Node) -> bool:
    return graph.name_of(Ref(node.name, 0)) != f"{node.name}:0"


def _called(graph: Graph, node: Node, index: int, variables: dict[str, str], folding: Folding) -> str:
    """Name of a drawn value in the labels of its consumers."""
    if node.op in ("Switch", "Exit", "NextIteration") and node.inputs:
        return folding.text.get(node.inputs[0], short_name(node.inputs[0].node))
    if node.name in variables:
        return short_name(variables[node.name])
    if node.op == "Enter":
        merges = [c for c in graph.consumers(node.name) if c in variables]
        return short_name(variables[merges[0]]) if merges else folding.text.get(node.inputs[0], short_name(node.name))
    ref = Ref(node.name, index)
    public = graph.name_of(ref)
    if public != str(ref):
        return shorten(short_name(public), 14)
    return shorten(short_name(node.name) + (f":{index}" if index else ""), 14)


def _home(graph: Graph, name: str, drawn: set[str], stands: Mapping[str, str]) -> str:
    """The nearest drawn node: consumers first, because a folded value is written in their labels."""
    if stands.get(name) in drawn:
        return stands[name]
    if name in drawn:
        return name
    seen = {name}
    queue = deque([name])
    while queue and len(seen) < NEAR:
        current = queue.popleft()
        reads = [c for c in graph.consumers(current) if any(r.node == current for r in graph.nodes[c].inputs)]
        for near in (*reads, *graph.consumers(current), *(r.node for r in graph.nodes[current].inputs)):
            if near in drawn:
                return near
            if near not in seen:
                seen.add(near)
                queue.append(near)
    return name
