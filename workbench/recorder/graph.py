"""The graph of a recorded loop: its variables and its condition are known, the body is one node of unknown code.

::

    start ─► Enter ─► Merge ─► comparison ─► LoopCond
                       └─► Switch ─► body ─► NextIteration ─► Merge
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.graph import Graph
from workbench.ir.node import FrozenAttrs, Node, Ref
from workbench.ir.types import ANY, TensorType
from workbench.kernels.recorder import VariableRows
from workbench.recorder.until import UntilClause


class LoopShape(NamedTuple):
    """The parts of the graph: one watched loop, and the loops inside its body."""

    path: FramePath
    variables: tuple[tuple[str, TensorType], ...]
    clauses: tuple[UntilClause, ...]
    inner: tuple[LoopShape, ...] = ()
    how: tuple[str, str] = ("", "")  #: known facts about its end: the kind, and words

    @property
    def label(self) -> str:
        return "/".join(self.path)

    def merge(self, name: str) -> str:
        return f"{self.label}/{name}/Merge"

    @property
    def cond(self) -> str:
        return f"{self.label}/LoopCond"

    def comparison(self, number: int) -> str:
        return f"{self.label}/until_{number}"

    def all(self) -> list[LoopShape]:
        """This loop and all loops inside it, outermost first."""
        return [self, *(shape for loop in self.inner for shape in loop.all())]


def type_of(rows: VariableRows) -> TensorType:
    """The type of a recorded variable."""
    return TensorType(ANY, None) if rows.dtype is None else TensorType(rows.dtype.name, rows.shape)


def usable(clauses: Sequence[UntilClause], variables: Mapping[str, TensorType]) -> bool:
    """True if every clause compares single numbers that are recorded."""
    names = [n for c in clauses for n in (c.variable, c.bound) if isinstance(n, str)]
    types = [variables.get(n) for n in names]
    return bool(clauses) and all(t is not None and t.shape == () and not t.dtype.startswith("complex") for t in types)


def build_graph(name: str, loop: LoopShape) -> Graph:
    """The graph of a watched loop and of the loops inside it."""
    nodes: list[Node] = []
    outputs = _loop(nodes, loop, ())
    names: dict[str, Ref] = {}
    for shape in loop.all():
        for variable, _ in shape.variables:
            short = variable if variable not in names else f"{shape.path[-1]}.{variable}"
            names.setdefault(short, Ref(shape.merge(variable)))
    exits = {variable: ref for (variable, _), ref in zip(loop.variables, outputs, strict=True)}
    return Graph.from_nodes(name, nodes, inputs={}, outputs={f"last {k}": v for k, v in exits.items()}, names=names)


def _loop(nodes: list[Node], loop: LoopShape, around: tuple[Ref, ...]) -> list[Ref]:
    """Add the nodes of a loop that starts after ``around``; returns the values at its exit."""

    def add(node: str, op: str, inputs: Sequence[Ref], **attrs: object) -> str:
        nodes.append(Node(node, op, tuple(inputs), attrs=FrozenAttrs(attrs)))
        return node

    at, frame = loop.label, loop.path[-1]
    types = tuple(t for _, t in loop.variables)
    start = add(f"{at}/start", "recorded:start", around, types=types)
    for k, (v, _) in enumerate(loop.variables):
        add(f"{at}/{v}/Enter", "Enter", [Ref(start, k)], frame_name=frame)
        add(loop.merge(v), "Merge", [Ref(f"{at}/{v}/Enter"), Ref(f"{at}/{v}/NextIteration")])
    merges = {v: Ref(loop.merge(v)) for v, _ in loop.variables}
    add(loop.cond, "LoopCond", [_condition(add, loop, merges)])
    for v, _ in loop.variables:
        add(f"{at}/{v}/Switch", "Switch", [merges[v], Ref(loop.cond)])
    inside = [Ref(f"{at}/{v}/Switch", 1) for v, _ in loop.variables]
    left = [ref for inner in loop.inner for ref in _loop(nodes, inner, tuple(inside))]
    ending = {"end": loop.how[0], "words": loop.how[1]} if loop.how[0] else {}
    body = add(f"{at}/body", "recorded:body", [*inside, *left], types=types, **ending)
    for k, (v, _) in enumerate(loop.variables):
        add(f"{at}/{v}/NextIteration", "NextIteration", [Ref(body, k)])
        add(f"{at}/{v}/Exit", "Exit", [Ref(f"{at}/{v}/Switch", 0)])
    return [Ref(f"{at}/{v}/Exit") for v, _ in loop.variables]


def _condition(add: object, loop: LoopShape, merges: Mapping[str, Ref]) -> Ref:
    """The condition: comparisons joined by "or", as the loop continues while one clause of its end is not met."""
    assert callable(add)
    if not usable(loop.clauses, dict(loop.variables)):
        return Ref(add(f"{loop.label}/going", "recorded:going", list(merges.values()), types=(TensorType("bool", ()),)))
    parts = []
    for k, clause in enumerate(loop.clauses):
        if isinstance(clause.bound, str):
            bound = merges[clause.bound]
        else:
            value = add(f"{loop.label}/bound_{k}", "Const", [], value=np.array(clause.bound))
            for depth in range(len(loop.path)):
                entered = f"{loop.label}/bound_{k}/Enter_{depth}"
                value = add(entered, "Enter", [Ref(value)], frame_name=loop.path[depth], is_constant=True)
            bound = Ref(value)
        parts.append(Ref(add(loop.comparison(k), clause.going[0], [merges[clause.variable], bound])))
    joined = parts[0]
    for k, part in enumerate(parts[1:], 1):
        joined = Ref(add(f"{loop.label}/either_{k}", "logical_or", [joined, part]))
    return joined
