"""Rules for the ONNX random ops; ``table`` assigns them to ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.onnx.rules.general import Rule, emit_as
from workbench.frontends.onnx.scope import OnnxScope
from workbench.frontends.onnx.tensors import DTYPES
from workbench.ir.node import Ref

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import OnnxLowering, OnnxNode

_KEYS = ("low", "high", "mean", "scale", "sample_size", "seed")


def draw(op: str, dtype: int = 0) -> Rule:
    """``dtype``: the number of the element type if there is no attribute; 0 means that of the input."""

    def rule(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
        attrs: dict[str, Any] = {k: node.attrs[k] for k in _KEYS if k in node.attrs}
        if "shape" in node.attrs:
            attrs["shape"] = tuple(int(d) for d in node.attrs["shape"])
        number = int(node.attrs.get("dtype", dtype))
        if number and number not in DTYPES:
            return None
        return emit_as(lowering, scope, node, op, node.given(), **attrs, dtype=DTYPES.get(number))

    return rule


def dropout(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    """Dropout: outside training nothing is dropped and the mask is all true; training is an input since version 12, an
    attribute before version 7.
    """
    given = node.given()
    trains = node.version < 7 and not node.attrs.get("is_test", 0)
    if trains:
        name = lowering.result_name(scope, node)
        ratio = lowering.constant(scope, np.float32(node.attrs.get("ratio", 0.5)), f"{name}/ratio")
        mode = lowering.constant(scope, np.asarray(True), f"{name}/training")
        return emit_as(lowering, scope, node, "draw_dropout", [given[0], ratio, mode])
    if node.input(2) is None:
        kept = emit_as(lowering, scope, node, "Identity", given[:1])
        if len(node.outputs) < 2 or not node.outputs[1]:
            return kept[:1]
        mask = {"dtype": "bool"} if node.version >= 10 else {}
        return [kept[0], lowering.emit(scope, "ones_like", given[:1], node.outputs[1], **mask)]
    name = lowering.result_name(scope, node)
    ratio = node.input(1) or lowering.constant(scope, np.float32(0.5), f"{name}/ratio")
    seed = {"seed": node.attrs["seed"]} if "seed" in node.attrs else {}
    return emit_as(lowering, scope, node, "draw_dropout", [given[0], ratio, given[-1]], **seed)
