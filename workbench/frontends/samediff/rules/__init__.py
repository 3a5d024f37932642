"""SameDiff op -> TensorFlow 1 nodes: one table, joined from the tables of the op families."""

from __future__ import annotations

from workbench.frontends.samediff.rules import (
    activations,
    arithmetic,
    arrays,
    control,
    formulas,
    losses,
    making,
    nn,
    parts_of_arrays,
    recurrent,
    reductions,
    tensor_arrays,
)
from workbench.frontends.samediff.rules.base import OURS, FlatRule, Parts
from workbench.frontends.samediff.rules.names import found, plain, refusal
from workbench.frontends.samediff.rules.reductions import UNNAMED

__all__ = ["FLAT_RULES", "OURS", "UNNAMED", "Parts", "refusal", "rule_of"]

_FAMILIES = (
    control,
    arithmetic,
    activations,
    formulas,
    reductions,
    arrays,
    parts_of_arrays,
    making,
    tensor_arrays,
    nn,
    recurrent,
    losses,
)

FLAT_RULES: dict[str, FlatRule] = {op: rule for family in _FAMILIES for op, rule in family.RULES.items()}

# of two spellings the lower-case one is used: Pow is one form of pow
_BY_PLAIN = {plain(op): rule for op, rule in sorted(FLAT_RULES.items())}


def rule_of(op: str) -> FlatRule | None:
    """The rule for an op under any of its names."""
    return found(op, FLAT_RULES, _BY_PLAIN)
