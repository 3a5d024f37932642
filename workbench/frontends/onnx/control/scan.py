"""ONNX Scan -> frame.

A Scan is a loop over the slices of its scan inputs: in trip i the body gets ``gather(input, i)`` along the input's axis
(in reverse if the direction is 1), and its scan outputs are collected and stacked along their axes. The number of trips
is the length of the first scan input. Version 8, which has a batch axis, is in ``scan_batch``. Source:
https://onnx.ai/onnx/operators/onnx__Scan.html.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.frontends.onnx.control.scan_batch import lower_scan_8
from workbench.frontends.onnx.control.scan_loop import ints, length_of, scan_inputs, scan_loop
from workbench.frontends.onnx.control.variables import body_graph, frame_names, leave
from workbench.frontends.onnx.scope import LoopScope, OnnxScope

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import OnnxLowering, OnnxNode


def lower_scan(lowering: OnnxLowering, outer: OnnxScope, node: OnnxNode) -> None:
    if node.version < 9:
        lower_scan_8(lowering, outer, node)
        return
    graph, inputs = body_graph(node, "body"), node.given()
    n_in = scan_inputs(node, graph, len(inputs))
    n_state = len(inputs) - n_in
    frame, region = frame_names(lowering, node, outer, "scan")
    inside = LoopScope(lowering, outer, frame, region)
    axes = ints(node, "scan_input_axes", n_in)
    length = length_of(lowering, outer, inputs[n_state], axes[0], frame, region)
    states, lists = scan_loop(
        lowering,
        inside,
        graph,
        inputs[:n_state],
        inputs[n_state:],
        length,
        axes,
        ints(node, "scan_input_directions", n_in),
    )
    scanned = list(graph.output)[n_state:]
    leave(
        lowering,
        outer,
        node.outputs,
        states,
        lists,
        [lowering.declared(inside, o.name) for o in scanned],
        axis=ints(node, "scan_output_axes", len(scanned)),
        backward=[bool(d) for d in ints(node, "scan_output_directions", len(scanned))],
    )
