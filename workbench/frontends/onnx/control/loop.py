"""ONNX Loop -> frame.

A Loop with trip count M, condition, carried values and scan outputs becomes::

    0 ──► Enter ─► Merge ─► trip ──┬─► less(trip, M) ─┐
    cond ► Enter ─► Merge ─► keep ─┼──────────────────┴► logical_and ─► LoopCond
    v    ► Enter ─► Merge ─────────┼─► Switch ─(true)─► body ─► NextIteration ─► back to its Merge
    list ► Enter ─► Merge ─────────┘         └(false)─► Exit ─► the output; lists are stacked after their Exit

Optional inputs may be missing: without M there is no comparison, without a condition ``cond_out`` of the body is
ignored. With neither, the loop would never end by the specification; then ``cond_out`` is used, as in onnxruntime.
Source: https://onnx.ai/onnx/operators/onnx__Loop.html.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.onnx.control.variables import (
    CarriedVariable,
    agree,
    body_graph,
    collect,
    collectors,
    frame_names,
    labels_of,
    leave,
    reads,
    scalar,
)
from workbench.frontends.onnx.scope import LoopScope, OnnxScope
from workbench.ir.node import Ref

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import OnnxLowering, OnnxNode

_ENDLESS = np.iinfo(np.int64).max


def lower_loop(lowering: OnnxLowering, outer: OnnxScope, node: OnnxNode) -> None:
    graph = body_graph(node, "body")
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
    frame, region = frame_names(lowering, node, outer, "loop")
    inside = LoopScope(lowering, outer, frame, region)
    lowering.open(inside, graph)
    names = [i.name for i in graph.input]
    agree(lowering, inside, f"Loop {node.label!r}", names[2:], [c for c in carried if c is not None])
    limit, cond = node.input(0), node.input(1)
    known = None if limit is None else lowering.constant_of(limit)
    if known is not None and known.size == 1 and known.item() == _ENDLESS:
        limit = None  # exporters write this for "no limit"; a comparison with it would only hide the real condition
    given_limit = node.input(0) is not None
    uses_cond = cond is not None or not given_limit
    trip = keep = None
    if limit is not None or reads(graph, names[0]) or not (uses_cond or carried):
        start = lowering.constant(outer, np.int64(0), f"{frame}/trip/start", region=region)
        trip = CarriedVariable(lowering, inside, names[0] or "trip", start, "int64")
    if uses_cond:
        start = (
            lowering.constant(outer, True, f"{frame}/cond/start", region=region)
            if cond is None
            else scalar(lowering, outer, cond, frame, region)
        )
        keep = CarriedVariable(lowering, inside, names[1] or "cond", start, "bool")
    labels = labels_of(graph, list(node.proto.input)[2:])
    variables = [CarriedVariable(lowering, inside, n, v) for n, v in zip(labels, carried, strict=True) if v is not None]
    scanned = list(graph.output)[1 + len(carried) :]
    lists = collectors(lowering, outer, inside, scanned)
    everything = [v for v in (trip, keep, *variables, *lists) if v is not None]

    loop_cond = _condition(lowering, outer, inside, trip, keep, limit, everything[0].merge)
    for variable in everything:
        variable.split(loop_cond)
    inside.guarded = everything[0].alive
    for name, variable in zip(names, (trip, keep, *variables), strict=True):
        if variable is not None:
            lowering.publish(inside, name, variable.alive)
    if keep is None and reads(graph, names[1]):
        lowering.publish(inside, names[1], lowering.constant(inside, True, f"{frame}/{names[1]}"))

    results = lowering.body(inside, graph)
    if trip is not None:
        one = lowering.constant(inside, np.int64(1), f"{frame}/trip/one")
        trip.close(lowering.emit(inside, "add", [trip.alive, one], f"{frame}/trip/next"))
    if keep is not None:
        keep.close(scalar(lowering, inside, results[0], frame))
    for variable, value in zip(variables, results[1:], strict=False):
        variable.close(value)
    collect(lowering, inside, lists, results[1 + len(variables) :])
    leave(lowering, outer, node.outputs, variables, lists, [lowering.declared(inside, o.name) for o in scanned])


def _condition(
    lowering: OnnxLowering,
    outer: OnnxScope,
    inside: LoopScope,
    trip: CarriedVariable | None,
    keep: CarriedVariable | None,
    limit: Ref | None,
    header: Ref,
) -> Ref:
    frame, region = inside.frame, inside.region
    pred = None if keep is None else keep.merge
    if limit is not None and trip is not None:
        bound = inside.bring_in(scalar(lowering, outer, limit, frame, region), "trip_count")
        within = lowering.raw("less", [trip.merge, bound], f"{frame}/within_trip_count", region=region)
        pred = within if pred is None else lowering.raw("logical_and", [within, pred], f"{frame}/go_on", region=region)
    if pred is None:
        # no condition and no reachable limit: a constant that fires with the first Merge of each iteration
        pred = lowering.raw(
            "Const", [], f"{frame}/endless", control=[header.node], region=region, value=np.asarray(True)
        )
    return lowering.raw("LoopCond", [pred], f"{frame}/LoopCond", region=region)
