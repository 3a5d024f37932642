"""The place of each node of a plan, with the reason: the device if the node has a rule and its arrays live there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.device.opened import DTYPES, OpenDevice
from workbench.device.rules import Rule, RuleNode, rule_of
from workbench.ir.opspec import OpSpec
from workbench.ir.types import TensorType


@dataclass(frozen=True, slots=True)
class Placement:
    """Place of a node: its rule, None on the host; and the reason as (slug, sentence)."""

    rule: Rule | None
    reason: tuple[str, str]


def place_node(
    home: OpenDevice,
    spec: OpSpec,
    attrs: Mapping[str, Any],
    ins: Sequence[TensorType],
    outs: Sequence[TensorType],
    values: Sequence[np.ndarray | None],
) -> Placement | None:
    """The place of a node that works on arrays; None for a node on numbers, whose reason comes from the host's plan."""
    arrays = [t for t in (*ins, *outs) if t.shape != ()]
    if not arrays:
        return None
    name = home.device.name
    if not any(home.holds(t) for t in arrays):
        return Placement(None, ("host-small", f"{spec.name} runs on the host: {_too_small(home, arrays)}"))
    odd = next((t for t in (*ins, *outs) if not t.is_static or t.dtype not in DTYPES), None)
    if odd is not None:
        why = "its dtype is not one of the device's" if odd.is_static else "its shape is known only at run time"
        return Placement(None, ("host-type", f"{spec.name} runs on the host: it has {odd}, and {why}"))
    rule = None
    if spec.pure and not spec.draws and ":" not in spec.name:
        rule = rule_of(RuleNode(spec, attrs, tuple(ins), tuple(outs), tuple(values), home.space))
    if rule is None:
        said = f"{spec.name} runs on the host: it has no rule for the device with these types and attributes"
        return Placement(None, ("host-no-rule", said))
    return Placement(rule, ("device", f"{spec.name} runs on device {name!r}, as a function of its array library"))


def _too_small(home: OpenDevice, arrays: Sequence[TensorType]) -> str:
    shown = max(arrays, key=lambda t: (t.is_static, str(t)))
    return f"{shown} and smaller arrays are below {home.device.least_bytes:,} bytes, too small for a call on the device"
