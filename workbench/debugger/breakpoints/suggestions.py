"""Suggests breakpoints for a graph: at loop conditions, and where numerical problems are common.

One pass over the nodes that a run computes finds conditions of loops (a loop whose condition reads only constant values
never ends), then loop variables, then operations that are undefined for some arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.debugger.breakpoints.breakpoint import Breakpoint
from workbench.debugger.breakpoints.targets import Targets
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.ir.types import numpy_dtype
from workbench.text import harmless

if TYPE_CHECKING:
    from workbench.debugger.breakpoints.manager import Breakpoints

#: maximum number of suggestions
MOST = 40
#: maximum number of suggestions of one kind
MAX_PER_KIND = 8
COMPARISONS = frozenset("less less_equal greater greater_equal equal not_equal".split())
DIVISIONS = frozenset("divide true_divide remainder mod reciprocal floor_divide".split())
DOMAINS = {
    "log": "negative or zero",
    "log2": "negative or zero",
    "log10": "negative or zero",
    "log1p": "below -1",
    "sqrt": "negative",
    "rsqrt": "negative or zero",
    "arcsin": "beyond 1",
    "arccos": "beyond 1",
    "acos": "beyond 1",
    "asin": "beyond 1",
    "acosh": "below 1",
    "atanh": "beyond 1",
    "power": "negative with a fraction as its power",
}
GROWERS = frozenset("exp exp2 expm1 power square sinh cosh matmul prod cumprod".split())


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A suggested breakpoint: the reason ``why``, and ``options`` for :meth:`Breakpoints.add`; ``add()`` creates it."""

    why: str
    options: dict[str, Any]
    points: Breakpoints

    @property
    @harmless
    def text(self) -> str:
        """One readable line."""
        given = {k: v for k, v in self.options.items() if k != "where"}
        shown = {k: " or ".join(v) if isinstance(v, tuple) else v for k, v in given.items()}
        return f"{self.options['where']}: " + ", ".join(f"{k} {v}" for k, v in shown.items())

    def add(self) -> Breakpoint:
        """Create the breakpoint and return it."""
        return self.points.add(**self.options)

    def code(self) -> str:
        """A line of Python that creates it."""
        given = [repr(self.options["where"])] + [f"{k}={v!r}" for k, v in self.options.items() if k != "where"]
        return f"session.breakpoints.add({', '.join(given)})"

    @harmless
    def __str__(self) -> str:
        return f"{self.text}. {self.why}"


def recommendations(points: Breakpoints, targets: Targets) -> list[Recommendation]:
    """Suggested breakpoints that do not exist yet, most useful first."""
    graph, nodes = targets.graph(), targets.computed()
    there = [{k: v for k, v in p.to_data().items() if k != "enabled"} for p in points]
    found: list[Recommendation] = []
    for kind in (_conditions, _carried, _divisions, _domains, _growers, _differences):
        mine = 0
        for why, options in kind(graph, nodes):
            wanted = {k: list(v) if isinstance(v, tuple) else [v] if k == "health" else v for k, v in options.items()}
            if mine < MAX_PER_KIND and len(found) < MOST and wanted not in there:
                found.append(Recommendation(why, options, points))
                mine += 1
    return found


Suggested = Iterator[tuple[str, dict[str, Any]]]


def _is_float(graph: Graph, ref: Ref) -> bool:
    try:
        return numpy_dtype(graph.type_of(ref).dtype).kind in "fcV"
    except Exception:
        return False


def _conditions(graph: Graph, nodes: list[Node]) -> Suggested:
    """Values compared by the condition of a loop: a value that does not change cannot end the loop."""
    for node in nodes:
        if node.op != "LoopCond":
            continue
        frame = "/".join(graph.frame_of(node.name))
        for ref in _compared(graph, node.inputs[0], graph.frame_of(node.name)):
            yield (
                f"The condition of the loop {frame!r} reads it; while it does not change, it cannot end the loop.",
                {"where": graph.name_of(ref), "health": "unchanged", "hits": 3},
            )


def _compared(graph: Graph, start: Ref, frame: tuple[str, ...]) -> list[Ref]:
    """The operands of the comparisons behind a predicate, without those that are constant in the loop."""
    stack, seen, found = [start], set[Ref](), list[Ref]()
    while stack and len(seen) < 64:
        ref = stack.pop()
        if ref in seen:
            continue
        seen.add(ref)
        node = graph.nodes[ref.node]
        if node.op in COMPARISONS:
            sides = [r for r in node.inputs if graph.frame_of(r.node) == frame and not _is_fixed(graph.nodes[r.node])]
            found += [r for r in sides if r not in found]
        elif node.op != "Merge":
            stack.extend(r for r in node.inputs if graph.frame_of(r.node) == frame)
    return found


def _is_fixed(node: Node) -> bool:
    return node.op == "Const" or (node.op == "Enter" and bool(node.attrs.get("is_constant")))


def _carried(graph: Graph, nodes: list[Node]) -> Suggested:
    for node in nodes:
        if node.op != "Merge" or not any(graph.nodes[r.node].op == "NextIteration" for r in node.inputs):
            continue
        ref, frame = node.ref(), "/".join(graph.frame_of(node.name))
        if not _is_float(graph, ref):
            continue
        name = graph.name_of(ref)
        yield (
            f"It is a variable of the loop {frame!r}; once it is NaN or infinite, it stays so.",
            {"where": name, "health": ("nan", "inf"), "hits": 1},
        )
        yield (
            f"It is a variable of the loop {frame!r}; the run stops when it no longer makes progress.",
            {"where": name, "health": "stagnation", "hits": 1},
        )


def _divisions(graph: Graph, nodes: list[Node]) -> Suggested:
    for node in nodes:
        if node.op.lower() in DIVISIONS and node.types and _is_float(graph, node.ref()):
            below = graph.nodes[node.inputs[-1].node]
            if not _is_fixed(below):
                name = graph.name_of(node.inputs[-1])
                yield (
                    f"It divides by {name}, which may become zero.",
                    {"where": graph.name_of(node.ref()), "health": ("nan", "inf")},
                )


def _domains(graph: Graph, nodes: list[Node]) -> Suggested:
    for node in nodes:
        bad = DOMAINS.get(node.op.lower())
        if bad is not None and node.types and _is_float(graph, node.ref()):
            yield (
                f"{node.op} is undefined if its argument is {bad}.",
                {"where": graph.name_of(node.ref()), "health": ("nan", "inf")},
            )


def _growers(graph: Graph, nodes: list[Node]) -> Suggested:
    for node in nodes:
        if node.op.lower() in GROWERS and node.types and graph.frame_of(node.name) and _is_float(graph, node.ref()):
            yield f"{node.op} in a loop grows fast.", {"where": graph.name_of(node.ref()), "health": "overflow"}


def _differences(graph: Graph, nodes: list[Node]) -> Suggested:
    for node in nodes:
        varies = not any(_is_fixed(graph.nodes[r.node]) for r in node.inputs)
        if node.op == "subtract" and varies and graph.frame_of(node.name) and _is_float(graph, node.ref()):
            left = graph.name_of(node.inputs[0])
            depth = graph.frame_of(node.inputs[0].node)
            if not set('"\\') & set(left) and depth == graph.frame_of(node.name)[: len(depth)]:
                yield (
                    "The difference of nearly equal numbers has few correct digits.",
                    {"where": graph.name_of(node.ref()), "when": f'abs(value) < 1e-10 * abs(value("{left}"))'},
                )
