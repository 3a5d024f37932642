"""Array libraries by import name: their namespaces in the array API standard, and transfers of arrays to the device and
back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from workbench.device.choice import Device
from workbench.device.cuda_graph import CudaGraph
from workbench.errors import DeviceError
from workbench.libraries import install, needed

#: copies of at least this many bytes use pinned host memory and run concurrently
MOST_PINNED = 1 << 26


@dataclass(frozen=True, slots=True)
class Namespace:
    """One array library on one device. ``xp`` has the functions of the standard; ``native`` is True for NumPy itself,
    whose results need no rule (device: semantics). ``upload``, ``fetch`` and ``fetch_all`` always copy; ``contiguous``
    returns an array with separate memory in C order; ``active`` makes the device the current one; ``full`` are the
    exceptions for insufficient memory; ``capture`` turns many calls into one launch (cuda_graph), None if the library
    cannot.
    """

    xp: Any
    native: bool
    upload: Callable[[np.ndarray], Any]
    fetch: Callable[[Any], np.ndarray]
    fetch_all: Callable[[Sequence[Any]], list[np.ndarray]]
    contiguous: Callable[[Any], Any]
    active: Callable[[], AbstractContextManager[Any]]
    full: tuple[type[BaseException], ...]
    capture: Callable[..., Any] | None = None

    def dtype_of(self, name: str) -> Any:
        """The library's dtype for a dtype."""
        dtype = getattr(self.xp, name)
        return np.dtype(dtype) if isinstance(dtype, type) else dtype


def load_namespace(device: Device) -> Namespace:
    """The library of a device; DeviceError ``no-library`` if it is not installed, ``no-device`` if there is none."""
    extra = "gpu" if device.library == "cupy" else "array-api"
    if device.library == "cupy":
        return _cupy(device, _imported("array_api_compat.cupy", device, extra))
    if device.library == "numpy":
        xp = _imported("array_api_compat.numpy", device, extra)
        return Namespace(xp, True, _copied, _copied, _all_copied, np.ascontiguousarray, nullcontext, (MemoryError,))
    xp = _imported("array_api_strict", device, extra)
    upload = lambda a: xp.asarray(_copied(a))  # noqa: E731
    return Namespace(xp, False, upload, _copied, _all_copied, lambda a: a, nullcontext, (MemoryError,))


def _copied(array: Any) -> np.ndarray:
    return np.array(array, copy=True, order="C")


def _all_copied(arrays: Sequence[Any]) -> list[np.ndarray]:
    return [_copied(a) for a in arrays]


def _imported(module: str, device: Device, extra: str) -> Any:
    fix = f"install it with {install(extra)}, or leave device out."
    purpose = f"device={device.name!r}"
    if extra == "gpu":
        needed("cupy", purpose, fix, error=DeviceError, slug="no-library", called="CuPy")
    name = module.partition(".")[0].replace("_", "-")
    return needed(module, purpose, fix, error=DeviceError, slug="no-library", called=name)


def _cupy(device: Device, xp: Any) -> Namespace:
    cupy, cupyx = import_module("cupy"), import_module("cupyx")
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # the driver is missing, or older than CuPy's CUDA
        raise _no_gpu(device, f"CUDA finds none ({str(error).strip().rstrip('.')})") from error
    if device.number >= count:
        raise _no_gpu(device, f"CUDA finds {count}, numbered from 0")
    place = cupy.cuda.Device(device.number)

    copies: Any = cupy.cuda.Stream(non_blocking=True)

    def active() -> AbstractContextManager[Any]:
        return nullcontext() if count == 1 else place  # entering a device asks the driver

    def fetch(data: Any) -> np.ndarray:
        with place:
            host: np.ndarray = cupy.asnumpy(data)
            return host

    def fetch_all(arrays: Sequence[Any]) -> list[np.ndarray]:
        # after the earlier launches, but not after those that a run makes meanwhile
        with place:
            copies.wait_event(cupy.cuda.get_current_stream().record())
            if sum(a.nbytes for a in arrays) > MOST_PINNED:
                return [cupy.asnumpy(a, stream=copies) for a in arrays]
            found = [cupyx.empty_pinned(a.shape, a.dtype) for a in arrays]
            for array, host in zip(arrays, found, strict=True):
                array.get(stream=copies, out=host, blocking=False)
            copies.synchronize()
            return [h.copy() for h in found]  # pinned memory is expensive to keep

    def contiguous(array: Any) -> Any:
        return array if array.flags.c_contiguous else cupy.ascontiguousarray(array)

    def upload(array: np.ndarray) -> Any:
        return cupy.array(array, order="C")

    full = (cupy.cuda.memory.OutOfMemoryError,)
    return Namespace(xp, False, upload, fetch, fetch_all, contiguous, active, full, CudaGraph)


def _no_gpu(device: Device, found: str) -> DeviceError:
    return DeviceError(
        f"device={device.name!r} needs an NVIDIA GPU with that number; {found}.",
        slug="no-device",
        fix="look at nvidia-smi and the driver, name another GPU, or leave device out to run on the host.",
    )
