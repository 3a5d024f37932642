"""Frames, constants and ops that pass a value on."""

from __future__ import annotations

import numpy as np

from workbench.frontends.tf.graphdef import NodeDef
from workbench.frontends.tf.rules.base import Constant, LoweredNode, Rule, attrs, plain, same
from workbench.frontends.tf.tensor_proto import DTypeAttr
from workbench.ir.frames.deadness import TRIGGER


def _enter(node: NodeDef, constant: Constant) -> LoweredNode:
    return LoweredNode(
        "Enter",
        node.inputs,
        {
            "frame_name": plain(node.attrs.get("frame_name", b"")),
            "is_constant": bool(node.attrs.get("is_constant", False)),
            "parallel_iterations": int(node.attrs.get("parallel_iterations", 10)),
        },
    )


def _const(node: NodeDef, constant: Constant) -> LoweredNode | None:
    value = node.attrs.get("value")
    return LoweredNode("Const", (), {"value": value}) if isinstance(value, np.ndarray) else None


def _placeholder(node: NodeDef, constant: Constant) -> LoweredNode | None:
    dtype = node.attrs.get("dtype", node.attrs.get("T"))
    shape = node.attrs.get("shape")
    return (
        LoweredNode("Placeholder", (), {"dtype": dtype.name, "shape": shape}) if isinstance(dtype, DTypeAttr) else None
    )


_ONE_TO_ONE = {
    "Merge": "Merge",
    "RefMerge": "Merge",
    "Switch": "Switch",
    "RefSwitch": "Switch",
    "NextIteration": "NextIteration",
    "RefNextIteration": "NextIteration",
    "Exit": "Exit",
    "RefExit": "Exit",
    "LoopCond": "LoopCond",
    "NoOp": "NoOp",
    "Identity": "Identity",
    "RefIdentity": "Identity",
    "StopGradient": "Identity",
    "PreventGradient": "Identity",
    "Snapshot": "Identity",
    "DeepCopy": "Identity",
    "PlaceholderWithDefault": "Identity",
    "_Retval": "Identity",
    "ToBool": "to_bool",
}

RULES: dict[str, Rule] = {
    **{theirs: same(ours) for theirs, ours in _ONE_TO_ONE.items()},
    "Const": _const,
    "Placeholder": _placeholder,
    "PlaceholderV2": _placeholder,
    "ControlTrigger": same("NoOp", **{TRIGGER: True}),
    "_Arg": _placeholder,
    "Enter": _enter,
    "RefEnter": _enter,
    "Assert": attrs("assert", summarize="summarize"),
    "StringFormat": attrs("string_format", template="template", placeholder="placeholder", summarize="summarize"),
    "PrintV2": attrs("print_text", end="end"),
    "CheckNumerics": attrs("check_numerics", message="message"),
}
