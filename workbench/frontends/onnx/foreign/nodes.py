"""Attributes of a foreign node: its NodeProto with inputs and outputs renamed, operator sets and output types."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.onnx.library import onnx
from workbench.ir.types import TensorType

#: draws without a seed differ from run to run, so that a replay could not reproduce them
RANDOM = ("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli")
#: Dropout draws only if its third input enables training; without a seed it gets this one, so that a replay reproduces
#: the draws
_DROPOUT_SEED = 1

#: the operator sets that a node needs: (domain, version)
Opsets = tuple[tuple[str, int], ...]


def plain_attrs(proto: Any, array_of: Callable[[Any, str], np.ndarray]) -> dict[str, Any]:
    """Attributes of a NodeProto as numbers, strings, arrays and tuples of these; graphs are left out. ``array_of``
    converts tensors to arrays.
    """
    found: dict[str, Any] = {}
    kinds = onnx().AttributeProto
    for a in proto.attribute:
        if a.type == kinds.TENSOR:
            found[a.name] = array_of(a.t, f"Attribute {a.name!r} of {proto.op_type} {proto.name!r}")
        elif a.type in (kinds.FLOAT, kinds.INT, kinds.STRING, kinds.FLOATS, kinds.INTS, kinds.STRINGS):
            value = onnx().helper.get_attribute_value(a)
            found[a.name] = tuple(map(_text, value)) if not isinstance(value, (bytes, int, float)) else _text(value)
    return found


def _text(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def attrs_for(
    proto: Any, opsets: Mapping[str, int], types: Sequence[TensorType], maps: Sequence[Any] = ()
) -> dict[str, Any]:
    """All attributes of a foreign node; ``maps`` are the types of those inputs that are dicts."""
    copy = onnx().NodeProto()
    copy.CopyFrom(proto)
    copy.name = copy.doc_string = ""
    seen: dict[str, str] = {}
    for i, name in enumerate(proto.input):
        copy.input[i] = seen.setdefault(name, f"i{len(seen)}") if name else ""
    for i, name in enumerate(proto.output):
        copy.output[i] = f"o{i}" if name else ""
    if trains(copy) and not any(a.name == "seed" for a in copy.attribute):
        copy.attribute.append(onnx().helper.make_attribute("seed", _DROPOUT_SEED))
    own = "" if proto.domain == "ai.onnx" else proto.domain
    used = {"": opsets[""], own: opsets.get(own, 1)}  # as onnxruntime does if a model does not import a domain
    dicts = tuple((place, f"{m.key} {m.value}") for place, m in enumerate(maps) if m is not None)
    return {
        "node": copy.SerializeToString(deterministic=True),
        "opsets": tuple((domain, version) for domain, version in sorted(used.items())),
        "types": tuple(types),
        **({"maps": dicts} if dicts else {}),
    }


def trains(proto: Any) -> bool:
    """True if a node is a Dropout that may draw random numbers."""
    return proto.op_type == "Dropout" and len(proto.input) > 2 and proto.input[2] != ""


@functools.lru_cache(maxsize=4096)
def draws(node: bytes) -> bool:
    """True if a node draws random numbers: no proof about a loop may depend on it, with or without a seed."""
    try:
        proto = node_of(node)
    except Exception:  # refused by check() with a separate message
        return False
    return proto.op_type in RANDOM or trains(proto)


def node_of(node: bytes) -> Any:
    """The NodeProto in these bytes."""
    proto = onnx().NodeProto()
    proto.ParseFromString(node)
    return proto


@functools.lru_cache(maxsize=4096)
def present(node: bytes) -> tuple[str, ...]:
    """Names of the present inputs, in order; duplicates are kept."""
    return tuple(n for n in node_of(node).input if n)


def check(attrs: Mapping[str, Any]) -> None:
    """Raise LoadError if the bytes in a foreign node are not a NodeProto."""
    try:
        present(attrs["node"])
    except Exception as error:
        raise LoadError("A foreign op of ONNX carries bytes that are no node.", slug="bad-foreign-op") from error
