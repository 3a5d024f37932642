"""Bytes of arrays on one device: current, peak, and limit."""

from __future__ import annotations

from workbench.errors import ExecutionError
from workbench.threads import Lock


class DeviceMemory:
    """Counts the bytes of arrays on a device, of a view in full; any thread may use it. ``take`` raises an error beyond
    the limit.
    """

    def __init__(self, name: str, limit: int | None) -> None:
        self.name, self.limit = name, limit
        self.held = self.peak = 0
        self._lock = Lock()  # a garbage collection inside it may release arrays

    def take(self, size: int) -> None:
        """Count ``size`` bytes; ExecutionError ``device-memory`` beyond the limit."""
        with self._lock:
            if self.limit is not None and self.held + size > self.limit:
                raise self.full(size)
            self.held += size
            self.peak = max(self.peak, self.held)

    def release(self, size: int) -> None:
        """Stop counting ``size`` bytes."""
        with self._lock:
            self.held -= size

    def full(self, size: int | None, cause: str = "") -> ExecutionError:
        """The error of a node for which there is no memory."""
        wanted = "" if size is None else f" for {size:,} bytes more"
        limit = "" if self.limit is None else f" of {self.limit:,}"
        return ExecutionError(
            f"No memory on device {self.name!r}{wanted}: its arrays hold {self.held:,} bytes{limit}"
            f"{f' ({cause})' if cause else ''}",
            slug="device-memory",
            fix='keep fewer values there (a smaller memory_budget, or trace="carried" or "off"), close other sessions, '
            "or raise Device(memory=...); then call session.resume().",
        )
