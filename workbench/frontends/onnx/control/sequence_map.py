"""ONNX SequenceMap -> frame: a loop over the positions of the first input.

In trip i the body gets element i of every input that is a sequence, and every other input whole; each of its outputs
is collected in a sequence. Source: https://onnx.ai/onnx/operators/onnx__SequenceMap.html.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.onnx.control.variables import CarriedVariable, body_graph, collect, collectors, frame_names
from workbench.frontends.onnx.scope import LoopScope, OnnxScope
from workbench.frontends.onnx.sequences import type_attrs
from workbench.ir.types import OPAQUE

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import OnnxLowering, OnnxNode


def lower_sequence_map(lowering: OnnxLowering, outer: OnnxScope, node: OnnxNode) -> None:
    graph, inputs = body_graph(node, "body"), node.given()
    if not inputs or len(graph.input) != len(inputs) or len(graph.output) < len(node.outputs):
        raise LoadError(
            f"SequenceMap {node.label!r} has {len(inputs)} inputs and {len(node.outputs)} outputs, but its body has "
            f"{len(graph.input)} and {len(graph.output)}.",
            slug="bad-sequence-map",
            fix="give the body one input and one output for each of the node's.",
        )
    frame, region = frame_names(lowering, node, outer, "sequence_map")
    inside = LoopScope(lowering, outer, frame, region)
    lowering.open(inside, graph)
    length = lowering.emit(outer, "sequence_length", inputs[:1], f"{frame}/length", region=region)
    start = lowering.constant(outer, np.int64(0), f"{frame}/trip/start", region=region)
    trip = CarriedVariable(lowering, inside, "trip", start, "int64")
    lists = collectors(lowering, outer, inside, graph.output)

    bound = inside.bring_in(length, "length")
    within = lowering.raw("less", [trip.merge, bound], f"{frame}/within_length", region=region)
    loop_cond = lowering.raw("LoopCond", [within], f"{frame}/LoopCond", region=region)
    for variable in (trip, *lists):
        variable.split(loop_cond)
    inside.guarded = trip.alive
    for i, (info, whole) in enumerate(zip(graph.input, inputs, strict=True)):
        value = inside.bring_in(whole, f"{info.name}/all")
        if i == 0 or lowering.type_of(whole).dtype == OPAQUE:
            known = lowering.loose(inside, lowering.declared(inside, info.name))
            own = lowering.node_name(inside, info.name)
            value = lowering.emit(inside, "sequence_at", [value, trip.alive], own, **type_attrs(known))
            lowering.types[value] = known
        lowering.publish(inside, info.name, value)

    results = lowering.body(inside, graph)
    one = lowering.constant(inside, np.int64(1), f"{frame}/trip/one")
    trip.close(lowering.emit(inside, "add", [trip.alive, one], f"{frame}/trip/next"))
    collect(lowering, inside, lists, results)
    for name, collected in zip(node.outputs, lists, strict=False):
        if name:
            lowering.publish(outer, name, collected.exit(lowering.node_name(outer, name)))
