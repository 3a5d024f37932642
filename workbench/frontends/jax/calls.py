"""Calls: jit and other JAX primitives that compute an inner jaxpr. Its equations become a region.

The same holds for primitives of other libraries, such as the linear solve of lineax, whose implementation is a function
that JAX can trace: in op-by-op mode, JAX calls this function.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from workbench.frontends.jax.library import is_jaxpr, library, opened
from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.jax.lower import JaxLowering

#: primitive -> parameters that may hold the inner jaxpr
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
    "shard_map": ("jaxpr",),  # only over a single device, whose part is the whole array
}

#: traced implementations by the identity of the equation, kept with the equation so that its identity is not reused
_TRACED: dict[int, tuple[Any, Any]] = {}
MAX_TRACED = 20_000


def held(equation: Any) -> Any:
    """The jaxpr that a call computes; None if the equation is not a known call."""
    if equation.primitive.name == "custom_linear_solve":
        return equation.params["jaxprs"].solve
    keys = _HELD.get(equation.primitive.name, ())
    found = next((equation.params[k] for k in keys if is_jaxpr(equation.params.get(k))), None)
    return _implementation(equation) if found is None else found


def _implementation(equation: Any) -> Any:
    """The jaxpr of the function that implements a primitive of another library, or of a primitive that JAX 0.11 and
    later create for custom derivatives; None if there is none.
    """
    primitive = equation.primitive
    of_jax = primitive.name == "call_hi_primitive"
    function = getattr(primitive, "to_lojax" if of_jax else "impl", None)
    if not isinstance(function, FunctionType) or equation.effects:
        return None
    if not of_jax and function.__module__.partition(".")[0] in ("jax", "jaxlib"):
        return None
    known = _TRACED.get(id(equation))
    if known is None:
        known = equation, _traced(equation, function)
        if len(_TRACED) >= MAX_TRACED:
            _TRACED.clear()
        _TRACED[id(equation)] = known
    return known[1]


def _traced(equation: Any, function: FunctionType) -> Any:
    jax = library()

    def compute(*values: Any) -> Any:
        return function(*values, **equation.params)

    given = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in equation.invars if hasattr(v.aval, "dtype")]
    if len(given) != len(equation.invars):
        return None
    try:
        closed = jax.make_jaxpr(compute)(*given)
    except Exception:  # it does not support tracers
        return None
    made = [(v.aval.shape, v.aval.dtype) for v in opened(closed)[0].outvars]
    return closed if made == [(v.aval.shape, v.aval.dtype) for v in equation.outvars] else None


def without_wrapper(closed: Any) -> Any:
    """The jaxpr inside if the whole traced function is a single ``jit``, which needs no region."""
    jaxpr, consts = opened(closed)
    if consts or len(jaxpr.eqns) != 1 or jaxpr.eqns[0].primitive.name not in ("jit", "pjit"):
        return closed
    (equation,) = jaxpr.eqns
    if list(equation.invars) != list(jaxpr.invars) or list(equation.outvars) != list(jaxpr.outvars):
        return closed
    return without_wrapper(held(equation))


def lower_call(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value]:
    """The results of a call; functions of one equation get no separate region."""
    closed = held(equation)
    jaxpr, _ = opened(closed)
    given = arguments_of(equation, values)
    if len(jaxpr.eqns) < 2:
        return lowering.closed(closed, given, "call")
    with lowering.region(_label(equation)):
        return lowering.closed(closed, given, "call")


def arguments_of(equation: Any, values: Sequence[Any]) -> list[Any]:
    """The inputs of a call's jaxpr; for a linear solve, only the constants of its solver and the right-hand side."""
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
