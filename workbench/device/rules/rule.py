"""Rules, and the nodes that they are made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.device.namespaces import Namespace
from workbench.ir.opspec import OpSpec
from workbench.ir.types import TensorType

#: (namespace, operands) -> results
Rule = Callable[[Any, Sequence[Any]], Sequence[Any]]


@dataclass(frozen=True, slots=True)
class RuleNode:
    """A node of a plan: its op, attributes, exact types, and the inputs that are constant (None for the others)."""

    spec: OpSpec
    attrs: Mapping[str, Any]
    ins: tuple[TensorType, ...]
    outs: tuple[TensorType, ...]
    values: tuple[np.ndarray | None, ...]
    space: Namespace

    @property
    def op(self) -> str:
        """The op's own name, without aliases."""
        return self.spec.name

    def plain(self, *known: str) -> bool:
        """True if all attributes but these have the op's defaults."""
        return all(k in known or k.startswith("_") or v == self.spec.attrs.get(k) for k, v in self.attrs.items())

    def dims(self, k: int) -> tuple[int, ...]:
        """The shape of an input."""
        return tuple(int(d or 0) for d in self.ins[k].shape or ())

    @property
    def out(self) -> tuple[int, ...]:
        """The shape of the first output."""
        return tuple(int(d or 0) for d in self.outs[0].shape or ())


def single(function: Callable[[Any, Sequence[Any]], Any]) -> Rule:
    """The rule of one result."""
    return lambda xp, arrays: (function(xp, arrays),)
