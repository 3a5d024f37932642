"""Array libraries by import name: their namespace after the array API standard, and how arrays get there and back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from workbench.device.choice import Device
from workbench.errors import DeviceError


@dataclass(frozen=True, slots=True)
class Namespace:
    """One array library on one device. ``xp`` has the functions of the standard; ``native``: it is NumPy itself, whose
    results need no rule (device: semantics). ``upload`` and ``fetch`` always copy; ``contiguous`` gives an array of its
    own memory, in C order; ``active`` makes the device the current one; ``full`` are the exceptions for memory that is
    not there."""

    xp: Any
    native: bool
    upload: Callable[[np.ndarray], Any]
    fetch: Callable[[Any], np.ndarray]
    contiguous: Callable[[Any], Any]
    active: Callable[[], AbstractContextManager[Any]]
    full: tuple[type[BaseException], ...]


def load_namespace(device: Device) -> Namespace:
    """The library of a device; DeviceError ``no-library`` if it is not installed, ``no-device`` if there is none."""
    extra = "gpu" if device.library == "cupy" else "array-api"
    if device.library == "cupy":
        return _cupy(device, _imported("array_api_compat.cupy", "cupy", device, extra))
    if device.library == "numpy":
        xp = _imported("array_api_compat.numpy", "array_api_compat", device, extra)
        return Namespace(xp, True, _copied, _copied, np.ascontiguousarray, nullcontext, (MemoryError,))
    xp = _imported("array_api_strict", "array_api_strict", device, extra)
    return Namespace(xp, False, lambda a: xp.asarray(_copied(a)), _copied, lambda a: a, nullcontext, (MemoryError,))


def _copied(array: Any) -> np.ndarray:
    return np.array(array, copy=True, order="C")


def _imported(module: str, package: str, device: Device, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        wanted = "CuPy and array-api-compat" if extra == "gpu" else package.replace("_", "-")
        raise DeviceError(
            f"device={device.name!r} needs {wanted}, which cannot be imported: {error}.",
            slug="no-library",
            fix=f"install it with pip install 'workbench[{extra}]', or leave device out.",
        ) from error


def _cupy(device: Device, xp: Any) -> Namespace:
    cupy = import_module("cupy")
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # the driver is missing, or older than CuPy's CUDA
        raise _no_gpu(device, f"CUDA finds none ({str(error).strip().rstrip('.')})") from error
    if device.number >= count:
        raise _no_gpu(device, f"CUDA finds {count}, numbered from 0")
    place = cupy.cuda.Device(device.number)

    def fetch(data: Any) -> np.ndarray:
        with place:
            host: np.ndarray = cupy.asnumpy(data)
            return host

    def upload(array: np.ndarray) -> Any:
        return cupy.array(array, order="C")

    full = (cupy.cuda.memory.OutOfMemoryError,)
    return Namespace(xp, False, upload, fetch, cupy.ascontiguousarray, lambda: place, full)


def _no_gpu(device: Device, found: str) -> DeviceError:
    return DeviceError(
        f"device={device.name!r} needs an NVIDIA GPU with that number; {found}.",
        slug="no-device",
        fix="look at nvidia-smi and the driver, name another GPU, or leave device out to run on the host.",
    )
