"""ONNX If -> branch: a Switch for each value that enters, shared by both sides, and a Merge for each value that leaves.

Source: https://onnx.ai/onnx/operators/onnx__If.html.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.errors import LoadError
from workbench.frontends.onnx.control.variables import body_graph, frame_names, scalar
from workbench.frontends.onnx.scope import BranchScope, OnnxScope, Switches
from workbench.ir.node import Ref
from workbench.ir.types import ANY

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import OnnxLowering, OnnxNode


def lower_if(lowering: OnnxLowering, outer: OnnxScope, node: OnnxNode) -> None:
    branches = [body_graph(node, "else_branch"), body_graph(node, "then_branch")]
    for graph in branches:
        if len(graph.output) < len(node.outputs):
            raise LoadError(
                f"If {node.label!r} has {len(node.outputs)} outputs, but its branch {graph.name!r} has "
                f"{len(graph.output)}.",
                slug="bad-if",
            )
    label, region = frame_names(lowering, node, outer, "if")
    pred = node.input(0)
    if pred is None:
        raise LoadError(f"If {node.label!r} has no condition.", slug="bad-if")
    pred = scalar(lowering, outer, pred, label, region)
    if not outer.is_gated(pred):
        pred = lowering.emit(outer, "Identity", [pred], f"{label}/pred", region=region)
    switches = Switches(lowering, outer, label, region, pred)
    sides: dict[int, list[Ref]] = {}
    for side in (1, 0) if lowering.call else (0, 1):  # PyTorch numbers the calls of the true branch first
        graph = branches[side]
        scope = BranchScope(lowering, outer, switches, side)
        lowering.open(scope, graph, "then_branch" if side else "else_branch")
        sides[side] = lowering.body(scope, graph)
    for name, on_false, on_true in zip(node.outputs, sides[0], sides[1], strict=False):
        if name:
            merge = lowering.raw("Merge", [on_false, on_true], lowering.node_name(outer, name), region=region)
            lowering.publish(outer, name, merge)
            declared = lowering.declared(outer, name)
            lowering.types[merge] = (
                lowering.type_of(on_false).join(lowering.type_of(on_true)) if declared.dtype == ANY else declared
            )
