"""Ops of recorded loops: a watch recorded their values, but not the code that computed them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.errors import ExecutionError, UnknownOpError
from workbench.ir.opspec import OpSpec
from workbench.ir.types import TensorType
from workbench.ops import foreign

PREFIX = "recorded"
#: name of an op -> its meaning
OPS = {
    "start": "The state with which a recorded loop began.",
    "body": "One iteration of a recorded loop.",
    "going": "True as long as a recorded loop went on.",
}


def resolve(op: str, attrs: Mapping[str, Any]) -> OpSpec:
    """The registry entry of an op of a recorded loop; its types are in the attr ``types``."""
    name, types = op.removeprefix(f"{PREFIX}:"), attrs.get("types", ())
    if name not in OPS or not isinstance(types, tuple) or not all(isinstance(t, TensorType) for t in types):
        raise UnknownOpError(f"There is no op {op!r} with the types {types!r}.", fix=f"use one of {', '.join(OPS)}.")
    outputs = tuple(f"output{i}" for i in range(len(types)))
    return OpSpec(op, ("*inputs",), outputs, _infer, _evaluate, OPS[name], "foreign", attrs={"types": ()}, pure=False)


def _infer(types: Sequence[TensorType], attrs: Mapping[str, Any], values: Sequence[Any]) -> tuple[TensorType, ...]:
    return tuple(attrs["types"])


def _evaluate(arrays: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[Any, ...]:
    raise ExecutionError(
        "A recorded loop cannot be run again: only its values are known, not its code.",
        slug="not-seen",
        fix="read its trace, or run the loop itself under a new watch.",
    )


foreign.register(PREFIX, resolve)
