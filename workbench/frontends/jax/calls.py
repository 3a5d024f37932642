"""Calls: jit and the wrappers of JAX that compute the jaxpr that they hold. Their equations become a region."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.frontends.jax.library import is_jaxpr, opened
from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.jax.lower import JaxLowering

#: primitive -> the parameter that holds what is computed
_HELD = {
    "jit": ("jaxpr",),
    "pjit": ("jaxpr",),
    "closed_call": ("call_jaxpr",),
    "core_call": ("call_jaxpr",),
    "custom_jvp_call": ("call_jaxpr",),
    "custom_vjp_call": ("call_jaxpr", "fun_jaxpr"),
    "custom_vjp_call_jaxpr": ("fun_jaxpr", "call_jaxpr"),
    "custom_vmap_call": ("call",),
    "custom_lin": (),
    "checkpoint": ("jaxpr",),
    "remat2": ("jaxpr",),
    "remat": ("jaxpr",),
    "linear_call": ("callee",),
    "composite": ("jaxpr",),
    "xla_metadata_call": ("jaxpr",),
    "custom_partitioning": ("call",),
}


def held(equation: Any) -> Any:
    """The jaxpr that a call computes; None where the equation is not a call that is known."""
    if equation.primitive.name == "custom_linear_solve":
        return equation.params["jaxprs"].solve
    keys = _HELD.get(equation.primitive.name, ())
    return next((equation.params[k] for k in keys if is_jaxpr(equation.params.get(k))), None)


def lower_call(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value]:
    """The results of a call; library functions of one equation get no region of their own."""
    closed = held(equation)
    jaxpr, _ = opened(closed)
    given = _arguments(equation, values)
    if len(jaxpr.eqns) < 2:
        return lowering.closed(closed, given)
    with lowering.region(_label(equation)):
        return lowering.closed(closed, given)


def _arguments(equation: Any, values: Sequence[Value]) -> list[Value]:
    """Of a linear solve only the constants of its solver and the right-hand side are read."""
    if equation.primitive.name == "custom_linear_solve":
        lengths = equation.params["const_lengths"]
        before = lengths.matvec + lengths.vecmat
        total = before + lengths.solve + lengths.transpose_solve
        return [*values[before : before + lengths.solve], *values[total:]]
    return list(values)


def _label(equation: Any) -> str:
    name = equation.params.get("name") or getattr(equation.params.get("call"), "name", "") or equation.primitive.name
    text = str(name).strip("<>").replace("/", "_") or equation.primitive.name
    return text.lstrip("_") or text
