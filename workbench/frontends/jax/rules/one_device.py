"""Sums, gathers and permutations over the devices of a ``shard_map`` over a single device: the value itself.

A ``shard_map`` over several devices is refused before its equations are read, so that every named axis here has one
device. Source: https://docs.jax.dev/en/latest/notebooks/shard_map.html.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.jax.foreign.primitives import OVER_NAMES
from workbench.frontends.jax.types import type_of
from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.jax.lower import JaxLowering

Rule = Callable[["JaxLowering", Any, Sequence[Value]], "list[Value] | None"]


def _alone(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
    """The values, with the axis of the single device added or removed as the result type requires."""
    if any(isinstance(axis, int) for axis in equation.params.get("axes", ())):
        return None  # a mapped axis, which is an axis of the array
    shapes = [type_of(v.aval).shape for v in equation.outvars]
    return [
        v if v.shape == shape else lowering.op(equation, "reshape", v, shape=shape)
        for v, shape in zip(values, shapes, strict=True)
    ]


def _permuted(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
    """The values of a permutation; a device that receives nothing gets zeros."""
    if equation.params["perm"]:
        return list(values)
    (x,) = values
    return [lowering.builder.constant(np.zeros(x.shape or (), x.dtype), name=lowering.label(equation, "ppermute"))]


def _number(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
    return [lowering.builder.constant(np.int32(0), name=lowering.label(equation, "axis_index"))]


ONE_DEVICE: dict[str, Rule] = {**dict.fromkeys(OVER_NAMES, _alone), "ppermute": _permuted, "axis_index": _number}
