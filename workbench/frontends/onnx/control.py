"""ONNX Loop and If -> frames and branches.

A Loop with trip count M, condition, carried values and scan outputs becomes::

    0 ──► Enter ─► Merge ─► trip ──┬─► less(trip, M) ─┐
    cond ► Enter ─► Merge ─► keep ─┼──────────────────┴► logical_and ─► LoopCond
    v    ► Enter ─► Merge ─────────┼─► Switch ─(true)─► body ─► NextIteration ─► back to its Merge
    list ► Enter ─► Merge ─────────┘         └(false)─► Exit ─► the output; lists are stacked after their Exit

What the specification leaves out is left out here: without M there is no comparison, without a condition ``cond_out``
of the body is ignored. With neither the loop would never end by the letter of the specification; then ``cond_out``
counts, as it does in onnxruntime. Source: https://onnx.ai/onnx/operators/onnx__Loop.html and onnx__If.html.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.onnx.scope import BranchScope, LoopScope, Scope, Switches
from workbench.graph.node import Ref
from workbench.graph.types import ANY, TensorType

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import Lowering, OnnxNode

_ENDLESS = np.iinfo(np.int64).max


class _Variable:
    """One loop variable while it is built: ``alive`` is its value in the body, ``after`` its value after the loop."""

    def __init__(self, lowering: Lowering, scope: LoopScope, label: str, start: Ref, dtype: str = "") -> None:
        self.lowering, self.scope, self.label = lowering, scope, label
        enter = scope.enter(start, label, False)
        self.merge = lowering.raw("Merge", [enter], f"{scope.frame}/{label}/Merge", region=scope.region)
        lowering.public.setdefault(f"{scope.frame}/{label}", self.merge)
        # given a dtype the variable is a scalar; of the others only the dtype is sure to stay from trip to trip
        known = TensorType(dtype, ()) if dtype else TensorType(lowering.type_of(start).dtype, None)
        lowering.types[self.merge] = known

    def split(self, loop_cond: Ref) -> None:
        name = f"{self.scope.frame}/{self.label}/Switch"
        switch = self.lowering.raw("Switch", [self.merge, loop_cond], name, region=self.scope.region)
        self.alive, self._dead = Ref(switch.node, 1), Ref(switch.node, 0)
        self.lowering.types[self.alive] = self.lowering.types[self.merge]

    def close(self, value: Ref) -> None:
        name = f"{self.scope.frame}/{self.label}"
        if not self.scope.is_gated(value):
            value = self.lowering.emit(self.scope, "Identity", [value], f"{name}/Identity")
        back = self.lowering.raw("NextIteration", [value], f"{name}/NextIteration", region=self.scope.region)
        self.lowering.add_input(self.merge.node, back)

    def exit(self, name: str) -> Ref:
        return self.lowering.raw("Exit", [self._dead], name, region=self.scope.region)


def lower_loop(lowering: Lowering, outer: Scope, node: OnnxNode) -> None:
    graph = _graph(node, "body")
    carried = list(node.inputs[2:])
    n_scan = len(graph.output) - 1 - len(carried)
    if (
        len(graph.input) != 2 + len(carried)
        or n_scan < 0
        or len(node.outputs) > len(carried) + n_scan
        or None in carried
    ):
        raise LoadError(
            f"Loop {node.label!r} carries {len(carried)} values, but its body has {len(graph.input)} inputs (expected "
            f"{2 + len(carried)}) and {len(graph.output)} outputs (expected at least {1 + len(carried)}).",
            slug="bad-loop",
        )
    frame = lowering.unique(_region_name(node, outer, "loop"))
    inside = LoopScope(lowering, outer, frame)
    lowering.open(inside, graph)
    names = [i.name for i in graph.input]
    limit, cond = node.input(0), node.input(1)
    if limit is not None and limit in lowering.constants and lowering.constants[limit].size == 1:
        # exporters write "no limit" as the largest int64; comparing with it would only hide the real condition
        limit = None if lowering.constants[limit].item() == _ENDLESS else limit
    given_limit = node.input(0) is not None
    uses_cond = cond is not None or not given_limit
    trip = keep = None
    if limit is not None or _reads(graph, names[0]) or not (uses_cond or carried):
        start = lowering.constant(outer, np.int64(0), f"{frame}/trip/start")
        trip = _Variable(lowering, inside, names[0] or "trip", start, "int64")
    if uses_cond:
        start = (
            lowering.constant(outer, True, f"{frame}/cond/start")
            if cond is None
            else _scalar(lowering, outer, cond, frame)
        )
        keep = _Variable(lowering, inside, names[1] or "cond", start, "bool")
    variables = [_Variable(lowering, inside, n, v) for n, v in zip(names[2:], carried, strict=True) if v is not None]
    lists = []
    for i in range(n_scan):
        label = graph.output[1 + len(carried) + i].name
        start = lowering.emit(outer, "list_new", [], f"{frame}/{label}/start")
        lists.append(_Variable(lowering, inside, f"{label}/list", start))
    everything = [v for v in (trip, keep, *variables, *lists) if v is not None]

    loop_cond = _condition(lowering, outer, inside, trip, keep, limit, everything[0].merge)
    for variable in everything:
        variable.split(loop_cond)
    inside.guarded = everything[0].alive
    for name, variable in zip(names, (trip, keep, *variables), strict=True):
        if variable is not None:
            lowering.publish(inside, name, variable.alive)
    if keep is None and _reads(graph, names[1]):
        lowering.publish(inside, names[1], lowering.constant(inside, True, f"{frame}/{names[1]}"))

    results = lowering.body(inside, graph)
    if trip is not None:
        one = lowering.constant(inside, np.int64(1), f"{frame}/trip/one")
        trip.close(lowering.emit(inside, "add", [trip.alive, one], f"{frame}/trip/next"))
    if keep is not None:
        keep.close(_scalar(lowering, inside, results[0], frame))
    for variable, value in zip(variables, results[1:], strict=False):
        variable.close(value)
    for variable, value in zip(lists, results[1 + len(variables) :], strict=True):
        name = f"{frame}/{variable.label}/append"
        variable.close(lowering.emit(inside, "list_append", [variable.alive, value], name))
    _outputs(lowering, outer, inside, node, graph, variables, lists)


def _condition(
    lowering: Lowering, outer: Scope, inside: LoopScope, trip: _Variable | None, keep: _Variable | None, limit: Ref |
    None, header: Ref,
) -> Ref:  # fmt: skip
    frame, region = inside.frame, inside.region
    pred = None if keep is None else keep.merge
    if limit is not None and trip is not None:
        bound = inside.bring_in(_scalar(lowering, outer, limit, frame), "trip_count")
        within = lowering.raw("less", [trip.merge, bound], f"{frame}/within_trip_count", region=region)
        pred = within if pred is None else lowering.raw("logical_and", [within, pred], f"{frame}/go_on", region=region)
    if pred is None:
        # no condition and no limit that could be reached: a constant that fires with each iteration's first Merge
        pred = lowering.raw(
            "Const", [], f"{frame}/endless", control=[header.node], region=region, value=np.asarray(True)
        )
    return lowering.raw("LoopCond", [pred], f"{frame}/LoopCond", region=region)


def _outputs(
    lowering: Lowering, outer: Scope, inside: LoopScope, node: OnnxNode, graph: Any, variables: list[_Variable],
    lists: list[_Variable],
) -> None:  # fmt: skip
    for i, name in enumerate(node.outputs):
        if not name:
            continue
        own = lowering.node_name(outer, name)
        declared = lowering.declared(outer, name)
        if i < len(variables):
            value = variables[i].exit(own)
        else:
            scan = lists[i - len(variables)]
            element = lowering.declared(inside, graph.output[1 + i].name)
            stacked = scan.exit(f"{inside.frame}/{scan.label}/Exit")
            # without a single trip there is no element to take the dtype and the rank from
            shape = None if element.shape is None else tuple(-1 if d is None else d for d in element.shape)
            value = lowering.emit(outer, "list_stack", [stacked], own, dtype=element.dtype, shape=shape)
        lowering.publish(outer, name, value)
        if declared.dtype != ANY:
            lowering.types[value] = declared


def lower_if(lowering: Lowering, outer: Scope, node: OnnxNode) -> None:
    branches = [_graph(node, "else_branch"), _graph(node, "then_branch")]
    for graph in branches:
        if len(graph.output) < len(node.outputs):
            raise LoadError(
                f"If {node.label!r} has {len(node.outputs)} outputs, but its branch {graph.name!r} has "
                f"{len(graph.output)}.",
                slug="bad-if",
            )
    region = lowering.unique(_region_name(node, outer, "if"))
    pred = node.input(0)
    if pred is None:
        raise LoadError(f"If {node.label!r} has no condition.", slug="bad-if")
    pred = _scalar(lowering, outer, pred, region)
    if not outer.is_gated(pred):
        pred = lowering.emit(outer, "Identity", [pred], f"{region}/pred", region=region)
    switches = Switches(lowering, outer, region, pred)
    sides: list[list[Ref]] = []
    for side, graph in enumerate(branches):
        scope = BranchScope(lowering, outer, switches, side)
        lowering.open(scope, graph)
        sides.append(lowering.body(scope, graph))
    for name, on_false, on_true in zip(node.outputs, *sides, strict=False):
        if name:
            merge = lowering.raw("Merge", [on_false, on_true], lowering.node_name(outer, name), region=region)
            lowering.publish(outer, name, merge)
            lowering.types[merge] = lowering.declared(outer, name)


def _scalar(lowering: Lowering, scope: Scope, ref: Ref, prefix: str) -> Ref:
    """ONNX lets trip counts and conditions have the shape (1,); ours are scalars."""
    if lowering.type_of(ref).shape == ():
        return ref
    return lowering.emit(scope, "reshape", [ref], f"{prefix}/{ref.node.rpartition('/')[2]}/scalar", shape=())


def _region_name(node: OnnxNode, outer: Scope, kind: str) -> str:
    return node.proto.name or (f"{outer.region}/{kind}" if outer.region else kind)


def _graph(node: OnnxNode, attribute: str) -> Any:
    for a in node.proto.attribute:
        if a.name == attribute and a.HasField("g"):
            return a.g
    raise LoadError(f"{node.op} {node.label!r} has no graph {attribute!r}.", slug="bad-model")


def _reads(graph: Any, name: str) -> bool:
    """Whether a graph, or a graph inside it, reads the value ``name``."""
    if any(o.name == name for o in graph.output):
        return True
    for node in graph.node:
        if name in node.input or any(a.HasField("g") and _reads(a.g, name) for a in node.attribute):
            return True
    return False
