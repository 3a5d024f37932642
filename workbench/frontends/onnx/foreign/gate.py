"""Checks, while a model is read, that a node can be evaluated, and infers the types of its outputs.

The onnx library's reference evaluator is tried first, because that is cheap; then onnxruntime, in a session for
this node alone. That session is discarded: the one used for runs is created with the plan, which knows the constants.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.frontends.onnx.foreign import extensions, reference
from workbench.frontends.onnx.foreign.nodes import RANDOM, Opsets, attrs_for, node_of, present
from workbench.frontends.onnx.foreign.runtime import runtime
from workbench.frontends.onnx.foreign.session import Refused, result_types
from workbench.frontends.onnx.foreign.single import INLINE_BYTES
from workbench.frontends.onnx.foreign.values import Kind, MapType
from workbench.frontends.onnx.library import onnx
from workbench.frontends.onnx.tensors import NUMBERS, type_of
from workbench.ir.types import ANY, OPAQUE, UNKNOWN, TensorType, numpy_dtype

#: dtypes tried for an unknown one, to find out whether onnxruntime has the op at all
_TRIED = ("float32", "int64", "uint8", "string")
_UNHEARD = "neither the reference evaluator nor onnxruntime"
#: (domain, op, opsets) that onnxruntime lacks -> reason; a model may have thousands of such nodes
_unheard_of: dict[tuple[str, str, Opsets], str] = {}


def judged(
    proto: Any,
    opsets: Mapping[str, int],
    types: Sequence[Kind],
    constants: Sequence[np.ndarray | None],
    declared: Sequence[TensorType],
) -> tuple[TensorType, ...] | str:
    """The types of a node's outputs, or the reason why no library can evaluate it.

    ``types`` and ``constants`` are those of the present inputs; ``declared`` are the types that the model declares for
    the outputs in use; they take precedence.
    """
    kinds = onnx().AttributeProto
    if any(a.type in (kinds.GRAPH, kinds.GRAPHS) for a in proto.attribute):
        return "it has a graph of its own"
    if proto.op_type in RANDOM and not any(a.name == "seed" for a in proto.attribute):
        return "it draws random numbers without a seed"
    try:
        attrs = attrs_for(proto, opsets, ())
    except Exception:  # a malformed node
        return "it cannot be read"
    node, sets = attrs["node"], attrs["opsets"]
    small = tuple(c if c is not None and _says_sizes(c) else None for c in constants)
    if reference.knows(node, sets):
        known = all(d.dtype != ANY and d.shape is not None for d in declared)
        return tuple(declared) if known else _joined(declared, _inferred(proto, sets, types, small))
    if reason := extensions.missing(proto.domain):
        return reason
    firsts = {n: k for k, n in reversed(list(enumerate(present(node))))}
    keys = tuple((n, types[k], None if (c := small[k]) is None else (c.tobytes(), c.shape)) for n, k in firsts.items())
    op = proto.domain, proto.op_type, sets
    if op in _unheard_of:
        return _unheard_of[op]
    found = _cached_types(node, sets, keys)
    if isinstance(found, str) and found.startswith(_UNHEARD):
        if len(_unheard_of) >= _cached_types.cache_parameters()["maxsize"]:
            _unheard_of.clear()
        _unheard_of[op] = found  # independent of its inputs
        return found
    if isinstance(found, str) and any(c is not None for c in constants):  # some weights must be constants
        whole = {n: (types[k], constants[k]) for n, k in firsts.items()}
        try:
            found = tuple(result_types(node, sets, whole))
        except Refused:
            pass  # keep the message about the node as declared
    return found if isinstance(found, str) else _joined(declared, found)


def _says_sizes(constant: np.ndarray) -> bool:
    """True if output sizes may depend on a constant; weights are excluded, so that equal nodes are checked once."""
    few = constant.size <= 8 if constant.dtype.kind == "f" else constant.dtype.kind in "iub"
    return few and constant.nbytes <= INLINE_BYTES


@functools.lru_cache(maxsize=4096)
def _cached_types(node: bytes, opsets: Opsets, keys: tuple[Any, ...]) -> tuple[TensorType, ...] | str:
    if isinstance(found := runtime(), str):
        return f"the reference evaluator does not know it, and onnxruntime is not available: {found}"
    inputs: dict[str, tuple[Kind, np.ndarray | None]] = {}
    for name, kind, constant in keys:
        value = None
        if constant is not None:
            data, shape = constant
            value = np.frombuffer(data, numpy_dtype(kind.dtype)).reshape(shape)
        inputs[name] = kind, value
    loose = {n: (TensorType(k.dtype) if isinstance(k, TensorType) else k, c) for n, (k, c) in inputs.items()}
    said = ""
    # a model may declare a wrong shape, which onnxruntime accepts
    for tried in (inputs, loose) if not any(k.dtype == ANY for k, _ in inputs.values()) else ():
        try:
            return tuple(result_types(node, opsets, tried))
        except Refused as error:
            if error.unheard:
                return _unheard(found.version)
            said = said or f"onnxruntime does not take it: {error}"
    if said:
        return said
    for dtype in _TRIED:
        guessed = {n: (TensorType(dtype) if k.dtype == ANY else k, c) for n, (k, c) in loose.items()}
        try:
            result_types(node, opsets, guessed)
            break
        except Refused as error:
            if error.unheard:
                return _unheard(found.version)
    return (UNKNOWN,) * sum(map(bool, node_of(node).output))  # types are known only from the values


def _unheard(version: str) -> str:
    return f"{_UNHEARD} {version} knows it"


def _joined(declared: Sequence[TensorType], found: Sequence[TensorType]) -> tuple[TensorType, ...]:
    """The declared types of the model, completed by the inferred ones."""
    made = []
    for one, other in zip(declared, found, strict=True):
        dtype = other.dtype if one.dtype == ANY else one.dtype
        made.append(TensorType(dtype, other.shape if one.shape is None and dtype == other.dtype else one.shape))
    return tuple(made)


def _inferred(
    proto: Any, opsets: Opsets, types: Sequence[Kind], constants: Sequence[np.ndarray | None]
) -> Sequence[TensorType]:
    """Types of the outputs by ONNX's rule for the op, given the inputs."""
    nothing = [UNKNOWN] * sum(map(bool, proto.output))
    domain = "" if proto.domain == "ai.onnx" else proto.domain
    library = onnx()
    names = [n for n in proto.input if n]
    if any(isinstance(t, MapType) or t.dtype in (ANY, OPAQUE) for t in types):
        return nothing
    kinds, data = {}, {}
    for name, type_, constant in zip(names, types, constants, strict=True):
        kinds[name] = library.helper.make_tensor_type_proto(NUMBERS[type_.dtype], type_.shape)
        if constant is not None and constant.dtype.kind in "iuf":
            data[name] = library.numpy_helper.from_array(constant)
    try:
        schema = library.defs.get_schema(proto.op_type, dict(opsets)[domain], domain)
        found = library.shape_inference.infer_node_outputs(
            schema, proto, kinds, data, opset_imports=[library.helper.make_opsetid(d, v) for d, v in opsets]
        )
    except Exception:  # an op without a rule, or unexpected inputs: reported when the node runs
        return nothing
    return [type_of(found[o]) if o in found else UNKNOWN for o in proto.output if o]
