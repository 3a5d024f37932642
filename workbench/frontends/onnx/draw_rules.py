"""Rules for the random ops of ONNX; ``table`` says which op has which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.onnx.rules import Rule, emit_as
from workbench.frontends.onnx.scope import Scope
from workbench.frontends.onnx.tensors import DTYPES
from workbench.graph.node import Ref

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import Lowering, OnnxNode

_KEYS = ("low", "high", "mean", "scale", "sample_size", "seed")


def draw(op: str, dtype: int = 0) -> Rule:
    """``dtype``: the number of the element type without an attribute; 0 is the input's."""

    def rule(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
        attrs: dict[str, Any] = {k: node.attrs[k] for k in _KEYS if k in node.attrs}
        if "shape" in node.attrs:
            attrs["shape"] = tuple(int(d) for d in node.attrs["shape"])
        number = int(node.attrs.get("dtype", dtype))
        if number and number not in DTYPES:
            return None
        return emit_as(lowering, scope, node, op, node.given(), **attrs, dtype=DTYPES.get(number))

    return rule


def dropout(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    """Outside of training nothing is dropped and the mask is full; since version 12 an input says whether it trains."""
    if node.version < 7:
        return None
    given = node.given()
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
