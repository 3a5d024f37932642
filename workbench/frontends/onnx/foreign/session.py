"""One node as a session of onnxruntime: a model of a single node, constant inputs inside it."""

from __future__ import annotations

import ctypes
import math
import re
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import c_char_p, c_int64, c_void_p
from typing import Any

import numpy as np

from workbench.errors import ExecutionError
from workbench.frontends.onnx.foreign.nodes import Opsets, node_of
from workbench.frontends.onnx.foreign.reference import NUMBERS, evaluate
from workbench.frontends.onnx.foreign.runtime import EVERYTHING, SAME_LAYOUT, Runtime, RuntimeRefusal, runtime
from workbench.frontends.onnx.library import onnx
from workbench.frontends.onnx.tensors import DTYPES
from workbench.graph.types import TensorType, numpy_dtype

#: dtypes that arrays of ours and tensors of onnxruntime have in common
TAKEN = frozenset((
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
))  # fmt: skip
#: constants larger than this many bytes are handed over where they are; onnxruntime repacks them as its kernels like
INLINE_BYTES = 1024
#: a version of the model format that all releases read that have the C interface used here
_IR_VERSION = 9
#: measured: from so many points of an image on (see _level)
POINTS = 400
#: letters of a reason
MESSAGE = 200
#: bytes, dimensions and element type of a tensor
_Kind = tuple[int, Any, int]


class Refused(Exception):
    """onnxruntime does not take a node; the text says why."""


class NodeSession:
    """A node on inputs of these types. Safe under threads; nothing is kept from one call to the next but memory.

    ``names`` and ``types`` are those of the inputs, each name once; inputs with a constant are no longer fed. Raises
    Refused where onnxruntime has no kernel for the node.
    """

    def __init__(
        self, node: bytes, opsets: Opsets, names: Sequence[str], types: Sequence[TensorType],
        constants: Sequence[np.ndarray | None],
    ) -> None:  # fmt: skip
        found = runtime()
        if isinstance(found, str):
            raise Refused(found)
        self._runtime = found
        self.constants = tuple(None if c is None else _contiguous(c) for c in constants)
        self.node, self.opsets, self.names = node, opsets, tuple(names)
        fed = [(n, t) for n, t, c in zip(names, types, constants, strict=True) if c is None]
        self.types = tuple(t for _, t in fed)
        outputs = [o for o in node_of(node).output if o]
        self._inputs = (c_char_p * len(fed))(*(n.encode() for n, _ in fed))
        self._outputs = (c_char_p * len(outputs))(*(o.encode() for o in outputs))
        self._session = self._opened(names, types)
        weakref.finalize(self, found.ReleaseSession, self._session)
        self.elements = found.results(self._session, len(outputs))
        if any(DTYPES.get(e) not in TAKEN for e in self.elements):
            raise Refused("it gives results that are no arrays of numbers")
        #: values made for addresses, for whoever calls next with the same ones
        self._ready: list[_Values] = []
        self._kinds: tuple[_Kind, ...] = ()

    def _opened(self, names: Sequence[str], types: Sequence[TensorType]) -> c_void_p:
        graph = onnx().GraphProto(name="node")
        graph.node.append(node_of(self.node))
        large: dict[str, np.ndarray] = {}
        for name, type_, constant in zip(names, types, self.constants, strict=True):
            if type_.dtype not in TAKEN:
                raise Refused(f"an input is {type_.dtype}")
            if constant is None:
                _declare(graph.input.add(), name, type_)
                continue
            tensor = graph.initializer.add(name=name, data_type=NUMBERS[type_.dtype], dims=constant.shape)
            if constant.nbytes <= INLINE_BYTES:
                tensor.raw_data = constant.tobytes()
            else:
                tensor.data_location = onnx().TensorProto.EXTERNAL
                tensor.external_data.add(key="location", value=name)
                large[name] = constant
        for name in node_of(self.node).output:
            if name:
                graph.output.add().name = name
        first: Exception | None = None
        with _tensors(self._runtime, list(large.values())) as values:
            for sets in _versions(graph.node[0], self.opsets):
                model = onnx().ModelProto(ir_version=_IR_VERSION, graph=graph)
                for domain, version in sets:
                    model.opset_import.add(domain=domain, version=version)
                try:
                    return self._runtime.session(
                        model.SerializeToString(), dict(zip(large, values, strict=True)), _level(graph.node[0], types)
                    )
                except RuntimeRefusal as error:
                    first = first or error
        raise Refused(_short(str(first))) from first

    def run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs for arrays of the inputs that are fed."""
        arrays = [_contiguous(a) for a in arrays]
        made = (c_void_p * len(self._outputs))()
        with _tensors(self._runtime, arrays) as values:
            self._run(_table(values), made)
        try:
            return [self._copied(c_void_p(v)) for v in made]
        finally:
            for value in made:
                self._runtime.ReleaseValue(value)

    def run_at(self, inputs: Sequence[int], outputs: Sequence[int], results: Sequence[TensorType]) -> None:
        """From contiguous arrays at these addresses to those of the results, which have these types."""
        where = (*inputs, *outputs)
        try:
            ready = self._ready.pop()
        except IndexError:
            ready = None
        if ready is None or ready.where != where:
            kinds = self._kinds or tuple(_kind(t.dtype, t.shape) for t in (*self.types, *results))
            self._kinds = kinds
            ready = _Values(self._runtime, where, kinds, len(inputs))
        self._run(ready.inputs, ready.outputs)
        self._ready[:] = [ready]

    def _run(self, inputs: Any, outputs: Any) -> None:
        count = len(self._outputs)
        self._runtime.Run(self._session, None, self._inputs, inputs, len(self._inputs), self._outputs, count, outputs)

    def _copied(self, value: c_void_p) -> np.ndarray:
        address, element, shape = self._runtime.described(value)
        array = np.empty(shape, numpy_dtype(DTYPES[element]))
        if array.nbytes:
            ctypes.memmove(array.ctypes.data, address, array.nbytes)
        return array

    def by_reference(self, arrays: Sequence[Any], results: Sequence[TensorType], failed: Exception) -> tuple[Any, ...]:
        """What the reference evaluator makes of inputs that onnxruntime failed on; else the error that it gave."""
        given = iter(arrays)
        table = dict(zip(self.names, [next(given) if c is None else c for c in self.constants], strict=True))
        try:
            return evaluate(
                [table[n] for n in node_of(self.node).input if n],
                {"node": self.node, "opsets": self.opsets, "types": tuple(results)},
            )
        except ExecutionError:
            raise ExecutionError(f"onnxruntime failed: {failed}", slug="foreign-op-failed") from failed


class _Values:
    """Tensors on given addresses, for as long as the same ones come."""

    def __init__(self, found: Runtime, where: tuple[int, ...], kinds: Sequence[_Kind], inputs: int) -> None:
        self._release, self._made = found.ReleaseValue, list[c_void_p]()
        self.where = where
        for address, kind in zip(where, kinds, strict=True):
            self._made.append(found.tensor(address, *kind))
        self.inputs, self.outputs = _table(self._made[:inputs]), _table(self._made[inputs:])

    def __del__(self) -> None:
        for value in self._made:
            self._release(value)


def arrays_at(addresses: Sequence[int], types: Sequence[TensorType]) -> list[np.ndarray]:
    """Arrays on memory that somebody else owns."""
    found = []
    for address, type_ in zip(addresses, types, strict=True):
        dtype, shape = numpy_dtype(type_.dtype), tuple(d or 0 for d in type_.shape or ())
        memory: Any = (ctypes.c_char * (dtype.itemsize * math.prod(shape))).from_address(address)
        found.append(np.frombuffer(memory, dtype).reshape(shape))
    return found


@contextmanager
def _tensors(found: Runtime, arrays: Sequence[np.ndarray]) -> Iterator[list[c_void_p]]:
    values: list[c_void_p] = []
    try:
        for array in arrays:
            values.append(found.tensor(array.ctypes.data, *_kind(array.dtype.name, array.shape)))
        yield values
    finally:
        for value in values:
            found.ReleaseValue(value)


def _short(message: str) -> str:
    """What onnxruntime says, without the place in its source; of long explanations the last sentence."""
    said = re.sub(r"^\S*onnxruntime_src\S+ .*?\) (?=[A-Z])", "", " ".join(message.split()))
    return said if len(said) <= MESSAGE else said.rstrip(".")[-MESSAGE:].partition(". ")[2] or said[:MESSAGE]


def _contiguous(array: Any) -> np.ndarray:
    """NumPy's function of this name makes a vector of a single number."""
    return np.ascontiguousarray(array).reshape(np.shape(array))


