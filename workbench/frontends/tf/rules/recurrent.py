"""Cells of recurrent networks that are single ops."""

from __future__ import annotations

from typing import Any

from workbench.frontends.tf.graphdef import NodeDef
from workbench.frontends.tf.rules.base import Constant, LoweredNode, Rule, same


def _lstm(op: str, gates: str = "icfo", **defaults: float) -> Rule:
    def rule(node: NodeDef, constant: Constant) -> LoweredNode:
        found: dict[str, Any] = {key: float(node.attrs.get(key, default)) for key, default in defaults.items()}
        found["use_peephole"] = bool(node.attrs.get("use_peephole", False))
        return LoweredNode(op, node.inputs, {"forget_bias": 0.0, **found, "gates": gates})

    return rule


RULES: dict[str, Rule] = {
    "LSTMBlockCell": _lstm("lstm_cell", forget_bias=1.0, cell_clip=3.0),
    "BlockLSTM": _lstm("lstm_block", forget_bias=1.0, cell_clip=3.0),
    "BlockLSTMV2": _lstm("lstm_block", "ifco", cell_clip=0.0),
    "GRUBlockCell": same("gru_cell"),
}
