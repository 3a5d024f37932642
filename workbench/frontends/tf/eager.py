"""Foreign TensorFlow ops: ops without a counterpart here are evaluated by TensorFlow itself, eagerly, node by node.

Such a node has the op ``tensorflow:Name`` and carries its NodeDef (op and attributes) in the attribute ``node``, its
output types in ``types``, and in ``stateful`` the flag of TensorFlow's registry. It needs nothing else, so a saved
graph works wherever TensorFlow is installed. TensorFlow is imported at the first such node.

Ops that read or write files, talk to other processes, run Python code or take functions are not evaluated: a graph from
an untrusted source must not access anything but its arrays. The only stateful ops that are evaluated are random draws,
which are not pure. The first firing draws what TensorFlow draws from the node's seeds; later ones, and nodes without
seeds, draw from a hash of seeds, name and iteration, so that a replay draws the same values (TensorFlow continues from
the state after the last draw). Invalid inputs are left to TensorFlow's kernels: most raise an error, which becomes an
error of the node, but a failed internal check can end the process. Source of the ops:
https://www.tensorflow.org/api_docs/python/tf/raw_ops.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import ExecutionError, UnknownOpError, WorkbenchError
from workbench.frontends.tf.attr_values import node_def, proto_of, read
from workbench.frontends.tf.graphdef import NodeDef
from workbench.frontends.tf.library import definition, installed, tensorflow
from workbench.frontends.tf.rules.base import LoweredNode
from workbench.frontends.tf.schema import DTYPES
from workbench.ir.opspec import OpSpec
from workbench.ir.types import OPAQUE, TensorType
from workbench.ops import foreign

PREFIX = "tensorflow"


class EagerCall(NamedTuple):
    """The eager TensorFlow call for a node: the op, and its attributes for a call and for a node of a graph."""

    op: str
    attrs: tuple[Any, ...]
    protos: Mapping[str, Any]
    stateful: bool


def lowered(node: NodeDef) -> LoweredNode | None:
    """The foreign op for a node; None if TensorFlow is missing or must not or cannot evaluate it."""
    if not installed():
        return None
    known = definition(node.op)
    proto = None if known is None else proto_of(node, known)
    if proto is None:
        return None
    types = _types(known, proto)
    if types is None:
        return None
    attrs = {"node": proto.SerializeToString(deterministic=True), "types": types, "stateful": bool(known.is_stateful)}
    return LoweredNode(f"{PREFIX}:{node.op}", node.inputs, attrs)


def _types(known: Any, proto: Any) -> tuple[TensorType, ...] | None:
    """Types of the outputs; None for dtypes that our arrays cannot hold."""
    numbers: list[int] = []
    for arg in known.output_arg:
        if arg.type_list_attr:
            numbers.extend(proto.attr[arg.type_list_attr].list.type)
            continue
        number = arg.type or proto.attr[arg.type_attr].type
        count = proto.attr[arg.number_attr].i if arg.number_attr else 1
        if not 0 <= count <= 10_000:
            return None
        numbers.extend([number] * count)
    if any(n not in DTYPES for n in numbers) or len(numbers) > 10_000:
        return None
    return tuple(TensorType(DTYPES[n], None) for n in numbers)


def resolve(op: str, attrs: Mapping[str, Any]) -> OpSpec:
    """The registry entry of a foreign node."""
    name = op.removeprefix(f"{PREFIX}:")
    types = attrs.get("types")
    typed = isinstance(types, tuple) and all(isinstance(t, TensorType) for t in types)
    if not isinstance(attrs.get("node"), bytes) or not typed:
        raise UnknownOpError(
            f"The foreign op {op!r} does not carry its TensorFlow node and types.", fix="import the graph again."
        )
    stateful = attrs.get("stateful", True) is not False
    return OpSpec(
        op,
        ("*inputs",),
        tuple(f"output{i}" for i in range(len(types or ()))),
        _infer,
        _evaluate,
        f"TensorFlow's {name}, evaluated by TensorFlow.",
        "foreign",
        source=f"https://www.tensorflow.org/api_docs/python/tf/raw_ops/{name}",
        attrs={"node": None, "types": (), "stateful": True},
        pure=not stateful,
        draws=stateful,
    )


def _infer(types: Sequence[TensorType], attrs: Mapping[str, Any], values: Sequence[Any]) -> tuple[TensorType, ...]:
    return tuple(attrs["types"])


def _evaluate(arrays: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[Any, ...]:
    call = _call(attrs["node"])
    if call.stateful != attrs.get("stateful", True):
        raise ExecutionError("A foreign op is not what its node says.", slug="bad-foreign-op", fix="import it again.")
    try:
        if call.stateful:
            results = _drawn(call, arrays, *attrs.get("_tag", ("", ())))
        else:
            results = _eager(call, arrays, len(attrs["types"]))
        return tuple(_array(r, kind) for r, kind in zip(results, attrs["types"], strict=True))
    except Exception as error:  # TensorFlow raises its own classes, and TypeError and ValueError
        if isinstance(error, WorkbenchError):
            raise
        raise ExecutionError(
            f"TensorFlow failed: {type(error).__name__}: {str(error)[:500]}.", slug="foreign-op-failed"
        ) from error


def _eager(call: EagerCall, arrays: Sequence[Any], count: int) -> list[Any]:
    library = tensorflow()
    execute = importlib.import_module("tensorflow.python.eager.execute").execute
    context = importlib.import_module("tensorflow.python.eager.context").context()
    try:
        with library.init_scope(), library.device("CPU:0"):
            return execute(call.op, count, list(map(_tensor, arrays)), call.attrs, context)
    except library.errors.NotFoundError:  # an op that has a kernel only after graph rewriting, such as AccumulateNV2
        return _in_graph(call, arrays, call.protos)


def _drawn(call: EagerCall, arrays: Sequence[Any], node: str, path: tuple[int, ...]) -> list[Any]:
    """A draw from a new kernel."""
    seeds = (call.protos["seed"].i, call.protos["seed2"].i)
    protos = dict(call.protos)
    if any(path) or not any(seeds):
        digest = hashlib.sha256(repr((seeds, node, tuple(path))).encode()).digest()
        for name, part in (("seed", digest[:7]), ("seed2", digest[8:15])):
            protos[name] = type(protos[name])(i=int.from_bytes(part, "little") | 1)  # 0 would mean random seeds
    return _in_graph(call, arrays, protos)


def _in_graph(call: EagerCall, arrays: Sequence[Any], protos: Mapping[str, Any]) -> list[Any]:
    """Evaluate the node in a separate graph, with a new kernel that is discarded."""
    library = tensorflow()
    with library.Graph().as_default() as graph, library.device("CPU:0"):
        made = graph.create_op(call.op, list(map(_tensor, arrays)), attrs=dict(protos), name="node")
        with library.compat.v1.Session(graph=graph) as session:
            return session.run(list(made.outputs))


@functools.lru_cache(maxsize=4096)
def _call(raw: bytes) -> EagerCall:
    try:
        proto = node_def(raw)
    except UnknownOpError:
        raise
    except Exception as error:  # protobuf's DecodeError is in one of several modules
        raise ExecutionError("A foreign op of TensorFlow carries no node.", slug="bad-foreign-op") from error
    known = definition(proto.op)
    if known is None:
        raise ExecutionError(f"TensorFlow's {proto.op!r} is not evaluated here.", slug="bad-foreign-op")
    attrs = [part for a in known.attr for part in (a.name, read(proto.attr[a.name], a.type))]
    return EagerCall(proto.op, tuple(attrs), {a.name: proto.attr[a.name] for a in known.attr}, bool(known.is_stateful))


def _tensor(value: Any) -> Any:
    """An array as a TensorFlow tensor; opaque TensorFlow values (variants) are passed unchanged."""
    library = tensorflow()
    if isinstance(value, library.Tensor):
        return value
    array = np.asarray(value)
    if array.dtype != object:
        return library.constant(array)
    flat = [v.encode() if isinstance(v, str) else v for v in array.ravel().tolist()]
    return library.constant(flat, library.string, array.shape)


def _array(result: Any, declared: TensorType) -> Any:
    if declared.dtype == OPAQUE:
        return result
    value = result.numpy() if hasattr(result, "numpy") else result
    array = np.asarray(value)
    if array.dtype.kind not in "OSU":
        return array
    out = np.empty(array.shape, object)
    out[...] = value
    return out


foreign.register(PREFIX, resolve)