def _kind(dtype: str, shape: Any) -> _Kind:
    return numpy_dtype(dtype).itemsize * math.prod(shape), (c_int64 * len(shape))(*shape), NUMBERS[dtype]


def _level(proto: Any, types: Sequence[TensorType]) -> int:
    """Convolutions over single points are products of matrices; there packing large arrays into blocks of channels and
    back takes more time than it saves."""
    if proto.op_type != "Conv" or len(types) < 2 or any(not t.is_static for t in types[:2]):
        return EVERYTHING
    image, kernel = types[0].shape or (), types[1].shape or ()
    points = math.prod(d or 0 for d in image[2:])
    return SAME_LAYOUT if set(kernel[2:]) == {1} and points >= POINTS else EVERYTHING


def _table(values: Sequence[c_void_p]) -> Any:
    return (c_void_p * len(values))(*(v.value for v in values))


def _versions(proto: Any, opsets: Opsets) -> list[Opsets]:
    """The operator sets of the model; then those with the version that defined the op, for it may be much older than
    the newest that onnxruntime knows."""
    domain = "" if proto.domain == "ai.onnx" else proto.domain
    try:
        since = onnx().defs.get_schema(proto.op_type, dict(opsets)[domain], domain).since_version
    except Exception:  # an op without a schema
        return [opsets]
    older = tuple((d, max(since, 7) if d == domain == "" else since if d == domain else v) for d, v in opsets)
    return [opsets] if older == opsets or max(since, 7) > dict(opsets)[domain] else [opsets, older]


def _declare(info: Any, name: str, type_: TensorType) -> None:
    info.name = name
    info.type.tensor_type.elem_type = NUMBERS[type_.dtype]
    if type_.shape is not None:
        info.type.tensor_type.shape.SetInParent()
        for size in type_.shape:
            dim = info.type.tensor_type.shape.dim.add()
            if size is not None:
                dim.dim_value = size
