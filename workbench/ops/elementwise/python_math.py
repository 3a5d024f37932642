"""Functions of Python's numbers that NumPy lacks (most of the module math), with Python's errors."""

from __future__ import annotations

import math
from collections.abc import Callable

from workbench.ir.types import ANY, TensorType
from workbench.ops.checked import DTYPES, letters_of, number, python_value, too_large
from workbench.ops.define import REQUIRED, define
from workbench.ops.rules import WRONG_ATTR, WRONG_DTYPE, WRONG_SHAPE, RuleError

FAMILY = "functions"
#: function -> letters of the inputs and of the result: i for int64, f for float64
FUNCTIONS = {
    "gcd": "ii>i",
    "lcm": "ii>i",
    "isqrt": "i>i",
    "factorial": "i>i",
    "comb": "ii>i",
    "perm": "ii>i",
    "erf": "f>f",
    "erfc": "f>f",
    "gamma": "f>f",
    "lgamma": "f>f",
    "degrees": "f>f",
    "radians": "f>f",
    "copysign": "ff>f",
    "remainder": "ff>f",
    "ulp": "f>f",
    "pow": "ff>f",
    "bit_length": "i>i",
    "bit_count": "i>i",
    "pow_mod": "iii>i",
}
#: functions that are not in the module math
_OTHERS: dict[str, Callable[..., int]] = {"bit_length": int.bit_length, "bit_count": int.bit_count, "pow_mod": pow}


def _is_long(name: str, args: list) -> bool:
    """True if the result certainly has more than 64 bits, which Python could take long to compute."""
    if name == "factorial":
        return args[0] > 20
    if name == "perm":  # at least k!
        return args[0] >= args[1] > 20
    return name == "comb" and min(args[1], args[0] - args[1]) > 64


def _rule(attrs) -> str:
    rule = FUNCTIONS.get(attrs["function"])
    if rule is None:
        raise RuleError(WRONG_ATTR, f"knows no function {attrs['function']!r}.", f"There are {', '.join(FUNCTIONS)}.")
    return rule


def _infer(types, attrs, values):
    wanted, _, result = _rule(attrs).partition(">")
    for t in types:
        if t.shape not in ((), None):
            raise RuleError(WRONG_SHAPE, f"takes single numbers, but got {t}.", "Take one element.")
    given = [t.dtype if t.dtype != ANY else DTYPES[w] for t, w in zip(types, wanted, strict=False)]
    found, dtypes = letters_of(given)
    if found != wanted or len(types) != len(wanted):
        names = " and ".join(t.dtype for t in types)
        raise RuleError(
            WRONG_DTYPE, f"with the function {attrs['function']} is not defined for {names}.", "Cast first."
        )
    return TensorType(dtypes[result], ())


def _evaluate(arrays, attrs):
    name = attrs["function"]
    args = [python_value(a) for a in arrays]
    if _is_long(name, args):
        raise too_large(f"math.{name}")
    function = _OTHERS[name] if name in _OTHERS else getattr(math, name)
    dtypes = letters_of([str(a.dtype) for a in arrays])[1]
    return number(function(*args), dtypes[_rule(attrs)[-1]], f"math.{name}")


define(
    "math",
    "x y? z?",
    _infer,
    _evaluate,
    "The `function` of Python's module math (or bit_length, bit_count, pow_mod), on single numbers; its errors too.",
    FAMILY,
    attrs={"function": REQUIRED},
    source="https://docs.python.org/3/library/math.html",
)
