"""Foreign ops of ONNX: what our registry lacks is evaluated by the onnx library's reference evaluator, node by node.

Such a node is called ``onnx:Name`` (``onnx:domain.Name`` outside of the standard) and carries its NodeProto in the
attribute ``node``, with inputs and outputs renamed, the imported operator sets in ``opsets`` and its output types in
``types``. It needs nothing else, so a saved graph keeps working wherever the onnx library is installed.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from workbench.errors import ExecutionError, LoadError, UnknownOpError
from workbench.frontends.onnx.library import onnx
from workbench.frontends.onnx.tensors import DTYPES, array_of
from workbench.graph.opspec import OpSpec
from workbench.graph.types import OPAQUE, TensorType, dtype_name
from workbench.ops import foreign

PREFIX = "onnx"

#: draws without a seed differ from run to run, so that no replay could show what happened
_RANDOM = ("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli")
#: Dropout draws only where its third input says that it trains; without a seed it gets this one, so that a replay
#: shows what happened
_DROPOUT_SEED = 1
_NO_GRAPHS = "it has a graph of its own"
_NUMBERS = {name: number for number, name in DTYPES.items()}


def plain_attrs(proto: Any) -> dict[str, Any]:
    """Attributes of a NodeProto as numbers, text, arrays and tuples of them; graphs are left out."""
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


def attrs_for(proto: Any, opsets: Mapping[str, int], types: Sequence[TensorType]) -> dict[str, Any]:
    """The attributes that make a foreign node complete."""
    copy = onnx().NodeProto()
    copy.CopyFrom(proto)
    copy.name = copy.doc_string = ""
    seen: dict[str, str] = {}
    for i, name in enumerate(proto.input):
        copy.input[i] = seen.setdefault(name, f"i{len(seen)}") if name else ""
    for i, name in enumerate(proto.output):
        copy.output[i] = f"o{i}" if name else ""
    if _trains(copy) and not any(a.name == "seed" for a in copy.attribute):
        copy.attribute.append(onnx().helper.make_attribute("seed", _DROPOUT_SEED))
    used = {"": opsets[""], **({proto.domain: opsets[proto.domain]} if proto.domain in opsets else {})}
    return {
        "node": copy.SerializeToString(deterministic=True),
        "opsets": tuple((domain, version) for domain, version in sorted(used.items())),
        "types": tuple(types),
    }


def _trains(proto: Any) -> bool:
    return proto.op_type == "Dropout" and len(proto.input) > 2 and proto.input[2] != ""


@functools.lru_cache(maxsize=4096)
def _draws(node: bytes) -> bool:
    """Whether a node is a random draw: no proof about a loop may rest on it, with a seed or without."""
    proto = onnx().NodeProto()
    try:
        proto.ParseFromString(node)
    except Exception:  # refused by check() with a sentence of its own
        return False
    return proto.op_type in _RANDOM or _trains(proto)


def why_not(proto: Any, opsets: Mapping[str, int]) -> str | None:
    """Why the reference evaluator cannot evaluate this node; None if it can."""
    kinds = onnx().AttributeProto
    if any(a.type in (kinds.GRAPH, kinds.GRAPHS) for a in proto.attribute):
        return _NO_GRAPHS
    if proto.op_type in _RANDOM and not any(a.name == "seed" for a in proto.attribute):
        return "it draws random numbers without a seed"
    try:
        attrs = attrs_for(proto, opsets, ())
        _evaluator(attrs["node"], attrs["opsets"], ())
    except Exception:  # the library raises many kinds, also plain RuntimeError
        return "the reference evaluator does not know it"
    return None


@functools.lru_cache(maxsize=4096)
def _evaluator(
    node: bytes, opsets: tuple[tuple[str, int], ...], dtypes: tuple[str | None, ...]
) -> tuple[Any, tuple[str, ...]]:
    """(evaluator, names of its inputs). One for each kind of node; it keeps no state between evaluations.

    ``dtypes`` are those of the inputs: some ops are functions whose body depends on them.
    """
    library = onnx()
    from onnx.reference import ReferenceEvaluator

    proto = library.NodeProto()
    proto.ParseFromString(node)
    names = tuple(dict.fromkeys(n for n in proto.input if n))
    graph = library.GraphProto(name="node")
    graph.node.append(proto)
    for name, dtype in zip_longest(names, dtypes):
        graph.input.add().name = name
        if dtype is not None:
            graph.input[-1].type.tensor_type.elem_type = _NUMBERS[dtype]
    for name in proto.output:
        if name:
            graph.output.add().name = name
    return ReferenceEvaluator(graph, opsets=dict(opsets)), names


def resolve(op: str, attrs: Mapping[str, Any]) -> OpSpec:
    """The registry entry of a foreign node."""
    name = op.removeprefix(f"{PREFIX}:")
    node = attrs.get("node")
    if not isinstance(node, bytes):
        raise UnknownOpError(f"The foreign op {op!r} does not carry its ONNX node.", fix="import the model again.")
    outputs = tuple(f"output{i}" for i in range(len(attrs.get("types", ()))))
    return OpSpec(
        f"{PREFIX}:{name}", ("*inputs",), outputs, _infer, _evaluate,
        f"ONNX's {name}, evaluated by the onnx library's reference evaluator.", "foreign",
        source=f"https://onnx.ai/onnx/operators/onnx__{name}.html", attrs={"node": None, "opsets": (), "types": ()},
        pure=not _draws(node),
    )  # fmt: skip


def _infer(types: Sequence[TensorType], attrs: Mapping[str, Any], values: Sequence[Any]) -> tuple[TensorType, ...]:
    return tuple(attrs["types"])


def _evaluate(arrays: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[Any, ...]:
    feeds = dict(zip(_present(attrs["node"]), arrays, strict=True))
    dtypes = tuple(_dtype(a) for a in feeds.values())
    evaluator, names = _evaluator(attrs["node"], attrs["opsets"], dtypes)
    try:
        results = evaluator.run(None, {n: feeds[n] for n in names})
    except Exception as error:
        raise ExecutionError(
            f"The onnx reference evaluator failed: {type(error).__name__}: {error}.", slug="foreign-op-failed"
        ) from error
    return tuple(_owned(r, t) for r, t in zip(results, attrs["types"], strict=True))


def _dtype(value: Any) -> str | None:
    try:
        return dtype_name(value.dtype)
    except (AttributeError, TypeError):
        return None  # a list, or a dtype that only the framework has


@functools.lru_cache(maxsize=4096)
def _present(node: bytes) -> tuple[str, ...]:
    proto = onnx().NodeProto()
    proto.ParseFromString(node)
    return tuple(n for n in proto.input if n)


def _owned(result: Any, declared: TensorType) -> Any:
    if declared.dtype == OPAQUE or isinstance(result, (list, dict)) or result is None:
        return result
    array = np.asarray(result)
    return array.astype(object) if array.dtype.kind in "UST" else array


def check(attrs: Mapping[str, Any]) -> None:
    """Raise LoadError if the bytes in a foreign node are no NodeProto."""
    try:
        _present(attrs["node"])
    except Exception as error:
        raise LoadError("A foreign op of ONNX carries bytes that are no node.", slug="bad-foreign-op") from error


foreign.register(PREFIX, resolve)
