"""TensorFlow op -> op of ours: one table, put together from those of the families."""

from __future__ import annotations

from workbench.frontends.tf.rules import (
    arithmetic,
    arrays,
    control,
    image,
    linalg,
    nn,
    random,
    recurrent,
    reductions,
    segments,
    special,
    strings,
    tables,
    tensor_arrays,
)
from workbench.frontends.tf.rules.base import LoweredNode, Rule
from workbench.frontends.tf.rules.tensor_arrays import VARIANT_RULES

__all__ = ["RULES", "VARIANT_RULES", "LoweredNode"]

_FAMILIES = (
    control,
    arithmetic,
    special,
    reductions,
    arrays,
    linalg,
    segments,
    random,
    tensor_arrays,
    nn,
    image,
    recurrent,
    strings,
    tables,
)

RULES: dict[str, Rule] = {op: rule for family in _FAMILIES for op, rule in family.RULES.items()}
