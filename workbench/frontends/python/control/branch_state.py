"""One side of a branch, captured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.frontends.python.objects import RETURNED, Cell
from workbench.frontends.python.values.pytree import Leaf
from workbench.ir.builder.context import BranchContext
from workbench.ir.builder.value import Value
from workbench.ir.types import TensorType


@dataclass
class BranchSide:
    """State of the variables at the end of one side. ``context`` is the context of its values."""

    context: BranchContext
    vars: dict[str, Any]
    lines: dict[str, int]
    heap: dict[Cell, Any]
    value: Any

    @property
    def returned(self) -> bool:
        """True if no statement after the branch is reached from this side."""
        return self.vars.get(RETURNED) is True


def array_leaf(content: Any) -> Leaf:
    return Leaf(content.type if isinstance(content, Value) else TensorType.of(np.asarray(content)))


__all__ = ["BranchSide", "array_leaf"]
