"""ONNX Scan (version 9 and later) -> frame.

A Scan is a loop over the slices of its scan inputs: in trip i the body gets ``gather(input, i)`` along the input's
axis (from the end where the direction says so), and its scan outputs are collected and stacked along theirs. The
number of trips is the length of the first scan input. Version 8 has a batch axis that later versions dropped; it is
not read. Source: https://onnx.ai/onnx/operators/onnx__Scan.html.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.onnx.scope import LoopScope, Scope
from workbench.frontends.onnx.variables import Variable, body_graph, collect, collectors, leave, region_name
from workbench.graph.node import Ref

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import Lowering, OnnxNode


def lower_scan(lowering: Lowering, outer: Scope, node: OnnxNode) -> None:
    if node.version < 9:
        lowering.results(outer, node, lowering.refuse(outer, node, "before version 9 it has a batch axis"))
        return
    graph = body_graph(node, "body")
    n_in = int(node.attrs.get("num_scan_inputs", 0))
    inputs = node.given()
    n_state = len(inputs) - n_in
    if not 1 <= n_in <= len(inputs) or len(graph.input) != len(inputs) or len(graph.output) < n_state:
        raise LoadError(
            f"Scan {node.label!r} has {len(inputs)} inputs, {n_in} of them scanned, but its body has "
            f"{len(graph.input)} inputs and {len(graph.output)} outputs.",
            slug="bad-scan",
        )
    axes = node.attrs.get("scan_input_axes", (0,) * n_in)
    backward = node.attrs.get("scan_input_directions", (0,) * n_in)
    frame = lowering.unique(region_name(node, outer, "scan"))
    inside = LoopScope(lowering, outer, frame)
    lowering.open(inside, graph)
    length = _length(lowering, outer, inputs[n_state], int(axes[0]), frame)
    trip = Variable(lowering, inside, "trip", lowering.constant(outer, np.int64(0), f"{frame}/trip/start"), "int64")
    names = [i.name for i in graph.input]
    states = [Variable(lowering, inside, n, v) for n, v in zip(names, inputs[:n_state], strict=False)]
    scanned = list(graph.output)[n_state:]
    lists = collectors(lowering, outer, inside, scanned)

    bound = inside.bring_in(length, "length")
    within = lowering.raw("less", [trip.merge, bound], f"{frame}/within_length", region=inside.region)
    loop_cond = lowering.raw("LoopCond", [within], f"{frame}/LoopCond", region=inside.region)
    for variable in (trip, *states, *lists):
        variable.split(loop_cond)
    inside.guarded = trip.alive
    one = lowering.constant(inside, np.int64(1), f"{frame}/trip/one")
    following = lowering.emit(inside, "add", [trip.alive, one], f"{frame}/trip/next")
    for name, state in zip(names, states, strict=False):
        lowering.publish(inside, name, state.alive)
    for name, whole, axis, turned in zip(names[n_state:], inputs[n_state:], axes, backward, strict=True):
        at = trip.alive
        if turned:
            at = lowering.emit(inside, "subtract", [bound, following], f"{frame}/{name}/position")
        source = inside.bring_in(whole, f"{name}/all")
        slice_ = lowering.emit(inside, "gather", [source, at], lowering.node_name(inside, name), axis=int(axis))
        lowering.types[slice_] = lowering.declared(inside, name)
        lowering.publish(inside, name, slice_)

    results = lowering.body(inside, graph)
    trip.close(following)
    for state, value in zip(states, results, strict=False):
        state.close(value)
    collect(lowering, inside, lists, results[n_state:])
    leave(
        lowering, outer, node.outputs, states, lists, [lowering.declared(inside, o.name) for o in scanned],
        axis=[int(a) for a in node.attrs.get("scan_output_axes", (0,) * len(scanned))],
        backward=[bool(d) for d in node.attrs.get("scan_output_directions", (0,) * len(scanned))],
    )  # fmt: skip


def _length(lowering: Lowering, outer: Scope, whole: Ref, axis: int, frame: str) -> Ref:
    sizes = lowering.emit(
        outer, "shape", [whole], f"{frame}/length/shape", start=axis, end=None if axis == -1 else axis + 1
    )
    return lowering.emit(outer, "reshape", [sizes], f"{frame}/length", shape=())
