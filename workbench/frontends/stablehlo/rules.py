"""Operations that become workbench nodes, by the rules for JAX's primitives.

Each becomes the equation that JAX would have for it; if the rule of that primitive declines, XLA computes the
operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.frontends.jax.rules import RULES
from workbench.frontends.stablehlo.library import ir
from workbench.frontends.stablehlo.types import type_of
from workbench.ir.builder.value import Value
from workbench.ir.types import numpy_dtype


class Named(NamedTuple):
    name: str


class Aval(NamedTuple):
    """dtype and shape, as JAX's abstract values have them."""

    dtype: np.dtype
    shape: tuple[int, ...]


class Outvar(NamedTuple):
    aval: Aval


class Equation(NamedTuple):
    """The parts of an equation of a jaxpr that the rules read."""

    primitive: Named
    params: dict[str, Any]
    outvars: tuple[Outvar, ...]


Reader = Callable[[Any, Sequence[Value]], "tuple[str, dict[str, Any], Sequence[Value]] | None"]


def _plain(primitive: str) -> Reader:
    return lambda operation, values: (primitive, {}, values)


def integers(operation: Any, name: str) -> tuple[int, ...]:
    return tuple(int(n) for n in operation.attributes[name])


def integer(operation: Any, name: str) -> int:
    return int(ir().IntegerAttr(operation.attributes[name]).value)


def _compare(operation: Any, values: Sequence[Value]) -> Any:
    """A comparison by the total order of floats is left to XLA."""
    if "compare_type" in operation.attributes and "TOTALORDER" in str(operation.attributes["compare_type"]):
        return None
    direction = str(operation.attributes["comparison_direction"]).rstrip(">").split()[-1]
    return direction.lower(), {}, values


def _select(operation: Any, values: Sequence[Value]) -> Any:
    """The JAX primitive takes the case for false first."""
    return "select_n", {}, (values[0], values[2], values[1])


def _convert(operation: Any, values: Sequence[Value]) -> Any:
    return "convert_element_type", {"new_dtype": numpy_dtype(type_of(operation.results[0]).dtype)}, values


def _broadcast(operation: Any, values: Sequence[Value]) -> Any:
    at = integers(operation, "broadcast_dimensions")
    return "broadcast_in_dim", {"shape": type_of(operation.results[0]).shape, "broadcast_dimensions": at}, values


def _slice(operation: Any, values: Sequence[Value]) -> Any:
    params = {name: integers(operation, name) for name in ("start_indices", "limit_indices", "strides")}
    return "slice", params, values


READERS: dict[str, Reader] = {
    **{name: _plain(name) for name in "and or xor not abs sqrt floor ceil is_finite sign clamp".split()},
    **{name: _plain(name) for name in ("shift_left", "shift_right_arithmetic", "shift_right_logical", "reshape")},
    "optimization_barrier": _plain("optimization_barrier"),
    "add": _plain("add"),
    "subtract": _plain("sub"),
    "multiply": _plain("mul"),
    "divide": _plain("div"),
    "remainder": _plain("rem"),
    "maximum": _plain("max"),
    "minimum": _plain("min"),
    "negate": _plain("neg"),
    "power": _plain("pow"),
    "sine": _plain("sin"),
    "cosine": _plain("cos"),
    **{name: _plain(name) for name in ("tan", "cbrt", "log", "rsqrt")},
    "compare": _compare,
    "select": _select,
    "convert": _convert,
    "broadcast_in_dim": _broadcast,
    "slice": _slice,
    "transpose": lambda o, values: ("transpose", {"permutation": integers(o, "permutation")}, values),
    "reverse": lambda o, values: ("rev", {"dimensions": integers(o, "dimensions")}, values),
    "concatenate": lambda o, values: ("concatenate", {"dimension": integer(o, "dimension")}, values),
    "iota": lambda o, values: ("iota", {"dimension": integer(o, "iota_dimension")}, values),
}


def by_rule(lowering: Any, operation: Any, values: Sequence[Value]) -> list[Value] | None:
    """The results by workbench nodes; None if XLA computes the operation."""
    family, _, name = operation.name.partition(".")
    reader = READERS.get(name) if family == "stablehlo" else None
    read = None if reader is None else reader(operation, values)
    if read is None:
        return None
    primitive, params, given = read
    wanted = [type_of(r) for r in operation.results]
    outs = tuple(Outvar(Aval(numpy_dtype(t.dtype), tuple(int(d or 0) for d in t.shape or ()))) for t in wanted)
    made = RULES[primitive](lowering, Equation(Named(name), params, outs), given)
    return made if made is not None and [m.type for m in made] == wanted else None
