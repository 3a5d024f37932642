"""Rules for the ONNX ops on sequences and optionals; ``table`` assigns them to ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.frontends.onnx.rules.general import emit_as
from workbench.frontends.onnx.scope import OnnxScope
from workbench.frontends.onnx.sequences import type_attrs
from workbench.ir.node import Ref

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import OnnxLowering, OnnxNode


def typed(op: str, **attrs: tuple[str, Any]) -> Any:
    """A rule for an op whose result type is an attribute; our attribute = (ONNX attribute, its default)."""

    def rule(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref]:
        own = {ours: node.attrs.get(theirs, default) for ours, (theirs, default) in attrs.items()}
        known = lowering.loose(scope, lowering.declared(scope, node.outputs[0]))
        return emit_as(lowering, scope, node, op, node.given(), **own, **type_attrs(known))

    return rule


def concat_from_sequence(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    if "axis" not in node.attrs:
        return None
    rule = typed("sequence_concat", axis=("axis", 0), new_axis=("new_axis", 0))
    return rule(lowering, scope, node)


def split_to_sequence(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref]:
    attrs = {"axis": int(node.attrs.get("axis", 0)), "keepdims": bool(node.attrs.get("keepdims", 1))}
    return emit_as(lowering, scope, node, "sequence_split", node.given(), **attrs)
