"""onnxruntime through its C interface, with one environment for the whole process.

The wheels contain the runtime twice, inside the Python module and as a library with the C interface. The library has
its own environment, so that sessions here can share one thread pool and one arena: hundreds of sessions with separate
threads would be thousands of threads, and a pool shared through the Python module would affect every other user of the
module. Source of names and order: https://onnxruntime.ai/docs/api/c/struct_ort_api.html (its order never changes, new
functions come at the end).
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from collections.abc import Mapping, Sequence
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from workbench.frontends.onnx.tensors import DTYPES, SAME
from workbench.ir.types import TensorType, numpy_dtype
from workbench.kernels.ort_calls import FUNCTIONS, SessionCall

#: version of the interface that has all of FUNCTIONS, from release 1.16
_VERSION = 16
_FATAL = 4
#: threads for one node; 0: the default of onnxruntime
THREADS = 0
_ARENA, _DEFAULT_MEMORY = 1, 0
#: optimization levels: all rewritings, or none that changes the layout of arrays
EVERYTHING, SAME_LAYOUT = 99, 1

_NAMES = POINTER(c_char_p)
_VALUES = POINTER(c_void_p)
#: name -> (index in the table, types of the arguments); all except GetErrorMessage and Release... return a status
_FUNCTIONS: dict[str, tuple[int, tuple[Any, ...]]] = {
    "GetErrorMessage": (2, (c_void_p,)),
    "CreateSessionFromArray": (8, (c_void_p, c_char_p, c_size_t, c_void_p, c_void_p)),
    "Run": (9, (c_void_p, c_void_p, _NAMES, _VALUES, c_size_t, _NAMES, c_size_t, _VALUES)),
    "CreateSessionOptions": (10, (c_void_p,)),
    "DisableMemPattern": (17, (c_void_p,)),
    "SetSessionLogSeverityLevel": (22, (c_void_p, c_int)),
    "SetSessionGraphOptimizationLevel": (23, (c_void_p, c_int)),
    "RegisterCustomOpsLibrary": (29, (c_void_p, c_char_p, c_void_p)),
    "SessionGetOutputTypeInfo": (34, (c_void_p, c_size_t, c_void_p)),
    "CreateTensorAsOrtValue": (48, (c_void_p, POINTER(c_int64), c_size_t, c_int, c_void_p)),
    "CreateTensorWithDataAsOrtValue": (49, (c_void_p, c_void_p, c_size_t, POINTER(c_int64), c_size_t, c_int, c_void_p)),
    "GetTensorMutableData": (51, (c_void_p, c_void_p)),
    "FillStringTensor": (52, (c_void_p, _NAMES, c_size_t)),
    "GetStringTensorDataLength": (53, (c_void_p, c_void_p)),
    "GetStringTensorContent": (54, (c_void_p, c_char_p, c_size_t, POINTER(c_size_t), c_size_t)),
    "CastTypeInfoToTensorInfo": (55, (c_void_p, c_void_p)),
    "GetTensorElementType": (60, (c_void_p, c_void_p)),
    "GetDimensionsCount": (61, (c_void_p, c_void_p)),
    "GetDimensions": (62, (c_void_p, POINTER(c_int64), c_size_t)),
    "GetTensorTypeAndShape": (65, (c_void_p, c_void_p)),
    "GetValueType": (67, (c_void_p, c_void_p)),
    "CreateCpuMemoryInfo": (69, (c_int, c_int, c_void_p)),
    "GetAllocatorWithDefaultOptions": (78, (c_void_p,)),
    "GetValue": (80, (c_void_p, c_int, c_void_p, c_void_p)),
    "GetValueCount": (81, (c_void_p, c_void_p)),
    "CreateValue": (82, (_VALUES, c_size_t, c_int, c_void_p)),
    "ReleaseStatus": (93, (c_void_p,)),
    "ReleaseSession": (95, (c_void_p,)),
    "ReleaseValue": (96, (c_void_p,)),
    "ReleaseTypeInfo": (98, (c_void_p,)),
    "ReleaseTensorTypeAndShapeInfo": (99, (c_void_p,)),
    "ReleaseSessionOptions": (100, (c_void_p,)),
    "CreateEnvWithGlobalThreadPools": (119, (c_int, c_char_p, c_void_p, c_void_p)),
    "DisablePerSessionThreads": (120, (c_void_p,)),
    "CreateThreadingOptions": (121, (c_void_p,)),
    "ReleaseThreadingOptions": (122, (c_void_p,)),
    "AddSessionConfigEntry": (130, (c_void_p, c_char_p, c_char_p)),
    "CreateAndRegisterAllocator": (144, (c_void_p, c_void_p, c_void_p)),
    "SetGlobalIntraOpNumThreads": (147, (c_void_p, c_int)),
    "SetGlobalInterOpNumThreads": (148, (c_void_p, c_int)),
    "AddExternalInitializers": (210, (c_void_p, _NAMES, _VALUES, c_size_t)),
}


class RuntimeRefusal(Exception):
    """A failure in onnxruntime, with its message."""


class _Base(ctypes.Structure):
    _fields_ = (("get_api", ctypes.CFUNCTYPE(c_void_p, c_uint32)), ("get_version", ctypes.CFUNCTYPE(c_char_p)))


class Runtime:
    """The interface and the environment. Attributes are the functions of FUNCTIONS; those that return a status raise
    RuntimeRefusal instead. Calls release the GIL.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        library.OrtGetApiBase.restype = POINTER(_Base)
        base = library.OrtGetApiBase().contents
        self.version = base.get_version().decode()
        table = base.get_api(_VERSION)
        if not table:
            raise OSError(f"onnxruntime {self.version} is too old")
        entries = ctypes.cast(table, POINTER(c_void_p))
        self._addresses = tuple(int(entries[_FUNCTIONS[name][0]] or 0) for name in FUNCTIONS)
        for name, (place, arguments) in _FUNCTIONS.items():
            gives = None if name.startswith("Release") else c_char_p if name == "GetErrorMessage" else c_void_p
            function = ctypes.CFUNCTYPE(gives, *arguments)(entries[place])
            setattr(self, name, self._checked(function) if gives is c_void_p else function)
        self.memory = c_void_p()
        self.CreateCpuMemoryInfo(_ARENA, _DEFAULT_MEMORY, byref(self.memory))
        self.allocator = c_void_p()  # for values that onnxruntime creates; owned by the library
        self.GetAllocatorWithDefaultOptions(byref(self.allocator))
        threads = c_void_p()
        self.CreateThreadingOptions(byref(threads))
        self.SetGlobalIntraOpNumThreads(threads, THREADS)
        self.SetGlobalInterOpNumThreads(threads, 1)
        self._environment = c_void_p()
        self.CreateEnvWithGlobalThreadPools(_FATAL, b"workbench", threads, byref(self._environment))
        self.ReleaseThreadingOptions(threads)
        self.CreateAndRegisterAllocator(self._environment, self.memory, None)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)  # functions are set by __init__; this is for type checkers

    def _checked(self, function: Any) -> Any:
        def call(*arguments: Any) -> None:
            status = function(*arguments)
            if status:
                message = self.GetErrorMessage(status).decode("utf-8", "replace")
                self.ReleaseStatus(status)
                raise RuntimeRefusal(message)

        return call

    def session(
        self,
        model: bytes,
        constants: Mapping[str, c_void_p] = MappingProxyType({}),
        level: int = EVERYTHING,
        library: str | None = None,
        without: str = "",
    ) -> c_void_p:
        """A session of a model; ``constants`` are values for its external initializers, read in place; ``level`` is the
        optimization level, ``without`` names rewritings to switch off, joined by semicolons; ``library`` is the path of
        a library with further ops.
        """
        options, made = c_void_p(), c_void_p()
        self.CreateSessionOptions(byref(options))
        try:
            self.DisablePerSessionThreads(options)
            self.DisableMemPattern(options)
            self.SetSessionGraphOptimizationLevel(options, level)
            self.SetSessionLogSeverityLevel(options, _FATAL)
            self.AddSessionConfigEntry(options, b"session.use_env_allocators", b"1")
            # otherwise its threads spin for a while after each call, and delay the threads of NumPy's products
            self.AddSessionConfigEntry(options, b"session.force_spinning_stop", b"1")
            if without:
                self.AddSessionConfigEntry(options, b"optimization.disable_specified_optimizers", without.encode())
            if library is not None:  # it stays loaded for the rest of the process
                self.RegisterCustomOpsLibrary(options, library.encode(), byref(c_void_p()))
            if constants:
                names = (c_char_p * len(constants))(*(n.encode() for n in constants))
                values = (c_void_p * len(constants))(*(v.value for v in constants.values()))
                self.AddExternalInitializers(options, names, values, len(constants))
            self.CreateSessionFromArray(self._environment, model, len(model), options, byref(made))
        finally:
            self.ReleaseSessionOptions(options)
        return made

    def call(
        self,
        session: c_void_p,
        inputs: Sequence[bytes],
        outputs: Sequence[bytes],
        kinds: Sequence[TensorType | None],
        fed: Sequence[c_void_p] = (),
    ) -> SessionCall:
        """The call of a session on arrays, or on addresses for those inputs and outputs whose types are in ``kinds``;
        ``fed`` are values for the last inputs. The session and these values must outlive the call.
        """
        static = tuple([(numpy_dtype(t.dtype), t.shape) if t is not None and t.is_static else None for t in kinds])
        places = [int(v.value or 0) for v in fed]
        memory, at = int(self.memory.value or 0), int(session.value or 0)
        tables = _elements()
        return SessionCall(
            self._addresses, memory, at, list(inputs), list(outputs), places, static, *tables, RuntimeRefusal, None
        )

    def tensor(self, address: int, size: int, dims: Any, element: int) -> c_void_p:
        """A tensor on memory that it does not own; ``dims`` is an array of c_int64."""
        value = c_void_p()
        self.CreateTensorWithDataAsOrtValue(self.memory, address, size, dims, len(dims), element, byref(value))
        return value

    def results(self, session: c_void_p, count: int) -> list[tuple[int, tuple[int | None, ...] | None]]:
        """Element types and shapes of a session's results; the element type is 0 for a result that is not a tensor."""
        found = []
        for index in range(count):
            kind, tensor, element, rank = c_void_p(), c_void_p(), c_int(), c_size_t()
            self.SessionGetOutputTypeInfo(session, index, byref(kind))
            shape: tuple[int | None, ...] | None = None
            try:
                self.CastTypeInfoToTensorInfo(kind, byref(tensor))  # owned by kind, or null
                if tensor:
                    self.GetTensorElementType(tensor, byref(element))
                    self.GetDimensionsCount(tensor, byref(rank))
                    dims = (c_int64 * rank.value)()
                    self.GetDimensions(tensor, dims, rank.value)
                    # a scalar and an unknown rank look the same
                    shape = tuple(d if d >= 0 else None for d in dims) if rank.value else None
            finally:
                self.ReleaseTypeInfo(kind)
            found.append((element.value, shape))
        return found

    def described(self, value: c_void_p) -> tuple[int, int, tuple[int, ...]]:
        """(address, element type, shape) of a tensor."""
        info, data, element, rank = c_void_p(), c_void_p(), c_int(), c_size_t()
        self.GetTensorTypeAndShape(value, byref(info))
        try:
            self.GetTensorElementType(info, byref(element))
            self.GetDimensionsCount(info, byref(rank))
            dims = (c_int64 * rank.value)()
            self.GetDimensions(info, dims, rank.value)
        finally:
            self.ReleaseTensorTypeAndShapeInfo(info)
        self.GetTensorMutableData(value, byref(data))
        return data.value or 0, element.value, tuple(dims)


