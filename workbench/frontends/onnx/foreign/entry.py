"""The registry entry of a foreign node; the library that evaluates it is chosen once for a node and input types."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import ExecutionError, UnknownOpError
from workbench.frontends.onnx.foreign import reference, regions, widened
from workbench.frontends.onnx.foreign.affine import affine
from workbench.frontends.onnx.foreign.inferred_types import inferred_types
from workbench.frontends.onnx.foreign.ml_ops import one_hot, zip_map
from workbench.frontends.onnx.foreign.nodes import Opsets, draws, node_of, present
from workbench.frontends.onnx.foreign.ort_exceptions import distrust
from workbench.frontends.onnx.foreign.session import NodeSession, Refused, arrays_at
from workbench.frontends.onnx.foreign.values import Kind, MapType
from workbench.frontends.onnx.tensors import DTYPES
from workbench.ir.opspec import Bound, OpSpec
from workbench.ir.types import ANY, NARROW, OPAQUE, TensorType, dtype_name, numpy_dtype
from workbench.ops import foreign

PREFIX = "onnx"

#: dtypes for which onnxruntime's kernels are only the second choice
_LEFT = frozenset(("bfloat16", *NARROW))
#: sessions with constants, by node, operator sets, types and the identity of the constants. A session keeps its
#: constants alive, so that an identity cannot be reused for another array; plans keep the sessions.
_BOUND: weakref.WeakValueDictionary[Any, NodeSession] = weakref.WeakValueDictionary()


def resolve(op: str, attrs: Mapping[str, Any]) -> OpSpec:
    """The registry entry of a foreign node."""
    name = op.removeprefix(f"{PREFIX}:")
    node = attrs.get("node")
    if not isinstance(node, bytes):
        raise UnknownOpError(f"The foreign op {op!r} does not carry its ONNX node.", fix="import the model again.")
    outputs = tuple(f"output{i}" for i in range(len(attrs.get("types", ()))))
    return OpSpec(
        f"{PREFIX}:{name}",
        ("*inputs",),
        outputs,
        _infer,
        _evaluate,
        f"ONNX's {name}, evaluated by onnxruntime or by the onnx library's reference evaluator.",
        "foreign",
        source=_source(name),
        attrs={"node": None, "opsets": (), "types": (), "maps": ()},
        pure=not draws(node),
        bind=_bind,
    )


def _source(name: str) -> str:
    """The page that documents an op."""
    if name.startswith("com.microsoft."):
        where = "https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#"
        return f"{where}{name.lower().replace('.', '')}"
    domain, _, op = name.rpartition(".")
    return f"https://onnx.ai/onnx/operators/onnx_{domain.replace('.', '')}_{op}.html"


def _infer(types: Sequence[TensorType], attrs: Mapping[str, Any], values: Sequence[Any]) -> tuple[TensorType, ...]:
    return inferred_types(attrs["node"], attrs["opsets"], tuple(types), tuple(values), attrs["types"])


def _evaluate(arrays: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[Any, ...]:
    """Evaluate a node whose input types are known only from the values."""
    if widened.computes(attrs["node"]) and any(getattr(a, "dtype", None) == numpy_dtype("bfloat16") for a in arrays):
        return widened.evaluated(_evaluate, arrays, attrs, "bfloat16")
    kinds: list[Kind] = []
    for place, array in enumerate(arrays):
        dtype = reference.dtype_of_value(array)
        if dtype is not None:
            kinds.append(TensorType(dtype, (None,) * np.ndim(array)))
        elif isinstance(array, Mapping):
            kinds.append(_map_type(attrs, place) or MapType.of(array))
        else:
            return reference.evaluate(arrays, attrs)
    found = _plain_session(attrs["node"], attrs["opsets"], tuple(kinds))
    if isinstance(found, str):
        return _elsewhere(arrays, attrs, found)
    firsts = _firsts(attrs["node"])
    return _run(found, [arrays[k] for k in firsts], attrs["types"])


def _map_type(attrs: Mapping[str, Any], place: int) -> MapType | None:
    """The declared type of an input that is a dict."""
    key, _, value = dict(attrs.get("maps", ())).get(place, "").partition(" ")
    return MapType(key, value) if value else None


def _elsewhere(arrays: Sequence[Any], attrs: Mapping[str, Any], why: str) -> tuple[Any, ...]:
    """Evaluate a node that onnxruntime does not compute, for the reason ``why``."""
    if not reference.knows(attrs["node"], attrs["opsets"]):
        raise ExecutionError(
            f"onnxruntime does not compute this {node_name(attrs['node'])}: {why}",
            slug="foreign-op-failed",
            fix="give it inputs of another dtype or shape, or replace it by ops of the ONNX standard.",
        )
    try:
        return reference.evaluate(arrays, attrs)
    except ExecutionError:
        kinds = tuple(TensorType(reference.dtype_of_value(a) or ANY, (None,) * np.ndim(a)) for a in arrays)
        found = _made(attrs["node"], attrs["opsets"], kinds, (None,) * len(kinds))
        if isinstance(found, str):
            raise
        return _run(found, [arrays[k] for k in _firsts(attrs["node"])], attrs["types"])


def _run(session: NodeSession, arrays: Sequence[Any], results: Sequence[TensorType]) -> tuple[Any, ...]:
    try:
        return tuple(session.run(arrays))
    except ExecutionError:  # our own error: the value does not have the declared type
        raise
    except Exception as error:  # it raises many kinds
        return session.by_reference(arrays, results, error)


def _bind(attrs: Mapping[str, Any], types: Sequence[TensorType], constants: Sequence[np.ndarray | None]) -> Bound:
    """Bind a node of a plan, with its constants inside the session so that onnxruntime packs them once."""
    node, opsets, results = attrs["node"], attrs["opsets"], attrs["types"]
    name = node_name(node)
    if any(t.dtype in (ANY, OPAQUE) for t in types):
        why = f"{name}: the types of its inputs come with the values, and with them whether onnxruntime computes it"
        return _by_reference_or_later(attrs, ("foreign-late", why), len(types))
    if (call := zip_map(node, types)) is not None:
        return Bound(call, (0,), ("arrays", f"{name} is computed here, a dict for each row"), sees=True)
    if (call := one_hot(node, types)) is not None:
        return Bound(call, (0,), ("arrays", f"{name} is computed here, by looking strings up"), sees=True)
    if any(t.dtype == "bfloat16" for t in types) and widened.computes(node):
        return widened.bound(_bind, attrs, types, constants, "bfloat16")
    if (pair := affine(node, opsets, types, constants)) is not None:
        return _by_channel(name, *pair)
    found = _session(node, opsets, tuple(types), tuple(constants))
    if isinstance(found, str):
        other = next((t.dtype for t in types if t.dtype in widened.OTHERS), None)
        if other and widened.computes(node) and not reference.knows(node, opsets):
            return widened.bound(_bind, attrs, types, constants, other)
        why = f"{name} is computed by the onnx library's reference evaluator, not by onnxruntime: {found}"
        return Bound(lambda arrays: _elsewhere(arrays, attrs, found), tuple(range(len(types))), ("onnx-reference", why))
    firsts = _firsts(node)
    takes = tuple(k for k, c in zip(firsts, found.constants, strict=True) if c is None)

    def at(inputs: Sequence[int], outputs: Sequence[int]) -> None:
        try:
            found.run_at(inputs, outputs, results)
        except Exception as error:  # it raises many kinds
            made = found.by_reference(arrays_at(inputs, found.types), results, error)
            for place, result, type_ in zip(arrays_at(outputs, results), made, results, strict=True):
                if result.shape != type_.shape or dtype_name(result.dtype) != type_.dtype:
                    raise TypeError(f"gave {result.dtype} of shape {result.shape} where {type_} was expected") from None
                place[...] = result

    static = found.has_plain_memory and all(t.is_static for t in (*found.types, *results))
    agreed = tuple(map(DTYPES.get, found.elements)) == tuple(t.dtype for t in results)
    why = f"{name} is computed by onnxruntime, which takes it on {', '.join(dict.fromkeys(t.dtype for t in types))}"
    return Bound(
        lambda arrays: _run(found, arrays, results),
        takes,
        ("onnxruntime", why),
        at if static and agreed else None,
        sees=True,
        joins=found if agreed else None,
    )


def _by_channel(name: str, scale: np.ndarray, shift: np.ndarray) -> Bound:
    def evaluate(arrays: Sequence[Any]) -> tuple[Any, ...]:
        product = arrays[0] * scale
        product += shift
        return (product,)

    why = f"{name} by constant statistics is one multiplication and one addition"
    return Bound(evaluate, (0,), ("affine", why), sees=True, affine=(scale, shift), joins=(scale, shift))


def _by_reference_or_later(attrs: Mapping[str, Any], reason: tuple[str, str], count: int) -> Bound:
    return Bound(lambda arrays: _evaluate(arrays, attrs), tuple(range(count)), reason)


def _session(
    node: bytes, opsets: Opsets, types: tuple[TensorType, ...], constants: tuple[np.ndarray | None, ...]
) -> NodeSession | str:
    """The session of a node, or the reason why there is none."""
    if all(c is None for c in constants):
        return _plain_session(node, opsets, types)
    key = (node, opsets, types, tuple(None if c is None else id(c) for c in constants))
    found = _BOUND.get(key)
    if found is None:
        made = _make(node, opsets, types, constants)
        if isinstance(made, str):
            return made
        found = _BOUND.setdefault(key, made)
    return found


@functools.lru_cache(maxsize=2048)
def _plain_session(node: bytes, opsets: Opsets, types: tuple[Kind, ...]) -> NodeSession | str:
    """The session of a node without constants, shared by all equal nodes."""
    return _make(node, opsets, types, (None,) * len(types))


def _make(
    node: bytes, opsets: Opsets, types: Sequence[Kind], constants: Sequence[np.ndarray | None]
) -> NodeSession | str:
    made = _made(node, opsets, types, constants)
    if isinstance(made, str):
        return made
    narrow = {t.dtype for t in types} | {DTYPES.get(e, "") for e in made.elements}
    if narrow & _LEFT and reference.knows(node, opsets):
        return f"{min(narrow & _LEFT)} is left to the reference evaluator, which rounds as the standard says"
    return made


def _made(
    node: bytes, opsets: Opsets, types: Sequence[Kind], constants: Sequence[np.ndarray | None]
) -> NodeSession | str:
    if draws(node):
        return "it draws random numbers, which differ there from call to call"
    if reason := distrust(node_of(node), types[0].shape if types else None):
        return reason
    firsts = _firsts(node)
    names = [present(node)[k] for k in firsts]
    try:
        return NodeSession(node, opsets, names, [types[k] for k in firsts], [constants[k] for k in firsts])
    except Refused as reason:
        return str(reason)


@functools.lru_cache(maxsize=4096)
def _firsts(node: bytes) -> tuple[int, ...]:
    """The first position of each input name."""
    names = present(node)
    return tuple(k for k, n in enumerate(names) if names.index(n) == k)


@functools.lru_cache(maxsize=4096)
def node_name(node: bytes) -> str:
    proto = node_of(node)
    return f"{proto.domain}.{proto.op_type}" if proto.domain not in ("", "ai.onnx") else proto.op_type


foreign.register(PREFIX, resolve, regions)
