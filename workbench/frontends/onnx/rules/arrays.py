"""Rules for the ONNX ops that create, move and cut arrays; ``table`` assigns them to ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.onnx.control.variables import scalar
from workbench.frontends.onnx.rules.general import Rule, emit_as
from workbench.frontends.onnx.scope import OnnxScope
from workbench.frontends.onnx.tensors import dense_of
from workbench.ir.node import Ref

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import OnnxLowering, OnnxNode


def reshape(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    attrs: dict[str, Any] = {"copy_zeros": not node.attrs.get("allowzero", 0)}
    if node.input(1) is None:
        attrs["shape"] = tuple(node.attrs.get("shape", ()))
    return emit_as(lowering, scope, node, "reshape", node.given(), **attrs)


def axes(op: str) -> Rule:
    """Squeeze and Unsqueeze: the axes are the second input or an attribute."""

    def rule(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
        attrs = {}
        if node.input(1) is None and "axes" in node.attrs:
            attrs["axis"] = tuple(node.attrs["axes"])
        return emit_as(lowering, scope, node, op, node.given(), **attrs)

    return rule


def split(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    attrs: dict[str, Any] = {"axis": int(node.attrs.get("axis", 0))}
    if node.input(1) is None:
        if "split" in node.attrs:
            attrs["sizes"] = tuple(node.attrs["split"])
        else:
            attrs.update(num=len(node.outputs), uneven=node.version >= 18)
    else:
        attrs["num"] = len(node.outputs)  # nothing else may determine the number of sizes
    return emit_as(lowering, scope, node, "split", node.given(), **attrs)


def slice_(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    if node.version < 10:
        parts = {k: tuple(node.attrs[k]) for k in ("starts", "ends", "axes") if k in node.attrs}
        return emit_as(lowering, scope, node, "slice", node.given(), **parts)
    if node.input(3) is None and node.input(4) is not None:
        return None
    return emit_as(lowering, scope, node, "slice", node.given())


def constant(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    for key, dtype in (
        ("value", None),
        ("value_float", np.float32),
        ("value_floats", np.float32),
        ("value_int", np.int64),
        ("value_ints", np.int64),
    ):
        if key in node.attrs:
            array = np.asarray(node.attrs[key], dtype)
            return [lowering.constant(scope, array, lowering.result_name(scope, node))]
    for key in ("value_string", "value_strings"):
        if key in node.attrs:
            return [lowering.constant(scope, np.asarray(node.attrs[key], object), lowering.result_name(scope, node))]
    for attribute in node.proto.attribute:
        if attribute.HasField("sparse_tensor"):
            array = dense_of(attribute.sparse_tensor, f"Constant {node.label!r}", lowering.expansion)
            return [lowering.constant(scope, array, lowering.result_name(scope, node))]
    return None


def constant_of_shape(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    return emit_as(lowering, scope, node, "constant_of_shape", node.given(), value=node.attrs.get("value"))


def transpose(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    perm = node.attrs.get("perm")
    return emit_as(lowering, scope, node, "transpose", node.given(), perm=None if perm is None else tuple(perm))


def range_(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    """Range, whose bounds exporters also write with shape (1,)."""
    name = lowering.result_name(scope, node)
    return emit_as(lowering, scope, node, "range", [scalar(lowering, scope, i, name) for i in node.given()])
