"""A device in use: its namespace, its memory, and the copies of host arrays that it already has."""

from __future__ import annotations

import functools
import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.device.array import DeviceArray
from workbench.device.choice import Device
from workbench.device.memory import DeviceMemory
from workbench.device.namespaces import Namespace, load_namespace
from workbench.ir.types import TensorType, numpy_dtype

#: dtypes of arrays on a device; the standard has no float16, and CuPy's complex numbers differ from NumPy's in NaN
DTYPES = frozenset(
    ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
)


class OpenDevice:
    """One device of this process; equal :class:`Device` values share it."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.space: Namespace = load_namespace(device)
        self.memory = DeviceMemory(device.name, device.memory)
        # read-only host arrays (feeds, constants, edits) -> their copy here, for as long as they live
        self._copies: dict[int, tuple[weakref.ref[np.ndarray], DeviceArray]] = {}

    @property
    def xp(self) -> Any:
        """The namespace of the array API standard."""
        return self.space.xp

    def holds(self, type_: TensorType) -> bool:
        """True if values of this type live on the device."""
        if type_.dtype not in DTYPES or not type_.is_static or not type_.shape:
            return False
        items = math.prod(d or 0 for d in type_.shape)
        return 0 < items and items * numpy_dtype(type_.dtype).itemsize >= self.device.least_bytes

    def fetch(self, data: Any) -> np.ndarray:
        """A host copy of an array of the library."""
        return np.asarray(self.space.fetch(data))

    def fetch_all(self, data: Sequence[Any]) -> list[np.ndarray]:
        """Host copies of several arrays of the library."""
        return [np.asarray(a) for a in self.space.fetch_all(data)]

    def checked(self, data: Any, type_: TensorType) -> None:
        """TypeError if a result of the library is not of this type."""
        if tuple(data.shape) != type_.shape or data.dtype != getattr(self.xp, type_.dtype):
            raise TypeError(f"gave {data.dtype} of shape {tuple(data.shape)} where {type_} was expected")

    def keeper(self, type_: TensorType) -> Callable[[Any], DeviceArray]:
        """A function from results of the library to values of the run; TypeError if one is not of this type."""
        assert type_.is_static  # arrays on the device have a fixed shape
        shape, dtype, contiguous = (
            tuple(d or 0 for d in type_.shape or ()),
            numpy_dtype(type_.dtype),
            self.space.contiguous,
        )
        wanted = self.space.dtype_of(type_.dtype)

        def keep(data: Any) -> DeviceArray:
            if data.shape != shape or data.dtype != wanted:
                self.checked(data, type_)
            return DeviceArray(contiguous(data), self, shape, dtype)

        return keep

    def operand(self, value: Any) -> Any:
        """An operand for the library: a number stays a NumPy scalar on the host, a host array is copied here."""
        if isinstance(value, DeviceArray):
            return value.data
        array = np.asarray(value)
        if array.ndim == 0:
            return array
        if array.flags.writeable:
            return self.space.upload(array)
        known = self._copies.get(id(array))
        if known is None or known[0]() is not array:
            known = self._copy(array)
        return known[1].data

    def _copy(self, array: np.ndarray) -> tuple[weakref.ref[np.ndarray], DeviceArray]:
        key, copies = id(array), self._copies
        made = DeviceArray(self.space.upload(array), self, array.shape, array.dtype)

        def gone(reference: Any) -> None:
            if (entry := copies.get(key)) is not None and entry[0] is reference:
                del copies[key]

        copies[key] = weakref.ref(array, gone), made
        return copies[key]


@functools.lru_cache(maxsize=64)
def open_device(device: Device) -> OpenDevice:
    """The device of this process for a choice; DeviceError if it cannot be used."""
    return OpenDevice(device)
