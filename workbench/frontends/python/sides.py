"""One side of a branch, captured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.frontends.python.objects import (
    RETURNED,
    Cell,
)
from workbench.frontends.python.templates import Leaf
from workbench.graph.context import BranchContext
from workbench.graph.types import TensorType
from workbench.graph.value import Value


@dataclass
class Side:
    """What one side leaves behind. ``context`` is where its values live."""

    context: BranchContext
    vars: dict[str, Any]
    lines: dict[str, int]
    heap: dict[Cell, Any]
    value: Any

    @property
    def returned(self) -> bool:
        """Nothing after the branch is reached from here."""
        return self.vars.get(RETURNED) is True


def array_leaf(content: Any) -> Leaf:
    return Leaf(content.type if isinstance(content, Value) else TensorType.of(np.asarray(content)))


__all__ = ["Side", "array_leaf"]
