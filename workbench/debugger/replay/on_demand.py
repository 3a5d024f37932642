"""Computes on demand a value that the run left out because no required output needs it.

Pure ops in one frame are run on the values of the run (recorded or recomputed, edits included), as a small separate
graph. If a loop or a branch lies in between, the whole graph is run again from the feeds, once the run is finished.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.debugger.iteration_path import as_path
from workbench.debugger.replay import step_back
from workbench.errors import DeadValueError, TraceError
from workbench.execution import NEWEST_ROWS, Run
from workbench.ir.frames.frame_tree import output_frame
from workbench.ir.graph import Graph
from workbench.ir.node import FrozenAttrs, Node, Ref
from workbench.ir.opspec import REGISTRY
from workbench.ir.types import TensorType
from workbench.plan import PLANS, signature_of
from workbench.trace.checks import path_of

#: reads a value of the run at an iteration path
Read = Callable[[Ref, Any], Any]
CONTROL = frozenset(("Enter", "Exit", "Merge", "Switch", "NextIteration", "LoopCond"))


def compute_unrequired(run: Run, ref: Ref, iteration: Any, read: Read) -> Any:
    """A value that the run does not compute. TraceError with slug ``not-computed`` if computing it would repeat side
    effects, depends on edits or on an unfinished run, or needs an input that was not fed."""
    graph = run.plan.graph
    if ref.node not in graph.nodes or ref.index >= len(graph.nodes[ref.node].types):
        raise _refusal(run, ref, "the graph does not have it")
    cone = _cone(run, ref)
    frame = graph.frame_of(ref.node)
    if iteration is not None:
        path_of(graph.name_of(ref), output_frame(graph.nodes[ref.node], frame), iteration)
    plain = all(graph.nodes[n].op not in CONTROL and graph.frame_of(n) == frame for n in cone)
    effects = [n for n in cone if not _repeatable(graph.nodes[n], bool(frame))]
    if effects:
        raise _refusal(run, ref, f"{effects[0]!r} has side effects, which must not be repeated")
    if plain:
        return _from_values(run, ref, iteration, read, cone)
    if run.edits:
        raise _refusal(run, ref, "it depends on loops or branches that were not computed, and values were edited")
    if not run.finished:
        raise _refusal(run, ref, "it depends on loops or branches that were not computed, and the run is not finished")
    return _from_feeds(run, ref, iteration)


def _cone(run: Run, ref: Ref) -> list[str]:
    """The nodes that a value needs and that the run does not compute."""
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
    return spec.pure or spec.draws and not inside  # a draw depends on its iteration


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
        for source in node.control:  # if one of them is dead, the node is dead too
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
    subgraph = Graph.from_nodes(
        f"{graph.name} subgraph",
        nodes,
        inputs=inputs,
        outputs={"value": ref},
        flushes_subnormals=graph.flushes_subnormals,
    )
    signature = signature_of(subgraph, {n: TensorType.of(a) for n, a in feeds.items()})
    plan = PLANS.get(subgraph, subgraph.outputs, signature, False, True, run.plan.device)
    other = Run(plan, feeds, NEWEST_ROWS, back=False)
    while other.go() != "halt":
        pass
    return other.outputs()["value"]


def _last(run: Run, cone: list[str]) -> tuple[int, ...] | None:
    """The last iteration in which all inputs of the cone fired."""
    graph = run.plan.graph
    read = {r for n in cone for r in graph.nodes[n].inputs if r.node not in cone}
    series = [run.trace[r].iterations for r in read if graph.frame_of(r.node)]
    if any(len(s) == 0 for s in series):
        raise DeadValueError(
            "The loop has not begun.", slug="not-fired", fix="step on, or check the branch that it is in."
        )
    return min((tuple(int(i) for i in s[-1]) for s in series), default=None)  # constants have no iteration


def _from_feeds(run: Run, ref: Ref, iteration: Any) -> Any:
    graph = run.plan.graph
    signature = signature_of(graph, {n: TensorType.of(a) for n, a in run.feeds.items()})
    other = Run(PLANS.get(graph, {"value": ref}, signature, False, True, run.plan.device), run.feeds, NEWEST_ROWS)
    while other.go() != "halt":
        pass
    series = other.trace[ref]
    if iteration is None and len(series):
        return series[-1]
    path = () if iteration is None else as_path(iteration)
    found = step_back.recompute(other, ref, path) if not len(series) or iteration is not None else None
    if found is None:
        raise DeadValueError(f"{str(ref)!r} has not fired.", slug="not-fired", fix="check the branch that it is in.")
    return found


def _refusal(run: Run, ref: Ref, why: str) -> TraceError:
    known = ref.node in run.plan.graph.nodes
    return TraceError(
        f"{run.plan.graph.name_of(ref) if known else str(ref)!r} was not computed in this run, because no required "
        f"output needs it, and it cannot be computed now: {why}.",
        slug="not-computed",
        node=ref.node if known else None,
        fix="add it to the outputs of the session, and feed all inputs that it needs.",
    )
