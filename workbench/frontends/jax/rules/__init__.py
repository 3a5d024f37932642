"""Primitives that workbench nodes compute with the same bits: arithmetic, comparisons, and moving elements.

A rule gets the lowering, the equation and its inputs and returns the results, or None if JAX computes the case.
Primitives that are rounded differently here and by XLA (exp and tanh, sin and log in float32, sums of more than 32
floats) have no rule, or one only for graphs made with ``rounded=True``; arithmetic of float16, bfloat16 and complex
numbers has none either. Bitwise agreement is tested on a million values of each dtype. Numbers below the normal range
(under 1.2e-38 in float32) are zero in the graph as in XLA on a CPU. One difference remains in workbench nodes: among
zeros, or numbers below the normal range, NumPy's maximum and minimum may return another operand than XLA.
"""

from collections.abc import Callable, Sequence
from typing import Any

from workbench.frontends.jax.rules.elementwise import ELEMENTWISE
from workbench.frontends.jax.rules.functions import FUNCTIONS
from workbench.frontends.jax.rules.integers import INTEGERS
from workbench.frontends.jax.rules.one_device import ONE_DEVICE
from workbench.frontends.jax.rules.passed import PASSED
from workbench.frontends.jax.rules.shapes import SHAPES

RULES: dict[str, Callable[[Any, Any, Sequence[Any]], list[Any] | None]] = {
    **ELEMENTWISE,
    **FUNCTIONS,
    **INTEGERS,
    **ONE_DEVICE,
    **PASSED,
    **SHAPES,
}

__all__ = ["RULES"]
