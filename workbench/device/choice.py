"""The device that a user chooses: its array library, minimum array size, and memory limit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from workbench.errors import DeviceError

#: arrays below this many bytes stay on the host: a call on a GPU takes 10 to 50 us whatever its size (measured on an
#: H100: a loop body of ten ops is equally fast on both at about 100 KiB, a single op at about 300 KiB)
LEAST_BYTES = 1 << 18
#: name of the device -> import name of its array library
LIBRARIES = {"cuda": "cupy", "numpy": "numpy", "array-api-strict": "array_api_strict"}
_NAME = re.compile(r"cuda(:\d{1,3})?|numpy|array-api-strict")


@dataclass(frozen=True, slots=True)
class Device:
    """A device for the arrays of a run: pass it, or its name alone, as ``device`` to a session or to ``graph.run``.

    Arrays of a fixed dtype and shape that take ``least_bytes`` or more live on the device, and ops on them run there.
    Numbers, conditions and smaller arrays stay compiled on the host; ``session.plan.reasons`` says where each node runs
    and why. Values are copied to the host when they are read.

    Parameters
    ----------
    name : str
        ``"cuda"`` (or ``"cuda:1"`` ...): an NVIDIA GPU through CuPy. ``"numpy"``: the same code with NumPy as the array
        library, on the CPU; it shows what would run on a GPU, and is slower than ``device=None``.
        ``"array-api-strict"``: the strict reference library, for tests.
    least_bytes : int, default 256 KiB
        Minimum bytes of an array that lives on the device.
    memory : int, optional
        Maximum bytes of arrays on the device; by default as many as it has. Beyond it the run stops before the node
        that needs more (``device-memory``).

    Raises
    ------
    DeviceError
        ``unknown-device`` for any other name, ``bad-device`` for an invalid number.

    Examples
    --------
    >>> small = wb.Device("numpy", least_bytes=0)
    >>> with wb.Session(graph, {"a": 2.0}, device=small) as on_device:
    ...     on_device.run()
    <Stop FINISHED: ...>
    """

    name: str
    least_bytes: int = LEAST_BYTES
    memory: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise DeviceError(
                f'device: expected "cuda", "cuda:N", "numpy" or "array-api-strict", got {self.name!r}.',
                slug="unknown-device",
                fix='pass device="cuda" for a GPU, or None for the host.',
            )
        for label, value, least in (("least_bytes", self.least_bytes, 0), ("memory", self.memory, 1)):
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
                raise DeviceError(
                    f"Device: {label} must be a number of bytes, {least} or more, got {value!r}.",
                    slug="bad-device",
                    fix=f"pass something like {label}=1 << 24.",
                )

    @property
    def library(self) -> str:
        """Import name of its array library."""
        return LIBRARIES[self.name.partition(":")[0]]

    @property
    def number(self) -> int:
        """The number of the GPU; 0 for the others."""
        return int(self.name.partition(":")[2] or 0)


def checked_device(device: Any) -> Device | None:
    """The device for an argument: None, a name, or a Device; DeviceError for anything else."""
    if device is None or isinstance(device, Device):
        return device
    return Device(device)
