"""Scan of version 8 -> two frames: its inputs have a leading batch axis, which later versions dropped.

The outer frame runs over the batch: trip b takes entry b of every input, and the inner frame is the Scan of that entry
along its first axis. ``sequence_lens`` is the number of trips of each entry; scan outputs of shorter entries end in
zeros. A backward scan begins at the last slice of each entry. Source: https://onnx.ai/onnx/operators/onnx__Scan.html,
version 8; points that it leaves open follow onnxruntime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.frontends.onnx.control.scan_loop import ints, length_of, scan_inputs, scan_loop, take
from workbench.frontends.onnx.control.variables import CarriedVariable, body_graph, collect, frame_names, leave
from workbench.frontends.onnx.scope import LoopScope, OnnxScope
from workbench.frontends.onnx.sequences import type_attrs
from workbench.ir.node import Ref
from workbench.ir.types import TensorType

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import OnnxLowering, OnnxNode


def lower_scan_8(lowering: OnnxLowering, outer: OnnxScope, node: OnnxNode) -> None:
    graph, lengths, inputs = body_graph(node, "body"), node.input(0), [i for i in node.inputs[1:] if i is not None]
    n_in = scan_inputs(node, graph, len(inputs))
    n_state = len(inputs) - n_in
    backward = ints(node, "directions", n_in)
    frame, region = frame_names(lowering, node, outer, "scan")
    batch = LoopScope(lowering, outer, frame, region)
    count = length_of(lowering, outer, inputs[n_state], 0, frame, region)
    start = lowering.constant(outer, np.int64(0), f"{frame}/entry/start", region=region)
    entry = CarriedVariable(lowering, batch, "entry", start, "int64")
    lists = []
    for output in graph.output:
        empty = lowering.emit(outer, "list_new", [], f"{frame}/{output.name}/batch/start", region=region)
        lists.append(CarriedVariable(lowering, batch, f"{output.name}/batch", empty))
    bound = batch.bring_in(count, "batch")
    within = lowering.raw("less", [entry.merge, bound], f"{frame}/within_batch", region=region)
    loop_cond = lowering.raw("LoopCond", [within], f"{frame}/LoopCond", region=region)
    for variable in (entry, *lists):
        variable.split(loop_cond)
    batch.guarded = entry.alive

    own = [_entry(lowering, batch, v, entry.alive, i.name) for v, i in zip(inputs, graph.input, strict=True)]
    most = length_of(lowering, batch, own[n_state], 0, f"{frame}/sequence", region)
    length = most if lengths is None else _entry(lowering, batch, lengths, entry.alive, "sequence_lens")
    inside = LoopScope(lowering, batch, lowering.unique(f"{frame}/sequence"), f"{region}/sequence")
    states, collected = scan_loop(lowering, inside, graph, own[:n_state], own[n_state:], length, (0,) * n_in, backward)
    results = [s.exit(f"{inside.frame}/{s.label}/Exit") for s in states]
    for variable, output in zip(collected, list(graph.output)[n_state:], strict=True):
        known = lowering.loose(batch, lowering.declared(inside, output.name))
        results.append(_stacked(lowering, batch, variable, known, None if lengths is None else most))

    one = lowering.constant(batch, np.int64(1), f"{frame}/entry/one")
    entry.close(lowering.emit(batch, "add", [entry.alive, one], f"{frame}/entry/next"))
    collect(lowering, batch, lists, results)
    kinds = [TensorType(lowering.declared(inside, o.name).dtype, None) for o in graph.output]
    leave(lowering, outer, node.outputs, [], lists, kinds)


def _entry(lowering: OnnxLowering, batch: LoopScope, whole: Ref, at: Ref, name: str) -> Ref:
    value = take(lowering, batch, batch.bring_in(whole, f"{name}/batch"), at, f"{batch.frame}/{name}/entry")
    lowering.types[value] = TensorType(lowering.type_of(whole).dtype, None)
    return value


def _stacked(
    lowering: OnnxLowering, batch: LoopScope, variable: CarriedVariable, known: TensorType, most: Ref | None
) -> Ref:
    """The scan output of one entry, padded with zeros to ``most`` slices."""
    name = f"{variable.scope.frame}/{variable.label}"
    done = variable.exit(f"{name}/Exit")
    if most is not None:
        done = lowering.emit(batch, "sequence_fill", [done, most], f"{name}/fill", **type_attrs(known))
    return lowering.emit(batch, "list_stack", [done], f"{name}/stack", **type_attrs(known))
