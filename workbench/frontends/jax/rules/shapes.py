"""Moving elements, and reductions that do not depend on the order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.jax.rules.kinds import FLOAT, PLAIN, REAL
from workbench.frontends.jax.types import type_of
from workbench.ir.builder.value import Value
from workbench.ir.types import numpy_dtype

if TYPE_CHECKING:
    from workbench.frontends.jax.lower import JaxLowering

Rule = Callable[["JaxLowering", Any, Sequence[Value]], "list[Value] | None"]
#: maximum number of elements of an iota that becomes a constant
_IOTA = 65_536
#: maximum number of floats that XLA adds one after another
IN_ORDER = 32


def _broadcast(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
    x, shape = values[0], equation.params["shape"]
    if x.dtype not in PLAIN or len(values) > 1 or not all(isinstance(d, int) for d in shape):
        return None
    at = equation.params["broadcast_dimensions"]
    sizes = dict(zip(at, x.shape or (), strict=True))
    spread = tuple(sizes.get(d, 1) for d in range(len(shape)))
    if spread != x.shape and x.shape != ():
        x = lowering.op(equation, "reshape", x, shape=spread)
    return [lowering.op(equation, "broadcast_to", x, shape=tuple(shape))] if tuple(shape) != x.shape else [x]


def _reshape(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
    """``reshape`` and ``squeeze``; the ``dimensions`` of ``squeeze`` are the removed axes, those of ``reshape`` are a
    permutation.
    """
    shape, reordered = type_of(equation.outvars[0].aval).shape, equation.params.get("dimensions") is not None
    if values[0].dtype not in PLAIN or len(values) > 1 or (reordered and equation.primitive.name == "reshape"):
        return None
    return [lowering.op(equation, "reshape", values[0], shape=shape)]


def _transpose(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
    if values[0].dtype not in PLAIN:
        return None
    return [lowering.op(equation, "transpose", values[0], perm=tuple(equation.params["permutation"]))]


def _concatenate(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
    if values[0].dtype not in PLAIN:
        return None
    return [lowering.op(equation, "concat", *values, axis=int(equation.params["dimension"]))]


def _slice(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
    x, params = values[0], equation.params
    if x.dtype not in PLAIN:
        return None
    steps = params["strides"] or (1,) * len(params["start_indices"])
    parts = zip(params["start_indices"], params["limit_indices"], steps, strict=True)
    index = tuple(("slice", int(a), int(z), int(s)) for a, z, s in parts)
    return [lowering.op(equation, "getitem", x, index=index)]


def _reverse(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
    x = values[0]
    if x.dtype not in PLAIN:
        return None
    back = set(equation.params["dimensions"])
    index = tuple(("slice", None, None, -1 if k in back else None) for k in range(len(x.shape or ())))
    return [lowering.op(equation, "getitem", x, index=index)]


def _iota(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
    type_ = type_of(equation.outvars[0].aval)
    shape = tuple(int(d or 0) for d in type_.shape or ())
    if values or type_.dtype not in PLAIN or int(np.prod(shape)) > _IOTA:
        return None
    axis = int(equation.params["dimension"])
    counted = np.arange(shape[axis]).astype(numpy_dtype(type_.dtype))
    lined = counted.reshape([-1 if k == axis else 1 for k in range(len(shape))])
    name = lowering.label(equation, equation.primitive.name)
    return [lowering.builder.constant(np.broadcast_to(lined, shape), name=name)]


def _reduced(op: str, dtypes: frozenset[str]) -> Rule:
    def rule(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
        x, axes = values[0], tuple(equation.params["axes"])
        if x.dtype not in dtypes or not axes or 0 in (x.shape or ()) or _odd(equation):
            return None
        return [lowering.op(equation, op, x, axis=axes)]

    return rule


def _sum(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
    """The sum of integers in any order, or of floats one after another, starting with 0, as XLA does for up to 32 of
    them: it merges neighbouring axes, and adds longer ones in parts.
    """
    x, axes = values[0], sorted(equation.params["axes"])
    shape = x.shape or ()
    if x.dtype not in REAL or not axes or 0 in shape or _odd(equation):
        return None
    if x.dtype not in FLOAT:
        return [lowering.op(equation, "sum", x, axis=tuple(axes), dtype=x.dtype)]
    if int(np.prod([shape[k] for k in axes])) > IN_ORDER:
        return None
    kept = [k for k in range(len(shape)) if k not in axes]
    with lowering.region(equation.primitive.name):
        if axes != list(range(len(kept), len(shape))):
            x = lowering.op(equation, "transpose", x, perm=(*kept, *axes))
        rows = tuple(shape[k] for k in kept)
        if len(axes) > 1:
            x = lowering.op(equation, "reshape", x, shape=(*rows, -1))
        x = lowering.op(equation, "cumsum", x, axis=len(kept), dtype=x.dtype)
        x = lowering.op(equation, "getitem", x, index=(*(("slice", None, None, None),) * len(kept), ("int", -1)))
        zero = lowering.builder.constant(np.zeros((), numpy_dtype(x.dtype)))
        return [lowering.op(equation, "add", x, zero)]  # the sum of negative zeros is a positive zero


def _odd(equation: Any) -> bool:
    return equation.params.get("out_sharding") is not None


SHAPES: dict[str, Rule] = {
    "broadcast_in_dim": _broadcast,
    "reshape": _reshape,
    "squeeze": _reshape,
    "expand_dims": _reshape,
    "transpose": _transpose,
    "concatenate": _concatenate,
    "slice": _slice,
    "rev": _reverse,
    "iota": _iota,
    "reduce_sum": _sum,
    "reduce_max": _reduced("max", REAL),
    "reduce_min": _reduced("min", REAL),
    "reduce_and": _reduced("all", frozenset(("bool",))),
    "reduce_or": _reduced("any", frozenset(("bool",))),
}