@functools.cache
def _elements() -> tuple[dict[int, int], dict[int, np.dtype]]:
    """Dtype numbers of NumPy -> those of onnxruntime, and those of onnxruntime -> dtypes, for types with the same
    bytes.

    C types of equal size have different numbers in NumPy: ``long`` and ``long long`` are both int64.
    """
    found = {number: numpy_dtype(name) for number, name in DTYPES.items() if name in SAME}
    by_name = {dtype.name: number for number, dtype in found.items()}
    numbers: dict[int, int] = {np.dtype(c).num: by_name[np.dtype(c).name] for c in "bBhHiIlLqQ?efd"}
    numbers.update({int(dtype.num): number for number, dtype in found.items()})
    return numbers, found


@functools.cache
def runtime() -> Runtime | str:
    """The runtime, or the reason why it is unavailable."""
    found = importlib.util.find_spec("onnxruntime")
    if found is None or not found.submodule_search_locations:
        return "it is not installed"
    for folder in found.submodule_search_locations:
        inside = Path(folder) / "capi"
        for pattern in ("libonnxruntime.so*", "libonnxruntime*.dylib", "onnxruntime.dll"):
            for path in sorted(inside.glob(pattern)):
                try:
                    return Runtime(ctypes.CDLL(str(path)))
                except (OSError, AttributeError, RuntimeRefusal) as error:
                    return f"its library cannot be used: {error}"
    return "this installation of it has no library with the C interface"
