"""ATen ops as ops of ours."""

from workbench.frontends.pytorch.rules import (  # noqa: F401  each fills the tables
    activations,
    creation,
    draws,
    elementwise,
    indexing,
    layers,
    products,
    recurrent,
    reductions,
    writers,
)
from workbench.frontends.pytorch.rules.table import RULES, WRITERS

__all__ = ["RULES", "WRITERS"]
