"""Rewrites nodes of old versions that no library computes, or whose meaning newer versions state explicitly, as an
equivalent node of another version.

BatchNormalization of versions 7 to 13 is in training mode if it has more than one output; with one output it is not,
but some evaluators take its ``momentum`` as a sign of training. Version 15 has an attribute for this.
``consumed_inputs`` and ``output_sequence`` of version 1 were hints for the memory management of a runtime. Source:
https://onnx.ai/onnx/operators/.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def upgraded(proto: Any, opsets: Mapping[str, int]) -> tuple[Any, dict[str, int]]:
    """An equivalent node and its operator sets, without the ambiguity."""
    same = dict(opsets)
    change = _CHANGES.get(proto.op_type)
    if proto.domain not in ("", "ai.onnx") or change is None:
        return proto, same
    newer = type(proto)()
    newer.CopyFrom(proto)
    version = change(newer, same[""])
    return (proto, same) if version is None else (newer, {**same, "": version})


def _without(proto: Any, *names: str) -> None:
    kept = [a for a in proto.attribute if a.name not in names]
    del proto.attribute[:]
    proto.attribute.extend(kept)


def _batch_normalization(proto: Any, version: int) -> int | None:
    if version < 6:
        _without(proto, "consumed_inputs")
        return 6
    given = {a.name: a.i for a in proto.attribute}
    if not 7 <= version < 14 or len([o for o in proto.output if o]) > 1 or given.get("spatial", 1) != 1:
        return None
    _without(proto, *(name for name in given if name != "epsilon"))
    return 15


def _instance_normalization(proto: Any, version: int) -> int | None:
    _without(proto, "consumed_inputs")
    return 6 if version < 6 else None


def _rnn(proto: Any, version: int) -> int | None:
    _without(proto, "output_sequence")
    return 7 if version < 7 else None


def _global_lp_pool(proto: Any, version: int) -> int | None:
    """Version 2 has a kernel; version 1 allows a ``p`` that is not an integer."""
    if 2 <= version < 22:
        return None
    for attribute in proto.attribute:
        if attribute.name == "p" and version < 2:
            if not attribute.f.is_integer():
                return None
            attribute.i, attribute.type = int(attribute.f), attribute.INT
            attribute.ClearField("f")
    return 21


def _max_roi_pool(proto: Any, version: int) -> int | None:
    return 21 if version > 21 else None


def _upsample(proto: Any, version: int) -> int | None:
    given = {a.name: a.f for a in proto.attribute}
    if version >= 7 or not {"width_scale", "height_scale"} <= given.keys():
        return None
    _without(proto, "width_scale", "height_scale")
    proto.attribute.add(name="scales", type=6, floats=[1.0, 1.0, given["height_scale"], given["width_scale"]])
    return 7


#: op -> function that changes a node in place and returns its new version, or None if it is left unchanged
_CHANGES: dict[str, Callable[[Any, int], int | None]] = {
    "BatchNormalization": _batch_normalization,
    "InstanceNormalization": _instance_normalization,
    "RNN": _rnn,
    "GlobalLpPool": _global_lp_pool,
    "MaxRoiPool": _max_roi_pool,
    "Upsample": _upsample,
}
