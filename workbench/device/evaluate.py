"""Calls of a plan with a device: rules on device arrays, and host ops on host copies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbench.device.array import to_host
from workbench.device.opened import OpenDevice
from workbench.device.rules import Rule
from workbench.ir.types import TensorType


def device_evaluator(home: OpenDevice, rule: Rule, outs: Sequence[TensorType]) -> Callable[[list[Any]], list[Any]]:
    """A call that computes a node on the device. Results that do not live there are copied to the host.

    ExecutionError ``device-memory`` if the device has no memory for them.
    """
    ends = [home.keeper(t) if home.holds(t) else home.fetch for t in outs]

    def call(arrays: list[Any]) -> list[Any]:
        try:
            with home.space.active():
                results = rule(home.xp, [home.operand(a) for a in arrays])
                return [end(r) for end, r in zip(ends, results, strict=True)]
        except home.space.full as error:
            raise home.memory.full(None, str(error)) from error

    return call


def on_host(function: Callable[..., Sequence[Any]]) -> Callable[..., Sequence[Any]]:
    """A host call whose operands may live on the device: it receives copies of those."""
    return lambda arrays, *more: function([to_host(a) for a in arrays], *more)
