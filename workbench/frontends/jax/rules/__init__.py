"""Primitives that nodes of ours compute, because they give the same bits: arithmetic, comparisons, and moving elements.

A rule gets the lowering, the equation and its inputs and returns the results, or None where JAX computes the case. What
is rounded differently here and by XLA (exp and tanh, sin and log in float32, sums of more than 32 floats) has no rule,
or one for graphs that are made with ``rounded=True``; nor has arithmetic of float16, bfloat16 and complex numbers.
Which functions agree bit for bit is tested on a million values of each dtype. Numbers below the normal range (under
1.2e-38 in float32) are zero to the graph as they are to XLA on a CPU. One difference remains where a node of ours
computes: of two zeros, or numbers below the range, NumPy's maximum and minimum may give another than XLA.
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
