"""One node as an onnxruntime session."""

from __future__ import annotations

import ctypes
import math
import re
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from ctypes import c_char_p, c_void_p
from typing import Any

import numpy as np

from workbench.errors import ExecutionError
from workbench.frontends.onnx.foreign import extensions, single, values
from workbench.frontends.onnx.foreign.nodes import Opsets, node_of
from workbench.frontends.onnx.foreign.ort_exceptions import fails_on_nothing
from workbench.frontends.onnx.foreign.reference import evaluate
from workbench.frontends.onnx.foreign.runtime import SAME_LAYOUT, Runtime, RuntimeRefusal, runtime
from workbench.frontends.onnx.foreign.values import Kind, contiguous, dims_of
from workbench.frontends.onnx.tensors import DTYPES, NUMBERS, SAME
from workbench.ir.types import ANY, OPAQUE, TensorType, numpy_dtype
from workbench.kernels.ort_calls import SessionCall

#: reason why onnxruntime does not run a node (see ort_exceptions.fails_on_nothing)
NOTHING = "its kernel does not take arrays without elements, where it may end the process"
#: maximum length of a reason
MESSAGE = 200
#: phrases with which onnxruntime reports an unknown domain or op
UNHEARD = ("is not a registered function/op", "No Op registered for")


class Refused(Exception):
    """Raised if onnxruntime does not compute a node, with the reason; ``unheard`` is true if it does not know the op at
    all.
    """

    def __init__(self, why: str) -> None:
        super().__init__(_short(why))
        self.unheard = any(u in why for u in UNHEARD)


