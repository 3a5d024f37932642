"""An array on a device, as the rows of a run hold it: a reference whose bytes are counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.kernels.machine import HeldElsewhere
from workbench.text import harmless

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.device.memory import DeviceMemory
    from workbench.device.opened import OpenDevice


class DeviceBlock:
    """Memory on a device that several arrays share; it is counted until the last of them is freed. ``view(offset,
    shape, dtype)`` returns an array of the library in it.
    """

    __slots__ = ("memory", "size", "view")

    def __init__(self, memory: DeviceMemory, size: int, view: Callable[..., Any]) -> None:
        memory.take(size)
        self.memory, self.size, self.view = memory, size, view

    def __del__(self) -> None:
        if hasattr(self, "size"):
            self.memory.release(self.size)


class DeviceArray(HeldElsewhere):
    """A read-only array on a device. ``data`` is the array of the device's library; ``np.asarray`` copies it to the
    host."""

    __slots__ = ("_data", "home", "shape", "dtype", "_block", "_offset", "__weakref__")

    def __init__(
        self,
        data: Any,
        home: OpenDevice,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        block: DeviceBlock | None = None,
        offset: int = 0,
    ) -> None:
        """``block``: memory shared with other arrays and counted separately, in place of ``data``; the library's array
        is created when it is first read.
        """
        size = math.prod(shape) * dtype.itemsize
        if block is None:
            home.memory.take(size)
        super().__init__(size)
        self._data, self.home, self.shape, self.dtype = data, home, shape, dtype
        self._offset, self._block = offset, block

    @property
    def data(self) -> Any:
        """The array of the library."""
        if self._data is None:
            assert self._block is not None
            self._data = self._block.view(self._offset, self.shape, self.dtype)
        return self._data

    def __del__(self) -> None:
        if hasattr(self, "_block") and self._block is None:  # the limit may have refused it
            self.home.memory.release(self.nbytes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("An array on a device becomes a NumPy array only by a copy.")
        host = self.home.fetch(self.data)
        return host if dtype is None else host.astype(dtype, copy=False)

    @harmless
    def __repr__(self) -> str:
        return f"<DeviceArray {self.dtype}{list(self.shape)} on {self.home.device.name}>"


def to_host(value: Any) -> Any:
    """A value on the host: a read-only copy of an array on a device, any other value unchanged."""
    if not isinstance(value, DeviceArray):
        return value
    host = value.home.fetch(value.data)
    host.flags.writeable = False
    return host


def all_to_host(values: Sequence[Any]) -> list[Any]:
    """:func:`to_host` of several values; those on a device are copied together, while it continues to compute."""
    there = [v for v in values if isinstance(v, DeviceArray)]
    if not there:
        return list(values)
    copies = iter(there[0].home.fetch_all([v.data for v in there]))
    found = list[Any]()
    for value in values:
        if isinstance(value, DeviceArray):
            value = next(copies)
            value.flags.writeable = False
        found.append(value)
    return found


class HostCopies(Sequence[Any]):
    """Given values on the host; each is copied once, on demand."""

    def __init__(self, items: Sequence[Any]) -> None:
        self._items, self._copied = items, dict[int, Any]()

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[k] for k in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        number = at % len(self)
        if number not in self._copied:
            self._copied[number] = to_host(self._items[number])
        return self._copied[number]


def host_objects(objects: Mapping[int, Sequence[Any]]) -> dict[int, Sequence[Any]]:
    """Object columns of rows that leave the machine, for stores on the host."""
    return {offset: HostCopies(items) for offset, items in objects.items()}
