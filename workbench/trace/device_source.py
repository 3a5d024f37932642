"""Rows of a run whose large arrays are on a device: readers get host copies of the values that they read."""

from __future__ import annotations

from typing import Any

from workbench.device import all_to_host
from workbench.kernels.layout import Place
from workbench.trace.source import LiveSource


class DeviceSource(LiveSource):
    """The same rows as :class:`LiveSource`; arrays on a device are copied to the host each time they are read."""

    def _column(self, place: Place, start: int, stop: int, step: int) -> tuple[int, Any]:
        first, items = super()._column(place, start, stop, step)
        return first, all_to_host(items) if place.dtype is None else items