class NodeSession:
    """A session of a node for inputs of these types. Thread-safe; calls share no state except memory.

    ``names`` and ``types`` are those of the inputs, each name once; inputs with a constant are not fed. Raises Refused
    if onnxruntime has no kernel for the node.
    """

    def __init__(
        self,
        node: bytes,
        opsets: Opsets,
        names: Sequence[str],
        types: Sequence[Kind],
        constants: Sequence[np.ndarray | None],
    ) -> None:
        found = _runtime()
        self._runtime = found
        self.constants = tuple(None if c is None else contiguous(c) for c in constants)
        self.node, self.opsets, self.names = node, opsets, tuple(names)
        fed = [(n, t) for n, t, c in zip(names, types, constants, strict=True) if c is None]
        self.types = tuple(t for _, t in fed)
        outputs = [o for o in node_of(node).output if o]
        self._inputs = (c_char_p * len(fed))(*(n.encode() for n, _ in fed))
        self._outputs = (c_char_p * len(outputs))(*(o.encode() for o in outputs))
        filled = constants[:3] if fails_on_nothing(node_of(node)) else ()
        if any(c is not None and not c.size for c in filled):
            raise Refused(NOTHING)
        self._filled = sum(c is None for c in filled)
        inputs = dict(zip(names, zip(types, self.constants, strict=True), strict=True))
        self._session, self.opened_with = opened(found, node, opsets, inputs)
        self.level = single.level(node_of(node), types)
        weakref.finalize(self, found.ReleaseSession, self._session)
        self.elements = [e for e, _ in found.results(self._session, len(outputs))]
        if any(e and e not in DTYPES for e in self.elements):
            raise Refused("it gives results of a dtype that is unknown here")
        self._plain = all(t.dtype in SAME for t in self.types)
        self._gives_plain = all(DTYPES.get(e) in SAME for e in self.elements)
        names, gives = [n.encode() for n, _ in fed], [o.encode() for o in outputs]
        self._call = found.call(self._session, names, gives, [None] * (len(names) + len(gives)))
        #: the call for addresses of arrays, created on first use
        self._at: SessionCall | None = None
        self._names = names, gives

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for the values of the fed inputs."""
        if any(not np.size(a) for a in arrays[: self._filled]):
            raise RuntimeRefusal(NOTHING)
        if self.has_plain_memory:
            return self._call([contiguous(a) for a in arrays], [None] * len(self._outputs))
        made = (c_void_p * len(self._outputs))()
        with _given(self._runtime, arrays, self.types) as tables:
            self._run(_table(tables), made)
        take = values.array if self._gives_plain else values.taken
        try:
            return [take(self._runtime, c_void_p(v)) for v in made]
        finally:
            for value in made:
                self._runtime.ReleaseValue(value)

    def run_at(self, inputs: Sequence[int], outputs: Sequence[int], results: Sequence[TensorType]) -> None:
        """Run on contiguous arrays at the addresses ``inputs``; writes results of these types to the addresses
        ``outputs``.
        """
        if any(0 in (t.shape or ()) for t in self.types[: self._filled]):
            raise RuntimeRefusal(NOTHING)
        if self._at is None:
            self._at = self._runtime.call(self._session, *self._names, [*_tensor_types(self.types), *results])
        self._at(list(inputs), list(outputs))

    @property
    def has_plain_memory(self) -> bool:
        """True if all inputs and outputs are arrays with the same memory format in NumPy and in onnxruntime."""
        return self._plain and self._gives_plain

    def _run(self, inputs: Any, outputs: Any) -> None:
        count = len(self._outputs)
        self._runtime.Run(self._session, None, self._inputs, inputs, len(self._inputs), self._outputs, count, outputs)

    def by_reference(self, arrays: Sequence[Any], results: Sequence[TensorType], failed: Exception) -> tuple[Any, ...]:
        """The reference evaluator's result for inputs on which onnxruntime failed; if it fails too, raises
        onnxruntime's error.
        """
        given = iter(arrays)
        table = dict(zip(self.names, [next(given) if c is None else c for c in self.constants], strict=True))
        try:
            return evaluate(
                [table[n] for n in node_of(self.node).input if n],
                {"node": self.node, "opsets": self.opsets, "types": tuple(results)},
            )
        except ExecutionError:
            raise ExecutionError(f"onnxruntime failed: {failed}", slug="foreign-op-failed") from failed


def opened(
    found: Runtime,
    node: bytes,
    opsets: Opsets,
    inputs: Mapping[str, tuple[Kind, np.ndarray | None]],
    fully: bool = True,
) -> tuple[c_void_p, Opsets]:
    """A session of a node, which the caller must release, and its operator sets; ``inputs`` are (type, constant) by
    name. Raises Refused.

    Without ``fully`` onnxruntime rewrites nothing, which suffices to query input and output types.
    """
    proto = node_of(node)
    for kind, _ in inputs.values():
        if kind.dtype not in NUMBERS and kind.dtype != OPAQUE or isinstance(kind, TensorType) and kind.dtype == OPAQUE:
            raise Refused("the type of an input comes with its value" if kind.dtype == ANY else "an input is a list")
    graph, large = single.graph_of(proto, inputs)
    library = extensions.library_of(proto.domain)
    level = single.level(proto, [k for k, _ in inputs.values()]) if fully else SAME_LAYOUT - 1
    first: Exception | None = None
    with _tensors(found, list(large.values())) as tables:
        for sets in single.versions(proto, opsets):
            try:
                given = dict(zip(large, tables, strict=True))
                return found.session(single.bytes_of(graph, sets), given, level, library), sets
            except RuntimeRefusal as error:
                first = first or error
    raise Refused(str(first)) from first


def result_types(node: bytes, opsets: Opsets, inputs: Mapping[str, tuple[Kind, np.ndarray | None]]) -> list[TensorType]:
    """Types of the outputs of a node as onnxruntime infers them; raises Refused if it does not compute the node."""
    found = _runtime()
    session, _ = opened(found, node, opsets, inputs, fully=False)
    try:
        results = found.results(session, sum(map(bool, node_of(node).output)))
    finally:
        found.ReleaseSession(session)
    return [TensorType(DTYPES.get(e, ANY), shape) if e else TensorType(OPAQUE, None) for e, shape in results]


def _runtime() -> Runtime:
    found = runtime()
    if isinstance(found, str):
        raise Refused(found)
    return found


def _tensor_types(kinds: Sequence[Kind]) -> list[TensorType | None]:
    return [k if isinstance(k, TensorType) else None for k in kinds]


def arrays_at(addresses: Sequence[int], types: Sequence[Kind]) -> list[np.ndarray]:
    """Arrays on memory that they do not own."""
    found = []
    for address, type_ in zip(addresses, types, strict=True):
        dtype, shape = numpy_dtype(type_.dtype), tuple(d or 0 for d in type_.shape or ())
        memory: Any = (ctypes.c_char * (dtype.itemsize * math.prod(shape))).from_address(address)
        found.append(np.frombuffer(memory, dtype).reshape(shape))
    return found


@contextmanager
def _tensors(found: Runtime, arrays: Sequence[np.ndarray]) -> Iterator[list[c_void_p]]:
    made: list[c_void_p] = []
    try:
        for array in arrays:
            made.append(tensor_of(found, array))
        yield made
    finally:
        for value in made:
            found.ReleaseValue(value)


@contextmanager
def _given(found: Runtime, arrays: Sequence[Any], kinds: Sequence[Kind]) -> Iterator[list[c_void_p]]:
    made: list[c_void_p] = []
    kept: list[Any] = []
    try:
        for array, kind in zip(arrays, kinds, strict=True):
            made.append(values.given(found, array, kind, kept))
        yield made
    finally:
        for value in made:
            found.ReleaseValue(value)


def _short(message: str) -> str:
    """The message of onnxruntime without the position in its source; only the last sentence of a long explanation."""
    said = re.sub(r"^\S*onnxruntime_src\S+ .*?\) (?=[A-Z])", "", " ".join(message.split()))
    return said if len(said) <= MESSAGE else said.rstrip(".")[-MESSAGE:].partition(". ")[2] or said[:MESSAGE]


def tensor_of(found: Runtime, of: np.ndarray) -> c_void_p:
    """A tensor on the memory of an array, which the caller must release."""
    return found.tensor(of.ctypes.data, of.nbytes, dims_of(of.shape), NUMBERS[of.dtype.name])


def _table(made: Sequence[c_void_p]) -> Any:
    return (c_void_p * len(made))(*(v.value for v in made))
