"""Values that no required output needs: a run leaves them out, and they are computed when somebody asks.

Ops that only compute, in one frame, are run on the values that the run has (recorded or recomputed, edits included), as
a small graph of their own: what is not there and nothing more. Where a loop or a branch of its own stands in between,
the whole is run again from the feeds, once the run is finished.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.debugger import timetravel
from workbench.debugger.iterations import as_path
from workbench.errors import DeadValueError, TraceError
from workbench.execution import NEWEST_ROWS, Run
from workbench.graph.graph import Graph
from workbench.graph.node import FrozenAttrs, Node, Ref
from workbench.graph.opspec import REGISTRY
from workbench.graph.types import TensorType
from workbench.plan import PLANS, signature_of

#: reads a value of the run at an iteration path
Read = Callable[[Ref, Any], Any]
CONTROL = frozenset(("Enter", "Exit", "Merge", "Switch", "NextIteration", "LoopCond"))


def value_beside(run: Run, ref: Ref, iteration: Any, read: Read) -> Any:
    """A value that the run does not compute. TraceError with slug ``not-computed`` where that cannot be without running
    through effects, edits or a loop whose end is not known, or without an input that was not fed."""
    graph = run.plan.graph
    if ref.node not in graph.nodes or ref.index >= len(graph.nodes[ref.node].types):
        raise _refusal(run, ref, "there is no such value")
    cone = _cone(run, ref)
    frame = graph.frame_of(ref.node)
    plain = all(graph.nodes[n].op not in CONTROL and graph.frame_of(n) == frame for n in cone)
    effects = [n for n in cone if not _repeatable(graph.nodes[n], bool(frame))]
    if effects:
        raise _refusal(run, ref, f"{effects[0]!r} has effects, which happen once")
    if plain:
        return _from_values(run, ref, iteration, read, cone)
    if run.edits:
        raise _refusal(run, ref, "loops or branches lie between it and what was computed, and values were edited")
    if not run.finished:
        raise _refusal(run, ref, "loops or branches lie between it and what was computed, and the run is not finished")
    return _from_feeds(run, ref, iteration)


def _cone(run: Run, ref: Ref) -> list[str]:
    """The nodes behind a value that the run does not compute."""
    graph, computed = run.plan.graph, {n.name for n in run.plan.layout.nodes}
    stack, seen = [ref.node], dict.fromkeys([ref.node])
    while stack:
        node = graph.nodes[stack.pop()]
        for name in (*(r.node for r in node.inputs), *node.control):
            if name not in computed and name not in seen:
                seen[name] = None
                stack.append(name)
    return list(seen)


def _repeatable(node: Node, inside: bool) -> bool:
    if node.op in CONTROL or node.op in ("Const", "Placeholder", "Identity", "NoOp"):
        return True
    spec = REGISTRY.lookup(node.op, node.attrs)
    return spec.pure or spec.draws and not inside  # a draw depends on its own iteration


def _from_values(run: Run, ref: Ref, iteration: Any, read: Read, cone: list[str]) -> Any:
    graph, feeds, nodes = run.plan.graph, dict[str, Any](), list[Node]()
    inputs: dict[str, Ref] = {}
    if graph.frame_of(ref.node) and iteration is None:
        iteration = _last(run, cone)
    for name in cone:
        node = graph.nodes[name]
        if node.op == "Placeholder":
            label = next(k for k, r in graph.inputs.items() if r.node == name)
            if label not in run.feeds:
                raise _refusal(run, ref, f"it needs the input {label!r}, which was not fed")
            inputs[name] = node.ref()
            feeds[name] = run.feeds[label]
            nodes.append(replace(node, control=()))
            continue
        for source in node.control:  # where one is dead the node is
            if source not in cone and graph.nodes[source].types:
                read(Ref(source), iteration if graph.frame_of(source) else None)
        for source in node.inputs:
            if source.node in cone or str(source) in feeds:
                continue
            value = read(source, iteration if graph.frame_of(source.node) else None)
            feeds[str(source)] = value
            type_ = TensorType.of(value) if isinstance(value, np.ndarray) else graph.type_of(source)
            attrs = FrozenAttrs({"dtype": type_.dtype, "shape": type_.shape})
            nodes.append(Node(f"\0{source}", "Placeholder", attrs=attrs))
            inputs[str(source)] = Ref(f"\0{source}")
        moved = tuple(r if r.node in cone else Ref(f"\0{r}") for r in node.inputs)
        nodes.append(replace(node, inputs=moved, control=()))
    beside = Graph.from_nodes(f"{graph.name} beside", nodes, inputs=inputs, outputs={"value": ref})
    signature = signature_of(beside, {n: TensorType.of(a) for n, a in feeds.items()})
    plan = PLANS.get(beside, beside.outputs, signature, False, True)
    other = Run(plan, feeds, NEWEST_ROWS, back=False)
    while other.go() != "halt":
        pass
    return other.outputs()["value"]


def _last(run: Run, cone: list[str]) -> tuple[int, ...]:
    """The last iteration in which all that the cone reads has fired."""
    graph = run.plan.graph
    read = {r for n in cone for r in graph.nodes[n].inputs if r.node not in cone}
    series = [run.trace[r].iterations for r in read if graph.frame_of(r.node)]
    if any(len(s) == 0 for s in series):
        raise DeadValueError("The loop has not begun.", slug="not-fired", fix="step on, or look at its branch.")
    return min(tuple(int(i) for i in s[-1]) for s in series)


def _from_feeds(run: Run, ref: Ref, iteration: Any) -> Any:
    graph = run.plan.graph
    signature = signature_of(graph, {n: TensorType.of(a) for n, a in run.feeds.items()})
    other = Run(PLANS.get(graph, {"value": ref}, signature, False, True), run.feeds, NEWEST_ROWS)
    while other.go() != "halt":
        pass
    series = other.trace[ref]
    if iteration is None and len(series):
        return series[-1]
    path = () if iteration is None else as_path(iteration)
    found = timetravel.recompute(other, ref, path) if not len(series) or iteration is not None else None
    if found is None:
        raise DeadValueError(f"{str(ref)!r} has not fired.", slug="not-fired", fix="look at its branch.")
    return found


def _refusal(run: Run, ref: Ref, why: str) -> TraceError:
    known = ref.node in run.plan.graph.nodes
    return TraceError(
        f"{run.plan.graph.name_of(ref) if known else str(ref)!r} was not computed in this run, for no required output "
        f"needs it, and it is not computed beside it: {why}.",
        slug="not-computed", node=ref.node if known else None,
        fix="name it among the outputs of the session, with all inputs that it needs.",
    )  # fmt: skip
