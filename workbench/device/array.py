"""An array on a device, as the rows of a run hold it: a reference that counts with its bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.kernels.machine import HeldElsewhere

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.device.opened import OpenDevice


class DeviceArray(HeldElsewhere):
    """A read-only array on a device. ``data`` is the array of the device's library; ``np.asarray`` copies it to the
    host."""

    __slots__ = ("data", "home", "shape", "dtype", "__weakref__")

    def __init__(self, data: Any, home: OpenDevice, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        size = dtype.itemsize
        for dim in shape:
            size *= dim
        home.memory.take(size)
        super().__init__(size)
        self.data, self.home, self.shape, self.dtype = data, home, shape, dtype

    def __del__(self) -> None:
        if hasattr(self, "home"):  # the limit may have refused it
            self.home.memory.release(self.nbytes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("An array on a device becomes a NumPy array only by a copy.")
        host = self.home.fetch(self.data)
        return host if dtype is None else host.astype(dtype, copy=False)

    def __repr__(self) -> str:
        return f"<DeviceArray {self.dtype}{list(self.shape)} on {self.home.device.name}>"


def to_host(value: Any) -> Any:
    """A value as the host has it: of an array on a device a read-only copy, anything else as it is."""
    if not isinstance(value, DeviceArray):
        return value
    host = value.home.fetch(value.data)
    host.flags.writeable = False
    return host


class HostCopies(Sequence[Any]):
    """Some values as the host has them; each is copied once, when it is asked for."""

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
    """Object columns of rows that leave the machine, for keepers on the host."""
    return {offset: HostCopies(items) for offset, items in objects.items()}
