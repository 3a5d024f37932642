"""Numbers of a program other than its tensors: sizes, and numbers computed from them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.pytorch.reading.archive import refused
from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.pytorch.lower import TorchLowering


@dataclass(frozen=True, slots=True)
class Number:
    """A number known only at run time: a scalar value of int64, float64 or bool."""

    value: Value


_PLAIN: dict[str, Callable[..., Any]] = {
    **{
        f"_operator.{n}": getattr(operator, n) for n in "eq ne le ge lt gt neg pos mul add sub floordiv mod abs".split()
    },
    **{f"_operator.{n}": getattr(operator, n) for n in ("truediv", "and_", "or_", "pow")},
    **{f"math.{n}": getattr(math, n) for n in ("trunc", "ceil", "floor", "sqrt")},
    **{
        f"torch.sym_{n}": f
        for n, f in (("max", max), ("min", min), ("float", float), ("int", int), ("sqrt", math.sqrt))
    },
    "torch.sym_not": operator.not_,
    "torch._sym_sqrt": math.sqrt,
    "torch.sym_sum": lambda *given: sum(given[0] if isinstance(given[0], list) else given),
    "torch.sym_ite": lambda test, one, other: one if test else other,
}
_OPS = {
    "_operator.eq": "equal",
    "_operator.ne": "not_equal",
    "_operator.le": "less_equal",
    "_operator.ge": "greater_equal",
    "_operator.lt": "less",
    "_operator.gt": "greater",
    "_operator.neg": "negative",
    "_operator.mul": "multiply",
    "_operator.add": "add",
    "_operator.sub": "subtract",
    "_operator.floordiv": "floor_divide",
    "_operator.mod": "remainder",
    "_operator.truediv": "divide",
    "_operator.pow": "power",
    "_operator.abs": "abs",
    "_operator.and_": "logical_and",
    "_operator.or_": "logical_or",
    "torch.sym_max": "maximum",
    "torch.sym_min": "minimum",
    "torch.sym_not": "logical_not",
    "torch.sym_ite": "where",
    "math.floor": "floor",
    "math.ceil": "ceil",
    "math.trunc": "trunc",
    "math.sqrt": "sqrt",
    "torch._sym_sqrt": "sqrt",
}
_WHOLE = ("math.floor", "math.ceil", "math.trunc", "torch.sym_int")
_OF_FLOATS = ("_operator.truediv", "math.sqrt", "torch._sym_sqrt")
#: maximum bits of an integer, and maximum exponent of a power
_BITS, _EXPONENT = 64, 64


def is_arithmetic(target: str) -> bool:
    return target in _PLAIN


def arithmetic(lowering: TorchLowering, target: str, given: Sequence[Any]) -> Any:
    """The result of a call on numbers; plain if all of them are."""
    flat = [g for item in given for g in (item if isinstance(item, list) else [item])]
    if not any(isinstance(g, Number) for g in flat):
        if any(type(g) not in (bool, int, float) for g in flat):
            raise refused(f"{target} gets something that is not a number")
        if target == "_operator.pow" and abs(given[1]) > _EXPONENT:
            raise refused(f"{target} has the exponent {given[1]}")
        found = _PLAIN[target](*given)
        if isinstance(found, int) and found.bit_length() > _BITS:
            raise refused(f"{target} gives a number of more than {_BITS} bits")
        return found
    values = [g.value if isinstance(g, Number) else lowering.builder.constant(np.asarray(g)) for g in flat]
    if target in ("torch.sym_float", "_operator.pos"):
        return Number(lowering.cast(values[0], "float64") if target == "torch.sym_float" else values[0])
    if target == "torch.sym_sum":
        total = values[0]
        for value in values[1:]:
            total = lowering.op("add", total, value)
        return Number(total)
    floats = target in _OF_FLOATS or any(v.dtype == "float64" for v in values)
    wanted = "float64" if floats else "int64"
    values = [v if v.dtype == "bool" else lowering.cast(v, wanted) for v in values]
    made = lowering.op(_OPS[target], *values) if target in _OPS else values[0]
    return Number(lowering.cast(made, "int64") if target in _WHOLE else made)
