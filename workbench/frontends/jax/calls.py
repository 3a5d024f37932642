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


def without_wrapper(closed: Any) -> Any:
    """The jaxpr of the function itself where all that is traced is one ``jit`` of it, which need not be a box."""
    jaxpr, consts = opened(closed)
    if consts or len(jaxpr.eqns) != 1 or jaxpr.eqns[0].primitive.name not in ("jit", "pjit"):
        return closed
    (equation,) = jaxpr.eqns
    if list(equation.invars) != list(jaxpr.invars) or list(equation.outvars) != list(jaxpr.outvars):
        return closed
    return without_wrapper(held(equation))


def lower_call(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value]:
    """The results of a call; library functions of one equation get no region of their own."""
    closed = held(equation)
    jaxpr, _ = opened(closed)
    given = arguments_of(equation, values)
    if len(jaxpr.eqns) < 2:
        return lowering.closed(closed, given, "call")
    with lowering.region(_label(equation)):
        return lowering.closed(closed, given, "call")


def arguments_of(equation: Any, values: Sequence[Any]) -> list[Any]:
    """The inputs of a call's jaxpr: of a linear solve the constants of its solver and the right-hand side alone."""
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
