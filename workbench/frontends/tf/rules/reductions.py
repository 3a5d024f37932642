"""Reductions, scans and searches along axes."""

from __future__ import annotations

from typing import Any

from workbench.frontends.tf.graphdef import NodeDef
from workbench.frontends.tf.rules.base import Constant, LoweredNode, Rule, attrs
from workbench.frontends.tf.tensor_proto import DTypeAttr


def reduction(op: str, **fixed: Any) -> Rule:
    def rule(node: NodeDef, constant: Constant) -> LoweredNode:
        return LoweredNode(op, node.inputs, {"keepdims": bool(node.attrs.get("keep_dims", False)), **fixed})

    return rule


def cumulative(op: str) -> Rule:
    def rule(node: NodeDef, constant: Constant) -> LoweredNode:
        flags = {k: bool(node.attrs.get(k, False)) for k in ("exclusive", "reverse")}
        return LoweredNode(op, node.inputs, {"dtype": "same", **flags})

    return rule


def arg(op: str) -> Rule:
    def rule(node: NodeDef, constant: Constant) -> LoweredNode:
        out = node.attrs.get("output_type")
        return LoweredNode(op, node.inputs, {"dtype": out.name if isinstance(out, DTypeAttr) else "int64"})

    return rule


RULES: dict[str, Rule] = {
    "Sum": reduction("sum", dtype="same"),
    "Prod": reduction("prod", dtype="same"),
    "Mean": reduction("mean", dtype="same"),
    "Max": reduction("max", of_none="limit"),
    "Min": reduction("min", of_none="limit"),
    "EuclideanNorm": reduction("norm"),
    "All": reduction("all"),
    "Any": reduction("any"),
    "ArgMax": arg("argmax"),
    "ArgMin": arg("argmin"),
    "Cumsum": cumulative("cumsum"),
    "CumulativeLogsumexp": attrs("cumlogsumexp", exclusive="exclusive", reverse="reverse"),
    "Cumprod": cumulative("cumprod"),
}
