"""Nodes whose old version leaves open what a newer one says outright: they are evaluated as the newer one.

BatchNormalization of versions 7 to 13 trains where it has more than one output; with one it does not, but evaluators
have read its ``momentum`` as a sign of training. Version 15 has an attribute for it. Source:
https://onnx.ai/onnx/operators/onnx__BatchNormalization.html.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def upgraded(proto: Any, opsets: Mapping[str, int]) -> tuple[Any, dict[str, int]]:
    """The node and the operator sets with which it means the same, beyond doubt."""
    same = dict(opsets)
    if proto.op_type != "BatchNormalization" or proto.domain or not 7 <= same[""] < 14:
        return proto, same
    given = {a.name: a.i for a in proto.attribute}
    if len([o for o in proto.output if o]) > 1 or given.get("spatial", 1) != 1:
        return proto, same
    newer = type(proto)()
    newer.CopyFrom(proto)
    del newer.attribute[:]
    newer.attribute.extend(a for a in proto.attribute if a.name == "epsilon")
    return newer, {**same, "": 15}
