"""Primitives that return their inputs unchanged: hints for a compiler, for differentiation or for placement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbench.ir.builder.value import Value

Rule = Callable[[Any, Any, Sequence[Value]], "list[Value] | None"]


def _passed(lowering: Any, equation: Any, values: Sequence[Value]) -> list[Value]:
    return list(values)


PASSED: dict[str, Rule] = dict.fromkeys(
    (
        "copy",
        "copy_p",
        "name",
        "optimization_barrier",
        "pvary",
        "pcast",
        "sharding_constraint",
        "reshard",
        "device_put",
        "stop_gradient",
        "layout_constraint",
    ),
    _passed,
)
