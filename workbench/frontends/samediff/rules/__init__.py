"""SameDiff op -> nodes of TensorFlow 1: one table, put together from those of the families."""

from __future__ import annotations

from workbench.frontends.samediff.rules import (
    activations,
    arithmetic,
    arrays,
    control,
    losses,
    making,
    nn,
    recurrent,
    reductions,
    tensor_arrays,
)
from workbench.frontends.samediff.rules.base import OURS, FlatRule, Parts
from workbench.frontends.samediff.rules.reductions import UNNAMED

__all__ = ["FLAT_RULES", "OURS", "UNNAMED", "Parts"]

_FAMILIES = (control, arithmetic, activations, reductions, arrays, making, tensor_arrays, nn, recurrent, losses)

FLAT_RULES: dict[str, FlatRule] = {op: rule for family in _FAMILIES for op, rule in family.RULES.items()}
