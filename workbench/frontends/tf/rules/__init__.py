"""TensorFlow op -> op of ours: one table, put together from those of the families."""

from __future__ import annotations

from workbench.frontends.tf.rules import arithmetic, arrays, control, reductions
from workbench.frontends.tf.rules.base import Lowered, Rule

__all__ = ["RULES", "Lowered"]

_FAMILIES = (control, arithmetic, reductions, arrays)

RULES: dict[str, Rule] = {op: rule for family in _FAMILIES for op, rule in family.RULES.items()}
